#[path = "../tools.rs"]
mod tools;

use plan_runtime::run::Mock;
use plan_runtime::{Error, Result};
use tools::*;

fn main() {
    // The tool returns a `String`.
    let _ = Mock::new().on(|Say { .. }| Ok(5));
    let _ = Mock::new().on(|Say { text }| text);
    let _ = Mock::new().on(|Say { text }| {
        let _: Result<String> = Ok(text);
    });
    let _ = Mock::new().on(|Say { .. }| async { Ok(5) });
    let _ = Mock::new().on(|Say { .. }| async { "a".to_owned() });

    // An error is one of this crate, into which `?` converts others.
    let _ = Mock::new().on(|Say { .. }| Err("busy"));
    let _ = Mock::new().on(|Say { text }| -> Result<String, std::num::ParseIntError> {
        Ok(text.parse::<u8>()?.to_string())
    });

    // What a closure returns at all is decided first.
    let _ = Mock::new().on(|Say { text }| if text.is_empty() { Err(Error::msg("a")) } else { Ok(5) });
}
