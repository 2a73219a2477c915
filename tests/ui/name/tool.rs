#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plain(filters: Filters) -> u64 {
        step inbox = FetchEmail { filters };
        step sent = tools::ReplyEmial { thread_id: inbox.data[0].thread_id, to: "a", body: "b", cc: None };
        step said = Say { text: sent.id };
        inbox.total
    }
}

plan! {
    Literal(sender: String) -> u64 {
        step inbox = FetchEmails { filters: Filter { sender, limit: None } };
        inbox.total
    }
}

fn main() {
    let _ = Literal { sender: String::new() }.run(&Mail);
}
