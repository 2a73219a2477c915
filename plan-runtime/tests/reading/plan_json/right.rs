//! Correct documents, similar to the wrong ones in the other tables.

use super::plans;
use crate::writing::is_of_times;
use plan_runtime::Plan;
use plan_runtime::dynamic::{Code, Dialect, DocumentLimits, Reader};
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A correct document, similar to the wrong ones above.
#[test]
fn what_is_right() {
    let document = r#"{"name": "p", "inputs": [{"name": "q"}], "steps": [
        {"id": "a", "tool": {"name": "t"}, "after": [], "intent": "Why."},
        {"id": "b", "for": {"pattern": "x", "list": [1], "body": {"if": [
            {"pattern": "Some(y)", "value": {"reference": {"local": 0, "pointer": ""}}, "then": {
                "tool": {"name": "u"},
                "arguments": {"merge": [{"object": {"l": {"reference": {"local": 1, "pointer": "/a~1b"}}}}, null, {"merge": [{"object": {"m": {"object": {}}}}]}]}
            }},
            {"all": [
                {"pattern": "Some(z)", "value": {"computed": {"written": "q", "reads": [{"input": "q"}]}}},
                {"reference": {"local": 1, "pointer": "/ok"}}
            ], "then": {
                "tool": {"name": "u"}, "arguments": {"object": {"l": {"reference": {"local": 1, "pointer": "/k"}}}}
            }},
            {"condition": true, "then": {"value": {"text": ["a", {"value": 1, "spec": ">8"}]}}},
            {"then": {"value": null}}
        ]}}, "after": ["a"], "policy": {"timeout": "1m 30s", "optional": "no", "fallback": null}},
        {"id": "c", "value": {"reference": {"input": "q", "optional": true, "path": [
            "a", {"token": "0", "absent": "null"}, {"each": "element", "optional": true},
            {"token": "b", "absent": {"default": [1]}}, {"token": "c", "absent": "end", "optional": true}
        ], "else": null}}}
    ], "output": {"type": "u8", "value": {"computed": {"written": "c + 1", "reads": [{"step": "c"}]}}}}"#;
    let read = Reader::new().read(document).unwrap();
    assert_eq!(read.dialect(), Dialect::PlanJson);
    assert!(read.warnings().is_empty());
    assert_eq!(
        read.plan(),
        &serde_json::from_str::<Plan>(document).unwrap()
    );
    let printed = r#"plan p -> u8
  input q

  step a = t  // Why.
    // starts at once

  #[timeout("1m 30s")]
  #[fallback(null)]
  step b = for x in [1] {
    if let Some(y) = x {
      u
        l: y["a/b"]
        m: {}
    } else if let Some(z) = q && z.ok {
      u
        l: z.k
    } else if true {
      format!("a{:>8}", 1)
    } else {
      null
    }
  }
    // needs a
    // after a

  step c = q?.a[0].or(null)[..]?.b.or([1]).get("c")?.unwrap_or(null)

  output c + 1
"#;
    assert_eq!(read.plan().to_string(), printed);
}

static READ: AtomicUsize = AtomicUsize::new(0);

#[test]
fn round_trip() {
    each_round_trip();
    let read = READ.load(Ordering::Relaxed);
    assert!(read > 200, "only {read} are read");
}

proptest! {
    /// Written, recognized, read, and equal.
    fn each_round_trip(mut plan in plans::plan()) {
        plan.name = "p".into();
        let text = serde_json::to_string_pretty(&plan).unwrap();
        let limits = DocumentLimits::DEFAULT.time(Duration::MAX);
        match Reader::new().limits(limits).read(&text) {
            Ok(read) => {
                prop_assert_eq!(read.dialect(), Dialect::PlanJson);
                prop_assert_eq!(read.plan(), &plan);
                // A string that names a step in another notation stays literal.
                let mut warnings = read.warnings().iter();
                prop_assert!(warnings.all(|it| it.code == Code::MalformedReference || is_of_times(it)));
                READ.fetch_add(1, Ordering::Relaxed);
            }
            // Only a plan that no author writes: a duplicate name in the single object that tagging produces.
            Err(findings) => prop_assert!(
                findings.iter().all(|it| it.code == Code::DuplicateMember),
                "{findings}\n{text}"
            ),
        }
    }
}
