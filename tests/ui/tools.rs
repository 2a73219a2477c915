//! What the plans of this directory call: the tools of a mailbox.
#![allow(dead_code, unused_variables)]

use plan_runtime::{Result, Shape, tool};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

pub struct Mail;

#[derive(Serialize, Deserialize, Shape)]
pub struct Person {
    pub name: String,
    pub email: String,
}

#[derive(Serialize, Deserialize, Shape)]
#[serde(rename_all = "camelCase")]
pub struct Email {
    pub id: String,
    pub thread_id: String,
    pub from: Person,
    pub cc: Option<Person>,
    pub subject: String,
    pub size: u32,
}

#[derive(Serialize, Deserialize, Shape)]
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

#[derive(Serialize, Deserialize, Shape)]
pub struct Receipt {
    pub id: String,
}

/// Finds e-mails that match the filters.
#[tool]
pub async fn fetch_emails(_mail: &Mail, filters: Filters) -> Result<Inbox> {
    todo!()
}

/// Replies to an e-mail.
#[tool]
pub async fn reply_email(
    _mail: &Mail,
    thread_id: String,
    to: String,
    body: String,
    cc: Option<String>,
) -> Result<Receipt> {
    todo!()
}

/// Puts e-mails away.
#[tool]
pub async fn archive(_mail: &Mail, ids: Vec<String>) -> Result<u64> {
    todo!()
}

/// Says how important an e-mail is.
#[tool]
pub async fn rate(
    _mail: &Mail,
    id: String,
    stars: u8,
    weight: f64,
    offset: i32,
    urgent: bool,
) -> Result<Receipt> {
    todo!()
}

/// Passes a text on.
#[tool]
pub async fn say(_mail: &Mail, text: String) -> Result<String> {
    todo!()
}

/// Writes JSON of any kind down.
#[tool]
pub async fn log(_mail: &Mail, entry: Value) -> Result<()> {
    todo!()
}
