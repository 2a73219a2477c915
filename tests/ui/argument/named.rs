#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan(filters: Filters) -> Inbox {
        step missing = ReplyEmail { thread_id: "a", to: "b" };
        step none = Say {};
        step unknown = Say { txt: "a" };
        step unknown_too = Say { text: "a", loud: true };
        step repeated = Say { text: "a", text: "b" };
        step nested_missing = FetchEmails { filters: Filters { sender: "a" } };
        step nested_unknown = FetchEmails { filters: Filters { sender: "a", limit: None, page: 1 } };
        step nested_repeated = FetchEmails { filters: Filters { sender: "a", limit: None, sender: "b" } };
        step rest_required = ReplyEmail { thread_id: "a", .. };
        step unknown_and_missing = ReplyEmail { thread: "a", to: "b", body: "c", cc: None };
        step shorthand = Say { filters };
        step in_json = Log { entry: json!({ "filters": Filters { sendr: "a", limit: None } }) };
        step inbox = FetchEmails { filters };
        inbox
    }
}

plan! {
    Unnamed() {
        step tuple = Say("a");
        step none = Say;
    }
}

fn main() {}
