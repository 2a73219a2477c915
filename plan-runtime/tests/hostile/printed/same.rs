//! Plans that do different things do not print alike.

use plan_runtime::Plan;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};

fn printed(document: &Value) -> String {
    serde_json::from_value::<Plan>(document.clone())
        .unwrap()
        .to_string()
}

/// Returns a plan with a string in a position that has a meaning.
fn with(place: usize, text: &str) -> Value {
    let named = |name: &str, arguments: Value| json!({"id": name, "tool": {"name": "t"}, "arguments": {"object": arguments}});
    let computed = json!({"computed": {"written": text, "reads": []}});
    let steps = match place {
        0 => json!([named(text, json!({}))]),
        1 => json!([{"id": "x", "tool": {"name": text}}]),
        2 => json!([named("x", json!({text: 1}))]),
        3 => json!([named("x", json!({"k": text}))]),
        4 => json!([named("x", json!({"k": {"object": {text: 1, "z": 2}}}))]),
        5 => json!([named("x", json!({"k": [text, 1]}))]),
        6 => json!([named("x", json!({"k": {"text": [text, {"value": 1}]}}))]),
        7 => json!([
            named("a", json!({})),
            named(
                "x",
                json!({"k": {"reference": {"step": "a", "path": [text]}}})
            )
        ]),
        8 => json!([
            named(text, json!({})),
            named(
                "\u{1}",
                json!({"k": {"reference": {"step": text, "pointer": ""}}})
            )
        ]),
        9 => json!([{"id": "x", "value": computed}]),
        15 => {
            json!([named(text, json!({})), {"id": "x", "value": {"reference": {"step": text, "pointer": ""}}}])
        }
        16 => json!([named(text, json!({})), {"id": "x", "tool": {"name": text}}]),
        17 => json!([named(text, json!({})), {"id": "x", "value": text}]),
        18 => json!([named(text, json!({})), {"id": "x", "value": computed}]),
        10 => json!([named("x", json!({"k": computed, "z": 1}))]),
        11 => {
            json!([{"id": "x", "if": [{"condition": computed, "then": {"tool": {"name": "t"}}}]}])
        }
        12 => {
            json!([{"id": "x", "for": {"pattern": text, "list": {"computed": {"written": "all()", "reads": []}}, "body": {"tool": {"name": "t"}}}}])
        }
        13 => json!([{"id": "x", "value": text}]),
        // Similar to members, and members.
        19 => json!([{"id": "x", "tool": {"name": "t"}, "arguments": computed}]),
        20 => json!([{"id": "x", "tool": {"name": "t"}, "arguments": {"merge": [computed]}}]),
        21 => {
            json!([{"id": "x", "tool": {"name": "t"}, "arguments": {"merge": [{"object": {"k": 1}}, computed]}}])
        }
        22 => json!([named(
            "x",
            json!({"k": {"merge": [computed, {"object": {"z": 1}}]}})
        )]),
        23 => json!([named("x", json!({"k": computed}))]),
        // Similar to several conditions, and several conditions.
        24..30 => {
            let test = |text: &str| json!({"computed": {"written": text, "reads": []}});
            let (a, b) = (test("f(in)"), test("g(in)"));
            let branch = match place {
                24 => json!({"all": [computed, b]}),
                25 => json!({"all": [a, computed]}),
                26 => json!({"pattern": text, "value": a}),
                27 => json!({"pattern": "x", "value": computed}),
                28 => json!({"all": [{"pattern": text, "value": a}, b]}),
                _ => json!({"all": [{"pattern": "x", "value": computed}, b]}),
            };
            let mut branch = branch;
            branch["then"] = json!({"tool": {"name": "t"}});
            json!([{"id": "x", "if": [branch]}])
        }
        _ => json!([named("x", json!({"k": [computed, 1]}))]),
    };
    json!({"name": "p", "inputs": [{"name": "in"}], "steps": steps})
}

