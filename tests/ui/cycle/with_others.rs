#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan() -> u64 {
        step a = Say { text: b.lenght };
        step b = FetchEmails { filters: Filters { sender: a, limit: "x" } };
        unknown
    }
}

fn main() {
    let _ = Plan {}.run(&Mail);
}
