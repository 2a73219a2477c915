#[path = "../tools.rs"]
mod tools;

use plan_runtime::run::Mock;
use tools::*;

fn main() {
    let text = "a".to_owned();
    let _ = Mock::new().on(|Say { .. }| Ok(text.clone()));
}