fn text() -> impl Strategy<Value = String> {
    const TRICKS: &[&str] = &[
        "in",
        "t",
        "null",
        "true",
        "1",
        "\"in\"",
        "\"\"",
        "1, z: 2",
        "in, 1",
        "[in]",
        "{ a: 1 }",
        "{}",
        "format!(\"in\")",
        "computed(\"in\")",
        "tool \"in\"",
        "reference(\"in\")",
        "in\\n",
        "in\\u{200b}",
        "\"in\\u{200b}\"",
        "in.a",
        "in[\"a\"]",
        "f(in)",
        "...f(in)",
        "k: f(in)",
        "\"k\": f(in)",
        "{ ...f(in), z: 1 }",
        "f(in)",
        "f(in) && g(in)",
        "f(in) || g(in)",
        "f(in) && g(in) || h(in)",
        "(f(in) && g(in))",
        "\"&&\" == x",
        "let x = f(in)",
        "let x = f(in) && g(in)",
        "x = f(in) && let y",
        "x = y",
        "1..=5",
        "&&x",
    ];
    prop_oneof![2 => super::hostile(), 1 => prop::sample::select(TRICKS).prop_map(str::to_owned).boxed()]
}

/// Disguises a string as another one.
fn like(text: &str, trick: usize) -> String {
    match trick {
        0 => format!("{text:?}"),
        1 => format!("&{text:?}"),
        2 => text.escape_debug().to_string(),
        3 => text.trim().to_owned(),
        4 => format!("computed({text:?})"),
        5 => format!("tool {text:?}"),
        6 => text.replace("\\", "\\\\"),
        7 => format!("[\"{text}\"]"),
        8 => format!("{text}\u{200b}"),
        9 => format!("reference({text:?})"),
        10 => format!("code({text:?})"),
        11 => format!("k: {text}"),
        12 => format!("...{text}"),
        13 => format!("{{ ...{text}, z: 1 }}"),
        14 => format!("{text} && g(in)"),
        15 => format!("f(in) && {text}"),
        16 => format!("let x = {text}"),
        17 => format!("{text} = f(in) && let x"),
        18 => format!("({text})"),
        _ => text.to_owned(),
    }
}

static ALIKE: AtomicUsize = AtomicUsize::new(0);
static OTHER: AtomicUsize = AtomicUsize::new(0);

