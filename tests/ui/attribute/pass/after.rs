#![deny(warnings)]

#[path = "../../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan() -> String {
        #[after(second, third)]
        step first = Say { text: "a" };
        step second = Say { text: "a" };
        step other = Say { text: "a" };
        #[after(second)]
        /// Between two attributes.
        #[after(other)]
        step third = Say { text: "a" };
        first
    }
}

fn main() {
    let _ = Plan {}.run(&Mail);
}
