//! Runs that resume with a changed plan: each edit, at each position of the crash.

use super::rough::Rough;
use super::support::{Driven, Goes, World};
use plan_runtime::Plan;
use plan_runtime::dynamic::Toolbox;
use plan_runtime::journal::JournalError;
use plan_runtime::run::Run;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A document with a step before, a block in a list, a loop, an `if`, and a step after.
fn document() -> Value {
    let act = |n: Value| json!({"tool": {"name": "act"}, "arguments": {"object": {"n": n}}});
    let step = |id: &str, mut body: Value, after: &[&str]| {
        body["id"] = id.into();
        if !after.is_empty() {
            body["after"] = json!(after);
        }
        body
    };
    let of = |id: &str| json!({"reference": {"step": id, "pointer": ""}});
    let block = json!({"block": {
        "inputs": {"x": {"reference": {"local": 0, "pointer": ""}}},
        "steps": [
            step("one", act(json!({"reference": {"input": "x", "pointer": ""}})), &[]),
            step("two", act(json!(2)), &["one"]),
        ],
        "value": [of("one"), of("two")],
    }});
    json!({
        "name": "changed",
        "steps": [
            step("first", act(json!(1)), &[]),
            step("each", json!({"for": {"pattern": "x", "list": [1, 2], "body": block}, "policy": {"concurrency": 1}}), &["first"]),
            step("chosen", json!({"if": [{"condition": true, "then": act(json!(3))}]}), &["each"]),
            step("last", act(json!(4)), &["chosen"]),
        ],
        "output": {"value": [of("first"), of("each"), of("chosen"), of("last")]},
    })
}

/// The calls, in their order.
const CALLS: [&str; 7] = [
    "first",
    "each[0].one",
    "each[0].two",
    "each[1].one",
    "each[1].two",
    "chosen",
    "last",
];

struct Edit {
    what: &'static str,
    edit: fn(&mut Value),
    /// The call from whose record on the edit is refused, with the message.
    refused: Option<(&'static str, &'static str)>,
}

impl Edit {
    fn until(self, call: &'static str, words: &'static str) -> Self {
        Self {
            refused: Some((call, words)),
            ..self
        }
    }
}

