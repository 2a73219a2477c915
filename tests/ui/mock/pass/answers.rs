#[path = "../../tools.rs"]
mod tools;

use plan_runtime::run::Mock;
use plan_runtime::{Call, Error, Result, ResultExt};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use tools::*;

fn answered(say: Say) -> Result<String> {
    Ok(say.text)
}

async fn awaited(say: Say) -> Result<String> {
    Ok(say.text)
}

fn main() {
    let _ = Mock::new().on(answered).on(awaited);
    let _ = Mock::new().on(|Say { text }| Ok(text));
    let _ = Mock::new().on(|Say { .. }| Err(Error::msg("busy")));
    let _ = Mock::new().on(|Say { .. }| Ok("a".into()));
    let _ = Mock::new().on(|_: Say| panic!("it must not speak"));
    let _ = Mock::new().on(|_: Say| std::future::pending());
    let _ = Mock::new().on(|Say { text }| Ok(text.parse::<u8>()?.to_string()));
    let _ = Mock::new().on(|Say { text }| Ok(text.parse::<u8>().permanent()?.to_string()));
    let _ = Mock::new().on(|Say { text }| async move { Ok(text.parse::<u8>()?.to_string()) });
    let _ = Mock::new().on(async |Say { text }| Ok(text));
    let _ = Mock::new().on(|Say { text }| {
        if text.is_empty() {
            return Err(Error::permanent("there is no text"));
        }
        Ok(text)
    });

    let mut answers = [Ok("a".to_owned()), Err(Error::msg("busy"))].into_iter();
    let _ = Mock::new().on(move |Say { .. }| answers.next().unwrap());

    // A mock and its answers stay on one thread.
    let shared = Rc::new("a".to_owned());
    let _ = Mock::new().on(move |Say { .. }| Ok(shared.to_string()));
    let shared = Rc::new(RefCell::new(Vec::new()));
    let _ = Mock::new().on(move |Say { text }| {
        let shared = shared.clone();
        async move {
            std::future::ready(()).await;
            shared.borrow_mut().push(text);
            Ok(shared.borrow().concat())
        }
    });
    let mail = Arc::new(Mail);
    let _ = Mock::new().on(move |say: Say| {
        let mail = mail.clone();
        async move { say.call(&mail).await }
    });
}