#[test]
fn other_plans_print_otherwise() {
    each_other_plan_prints_otherwise();
    let (alike, other) = (ALIKE.load(Ordering::Relaxed), OTHER.load(Ordering::Relaxed));
    let (least_alike, least_other) = (
        crate::common::cases(20, 50),
        crate::common::cases(200, 1_000),
    );
    assert!(
        alike > least_alike && other > least_other,
        "{alike} and {other}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::common::cases(600, 3000), ..ProptestConfig::default() })]

    fn each_other_plan_prints_otherwise(mut a in (0..30_usize, text()), mut b in (0..30_usize, text()), trick in 0..35_usize, same in any::<bool>()) {
        if trick < 25 {
            b.1 = like(&a.1, trick);
        }
        if same {
            a.0 = b.0;
        }
        // No step may have the name that another one has here.
        prop_assume!(a.1 != "\u{1}" && b.1 != "\u{1}");
        let (first, second) = (with(a.0, &a.1), with(b.0, &b.1));
        let plan = |document: &Value| serde_json::from_value::<Plan>(document.clone());
        // Some names are refused, such as empty ones.
        let (Ok(first), Ok(second)) = (plan(&first), plan(&second)) else {
            return Ok(());
        };
        let alike = first.to_string() == second.to_string();
        prop_assert_eq!(alike, first == second, "{}", first);
        let counter = if alike { &ALIKE } else { &OTHER };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// Several conditions, and code that looks like them.
#[test]
fn conditions_and_code() {
    let all: Vec<Value> = [
        (11, "f(in) && g(in)"),
        (24, "f(in)"),
        (24, "f(in) && g(in)"),
        (25, "f(in) && g(in)"),
        (11, "f(in) && g(in) && g(in)"),
        (11, "(f(in) && g(in))"),
        (24, "f(in) || f(in)"),
        (11, "f(in) || f(in) && g(in)"),
        (11, "let x = f(in)"),
        (26, "x"),
        (27, "f(in) && g(in)"),
        (28, "x"),
        (29, "f(in) && g(in)"),
        (26, "x = f(in) && let x"),
        (11, "computed(\"f(in) && g(in)\")"),
        (26, "code(\"x\")"),
    ]
    .map(|(place, text)| with(place, text))
    .into();
    for (place, one) in all.iter().enumerate() {
        for other in &all[..place] {
            assert_ne!(printed(one), printed(other), "{one}\n{other}");
        }
    }
    let plain = |place, text, line: &str| {
        let printed = printed(&with(place, text));
        assert!(printed.contains(&format!("if {line} {{\n")), "{printed}");
    };
    plain(24, "\"&&\" == f(x)", "\"&&\" == f(x) && g(in)");
    // Code that reads like a test is in braces, since a test is data.
    plain(24, "\"&&\" == x", "{ \"&&\" == x } && g(in)");
    plain(24, "(a || b)", "{ (a || b) } && g(in)");
    plain(24, "a || b", "{ a || b } && g(in)");
    plain(24, "a || f(b)", "computed(\"a || f(b)\") && g(in)");
    plain(11, "a && b || c", "{ a && b || c }");
    plain(11, "a && f(b) || c", "a && f(b) || c");
    plain(26, "1..=5 | 7", "let 1..=5 | 7 = f(in)");
    plain(26, "a = b", "let code(\"a = b\") = f(in)");
}

/// A computed value for all arguments, and code that looks like such a value.
#[test]
fn arguments_and_members() {
    for (place, same) in [(20, "...f(in)"), (23, "k: f(in)"), (23, "\"k\": f(in)")] {
        let members = printed(&with(place, "f(in)"));
        assert!(members.contains("f(in)\n"), "{members}");
        let whole = printed(&with(19, same));
        assert_ne!(members, whole);
        assert!(whole.contains("    computed("), "{whole}");
    }
}

/// Expressions that look like a call to a tool without arguments.
#[test]
fn calls_and_values() {
    let all: Vec<Value> = ["in", "\"in\"", "null", "1", "in.a", "[]", "{}", "computed(in)"]
        .into_iter()
        .map(|text| with(1, text))
        .chain(["in", "\"in\"", "null", "1", "in.a", "[]", "{}", "tool \"in\"", "computed(\"in\")"].map(|text| with(9, text)))
        .chain([json!("in"), json!(null), json!(1), json!([]), json!({"object": {}}), json!({"reference": {"input": "in", "pointer": ""}}),
                json!({"reference": {"input": "in", "pointer": "/a"}}), json!({"text": ["in", {"value": 1}]})]
            .map(|value| json!({"name": "p", "inputs": [{"name": "in"}], "steps": [{"id": "x", "value": value}]})))
        .collect();
    for (place, one) in all.iter().enumerate() {
        for other in &all[..place] {
            assert_ne!(printed(one), printed(other), "{one}\n{other}");
        }
    }
}

/// A part of a path in plan JSON.
fn part() -> impl Strategy<Value = Value> {
    let token = prop::sample::select(vec!["a", "b", "0", "a/b", "or(1)", "?", "x\").b", ""]);
    let absent = prop::sample::select(vec![
        json!(null),
        json!("null"),
        json!("end"),
        json!({"default": 1}),
        json!({"default": null}),
        json!({"default": "null"}),
    ]);
    let optional = any::<bool>();
    prop_oneof![
        2 => token.clone().prop_map(Value::from),
        6 => (token, absent, optional).prop_map(|(token, absent, optional)| {
            json!({"token": token, "absent": absent, "optional": optional})
        }),
        1 => optional.prop_map(|optional| json!({"each": "element", "optional": optional})),
    ]
}

/// The parts of a reference besides its path.
fn around() -> impl Strategy<Value = (bool, Option<Value>)> {
    let values = vec![json!(null), json!(1), json!("null")];
    let otherwise = prop::option::weighted(0.2, prop::sample::select(values));
    (prop::bool::weighted(0.2), otherwise)
}

fn refers(path: &[Value], (optional, otherwise): &(bool, Option<Value>)) -> Value {
    let mut reference = json!({"input": "in", "optional": optional, "path": path});
    // Only a reference that can end has an `else`.
    let ends = |part: &Value| part["optional"] == true || part["absent"] == "end";
    if let Some(otherwise) = otherwise
        && (*optional || path.iter().any(ends))
    {
        reference["else"] = otherwise.clone();
    }
    let arguments = json!({"object": {"k": {"reference": reference}}});
    json!({"name": "p", "inputs": [{"name": "in"}], "steps": [{"id": "x", "tool": {"name": "t"}, "arguments": arguments}]})
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::common::cases(800, 4000), ..ProptestConfig::default() })]

    #[test]
    fn other_references_print_otherwise(path in prop::collection::vec(part(), 1..5), around in (around(), around()), other in part(), at in any::<prop::sample::Index>()) {
        let mut changed = path.clone();
        changed[at.index(path.len())] = other;
        let plan = |path: &[Value], around| serde_json::from_value::<Plan>(refers(path, around)).unwrap();
        let (first, second) = (plan(&path, &around.0), plan(&changed, &around.1));
        let alike = first.to_string() == second.to_string();
        prop_assert_eq!(alike, first == second, "{}{}", first, second);
        prop_assert!(!first.to_string().contains("reference("), "{}", first);
        // Reading again has an equal result.
        let again: Plan = serde_json::from_str(&serde_json::to_string(&first).unwrap()).unwrap();
        prop_assert_eq!(&again, &first);
        prop_assert_eq!(again.to_string(), first.to_string());
    }
}

