//! Several conditions joined by `&&`: their variables, their order of evaluation, and their form as data.

use super::{Item, List, Say};
use crate::support::{Same, done};
use plan_runtime::plan;
use serde_json::{Value, json};
use std::cell::RefCell;

thread_local! {
    static TESTED: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

fn tested(name: &'static str, holds: bool) -> bool {
    TESTED.with_borrow_mut(|tested| tested.push(name));
    holds
}

fn found(name: &'static str, value: Option<u32>) -> Option<u32> {
    tested(name, true);
    value
}

plan! {
    pub Ordered(first: bool, second: Option<u32>, third: bool) -> Option<u32> {
        step chosen = if self::tested("a", first) && let Some(x) = self::found("b", second) && self::tested("c", third)
            && let Some(y) = self::found("d", x.checked_sub(1)) && third
        {
            Same::<u32> { value: x + y }
        } else if self::tested("e", false) && first {
            Same::<u32> { value: 0 }
        };
        chosen
    }
}

#[test]
fn they_are_tested_in_order_up_to_the_first_that_does_not_hold() {
    for (first, second, third, output, order) in [
        (false, Some(2), true, None, "a e"),
        (true, None, true, None, "a b e"),
        (true, Some(2), false, None, "a b c e"),
        (true, Some(0), true, None, "a b c d e"),
        (true, Some(2), true, Some(3), "a b c d"),
    ] {
        let plan = Ordered {
            first,
            second,
            third,
        };
        assert_eq!(done(plan.run(&())), output);
        let tested = TESTED.with_borrow_mut(std::mem::take);
        assert_eq!(tested.join(" "), order);
    }
}

plan! {
    pub Chains(count: u32, limit: Option<u32>, wanted: bool, name: String) -> Value {
        step all = List { count };
        // The variables of a pattern are in scope of the later conditions and of the braces.
        step owned = if let Some(next) = &all.next && next.len() > 3 && let Some(limit) = limit && limit > 3 {
            Say { text: next, number: limit }
        };
        // Each name shadows the ones before it.
        step shadows = if let Some(name) = &all.next && name != "other" && let Some(name) = name.strip_suffix("xt") {
            Same::<String> { value: name }
        } else {
            Same::<String> { value: name }
        };
        // Several variables, some of them unused.
        step several = if let [first, .., last] = &all.all[..]
            && let Item { name, size: (low, high), .. } = last
            && low < high
            && first.serial_number == 0
        {
            Say { text: format!("{} {name} {low}", first.name), number: high }
        };
        step each = for item in all.all {
            if let Some(owner) = item.owner && wanted && let Some(tag) = item.tags.first() && tag == "t0" {
                Say { text: format!("{owner} {tag}"), number: count }
            } else if wanted && item.serial_number > 1 {
                Say { text: item.name, number: None }
            }
        };
        step nested = if wanted && let Some(a) = limit {
            if let Some(b) = &all.next && a > 3 { Say { text: b, number: a } } else { Say { text: name, number: a } }
        };
        // `||` joins less closely, so this is one condition.
        step either = if count > 2 && wanted || limit.is_none() { Same::<u32> { value: count } };
        json!([owned, shadows, several, each, nested, either, name])
    }
}

#[test]
fn they_read_what_those_before_them_bind() {
    let run = |count, limit, wanted| {
        let name = "input".to_owned();
        done(
            Chains {
                count,
                limit,
                wanted,
                name,
            }
            .run(&()),
        )
    };
    assert_eq!(
        run(3, Some(4), true),
        json!([
            {"id": "next", "number": 4}, "ne", {"id": "n0 n2 2", "number": 20},
            [null, {"id": "o1 t0", "number": 3}, {"id": "n2", "number": null}],
            {"id": "next", "number": 4}, 3, "input"
        ])
    );
    assert_eq!(
        run(2, Some(3), false),
        json!([null, "ne", {"id": "n0 n1 1", "number": 10}, [null, null], null, null, "input"])
    );
    assert_eq!(
        run(0, None, true),
        json!([null, "input", null, [], null, 0, "input"])
    );
    assert_eq!(
        run(1, Some(3), true),
        json!([null, "ne", null, [null], {"id": "input", "number": 3}, null, "input"])
    );
}

#[test]
fn what_is_a_reference_or_a_literal_is_data() {
    plan! {
        Data(a: bool, b: (bool, Option<u32>)) -> Option<u32> {
            step chosen = if a && b.0 && let Some(x) = b.1 && x > 2 && true { Same::<u32> { value: x } };
            chosen
        }
    }
    let json = serde_json::to_value(Data::PLAN).unwrap();
    let branch = &json["steps"][0]["if"][0];
    assert_eq!(branch["all"][0]["reference"]["input"], "a");
    assert_eq!(branch["all"][1]["reference"]["pointer"], "/0");
    assert_eq!(branch["all"][2]["pattern"], "Some(x)");
    assert_eq!(
        branch["all"][2]["value"]["reference"],
        json!({"input": "b", "pointer": "/1", "written": "b.1"})
    );
    assert_eq!(
        branch["all"][3],
        json!({"compare": [{"reference": {"local": 0, "pointer": ""}}, ">", 2]})
    );
    assert_eq!(branch["all"][4], true);
    let read: plan_runtime::Plan = serde_json::from_value(json).unwrap();
    assert_eq!(&read, Data::PLAN);
    let printed = Data::PLAN.to_string();
    assert!(
        printed.contains("  step chosen = if a && b.0 && let Some(x) = b.1 && x > 2 && true {\n"),
        "{printed}"
    );
    // A pointer does not show that it leads into a tuple.
    assert_eq!(
        read.to_string(),
        printed
            .replacen("b.0", "b[0]", 1)
            .replacen("b.1", "b[1]", 1)
    );
    let run = |a, b| done(Data { a, b }.run(&()));
    assert_eq!(run(true, (true, Some(3))), Some(3));
    assert_eq!(run(true, (true, Some(2))), None);
    assert_eq!(run(true, (false, Some(3))), None);
    assert_eq!(run(false, (true, Some(3))), None);
}

#[derive(Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize, plan_runtime::Shape)]
enum Kind {
    Urgent,
    Later,
}

plan! {
    /// Patterns that match, and bind nothing.
    Nothing(maybe: Option<u32>, kind: Kind, name: String) -> Vec<Option<u32>> {
        step none = if let None = maybe { Same::<u32> { value: 1 } };
        step some = if let Some(_) = &maybe { Same::<u32> { value: 2 } };
        step variant = if let Kind::Urgent = kind { Same::<u32> { value: 3 } };
        step literal = if let "x" = name.as_str() { Same::<u32> { value: 4 } };
        step chain = if name.len() > 0 && let Some(_) = maybe && let Kind::Urgent = kind { Same::<u32> { value: 5 } };
        step each: Vec<u32> = [6, 6].to_vec();
        step times = for _ in each { Same::<u32> { value: 7 } };
        vec![none, some, variant, literal, chain, times.get(1).copied()]
    }
}

#[test]
fn a_pattern_without_names_is_tested_too() {
    let run = |maybe, kind, name: &str| {
        let name = name.to_owned();
        done(Nothing { maybe, kind, name }.run(&()))
    };
    assert_eq!(
        run(None, Kind::Later, "y"),
        [Some(1), None, None, None, None, Some(7)]
    );
    assert_eq!(
        run(Some(0), Kind::Urgent, "x"),
        [None, Some(2), Some(3), Some(4), Some(5), Some(7)]
    );
}