fn edits() -> Vec<Edit> {
    fn edit(what: &'static str, edit: fn(&mut Value)) -> Edit {
        Edit {
            what,
            edit,
            refused: None,
        }
    }
    fn remove(plan: &mut Value, place: usize) {
        plan["steps"].as_array_mut().unwrap().remove(place);
        let output: Vec<Value> = plan["steps"]
            .as_array()
            .unwrap()
            .iter()
            .map(|step| json!({"reference": {"step": step["id"], "pointer": ""}}))
            .collect();
        plan["output"]["value"] = output.into();
    }
    fn block(plan: &mut Value) -> &mut Value {
        &mut plan["steps"][1]["for"]["body"]["block"]
    }
    fn act(id: &str, n: u64) -> Value {
        json!({"id": id, "tool": {"name": "act"}, "arguments": {"object": {"n": n}}})
    }
    vec![
        edit("nothing", |_| {}),
        edit("an intent", |plan| plan["steps"][0]["intent"] = "to begin".into()),
        edit("the words of a tool", |plan| plan["steps"][0]["tool"]["description"] = "Acts.".into()),
        edit("the words of a tool in a block", |plan| block(plan)["steps"][0]["tool"]["description"] = "Acts.".into()),
        edit("attempts", |plan| plan["steps"][0]["policy"] = json!({"attempts": 3})),
        edit("a time limit", |plan| plan["steps"][1]["policy"]["timeout"] = "1h".into()),
        edit("the output", |plan| plan["output"]["value"] = json!(null)),
        edit("a step is added at the end", |plan| plan["steps"].as_array_mut().unwrap().push(act("more", 9))),
        edit("a step is added at the beginning", |plan| plan["steps"].as_array_mut().unwrap().insert(0, act("more", 9))),
        edit("the order of the text", |plan| plan["steps"].as_array_mut().unwrap().reverse()),
        edit("a step is added in a block", |plan| block(plan)["steps"].as_array_mut().unwrap().push(act("three", 9))),
        edit("the name of a plan", |plan| plan["name"] = "other".into()),
        edit("an argument of the first", |plan| plan["steps"][0]["arguments"]["object"]["n"] = 8.into())
            .until("first", "step `first` has already run, but was changed: its argument `n` changed from 1 to 8"),
        edit("the tool of the first", |plan| plan["steps"][0]["tool"]["name"] = "undo".into())
            .until("first", "step `first` has already run, but was changed: its `tool` changed from {\"name\":\"act\"} to {\"name\":\"undo\"}"),
        edit("the first is gone", |plan| { remove(plan, 0); plan["steps"][0].as_object_mut().unwrap().remove("after"); })
            .until("first", "step `first` has already run, but is missing in the plan"),
        edit("the first is optional", |plan| plan["steps"][0]["policy"] = json!({"optional": "whole"}))
            .until("first", "step `first` has already run, but was changed: it has `optional` now"),
        edit("the first is always", |plan| { plan["steps"][0]["fallback"] = json!(3); plan["steps"][0].as_object_mut().unwrap().remove("fallback"); plan["steps"][0]["policy"] = json!({"fallback": 3}); })
            .until("first", "step `first` has already run, but was changed: it has `fallback` now"),
        edit("the list", |plan| plan["steps"][1]["for"]["list"] = json!([1, 2, 3]))
            .until("each[0].one", "step `each` has already run, but was changed: its `for` changed"),
        edit("the block is a call", |plan| plan["steps"][1]["for"]["body"] = json!({"tool": {"name": "act"}, "arguments": {"object": {"n": 1}}}))
            .until("each[0].one", "step `each` has already run, but was changed: its `for` changed"),
        edit("what the block gets", |plan| block(plan)["inputs"]["x"] = json!(7))
            .until("each[0].one", "step `each` has already run, but was changed: its `x` changed"),
        edit("a step in the block", |plan| block(plan)["steps"][0]["arguments"]["object"]["n"] = 8.into())
            .until("each[0].one", "step `each[0].one` has already run, but was changed: its argument `n` changed"),
        edit("the second step in the block", |plan| block(plan)["steps"][1]["arguments"]["object"]["n"] = 8.into())
            .until("each[0].two", "step `each[0].two` has already run, but was changed: its argument `n` changed"),
        edit("the second step in the block is gone", |plan| {
            block(plan)["steps"].as_array_mut().unwrap().pop();
            block(plan)["value"].as_array_mut().unwrap().pop();
        })
            .until("each[0].two", "step `each[0].two` has already run, but is missing in the plan"),
        edit("what the block gives", |plan| block(plan)["value"].as_array_mut().unwrap().reverse())
            .until("each[0].two", "step `each` has already run, but was changed: its `value` changed"),
        edit("a condition", |plan| plan["steps"][2]["if"][0]["condition"] = json!(false))
            .until("chosen", "step `chosen` has already run, but was changed: its `if` changed"),
        edit("a branch", |plan| plan["steps"][2]["if"][0]["then"]["arguments"]["object"]["n"] = 8.into())
            .until("chosen", "step `chosen` has already run, but was changed: its `if` changed"),
        edit("the last is gone", |plan| remove(plan, 3))
            .until("last", "step `last` has already run, but is missing in the plan"),
        edit("the last is caught", |plan| plan["steps"][3]["policy"] = json!({"catch": true}))
            .until("last", "step `last` has already run, but was changed: it has `catch` now"),
    ]
}

#[test]
fn each_edit_goes_on_or_is_refused() {
    let toolbox = Toolbox::new()
        .with::<super::support::Act>()
        .with::<super::support::Undo>();
    let plan = |document: &Value| -> Plan { serde_json::from_value(document.clone()).unwrap() };
    let old = plan(&document());
    let edits = edits();
    assert!(edits.len() >= 20);
    for Edit {
        what,
        edit,
        refused,
    } in &edits
    {
        let mut document = document();
        edit(&mut document);
        let new = plan(&document);
        for (place, at) in CALLS.iter().enumerate() {
            let (world, journal) = (World::new(), Rough::new());
            let run = |plan| toolbox.run(plan, (), &world).durable(&journal, "r");
            world.on(at, &[Goes::Hangs]);
            let mut first = Driven::new(run(&old));
            let ended = first.settle();
            assert!(ended.is_pending(), "{ended:?}");
            drop(first);
            let recorded: BTreeSet<&str> = CALLS[..place].iter().copied().collect();
            assert_eq!(world.called(), CALLS[..=place].join(" "));
            world.all_well();
            let result = Driven::new(run(&new)).ended();
            let called = world.called();
            match refused.filter(|(call, _)| recorded.contains(call)) {
                None => {
                    assert!(result.is_ok(), "{what}, at {at}: {result:?}");
                    let again = called.split(' ').find(|call| recorded.contains(call));
                    assert_eq!(again, None, "{what}, at {at}");
                }
                Some((_, words)) => {
                    let error = result.unwrap_err().to_string();
                    assert!(
                        error.contains("run `r` already exists with another plan: ")
                            && error.contains(words),
                        "{what}, at {at}: {error}"
                    );
                    assert_eq!(called, "");
                    // The original plan resumes the run.
                    assert!(Driven::new(run(&old)).ended().is_ok());
                    assert_eq!(world.called(), CALLS[place..].join(" "));
                }
            }
        }
    }
}