/// A part of a value that a pattern takes apart is read only if its name covers the whole part.
#[test]
fn parts_of_values_that_may_be_missing_are_no_variables() {
    let printed = |reference: Value| {
        let each = json!({"pattern": "(k, v)", "list": {"reference": {"input": "xs", "pointer": ""}},
            "body": {"value": {"reference": reference}}});
        let document =
            json!({"name": "p", "inputs": [{"name": "xs"}], "steps": [{"id": "s", "for": each}]});
        serde_json::from_value::<Plan>(document).map(|plan| plan.to_string())
    };
    let forms = [
        json!({"local": 0, "pointer": "/1"}),
        json!({"local": 0, "path": [{"token": "1", "absent": "end"}]}),
        json!({"local": 0, "path": [{"token": "1", "absent": "null"}]}),
        json!({"local": 0, "optional": true, "pointer": "/1"}),
        json!({"local": 0, "path": [{"token": "1", "optional": true}]}),
    ];
    let [whole, missing, null, of_null, ends] = forms.map(printed);
    for refused in [missing, null, of_null] {
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("its pattern has no name"), "{message}");
    }
    let (whole, ends) = (whole.unwrap(), ends.unwrap());
    assert!(whole.contains(" v\n"), "{whole}");
    assert!(ends.contains(" v?\n"), "{ends}");
}

/// A computed value over a local value is not printed as the step or the input whose name its source begins with.
#[test]
fn a_text_over_a_local_value_is_not_printed_as_an_input() {
    let printed = |list: Value| {
        let inner = json!({"pattern": "a", "list": list, "body": {"value": 1}});
        let outer = json!({"pattern": "y", "list": {"reference": {"input": "xs", "pointer": ""}}, "body": {"for": inner}});
        let document =
            json!({"name": "p", "inputs": [{"name": "xs"}], "steps": [{"id": "s", "for": outer}]});
        serde_json::from_value::<Plan>(document)
            .unwrap()
            .to_string()
    };
    let computed = json!({"computed": {"written": "xs.a", "reads": [{"local": 0}]}});
    let reference = json!({"reference": {"input": "xs", "pointer": "/a"}});
    assert!(
        printed(computed.clone()).contains("for a in computed(\"xs.a\")"),
        "{}",
        printed(computed)
    );
    assert!(printed(reference).contains("for a in xs.a"));
}

