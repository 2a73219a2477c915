#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Conditions(filters: Filters, urgent: Option<bool>, wanted: bool) -> Inbox {
        step inbox = FetchEmails { filters };
        step _number = if inbox.total { Say { text: "a" } };
        step _text = if inbox.data[0].subject { Say { text: "a" } };
        step _literal = if "yes" { Say { text: "a" } };
        step _option = if urgent { Say { text: "a" } };
        step _computed = if inbox.data.len() { Say { text: "a" } };
        step _computed_option = if inbox.next_page.as_ref() { Say { text: "a" } };
        step _assigned = if inbox.total = 3 { Say { text: "a" } };
        step _in_else = if wanted { Say { text: "a" } } else if inbox.total { Say { text: "b" } };
        step _let = if let Some(page) = inbox.total { Say { text: page } };
        step _let_chain = if let Some(page) = &inbox.next_page && page { Say { text: page } };
        inbox
    }
}

fn main() {}
