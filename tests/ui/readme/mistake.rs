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
    Ok(vec![Email { thread_id: "t-92".into(), from, subject: "Lunch?".into() }])
}

/// Replies to an e-mail.
#[tool]
async fn reply_email(thread_id: String, to: String, subject: String, body: String) -> Result<String> {
    Ok(format!("{thread_id} to {to}: {subject}: {body}"))
}

plan! {
    /// Replies to the latest e-mail from a sender.
    ReplyToLatest(sender: String, reply: String) -> String {
        /// Find the sender's e-mails.
        step emails = FindEmails { sender };

        step sent = ReplyEmail {
            thread_id: emails[0].threadid,
            to: emails[0].from,
            subject: format!("Re: {}", emails[0].subject),
            body: reply,
        };

        sent
    }
}

fn main() -> Result<()> {
    println!("{}", ReplyToLatest::PLAN); // the plan is data, and nothing has run yet

    let plan = ReplyToLatest { sender: "sarah".into(), reply: "With pleasure.".into() };
    let sent = smol::block_on(plan.run(&()))?;
    println!("{sent}");
    assert_eq!(sent, "t-92 to sarah@example.org: Re: Lunch?: With pleasure.");
    Ok(())
}