/// A computed value over one local value is not printed as a reference to another one, and is by its own name.
#[test]
fn a_text_over_a_local_value_is_not_printed_as_another_one() {
    let printed = |local: usize, text: &str, inner: &str| {
        let list = json!({"computed": {"written": text, "reads": [{"local": local}]}});
        let last = json!({"pattern": "(a, b)", "list": list, "body": {"value": 1}});
        let of_xs = |pattern: &str, body: Value| {
            let list = json!({"reference": {"input": "xs", "pointer": ""}});
            json!({"for": {"pattern": pattern, "list": list, "body": body}})
        };
        let mut step = of_xs("x", of_xs(inner, json!({"for": last})));
        step["id"] = json!("s");
        let document = json!({"name": "p", "inputs": [{"name": "xs"}], "steps": [step]});
        serde_json::from_value::<Plan>(document)
            .unwrap()
            .to_string()
    };
    for (local, text, inner, is_plain) in [
        (0, "x.a", "y", true),
        (1, "y.a", "y", true),
        (0, "y.a", "y", false),
        (1, "x.a", "y", false),
        // The inner one has the name as well.
        (0, "x.a", "x", false),
        (1, "x.a", "x", true),
    ] {
        let text_of_list = if is_plain {
            format!("in {text} {{")
        } else {
            format!("in computed({text:?}) {{")
        };
        let printed = printed(local, text, inner);
        assert!(printed.contains(&text_of_list), "{printed}");
    }
}

/// A plan with renamed steps prints their current names, and ignores notation that names a step other than the source.
#[test]
fn renamed_steps_are_printed_by_their_names() {
    use plan_runtime::Plan;
    use plan_runtime::plan::{
        Action, Branch, Condition, For, Input, Policy, Reference, Source, Step, Template,
    };
    let first = || {
        Reference::new(Source::Step(0))
            .key("data")
            .written("first.data")
    };
    let mail = Reference::new(Source::Local(0))
        .key("id")
        .written("mail.id");
    let arguments = Template::object([
        ("mail", mail.into()),
        ("all", vec![first().into()].into()),
        (
            "input",
            Reference::new(Source::Input(0)).written("&name").into(),
        ),
    ]);
    let test = Condition::Holds(first().into());
    let body = vec![Branch::new([test], Action::call("send", arguments))];
    let mut plan = Plan::new("p");
    plan.inputs = vec![Input::new("name", "")];
    let mut step = Step::new("second", For::new("mail", first(), body));
    step.policy = Policy::DEFAULT.fallback(first()).into();
    plan.steps = vec![Step::new("first", Action::call("t", Template::Null)), step];
    plan.output.value = first().into();
    let printed = |name: &str, input: &str| {
        format!(
            "plan p\n  input {}\n\n  step {name} = t\n    null\n    // starts at once\n\n  #[fallback({name}.data)]\n  step second = for mail in {name}.data {{\n    \
             if {name}.data {{\n      send\n        mail:  mail.id\n        all:   [{name}.data]\n        input: {input}\n    }}\n  }}\n    \
             // needs {name}\n\n  output {name}.data\n",
            input.trim_start_matches('&')
        )
    };
    assert_eq!(plan.to_string(), printed("first", "&name"));
    plan.steps[0].id = "other".into();
    plan.inputs[0].name = "title".into();
    assert_eq!(plan.to_string(), printed("other", "title"));
    // A pattern that hides the step leaves no name for it.
    plan.steps[0].id = "mail".into();
    let text = plan.to_string();
    assert!(text.contains("all:   [reference(\"mail.data\")]"), "{text}");
    assert!(text.contains("mail:  mail.id"), "{text}");
}

