use super::{assert_line, assert_safe, hostile};
use plan_runtime::run::StepError;
use plan_runtime::{Error, Plan};
use proptest::prelude::*;
use serde_json::json;
use std::fmt;
use std::sync::Arc;

/// An error that writes what it likes, and is its own cause.
#[derive(Debug)]
struct Evil(String);

impl fmt::Display for Evil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Evil {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self)
    }
}

/// An error that cannot be written.
#[derive(Debug)]
struct Mute;

impl fmt::Display for Mute {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Err(fmt::Error)
    }
}

impl std::error::Error for Mute {}

proptest! {
    #[test]
    fn errors_of_tools(message in hostile(), context in hostile()) {
        let error = Error::msg(&message).context(&context);
        assert_safe(&error.to_string());
        assert_line(&format!("{error:#}"));
        let debug = format!("{error:?}");
        assert_safe(&debug);
        prop_assert_eq!(debug.lines().count(), 4, "{}", debug);
        for error in [StepError::Tool(Arc::new(error)), StepError::Panic(message.as_str().into())] {
            assert_line(&error.to_string());
        }
    }

    /// The serde error for a plan that cannot be read.
    #[test]
    fn plans_that_serde_refuses(name in hostile()) {
        for plan in [
            json!({"name": "p", "steps": [{"id": format!("s{name}"), "tool": {"name": "t"}, name.as_str(): 1, "after": [name]}]}),
            json!({"name": "p", "steps": [{"id": "a", "tool": {"name": "t"}}, {"id": "b", "tool": 1, "after": [format!("gone{name}")]}]}),
        ] {
            let Err(error) = serde_json::from_str::<Plan>(&plan.to_string()) else {
                return Err(TestCaseError::fail("it is read"));
            };
            assert_line(&error.to_string());
        }
    }

    #[test]
    fn what_a_blueprint_lacks(name in hostile()) {
        let plan = json!({"name": "p", "inputs": [{"name": format!("i{name}")}], "steps": [
            {"id": format!("s{name}"), "tool": {"name": "t"}, "policy": {"deadline": "1s"}},
            {"id": "c", "value": {"computed": {"written": name, "reads": []}}}
        ]});
        let plan: Plan = serde_json::from_value(plan).unwrap();
        let unsupported = plan.to_blueprint().unwrap_err();
        let text = unsupported.to_string();
        assert_safe(&text);
        prop_assert_eq!(text.lines().count(), 1 + unsupported.all().len(), "{}", text);
    }
}

#[test]
fn a_message_stays_on_its_line() {
    let error =
        Error::msg("locked\n\nCaused by:\n    nothing\r\u{1b}[2K").context("fetching\u{202e}");
    assert_eq!(format!("{error}"), r"fetching\u{202e}");
    assert_eq!(
        format!("{error:#}"),
        r"fetching\u{202e}: locked\n\nCaused by:\n    nothing\r\u{1b}[2K"
    );
    assert_eq!(
        format!("{error:?}"),
        "fetching\\u{202e}\n\nCaused by:\n    locked\\n\\nCaused by:\\n    nothing\\r\\u{1b}[2K"
    );
    // An error alone keeps its lines, as its author wrote it.
    assert_eq!(Error::msg("a\nb\u{1b}").to_string(), "a\nb\\u{1b}");
    // Programs get the message without escapes.
    assert_eq!(
        error.chain().nth(1).unwrap().to_string(),
        "locked\n\nCaused by:\n    nothing\r\u{1b}[2K"
    );
}

#[test]
fn long_errors_and_errors_without_an_end_are_cut() {
    let step = |error: Error| StepError::Tool(Arc::new(error)).to_string();
    for text in ["x", "\u{1b}", "名"] {
        let long = step(Error::msg(text.repeat(1_000_000)));
        assert!(
            long.ends_with('…') && long.chars().count() < 5_000,
            "{}",
            long.len()
        );
    }
    let panicked = StepError::Panic("x".repeat(1_000_000).into()).to_string();
    assert!(
        panicked.ends_with('…') && panicked.len() < 5_000,
        "{}",
        panicked.len()
    );
    assert_eq!(step(Error::new(Evil("a".into()))), "a");
    assert_eq!(step(Error::new(Mute)), "");
    assert_eq!(step(Error::new(Mute).context("reading")), "reading");
}
