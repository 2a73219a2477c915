#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Bodies(filters: Filters) -> Inbox {
        step inbox = FetchEmails { filters };
        step _reference = if inbox.total > 3 { inbox.next_page };
        step _text = if inbox.total > 3 { "a" };
        step _function = for x in inbox.data { say(x.id) };
        step _computed = for x in inbox.data { x.id.len() };
        step _two = for x in inbox.data { Say { text: x.id } Say { text: x.id } };
        step _statement = for x in inbox.data { Say { text: x.id }; };
        step _step = for x in inbox.data { step y = Say { text: x.id }; };
        step _empty = for x in inbox.data {};
        step _empty_else = if inbox.total > 3 { Say { text: "a" } } else {};
        step _no_tool = for x in inbox.data { Person { name: x.id, email: x.id } };
        step _unknown_tool = for x in inbox.data { Sayy { text: x.id } };
        step _match = match inbox.total { 0 => Say { text: "a" } };
        step _while = while inbox.total > 3 { Say { text: "a" } };
        inbox
    }
}

fn main() {}
