#[path = "../tools.rs"]
mod tools;

use plan_runtime::run::Mock;
use std::rc::Rc;
use tools::*;

fn main() {
    // The answer to the first call would leave nothing for the second.
    let shared = Rc::new("a".to_owned());
    let _ = Mock::new().on(move |Say { .. }| async move {
        std::future::ready(()).await;
        Ok(shared.to_string())
    });
}
