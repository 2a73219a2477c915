//! The README's mistake is a mistake in the README's program, the message is the compiler's, and the printed plan is that of the program.
//! Its picture shows what the compiler says today; `UPDATE_EXPECT=1` draws it.

#[path = "readme/terminal.rs"]
mod terminal;

use std::path::Path;

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

#[test]
fn picture() {
    let messages = include_str!("ui/readme/mistakes.stderr");
    let messages = messages.replace("tests/ui/readme/mistakes.rs", "src/main.rs");
    let title = "What rustc says about five mistakes in a plan";
    let errors = messages.lines().filter(|line| line.starts_with("error"));
    assert_eq!(errors.count(), 5);
    let drawn = terminal::draw(title, "cargo check", &messages);
    // All of it is there, and nothing that a picture does not need.
    assert_eq!(terminal::read(&drawn), messages);
    assert!(
        !["<script", "<style", " style=", " href=", "url("]
            .iter()
            .any(|it| drawn.contains(it))
    );

    let place = "docs/mistakes.svg";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(place);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&file, &drawn).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == drawn, "UPDATE_EXPECT=1 draws {place}");
    let (_, shown) = README.split_once("![").expect("a picture");
    assert!(
        shown.contains(&format!("]({place})")),
        "the README has no {place}"
    );
}

/// The program, without its `main`.
mod program {
    use plan_runtime::{Result, Shape, plan, tool};
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize, Shape)]
    struct Email {
        thread_id: String,
        from: String,
        subject: String,
    }

    /// Finds e-mails, the latest first.
    #[tool]
    async fn find_emails(sender: String) -> Result<Vec<Email>> {
        let from = format!("{sender}@example.org");
        Ok(vec![Email {
            thread_id: "t-92".into(),
            from,
            subject: "Lunch?".into(),
        }])
    }

    /// Replies to an e-mail.
    #[tool]
    async fn reply_email(
        thread_id: String,
        to: String,
        subject: String,
        body: String,
    ) -> Result<String> {
        Ok(format!("{thread_id} to {to}: {subject}: {body}"))
    }

    plan! {
        /// Replies to the latest e-mail from a sender.
        ReplyToLatest(sender: String, reply: String) -> String {
            /// Find the sender's e-mails.
            step emails = FindEmails { sender };

            step sent = ReplyEmail {
                thread_id: emails[0].thread_id,
                to: emails[0].from,
                subject: format!("Re: {}", emails[0].subject),
                body: reply,
            };

            sent
        }
    }

    #[test]
    fn printed_plan() {
        let squeezed = |text: &str| text.split_whitespace().collect::<String>();
        let here = squeezed(include_str!("readme.rs")).replace(',', "");
        let (before, _) = super::program().split_once("fn main()").expect("a `main`");
        assert!(here.contains(&squeezed(before).replace(',', "")));
        let printed = ReplyToLatest::PLAN.to_string();
        assert!(
            super::README.contains(&format!("```text\n{printed}```\n")),
            "{printed}"
        );
    }
}
