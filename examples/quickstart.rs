//! Replies to the latest e-mail from Sarah, out of a mailbox that is read from `examples/mailbox.json`.

use plan_runtime::{Error, Result, Shape, Terminal, plan, tool};
use serde::{Deserialize, Serialize};
use std::{fs, path::Path};

/// The application, which all tools share.
#[derive(Deserialize)]
struct Mail {
    address: String,
    data: Vec<Email>,
}

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Person {
    name: String,
    email: String,
}

#[derive(Clone, Serialize, Deserialize, Shape)]
#[serde(rename_all = "camelCase")]
struct Email {
    id: String,
    thread_id: String,
    from: Person,
    subject: String,
    received: String,
}

#[derive(Serialize, Deserialize, Shape)]
struct Filters {
    sender: String,
}

#[derive(Serialize, Deserialize, Shape)]
struct Inbox {
    data: Vec<Email>,
}

#[derive(Serialize, Deserialize, Shape)]
struct Receipt {
    thread_id: String,
    from: String,
    to: String,
    text: String,
}

/// Finds e-mails that match the filters, the latest first.
#[tool]
async fn fetch_emails(mail: &Mail, filters: Filters) -> Result<Inbox> {
    let sender = filters.sender.to_lowercase();
    let mut data = mail.data.clone();
    data.retain(|email| email.from.name.to_lowercase().contains(&sender));
    data.sort_by(|a, b| b.received.cmp(&a.received));
    Ok(Inbox { data })
}

/// Replies to an e-mail.
#[tool]
async fn reply_email(
    mail: &Mail,
    thread_id: String,
    to: String,
    subject: String,
    body: String,
) -> Result<Receipt> {
    if body.is_empty() {
        return Err(Error::permanent("there is nothing to send"));
    }
    Ok(Receipt {
        thread_id,
        from: mail.address.clone(),
        to,
        text: format!("{subject}\n{body}"),
    })
}

plan! {
    /// Replies to the most recent e-mail from a sender.
    ReplyToLatest(sender: String, reply: String) -> Receipt {
        /// Find the sender's e-mails.
        step inbox = FetchEmails { filters: Filters { sender } };

        /// Answer the latest.
        step sent = ReplyEmail {
            thread_id: inbox.data[0].thread_id,
            to: inbox.data[0].from.email,
            subject: format!("Re: {}", inbox.data[0].subject),
            body: reply,
        };

        sent
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mailbox = Path::new(env!("CARGO_MANIFEST_DIR")).join("mailbox.json");
    let mail: Mail = serde_json::from_str(&fs::read_to_string(mailbox)?)?;

    // The plan is data that exists before a run.
    let terminal = Terminal::stdout();
    println!("{}", terminal.plan(ReplyToLatest::PLAN));

    let plan = ReplyToLatest {
        sender: "Sarah".into(),
        reply: "I will read it today.".into(),
    };
    let (receipt, report) = plan.run(&mail).capture_arguments(true).with_report().await;

    println!("what each step was given:");
    for step in report.steps() {
        println!("  {}", step.id());
        let arguments = step.arguments().and_then(|value| value.as_object());
        for (name, value) in arguments.into_iter().flatten() {
            println!("    {name}: {value}");
        }
    }
    println!("\n{}", terminal.report(&report));

    let receipt = receipt?;
    println!(
        "\nreceipt: {} wrote to {} in {}:",
        receipt.from, receipt.to, receipt.thread_id
    );
    println!("{}", receipt.text);
    Ok(())
}
