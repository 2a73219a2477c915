use plan_runtime::{Error, Result, Shape, tool};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// The application: a mailbox in memory.
#[derive(Default)]
pub struct Mail {
    pub received: Vec<Email>,
    /// The sent e-mails, as `recipient: text`.
    pub sent: Mutex<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
pub struct Person {
    pub name: String,
    pub email: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
#[serde(rename_all = "camelCase")]
pub struct Email {
    pub id: String,
    pub thread_id: String,
    pub from: Person,
    pub cc: Option<Person>,
    pub subject: String,
    pub size: u32,
}

#[derive(Debug, Serialize, Deserialize, Shape)]
pub struct Inbox {
    pub data: Vec<Email>,
    pub next_page: Option<String>,
    pub total: u64,
    pub labels: BTreeMap<String, u32>,
    pub raw: Value,
}

#[derive(Serialize, Deserialize, Shape)]
pub struct Filters {
    pub sender: String,
    pub limit: Option<u32>,
}

#[derive(Debug, Serialize, Deserialize, Shape)]
pub struct Receipt {
    pub id: String,
}

/// Finds e-mails that match the filters.
#[tool(read_only)]
pub async fn fetch_emails(mail: &Mail, filters: Filters) -> Result<Inbox> {
    let matches = |email: &&Email| email.from.name.starts_with(&filters.sender);
    let data: Vec<Email> = mail.received.iter().filter(matches).cloned().collect();
    let next_page = filters.limit.map(|_| "page-2".to_owned());
    Ok(Inbox {
        total: data.len() as u64,
        labels: BTreeMap::from([("work/urgent".to_owned(), 7)]),
        raw: serde_json::json!({ "folders": [{ "name": "inbox" }] }),
        data,
        next_page,
    })
}

/// Replies to an e-mail.
#[tool]
pub async fn reply_email(
    mail: &Mail,
    /// The conversation of the e-mail.
    thread_id: String,
    to: String,
    body: String,
    cc: Option<String>,
) -> Result<Receipt> {
    if body.is_empty() {
        return Err(Error::permanent("there is nothing to send"));
    }
    let cc = cc.map(|cc| format!(", {cc}")).unwrap_or_default();
    mail.sent.lock().unwrap().push(format!("{to}{cc}: {body}"));
    Ok(Receipt {
        id: format!("re-{thread_id}"),
    })
}

/// Archives e-mails and returns their number.
#[tool]
pub async fn archive(_mail: &Mail, ids: Vec<String>) -> Result<u64> {
    Ok(ids.len() as u64)
}

/// Returns a text.
#[tool]
pub async fn say(_mail: &Mail, text: String) -> Result<String> {
    Ok(text)
}

impl Mail {
    /// Returns a mailbox with an e-mail from Sarah and one from Sam.
    pub fn example() -> Self {
        let email = |id: &str, name: &str, subject: &str, cc: Option<&str>| {
            let person = |name: &str| Person {
                name: name.to_owned(),
                email: format!("{}@example.org", name.to_lowercase()),
            };
            Email {
                id: id.to_owned(),
                thread_id: format!("t-{id}"),
                from: person(name),
                cc: cc.map(person),
                subject: subject.to_owned(),
                size: 2048,
            }
        };
        Self {
            received: vec![
                email("1", "Sarah", "Lunch?", None),
                email("2", "Sam", "The numbers", Some("Tom")),
            ],
            sent: Mutex::default(),
        }
    }
}

/// Waits.
#[tool(read_only)]
pub async fn wait(_mail: &Mail, millis: u64) -> Result<u64> {
    Ok(millis)
}

/// Counts the letters of a text.
#[tool(read_only)]
pub async fn count(_mail: &Mail, text: String, from: u64) -> Result<u64> {
    Ok(text.len() as u64 + from)
}

/// Writes an entry into a log.
#[tool]
pub async fn log(_mail: &Mail, entry: Value) -> Result<()> {
    let _ = entry;
    Ok(())
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
pub struct Taste {
    pub size: u32,
    pub name: Option<String>,
}

/// Remembers a taste.
#[tool]
pub async fn prefer(_mail: &Mail, taste: Taste) -> Result<Taste> {
    Ok(taste)
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Shape)]
pub enum Mode {
    Fast,
    Slow,
}

/// Sets a mode.
#[tool]
pub async fn set_mode(_mail: &Mail, mode: Mode) -> Result<Mode> {
    Ok(mode)
}
