//! Branches that are values, blocks that end with values, and `match` between calls.

use super::{Check, List, Said, Say};
use crate::support::Same;
use plan_runtime::dynamic::Toolbox;
use plan_runtime::{Failure, Plan, Shape, plan};
use serde::{Deserialize, Serialize};
use serde_json::json;
use smol::block_on as done;

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Open,
    Held,
    Done,
}

/// An enum without `==`, which is no data.
#[derive(Serialize, Deserialize, Shape, Clone, Debug)]
pub enum Opaque {
    This,
    That,
}

plan! {
    pub Chooses(state: State, name: String, count: u32, known: Said) -> (String, String, Vec<u32>, Option<Said>, u32) {
        step stock = List { count };
        step text = if count > 1 { Same::<String> { value: name } } else { "few" };
        step chosen = match state {
            State::Open => Same::<String> { value: "open" },
            State::Held => { step first = Say { text: name, .. }; first.id.to_uppercase() }
            State::Done => text,
        };
        step numbers = for item in stock.all {
            if item.serial_number == 1 { Same::<u32> { value: 100 } } else { item.serial_number }
        };
        step said = if count > 2 { Say { text: name, .. } } else if count > 1 { known };
        step last = match count { 0 | 1 => Same::<u32> { value: 7 }, _ => numbers[0] };
        (text, chosen, numbers, said, last)
    }
}

plan! {
    pub Opaques(this: Opaque, fine: bool) -> (u32, u32) {
        step number = match this { Opaque::This => Same::<u32> { value: 1 }, Opaque::That => 2 };
        step other = match fine { true => number, false => Same::<u32> { value: 3 } };
        (number, other)
    }
}

plan! {
    pub Ends(text: String, bad: u32) -> (Result<u32, Failure>, u32) {
        #[catch]
        step parsed = if bad > 0 {
            step checked = Check { number: 1, bad };
            #[undo(checked)]
            step undone = Check { number: checked, bad: 7 };
            text.parse::<u32>()? + checked
        } else {
            Same::<u32> { value: 5 }
        };
        #[retry(2)] #[fallback(9)]
        step other = if bad > 0 { Check { number: bad, bad } } else { 3 };
        (parsed, other)
    }
}

fn chooses(state: State, count: u32) -> Chooses {
    Chooses {
        state,
        name: "ann".into(),
        count,
        known: Said {
            id: "known".into(),
            number: None,
        },
    }
}

#[test]
fn a_value_takes_the_place_of_a_call() {
    let run = |state, count| done(chooses(state, count).run(&())).unwrap();
    let said = |id: &str| Said {
        id: id.into(),
        number: None,
    };
    assert_eq!(
        run(State::Open, 0),
        ("few".into(), "open".into(), vec![], None, 7)
    );
    assert_eq!(
        run(State::Held, 2),
        (
            "ann".into(),
            "ANN".into(),
            vec![0, 100],
            Some(said("known")),
            0
        )
    );
    assert_eq!(
        run(State::Done, 3),
        (
            "ann".into(),
            "ann".into(),
            vec![0, 100, 2],
            Some(said("ann")),
            0
        )
    );
}

#[test]
fn an_enum_without_equality_is_matched_by_rust() {
    let run = |this, fine| done(Opaques { this, fine }.run(&())).unwrap();
    assert_eq!(run(Opaque::This, true), (1, 1));
    assert_eq!(run(Opaque::That, false), (2, 3));
}

#[test]
fn a_block_that_ends_with_a_failing_value_fails_and_is_undone() {
    let run = |text: &str, bad| {
        done(
            Ends {
                text: text.into(),
                bad,
            }
            .run(&()),
        )
        .unwrap()
    };
    assert_eq!(run("4", 2).0.unwrap(), 5);
    assert_eq!(run("4", 0), (Ok(5), 3));
    let (failed, other) = run("x", 2);
    assert_eq!(failed.unwrap_err().code, "VALUE");
    assert_eq!(other, 9);
    // The undo step fails as well, and the failure names it.
    let failed = done(
        Ends {
            text: "x".into(),
            bad: 7,
        }
        .run(&()),
    );
    assert!(failed.is_ok(), "{failed:?}");
}

#[test]
fn they_are_data() {
    let plan: Plan =
        serde_json::from_value(serde_json::to_value(&**Chooses::PLAN).unwrap()).unwrap();
    assert_eq!(plan, **Chooses::PLAN);
    crate::statics::is_stable(&plan);
    let printed = plan.to_string();
    for line in [
        "} else {\n    \"few\"",
        "if state == \"open\" {",
        "} else if state == \"held\" {",
        "    text\n  }",
    ] {
        assert!(printed.contains(line), "{line}\n{printed}");
    }
}

#[test]
fn a_plan_from_json_has_values_as_branches() {
    let tools = Toolbox::<()>::new().with::<Same<u32>>().with::<Check>();
    let text = json!({
        "name": "p",
        "inputs": [{"name": "ready", "type": "bool"}],
        "steps": [{"id": "a", "if": [
            {"condition": {"reference": {"input": "ready", "pointer": ""}}, "then": {"tool": {"name": "check"}, "arguments": {"object": {"number": 1, "bad": 2}}}},
            {"then": {"block": {"steps": [{"id": "b", "tool": {"name": "check"}, "arguments": {"object": {"number": 3, "bad": 2}}}], "value": {"reference": {"step": "b", "pointer": ""}}}}},
        ]}],
        "output": {"value": {"reference": {"step": "a", "pointer": ""}}}
    });
    let plan: Plan = serde_json::from_value(text).unwrap();
    for (ready, output) in [(true, 1), (false, 3)] {
        assert_eq!(
            done(tools.run(&plan, json!({"ready": ready}), &())).unwrap(),
            json!(output)
        );
    }
}
