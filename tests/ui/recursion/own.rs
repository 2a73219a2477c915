//! A plan that is a step of itself, in each place of a call.

#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    pub Announce(text: String) -> String {
        step said = Say { text };
        step again = Announce { text: said };
        again
    }
}

plan! {
    Rarely(text: String, words: Vec<String>) -> String {
        step said = Say { text };
        step maybe = if said.is_empty() { r#Rarely { text, words } };
        step all = for word in words { if word.is_empty() { Rarely { text: word, words: [] } } else { Rarely { text, words } } };
        said
    }
}

plan! {
    /// Its arguments are wrong, too, which is another mistake.
    Unit() {
        #[retry(3)]
        step first = Unit;
        step second = Unit { text: firts };
    }
}

fn main() {
    let _ = Announce { text: String::new() }.run(&Mail);
    let _ = Rarely { text: String::new(), words: Vec::new() }.run(&Mail);
}
