//! Plan → canonical JSON → plan.

#[path = "support/plans.rs"]
mod plans;

use plan_runtime::Plan;
use plan_runtime::plan::Template;
use proptest::prelude::*;
use serde_json::{Value, json};

proptest! {
    #[test]
    fn reads_back(plan in plans::plan()) {
        let text = serde_json::to_string(&plan).unwrap();
        match serde_json::from_str::<Plan>(&text) {
            Ok(read) => {
                prop_assert_eq!(serde_json::to_string(&read).unwrap(), text);
                for (a, b) in read.steps.iter().zip(plan.steps.iter()) {
                    prop_assert_eq!(&a.needs, &b.needs);
                    prop_assert_eq!(a.references().len(), b.references().len());
                    prop_assert_eq!(a.reads(), b.reads());
                }
                let sites = read.steps.iter().flat_map(|step| step.actions());
                let sites: Vec<usize> = sites.map(|action| action.site).collect();
                prop_assert_eq!(&sites, &(0..sites.len()).collect::<Vec<_>>());
                let _ = read.to_string();
                prop_assert_eq!(&read, &plan);
            }
            // Only what no plan of an author has: a name twice in what tagging makes one object.
            Err(e) => prop_assert!(e.to_string().contains("is given twice"), "{e}\n{text}"),
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in r#"[{}\[\]",:a-z0-9 ]{0,60}"#) {
        let _ = serde_json::from_str::<Plan>(&text);
        let _ = serde_json::from_str::<Template>(&text);
    }
}

fn refused(json: Value) -> String {
    // Through text, for the errors that a reader sees.
    serde_json::from_str::<Plan>(&json.to_string())
        .unwrap_err()
        .to_string()
        .split(" at line")
        .next()
        .unwrap()
        .to_owned()
}

#[test]
fn what_is_wrong_is_said() {
    let reference = |step: &str| json!({"reference": {"step": step, "pointer": ""}});
    let step = |id: &str, to: &str| json!({"id": id, "tool": {"name": "t"}, "arguments": {"object": {"x": reference(to)}}});
    let plan = |steps: Vec<Value>| json!({"name": "p", "inputs": [{"name": "q"}], "steps": steps});
    assert_eq!(
        refused(plan(vec![step("inbox", "inbx"), step("inbox", "q")])),
        "3 mistakes: the step `inbox` has the name of another step; step `inbox`: there is no step `inbx`; `inbox` is similar; step `inbox`: `q` is an input, and no step"
    );
    assert_eq!(
        refused(plan(vec![step("q", "a"), step("a", "a")])),
        "3 mistakes: the step `q` has the name of another input; steps wait for one another in a cycle: `a` → `a`"
            .replace("3 mistakes", "2 mistakes")
    );
    assert_eq!(
        refused(plan(vec![step("a", "c"), step("b", "a"), step("c", "b")])),
        "steps wait for one another in a cycle: `a` → `c` → `b` → `a`"
    );
    assert_eq!(
        refused(plan(vec![json!({"id": "a"})])),
        "step `a`: without a `tool` it must be a `value`, and have no `arguments`"
    );
    assert_eq!(
        refused(plan(vec![
            json!({"id": "a", "value": {"reference": {"step": 0, "pointer": ""}}})
        ])),
        "step `a`: the step of a reference is given by its name"
    );
    assert_eq!(
        refused(plan(vec![json!({"id": "a", "value": {"objekt": {}}})])),
        "unknown field `objekt`, expected one of `object`, `merge`, `reference`, `text`, `computed`"
    );
    assert_eq!(
        refused(plan(vec![
            json!({"id": "a", "value": {"object": {}, "text": []}})
        ])),
        "a template object has one member, such as {\"object\": …}"
    );
    assert_eq!(
        serde_json::from_str::<Plan>(
            r#"{"name": "p", "output": {"value": {"object": {"a": 1, "a": 2}}}}"#
        )
        .unwrap_err()
        .to_string(),
        "the output: the member `a` is given twice"
    );
    let deep = (0..1000).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(
        serde_json::from_value::<Template>(deep)
            .unwrap_err()
            .to_string(),
        "a template is nested more than 128 levels deep"
    );
}
