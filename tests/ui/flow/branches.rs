#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Branches(filters: Filters) -> Inbox {
        step inbox = FetchEmails { filters };
        step _two = if inbox.total > 3 { Say { text: "a" } } else { Archive { ids: [] } };
        step _three = if inbox.total > 3 { Say { text: "a" } } else if inbox.total > 2 { Say { text: "b" } } else { Log { entry: 1 } };
        step _nested = if inbox.total > 3 { if inbox.total > 5 { Say { text: "a" } } } else { Say { text: "b" } };
        step _loop = if inbox.total > 3 { for x in inbox.data { Say { text: x.id } } } else { Say { text: "b" } };
        inbox
    }
}

fn main() {}
