//! The example `quickstart` as plain async Rust.

use serde::Deserialize;
use std::error::Error;
use std::{fs, path::Path};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[derive(Deserialize)]
struct Mail {
    address: String,
    data: Vec<Email>,
}

#[derive(Clone, Deserialize)]
struct Person {
    name: String,
    email: String,
}

#[allow(dead_code)]
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Email {
    id: String,
    thread_id: String,
    from: Person,
    subject: String,
    received: String,
}

struct Receipt {
    thread_id: String,
    from: String,
    to: String,
    text: String,
}

async fn fetch_emails(mail: &Mail, sender: &str) -> Result<Vec<Email>> {
    let sender = sender.to_lowercase();
    let mut data = mail.data.clone();
    data.retain(|email| email.from.name.to_lowercase().contains(&sender));
    data.sort_by(|a, b| b.received.cmp(&a.received));
    Ok(data)
}

async fn reply_email(mail: &Mail, thread_id: String, to: String, subject: String, body: String) -> Result<Receipt> {
    if body.is_empty() {
        return Err("there is nothing to send".into());
    }
    Ok(Receipt { thread_id, from: mail.address.clone(), to, text: format!("{subject}\n{body}") })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mailbox = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/mailbox.json");
    let mail: Mail = serde_json::from_str(&fs::read_to_string(mailbox)?)?;
    let inbox = fetch_emails(&mail, "Sarah").await?;
    let latest = inbox.into_iter().next().ok_or("there is no e-mail")?;
    let subject = format!("Re: {}", latest.subject);
    let receipt = reply_email(&mail, latest.thread_id, latest.from.email, subject, "I will read it today.".into()).await?;
    println!("receipt: {} wrote to {} in {}:\n{}", receipt.from, receipt.to, receipt.thread_id, receipt.text);
    Ok(())
}
