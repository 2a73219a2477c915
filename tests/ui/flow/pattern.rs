#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Patterns(filters: Filters) -> Inbox {
        step inbox = FetchEmails { filters };
        step _pair = for (a, b) in inbox.data { Say { text: a } };
        step _three = for (k, v, w) in inbox.labels { Say { text: k } };
        step _no_entry = for Email { id, titel, .. } in &inbox.data { Say { text: id } };
        step _refutable = for Some(x) in inbox.data.iter().map(|email| email.cc.as_ref()) { Say { text: x.name } };
        step _literal = for 3 in inbox.data { Say { text: "a" } };
        step _broken = for a b in inbox.data { Say { text: a.id } };
        inbox
    }
}

fn main() {}
