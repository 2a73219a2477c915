#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Syntax(filters: Filters) -> Inbox {
        step inbox = FetchEmails { filters };
        step _no_braces = if inbox.total > 3 Say { text: "a" };
        step _no_braces_for = for x in inbox.data Say { text: x.id };
        step _no_body = if inbox.total > 3;
        step _no_body_for = for x in inbox.data;
        step _no_condition = if { Say { text: "a" } };
        step _no_in = for x inbox.data { Say { text: "a" } };
        step _of = for x of inbox.data { Say { text: "a" } };
        step _no_list = for x in { Say { text: "a" } };
        step _no_pattern = for in inbox.data { Say { text: "a" } };
        step _alone = else { Say { text: "a" } };
        step _else_without = if inbox.total > 3 { Say { text: "a" } } else Say { text: "b" };
        step _elif = if inbox.total > 3 { Say { text: "a" } } elif inbox.total > 2 { Say { text: "b" } };
        step _behind = if inbox.total > 3 { Say { text: "a" } } else { Say { text: "b" } } else { Say { text: "c" } };
        step _let = if let Some(x) inbox.next_page { Say { text: "a" } };
        step _question = if inbox.next_page? == "a" { Say { text: "a" } };
        inbox
    }
}

fn main() {}
