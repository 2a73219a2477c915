#[path = "../tools.rs"]
mod tools;

use plan_runtime::run::Mock;
use std::rc::Rc;
use tools::*;

fn main() {
    let shared = Rc::new("a".to_owned());
    let _ = Mock::new().on(move |Say { .. }| Ok(shared.to_string()));
    let shared = Rc::new("a".to_owned());
    let _ = Mock::new().on(|Say { .. }| async move {
        std::future::ready(()).await;
        Ok(shared.to_string())
    });
}
