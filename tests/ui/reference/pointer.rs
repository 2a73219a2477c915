#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan(filters: Filters) -> String {
        step inbox = FetchEmails { filters };
        step no_slash = Log { entry: inbox.raw.pointer("a/0") };
        step tilde = Log { entry: inbox.raw.pointer("/a~2") };
        step inside = Log { entry: json!({ "a": inbox.raw.pointer("/~"), "b": inbox.raw.pointer("b") }) };
        step shown = Say { text: format!("{}", inbox.raw.pointer("x").y) };
        shown
    }
}

fn main() {}
