//! The data of a plan: its printed form, its JSON, and its dependencies.

use super::List;
use super::branches::{Branches, Lets};
use super::lists::{Lists, Nested, Shadows, Values};
use super::policies::{Bounded, Failing, Flakes, FlakesInLoop, Hangs, Stops};
use crate::support::Same;
use plan_runtime::{Plan, plan};

#[test]
fn as_data() {
    fn reads_back(plan: &Plan) {
        let text = serde_json::to_string_pretty(plan).unwrap();
        let read: Plan = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(&read, plan, "{text}");
        crate::statics::is_stable(&read);
    }
    for plan in [
        &Branches::PLAN,
        &Lets::PLAN,
        &Lists::PLAN,
        &Nested::PLAN,
        &Shadows::PLAN,
        &Values::PLAN,
        &Failing::PLAN,
        &Stops::PLAN,
        &Flakes::PLAN,
        &FlakesInLoop::PLAN,
        &Hangs::PLAN,
        &Bounded::PLAN,
        &Needs::PLAN,
    ] {
        reads_back(plan);
    }
}

plan! {
    Needs(count: u32, flag: bool) -> u32 {
        step all = List { count };
        step name = Same::<String> { value: "name" };
        step item = Same::<String> { value: "item" };
        step condition = if name.is_empty() { Same::<u32> { value: 1 } };
        step bound = if let Some(name) = &all.next { Same::<String> { value: name } };
        step branch = if flag { Same::<String> { value: name } } else { Same::<String> { value: format!("{}", item) } };
        step list = for item in all.all { Same::<String> { value: item.name } };
        step computed_list = for item in all.all.iter().skip(condition.map_or(0, |n| n as usize)) { Same::<String> { value: item.name.clone() } };
        step inner = for x in 0..2 { for item in list { Same::<String> { value: format!("{item}{x}") } } };
        step mixed = for one in all.all { Same::<String> { value: format!("{} {}", one.name, item) } };
        #[fallback(name.clone())]
        step fallback = Same::<String> { value: "x" };
        #[fallback([item])]
        step referenced = for item in 0..2 { Same::<String> { value: format!("{item}") } };
        7
    }
}

#[test]
fn dependencies() {
    let needs = |id: &str| {
        let steps = Needs::PLAN.dependencies(id);
        steps.iter().map(|step| step.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(needs("condition"), ["name"]);
    assert_eq!(needs("bound"), ["all"]);
    assert_eq!(needs("branch"), ["name", "item"]);
    assert_eq!(needs("list"), ["all"]);
    assert_eq!(needs("computed_list"), ["all", "condition"]);
    assert_eq!(needs("inner"), ["list"]);
    assert_eq!(needs("mixed"), ["all", "item"]);
    assert_eq!(needs("fallback"), ["name"]);
    assert_eq!(needs("referenced"), ["item"]);
}
