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
        step b = Say { text: format!("{}", c) };
        step c = Archive { ids: [d] };
        step d: String = e.subject.clone();
        step e: Email = inbox.data.into_iter().find(|email| email.id == *a).unwrap();
        step inbox = FetchEmails { filters };
        b
    }
}

fn main() {}
