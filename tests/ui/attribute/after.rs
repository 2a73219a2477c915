#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan(input: String) -> String {
        step first = Say { text: input };
        #[after]
        step bare = Say { text: "a" };
        #[after()]
        step empty = Say { text: "a" };
        #[after(1)]
        step number = Say { text: "a" };
        #[after("first")]
        step text = Say { text: "a" };
        #[after(first.id)]
        step path = Say { text: "a" };
        #[after = "first"]
        step value = Say { text: "a" };
        #[after(frist)]
        step unknown = Say { text: "a" };
        #[after(something_else, nothing)]
        step two = Say { text: "a" };
        #[after(input)]
        step of_input = Say { text: "a" };
        #[after(first first)]
        step no_comma = Say { text: "a" };
        #[aftr(first)]
        step similar = Say { text: "a" };
        #[derive(Debug)]
        step other = Say { text: "a" };
        #[cfg(test)]
        step conditional = Say { text: "a" };
        #![after(first)]
        step inner = Say { text: "a" };
        #[after(first)
        ]
        step fine = Say { text: "a" };
        first
    }
}

plan! {
    Tail() -> String {
        step first = Say { text: "a" };
        #[after(first)]
        first
    }
}

fn main() {}