/// Code inside of a nested literal is code as well.
#[test]
fn conditions_in_nested_literals_are_one_condition() {
    use plan_runtime::plan::{Action, Branch, Computed, Condition, Step, Tag, Template};
    let code = || Template::from(Computed::new("a && b", []));
    let printed = |test: Template| {
        let branch = Branch::new([Condition::Holds(test)], Action::value(1));
        Step::new("s", vec![branch]).to_string()
    };
    let tests = [
        code(),
        Template::Tagged(Tag::None, Some(code().into())),
        Template::Object(vec![plan_runtime::plan::Entry::new(
            plan_runtime::plan::Key::Inner,
            code(),
        )]),
    ];
    for test in tests {
        let text = printed(test);
        assert!(text.contains("if { a && b } {"), "{text}");
    }
}

/// Returns a test of plan JSON: of one shape, with some operands that look like others.
fn test() -> impl Strategy<Value = Value> {
    let reference = json!({"reference": {"input": "in", "pointer": ""}});
    let member = json!({"reference": {"input": "in", "pointer": "/len"}});
    let leaf = prop::sample::select(vec![
        json!(true),
        json!(1),
        json!("in"),
        json!("a == b"),
        json!(null),
        json!({"computed": {"written": "in.len()", "reads": [{"input": "in"}]}}),
        json!({"computed": {"written": "in && in", "reads": [{"input": "in"}]}}),
        json!({"computed": {"written": "!in", "reads": [{"input": "in"}]}}),
        reference,
        member,
    ]);
    let signs = prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]);
    let kinds = prop::sample::select(vec![
        "not", "len", "is_some", "is_none", "is_ok", "is_err", "is_empty",
    ]);
    leaf.prop_recursive(3, 8, 3, move |inner| {
        let several = prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            several.clone().prop_map(|all| json!({"all": all})),
            several.prop_map(|any| json!({"any": any})),
            (inner.clone(), signs.clone(), inner.clone())
                .prop_map(|(a, sign, b)| json!({"compare": [a, sign, b]})),
            (kinds.clone(), inner).prop_map(|(kind, operand)| json!({kind: operand})),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::common::cases(300, 1000), ..ProptestConfig::default() })]

    #[test]
    fn other_tests_print_otherwise(first in test(), second in test(), is_code in any::<bool>()) {
        // Equivalent code, in its own notation or in brackets.
        let second = if is_code {
            let steps = json!([{"id": "x", "value": first}]);
            let text = printed(&json!({"name": "p", "inputs": [{"name": "in"}], "steps": steps}));
            let (_, written) = text.trim_end().split_once("step x = ").unwrap();
            json!({"computed": {"written": written, "reads": [{"input": "in"}]}})
        } else {
            second
        };
        let plans = [&first, &second].map(|test| {
            [
                json!([{"id": "x", "value": test}]),
                json!([{"id": "x", "tool": {"name": "t"}, "arguments": {"object": {"k": [test, 1]}}}]),
                json!([{"id": "x", "if": [{"condition": test, "then": {"value": 1}}]}]),
                json!([{"id": "x", "if": [{"all": [test, true], "then": {"value": 1}}]}]),
                json!([{"id": "x", "if": [{"condition": {"all": [test, true]}, "then": {"value": 1}}]}]),
            ]
            .map(|steps| {
                let document = json!({"name": "p", "inputs": [{"name": "in"}], "steps": steps});
                serde_json::from_value::<Plan>(document).unwrap()
            })
        });
        let all: Vec<_> = plans.iter().flatten().collect();
        for one in &all {
            for other in &all {
                let alike = one.to_string() == other.to_string();
                prop_assert_eq!(alike, one == other, "{}{}", one, other);
            }
        }
    }
}
