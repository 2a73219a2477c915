#![deny(warnings)]

#[path = "../../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan(text: String) -> String {
        step d = Say { text: format!("{b} {c}") };
        step c = Say { text: a };
        #[after(c)]
        step b = Say { text: a };
        step a = Say { text };
        // A closure's own `d` is not a step.
        step e: usize = [1, 2].iter().map(|d| d + a.len()).sum();
        #[after(e)]
        step f = Say { text: d };
        f
    }
}

fn main() {
    let _ = Plan { text: String::new() }.run(&Mail);
}