/// Three versions of a plan that another one calls.
mod versions {
    macro_rules! version {
        ($name:ident, $one:literal, $two:literal) => {
            pub(crate) mod $name {
                use crate::durable::support::Act;
                plan_runtime::plan! {
                    pub(crate) Inner(n: u64) -> u64 {
                        step one = Act { n };
                        #[after(one)]
                        step two = Act { n: $one };
                        #[after(two)]
                        step three = Act { n: $two };
                        three
                    }
                }
            }
        };
    }
    version!(old, 2, 3);
    version!(second_changed, 8, 3);
    version!(third_changed, 2, 8);
}

fn begin<'a>(
    toolbox: &'a Toolbox<World>,
    plan: &'a Plan,
    world: &'a World,
    journal: &Rough,
) -> Run<'a, World, Value> {
    toolbox.run(plan, (), world).durable(journal, "r")
}

#[test]
fn a_plan_that_is_called_is_compared_with_what_has_run_of_it() {
    const INNER: [&str; 6] = [
        "each[0].one",
        "each[0].two",
        "each[0].three",
        "each[1].one",
        "each[1].two",
        "each[1].three",
    ];
    let plan: Plan = serde_json::from_value(json!({
        "name": "outer",
        "steps": [{
            "id": "each",
            "for": {"pattern": "x", "list": [1, 2], "body": {"tool": {"name": "inner"}, "arguments": {"object": {"n": {"reference": {"local": 0, "pointer": ""}}}}}},
            "policy": {"concurrency": 1},
        }],
        "output": {"value": {"reference": {"step": "each", "pointer": ""}}},
    }))
    .unwrap();
    let old = Toolbox::new().with::<versions::old::Inner>();
    let second = Toolbox::new().with::<versions::second_changed::Inner>();
    let third = Toolbox::new().with::<versions::third_changed::Inner>();
    for (place, at) in INNER.iter().enumerate() {
        for (new, changed) in [
            (&old, None),
            (&second, Some((1, 2))),
            (&third, Some((2, 3))),
        ] {
            let (world, journal) = (World::new(), Rough::new());
            let run = |toolbox| begin(toolbox, &plan, &world, &journal);
            world.on(at, &[Goes::Hangs]);
            let mut first = Driven::new(run(&old));
            assert!(first.settle().is_pending());
            drop(first);
            assert_eq!(world.called(), INNER[..=place].join(" "));
            world.all_well();
            let result = Driven::new(run(new)).ended();
            let called = world.called();
            // As in a block, completed steps of any of the calls must be equal.
            if let Some((changed, before)) = changed.filter(|(changed, _)| *changed < place) {
                let error = result.unwrap_err();
                assert!(matches!(
                    error.journal(),
                    Some(JournalError::Changed { .. })
                ));
                let step = INNER[changed];
                assert_eq!(
                    error.to_string(),
                    format!(
                        "plan `outer` stopped: the run calls plan `inner`, which was changed: step `{step}` has already run, but was changed: its argument `n` changed from {before} to 8; resume the run with its original plans"
                    )
                );
                assert_eq!(called, "");
                // The original plan resumes the run.
                assert!(Driven::new(run(&old)).ended().is_ok());
                assert_eq!(world.called(), INNER[place..].join(" "));
            } else {
                assert!(result.is_ok(), "{at}: {result:?}");
                assert_eq!(called, INNER[place..].join(" "), "{at}");
            }
        }
    }
}

/// Steps that ran in the new version are compared with that.
#[test]
fn a_plan_that_is_called_may_change_more_than_once() {
    let plan: Plan = serde_json::from_value(json!({
        "name": "outer",
        "steps": [{"id": "a", "tool": {"name": "inner"}, "arguments": {"object": {"n": 1}}}],
        "output": {"value": {"reference": {"step": "a", "pointer": ""}}},
    }))
    .unwrap();
    let old = Toolbox::new().with::<versions::old::Inner>();
    let new = Toolbox::new().with::<versions::second_changed::Inner>();
    let (world, journal) = (World::new(), Rough::new());
    let run = |toolbox| begin(toolbox, &plan, &world, &journal);
    let crash = |toolbox, at: &str| {
        world.all_well();
        world.on(at, &[Goes::Hangs]);
        let mut driven = Driven::new(run(toolbox));
        assert!(driven.settle().is_pending());
        drop(driven);
        world.called()
    };
    assert_eq!(crash(&old, "a.two"), "a.one a.two");
    assert_eq!(crash(&new, "a.three"), "a.two a.three");
    world.all_well();
    // The old plan has a second step that differs from the completed one.
    assert!(Driven::new(run(&old)).ended().is_err());
    assert_eq!(world.called(), "");
    assert!(Driven::new(run(&new)).ended().is_ok());
    assert_eq!(world.called(), "a.three");
}
