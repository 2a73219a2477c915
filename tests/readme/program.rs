use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Shape)]
struct Email {
    thread: String,
    from: String,
}

#[tool]
async fn find_emails(sender: String) -> Result<Vec<Email>> {
    let from = format!("{sender}@example.org");
    Ok(vec![Email { thread: "t-92".into(), from }])
}

#[tool]
async fn send_reply(thread: String, to: String, body: String) -> Result<String> {
    Ok(format!("{thread} to {to}: {body}"))
}

plan! {
    Reply(sender: String, text: String) -> String {
        step emails = FindEmails { sender };
        step sent = SendReply {
            thread: emails[0].thread,
            to: emails[0].from,
            body: format!("Dear {sender}, {text}"),
        };
        sent
    }
}

fn main() -> Result<()> {
    println!("{}", Reply::PLAN);
    let plan = Reply { sender: "sarah".into(), text: "gladly!".into() };
    println!("{}", smol::block_on(plan.run(&()))?);
    Ok(())
}
