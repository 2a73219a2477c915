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

mod first {
    //! The README's first plan.

    use plan_runtime::{Result, Shape, plan, tool};
    use serde::{Deserialize, Serialize};

    pub struct Mail;

    #[derive(Serialize, Deserialize, Shape)]
    pub struct Filters {
        pub sender: String,
    }

    #[derive(Serialize, Deserialize, Shape)]
    pub struct Person {
        pub email: String,
    }

    #[derive(Serialize, Deserialize, Shape)]
    #[serde(rename_all = "camelCase")]
    pub struct Email {
        pub thread_id: String,
        pub from: Person,
        pub subject: String,
    }

    #[derive(Serialize, Deserialize, Shape)]
    pub struct Inbox {
        pub data: Vec<Email>,
    }

    #[derive(Serialize, Deserialize, Shape)]
    pub struct Receipt {
        pub id: String,
    }

    #[tool]
    pub async fn fetch_emails(_: &Mail, filters: Filters) -> Result<Inbox> {
        unimplemented!("{}", filters.sender)
    }

    #[tool]
    pub async fn reply_email(
        _: &Mail,
        thread_id: String,
        to: String,
        subject: String,
        body: String,
    ) -> Result<Receipt> {
        unimplemented!("{thread_id} {to} {subject} {body}")
    }

    plan! {
        /// Replies to the most recent e-mail from a sender.
        pub ReplyToLatest(sender: String, reply: String) -> Receipt {
            /// Find the sender's e-mails.
            step inbox = FetchEmails { filters: Filters { sender } };

            step sent = ReplyEmail {
                thread_id: inbox.data[0].thread_id,
                to: inbox.data[0].from.email,
                subject: format!("Re: {}", inbox.data[0].subject),
                body: reply,
            };

            sent
        }
    }
}

#[test]
fn picture() {
    let readme = include_str!("../README.md");
    let mermaid = first::ReplyToLatest::PLAN.mermaid().to_string();
    assert!(
        readme.contains(&format!("```mermaid\n{mermaid}```\n")),
        "the README should hold this:\n\n```mermaid\n{mermaid}```"
    );
}
