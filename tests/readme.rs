//! The README's mistake is a mistake in the README's program, and the message is the compiler's.

const README: &str = include_str!("../README.md");

/// The first program, which the doctests of `plan-runtime` run.
fn program() -> &'static str {
    let (_, rest) = README.split_once("```rust\n").expect("a program");
    rest.split_once("```\n").expect("an end").0
}

#[test]
fn mistake() {
    let (right, wrong) = ("emails[0].thread_id", "emails[0].threadid");
    assert_eq!(program().matches(right).count(), 1);
    assert_eq!(
        program().replace(right, wrong),
        include_str!("ui/readme/mistake.rs")
    );

    let message = include_str!("ui/readme/mistake.stderr");
    let message = message.replace("tests/ui/readme/mistake.rs", "src/main.rs");
    assert!(
        README.contains(&format!("```text\n{message}```\n")),
        "the README should contain:\n\n```text\n{message}```"
    );
}
