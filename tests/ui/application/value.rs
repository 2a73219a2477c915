//! A plan borrows the application.
#[path = "../tools.rs"]
mod tools;

use plan_runtime::{plan, run::Mock};
use std::sync::Arc;
use tools::*;

plan! {
    Speak(text: String) -> String {
        step said = Say { text };
        said
    }
}

fn main() {
    let speak = || Speak { text: String::new() };
    let _ = speak().run(Mail);
    let _ = speak().run(Mock::new());
    let _ = speak().run(Arc::new(Mail));
    let _ = speak().run();
}
