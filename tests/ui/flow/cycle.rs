#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Condition(filters: Filters) -> Inbox {
        step inbox = FetchEmails { filters };
        step first = if second.total > 3 { Say { text: "a" } } else { Say { text: "b" } };
        step second = FetchEmails { filters: Filters { sender: first, limit: None } };
        inbox
    }
}

plan! {
    List(filters: Filters) -> Inbox {
        step inbox = FetchEmails { filters };
        step rated = for email in found.data { Say { text: email.id } };
        step found = FetchEmails { filters: Filters { sender: rated[0], limit: None } };
        inbox
    }
}

plan! {
    Fallback(filters: Filters) -> Inbox {
        step inbox = FetchEmails { filters };
        #[fallback(format!("{}", second))]
        step first = Say { text: "a" };
        step second = Say { text: first };
        inbox
    }
}

plan! {
    Itself(filters: Filters) -> Inbox {
        step inbox = FetchEmails { filters };
        step own = for x in own { Say { text: x } };
        step let_own = if let Some(x) = &let_own { Say { text: x } };
        inbox
    }
}

fn main() {}
