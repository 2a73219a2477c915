//! What the README says that the compiler says is what the compiler says.

#[test]
fn mistakes() {
    let readme = include_str!("../README.md");
    let said = include_str!("ui/readme/mistakes.stderr");
    let said = said.replace("tests/ui/readme/mistakes.rs", "src/main.rs");
    assert!(
        readme.contains(&format!("```text\n{said}```\n")),
        "the README should hold this:\n\n```text\n{said}```"
    );
}
