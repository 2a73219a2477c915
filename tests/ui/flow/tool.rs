#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Tools(filters: Filters) -> Inbox {
        step inbox = FetchEmails { filters };
        step _unknown = for x in inbox.data { Sayy { text: x.id } };
        step _unknown_if = if inbox.total > 3 { Say { text: "a" } } else { Sya { text: "b" } };
        inbox
    }
}

fn main() {}
