//! Plans of many kinds, whose documentation `tests/pictures/run` makes and looks at.
#![deny(warnings, missing_docs, rustdoc::all)]

mod forty;
pub mod hostile;

pub use forty::Nightly;

use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};

/// An e-mail.
#[derive(Serialize, Deserialize, Shape)]
#[serde(rename_all = "camelCase")]
pub struct Email {
    /// The conversation that it belongs to.
    pub thread_id: String,
    /// Who wrote it.
    pub from: String,
    /// What it is about.
    pub subject: String,
    /// Whether someone has to answer soon.
    pub urgent: bool,
}

/// What was found.
#[derive(Serialize, Deserialize, Shape)]
pub struct Inbox {
    /// The latest first.
    pub data: Vec<Email>,
}

/// Finds e-mails from a sender.
#[tool]
pub async fn fetch_emails(sender: String) -> Result<Inbox> {
    Ok(Inbox {
        data: vec![Email {
            thread_id: "1".into(),
            from: sender,
            subject: "Hello".into(),
            urgent: false,
        }],
    })
}

/// Replies to an e-mail.
#[tool]
pub async fn reply_email(
    thread_id: String,
    to: String,
    subject: String,
    body: String,
) -> Result<u64> {
    Ok((thread_id.len() + to.len() + subject.len() + body.len()) as u64)
}

/// Says how a text sounds. It is private, and plans that are public use it.
#[tool]
async fn judge_tone(text: String) -> Result<String> {
    Ok(text)
}

plan! {
    /// Judges one text.
    pub Judge(text: String) -> String {
        /// How does it sound?
        step tone = JudgeTone { text };
        tone
    }
}

plan! {
    /// Replies to the most recent e-mail from a sender.
    ///
    /// The author's own words, with `code`, a list
    ///
    /// - and a link to [`Inbox`],
    ///
    /// come before everything else.
    pub ReplyToLatest(
        /// Whose e-mails.
        sender: String,
        /// What to say. It is `Markdown` | plain text.
        reply: String,
    ) -> u64 {
        /// Find the sender's e-mails.
        #[retry(3, backoff = "200ms")]
        #[timeout("10s")]
        step inbox = FetchEmails { sender };

        /// How does the e-mail sound?
        #[optional]
        step tone = JudgeTone { text: inbox.data[0].subject };

        step length: u64 = (reply.len() + tone.as_ref().map_or(0, String::len)) as u64;

        /// Nobody answers before the length is known.
        #[after(length)]
        step sent = ReplyEmail {
            thread_id: inbox.data[0].thread_id,
            to: inbox.data[0].from,
            subject: format!("Re: {}", inbox.data[0].subject),
            body: reply,
        };

        #[fallback(0)]
        step told = ReplyEmail { thread_id: "log", to: "log", subject: format!("{sent} of {length}"), body: "" };

        told
    }
}

plan! {
    /// Conditions, loops and another plan inside.
    pub AnswerAll(sender: String, urgent_only: bool, names: Vec<String>) -> Vec<Option<u64>> {
        /// Look into the inbox.
        step inbox = FetchEmails { sender };
        /// Judge whoever is named; each may fail.
        #[concurrency(4)]
        #[optional(each)]
        step tones = for name in names { Judge { text: name } };
        /// Answer what is urgent, or all.
        step answers = for mail in inbox.data {
            if mail.urgent || !urgent_only {
                ReplyEmail { thread_id: mail.thread_id, to: mail.from, subject: mail.subject, body: "On it." }
            }
        };
        /// Tell the first one twice.
        step first = if let Some(Some(tone)) = tones.first() {
            Judge { text: tone }
        } else if urgent_only {
            Judge { text: "urgent" }
        } else {
            Judge { text: "calm" }
        };
        #[after(answers, first)]
        step second = Judge { text: "done" };
        step _third = if second.is_empty() && first.len() > 1 { Judge { text: first } };
        answers
    }
}

plan! {
    pub(crate) NotSaid(text: String) -> String {
        step tone = JudgeTone { text };
        tone
    }
}

plan! {
    /// Without inputs and without steps.
    pub Nothing() -> u64 { 1 }
}
