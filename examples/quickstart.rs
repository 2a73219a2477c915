use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};

pub struct Mail;

#[derive(Serialize, Deserialize, Shape)]
pub struct Person {
    pub email: String,
}
#[derive(Serialize, Deserialize, Shape)]
#[serde(rename_all = "camelCase")]
pub struct Email {
    pub id: String,
    pub thread_id: String,
    pub from: Person,
    pub subject: String,
    pub cc: Option<Person>,
}
#[derive(Serialize, Deserialize, Shape)]
pub struct Inbox {
    pub data: Vec<Email>,
    pub next: Option<String>,
}
#[derive(Serialize, Deserialize, Shape)]
pub struct Filters {
    pub sender: String,
}
#[derive(Serialize, Deserialize, Shape, Debug)]
pub struct Receipt {
    pub text: String,
}

/// Finds e-mails that match the filters.
#[tool]
pub async fn fetch_emails(_mail: &Mail, filters: Filters) -> Result<Inbox> {
    Ok(Inbox {
        data: vec![Email {
            id: "1".into(),
            thread_id: "t".into(),
            from: Person {
                email: filters.sender,
            },
            subject: "Hi".into(),
            cc: None,
        }],
        next: None,
    })
}
/// Replies.
#[tool]
pub async fn reply_email(
    _mail: &Mail,
    thread_id: String,
    to: String,
    subject: String,
    body: String,
    cc: Option<String>,
) -> Result<Receipt> {
    Ok(Receipt {
        text: format!("{thread_id} {to} {subject} {body} {cc:?}"),
    })
}

plan! {
    /// Replies to the most recent e-mail from a sender.
    pub ReplyToLatest(sender: String, reply: String) -> Receipt {
        /// Find the sender's e-mails.
        step inbox = FetchEmails { filters: Filters { sender } };

        step n: usize = inbox.data.len() + 1;

        step sent = ReplyEmail {
            thread_id: inbox.data[0].thread_id,
            to: inbox.data[0].from.email,
            subject: format!("Re: {} {n:>4}", inbox.data[0].subject),
            body: reply,
            cc: inbox.data[0].cc?.email,
        };

        sent
    }
}

fn main() {
    println!("{}", ReplyToLatest::PLAN);
    let receipt = smol::block_on(
        ReplyToLatest {
            sender: "sarah".into(),
            reply: "On it.".into(),
        }
        .run(&Mail),
    );
    println!("{receipt:?}");
    let p = plan! { step a = FetchEmails { filters: Filters { sender: "x" } }; a.data[..].subject };
    println!("{p} {:?}", smol::block_on(p.run(&Mail)));
}
