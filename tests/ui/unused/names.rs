#![deny(unused_variables, non_snake_case)]

#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan(sender: String, forgotten: u64, _on_purpose: u64) -> Inbox {
        step inbox = FetchEmails { filters: Filters { sender, limit: None } };
        step called_for_its_effect = Say { text: "a" };
        step total: u64 = inbox.total + 1;
        step _ignored: u64 = inbox.total + 1;
        step upperCase = Say { text: "b" };
        step _used = Say { text: upperCase };
        inbox
    }
}

fn main() {
    let unnamed = plan! {
        step inbox = FetchEmails { filters: Filters { sender: "a", limit: None } };
        step total: u64 = inbox.total + 1;
        inbox.next_page
    };
    let _ = unnamed.run(&Mail);
}
