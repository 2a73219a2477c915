#[path = "../tools.rs"]
mod tools;

use plan_runtime::run::Mock;
use tools::*;

fn main() {
    let _ = Mock::new().on(|| Ok("a".to_owned()));

    // Only a tool can be answered.
    let _ = Mock::new().on(|Filters { .. }| Ok("a".to_owned()));
    let _ = Mock::new().on(|text: String| Ok(text));
    let _ = Mock::new().on(say);

    // The fields are those of the arguments.
    let _ = Mock::new().on(|Say { txt }| Ok(txt));
    let _ = Mock::new().on(|Say {}| Ok("a".to_owned()));
}
