#![deny(warnings)]

#[path = "../../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan(filters: Filters) -> String {
        step inbox = FetchEmails { filters };
        step field = Say { text: inbox.data[0].subject };
        step formatted = Say { text: format!("{} {}", inbox.data[0].from.email, inbox.total) };
        step key = Log { entry: inbox.labels["odd key"] };
        step every = Archive { ids: inbox.data[..].from.email };
        step asked = ReplyEmail { thread_id: field, to: formatted, body: "b", cc: inbox.data.get(0)?.from.email };
        step raw = Log { entry: inbox.raw["a"][0] };
        step pointer = Log { entry: inbox.raw.pointer("/a~1b/0") };
        step nested = Log { entry: json!({ "data": [inbox.data[0].id, inbox.data[1]], "n": inbox.total }) };
        field
    }
}

fn main() {
    let _ = Plan { filters: Filters { sender: String::new(), limit: None } }.run(&Mail);
}
