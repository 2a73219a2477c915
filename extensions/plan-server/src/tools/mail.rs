//! A mailbox.

use super::Office;
use plan_runtime::run::CallContext;
use plan_runtime::{Error, Result, Shape, plan, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, Shape, JsonSchema)]
pub(super) struct Email {
    id: u32,
    from: String,
    subject: String,
    text: String,
    /// The recipient of a copy, if the e-mail has one.
    cc: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape, JsonSchema)]
pub(super) struct SentEmail {
    number: u64,
    to: String,
    subject: String,
}

fn mailbox() -> Vec<Email> {
    let email = |id, from: &str, subject: &str, text: &str, cc: Option<&str>| Email {
        id,
        from: from.to_owned(),
        subject: subject.to_owned(),
        text: text.to_owned(),
        cc: cc.map(str::to_owned),
    };
    vec![
        email(
            4,
            "sarah@example.org",
            "Lunch on Friday?",
            "The new place at the river opens at noon.",
            None,
        ),
        email(
            3,
            "ops@example.org",
            "Container F1-3 is late",
            "It left Hamburg two days after its date.",
            Some("grace@example.org"),
        ),
        email(
            2,
            "ada@example.org",
            "Draft of the report",
            "Chapters one to three are done.",
            Some("sarah@example.org"),
        ),
        email(
            1,
            "sarah@example.org",
            "Offsite",
            "Who takes the train?",
            None,
        ),
    ]
}

/// Lists e-mails, the latest first.
#[tool(name = "emails_list", read_only)]
#[derive(JsonSchema)]
pub(super) async fn list_emails(
    office: &Office,
    /// Only e-mails of this sender.
    from: Option<String>,
    limit: Option<u8>,
) -> Result<Vec<Email>> {
    let _running = office.enter();
    let mut emails = mailbox();
    if let Some(from) = from {
        emails.retain(|email| email.from.contains(&from));
    }
    emails.truncate(limit.map_or(50, usize::from));
    Ok(emails)
}

/// Reads one e-mail.
#[tool(name = "email_read", read_only)]
#[derive(JsonSchema)]
pub(super) async fn read_email(office: &Office, id: u32) -> Result<Email> {
    let _running = office.enter();
    let found = mailbox().into_iter().find(|email| email.id == id);
    found.ok_or_else(|| Error::permanent(format!("there is no e-mail {id}")).with_code("NOT_FOUND"))
}

/// Sends an e-mail.
#[tool(name = "email_send")]
#[derive(JsonSchema)]
pub(super) async fn send_email(
    office: &Office,
    #[context] context: CallContext,
    to: String,
    subject: String,
    text: Option<String>,
) -> Result<SentEmail> {
    let _running = office.enter();
    if !to.contains('@') {
        return Err(
            Error::permanent(format!("`{to}` is not an e-mail address")).with_code("BAD_ADDRESS")
        );
    }
    drop(text);
    office.effect(&context, "email_send", |number| SentEmail {
        number,
        to,
        subject,
    })
}

plan! {
    /// Replies to the latest e-mail of a sender, if there is one.
    pub(super) ReplyToLatest(from: String, text: String) -> Option<SentEmail> {
        step inbox = ListEmails { from, limit: 1 };
        step sent = if !inbox.is_empty() {
            SendEmail { to: inbox[0].from, subject: format!("Re: {}", inbox[0].subject), text }
        };
        sent
    }
}
