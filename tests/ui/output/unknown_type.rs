#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    UnknownType(filters: Filters) -> Inbx {
        step inbox = FetchEmails { filters };
        inbox
    }
}

plan! {
    UnknownInput(filters: Filter) -> u64 {
        step inbox = FetchEmails { filters };
        inbox.total
    }
}

plan! {
    UnknownComputed(filters: Filters) -> u64 {
        step inbox = FetchEmails { filters };
        step total: U64 = inbox.total + 1;
        total
    }
}

fn main() {}
