#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Itself() -> String {
        step a = Say { text: a };
        a
    }
}

plan! {
    Two() -> String {
        step a = Say { text: b };
        step b = Say { text: a };
        b
    }
}

plan! {
    Five(filters: Filters) -> String {
        step a = Say { text: b };
        step b = Say { text: format!("c: {}", c) };
        step c = Archive { ids: [d] };
        step d: String = inbox.data[e].subject.clone();
        step e: usize = inbox.data.iter().position(|email| email.id == *a).unwrap_or_default();
        step inbox = FetchEmails { filters };
        format!("{b} {c}")
    }
}

fn main() {}
