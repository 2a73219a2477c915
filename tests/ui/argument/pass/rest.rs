#![deny(warnings)]

#[path = "../../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan(text: String, sender: String) -> Receipt {
        step said = Say { text };
        step inbox = FetchEmails { filters: Filters { sender, .. } };
        step sent = ReplyEmail { thread_id: inbox.data[0].thread_id, to: "a", body: said, .. };
        sent
    }
}

fn main() {
    let _ = Plan { text: String::new(), sender: String::new() }.run(&Mail);
}
