#[path = "../tools.rs"]
mod tools;

use plan_runtime::{plan, run::Mock};
use tools::*;

plan! {
    Speak(text: String) -> String {
        step said = Say { text };
        said
    }
}

fn spawn(_: impl Future + Send + 'static) {}

fn main() {
    spawn(async {
        let mock = Mock::new().on(|Say { text }| Ok(text));
        Speak { text: "a".into() }.run(&mock).await
    });
}
