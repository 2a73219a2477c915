#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Itself() {
        #[after(a)]
        step a = Say { text: "a" };
    }
}

plan! {
    Back() -> String {
        #[after(c)]
        step a = Say { text: "a" };
        step b = Say { text: a };
        step c = Say { text: b };
        c
    }
}

plan! {
    Separate() -> String {
        step a = Say { text: b };
        step b = Say { text: a };
        step c = Say { text: format!("{d:?}") };
        step d = Log { entry: json!({ "c": [c] }) };
        step e = Say { text: b };
        e
    }
}

fn main() {}
