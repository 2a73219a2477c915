#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Lists(filters: Filters, more: Option<Vec<String>>) -> Inbox {
        step inbox = FetchEmails { filters };
        step _number = for x in inbox.total { Say { text: x } };
        step _struct = for x in inbox.data[0] { Say { text: "a" } };
        step _computed = for x in inbox.total + 1 { Say { text: "a" } };
        step _literal = for x in 3 { Say { text: "a" } };
        step _pairs = for (index, x) in inbox.data[0] { Say { text: "a" } };
        step _absent = for x in more { Say { text: x } };
        step _may_lack = for x in inbox.data.get(0)? { Say { text: "a" } };
        step _field = for x in inbox.dta { Say { text: x.id } };
        step _tail = for x in inbox.data { Say { text: x.id } };
        inbox
    }
}

fn main() {}
