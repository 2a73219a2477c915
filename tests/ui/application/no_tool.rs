#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

struct Plain {
    text: String,
}

enum Choice {
    First { text: String },
}

struct Unit;

plan! {
    NoTools(filters: Filters) -> Inbox {
        step plain = Plain { text: "a" };
        step serde = Filters { sender: plain.text, limit: None };
        step variant = Choice::First { text: "a" };
        step unit = Unit;
        step used = Say { text: format!("{}", serde.sender) };
        step name = fetch_emails { filters };
        step called = fetch_emails(filters);
        step inbox = FetchEmails { filters };
        inbox
    }
}

fn main() {}
