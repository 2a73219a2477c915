#![deny(warnings)]

#[path = "../../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan(sender: String, _reserved: u64, #[allow(unused_variables)] later: u64) -> u64 {
        step inbox = FetchEmails { filters: Filters { sender, limit: None } };
        step called_for_its_effect = Say { text: "a" };
        step total: u64 = inbox.total + 1;
        step _ignored: u64 = total + 1;
        total
    }
}

fn main() {
    let _ = Plan { sender: String::new(), _reserved: 1, later: 2 }.run(&Mail);
}
