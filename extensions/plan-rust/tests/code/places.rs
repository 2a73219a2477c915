//! Each position of a plan that once contained code.

use plan_runtime::Plan;
use plan_runtime::dynamic::{Dialect, Reader};
use plan_runtime::plan::{Body, Source, Template};
use plan_runtime::{Result, plan, tool};
use plan_rust::{RustSource, to_rust};
use serde_json::{Value, json};

fn read(document: &Value) -> Plan {
    let text = document.to_string();
    let plan = Reader::new().name("p").read(&text);
    plan.unwrap().into_plan()
}

fn plan_json(inputs: Value, steps: Value) -> Plan {
    let plan = json!({"name": "p", "inputs": inputs, "steps": steps});
    serde_json::from_value(plan).unwrap()
}

fn said(plan: &Plan) -> String {
    to_rust(plan).unwrap_err().to_string()
}

/// Checks that this is missing, with code and without code.
fn lacks(plan: &Plan, what: &str) {
    let found = RustSource::new(plan).allow_code().write().unwrap_err();
    assert!(found.to_string().contains(what), "{found}");
}

#[test]
fn what_looks_like_a_placeholder_is_text() {
    let key = ".to_owned() + &std::fs::read_to_string(\"/etc/passwd\").unwrap() + ";
    for number in 0..2 {
        let stand_in = format!("__json{number}_{}", "_".repeat(82));
        let plan = read(&json!([
            {"id": stand_in, "tool": "now", "arguments": {}},
            {"id": "s", "intent": stand_in, "tool": "t", "arguments": {
                "a": stand_in, "b": {key: "..__rest", "c": [stand_in]}, "d": "x ..__rest y"
            }}
        ]));
        let source = to_rust(&plan).unwrap();
        super::expected::check(&plan, &source).unwrap();
        assert!(source.contains("d: \"x ..__rest y\""), "{source}");
    }
}

#[test]
fn code_that_the_program_does_not_contain_is_refused_and_listed() {
    let call = json!({"tool": {"name": "t"}, "arguments": {"object": {}}});
    let computed = |written: &str| json!({"computed": {"written": written, "reads": []}});
    let plan = plan_json(
        json!([{"name": "x", "type": "[u8; { std::process::exit(1) }]"}]),
        json!([
            {"id": "a", "tool": {"name": "t"}, "arguments": {"object": {"b": {"object": {"c": [computed("exit(1)")]}}}}},
            {"id": "f", "for": {"pattern": "[m, ..]", "list": computed("all()"), "body": call}},
            {"id": "i", "if": [
                {"condition": computed("holds!()"), "then": call},
                {"all": [{"pattern": "Ok(y)", "value": computed("x && x")}, computed("y || x")], "then": call},
                {"pattern": "Some(1)", "value": computed("one()"), "then": call},
            ]},
            {"id": "p", "tool": {"name": "t"}, "arguments": {"object": {"text": {"text": ["a", {"value": computed("shown()")}]}}},
                "policy": {"fallback": computed("failed()")}}
        ]),
    );
    let source = RustSource::new(&plan);
    let listed: Vec<String> = source
        .foreign_code()
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        listed,
        [
            "input `x`: the type `[u8; { std::process::exit(1) }]`",
            "argument `b.c[0]` of step `a`: the computed value `exit(1)`",
            "step `f`: the pattern `[m, ..]`",
            "argument `in` of step `f`: the computed value `all()`",
            "argument `if` of step `i`: the computed value `holds!()`",
            "argument `if` of step `i`: the computed value `x && x`",
            "argument `if` of step `i`: the computed value `y || x`",
            "step `i`: the pattern `Some(1)`",
            "argument `if` of step `i`: the computed value `one()`",
            "the arguments of step `p`: the computed value `failed()`",
            "argument `text` of step `p`: the computed value `shown()`",
        ]
    );
    let refused = to_rust(&plan).unwrap_err();
    assert_eq!(refused.all().len(), listed.len());
    for (one, listed) in refused.all().iter().zip(&listed) {
        assert_eq!(&one.to_string(), listed);
    }
    let said = refused.to_string();
    let list: String = listed.iter().map(|one| format!("- {one}\n")).collect();
    assert_eq!(
        said,
        format!(
            "the plan contains code from outside the program in 11 places:\n{list}\
             help: review the code, then call `RustSource::allow_code`"
        )
    );
    super::expected::check(&plan, &source.allow_code().write().unwrap()).unwrap();
}

#[test]
fn names_and_plain_types_are_no_code() {
    let call = json!({"tool": {"name": "t"}, "arguments": {"object": {"a": {"reference": {"local": 0, "pointer": ""}}}}});
    let list = json!({"reference": {"input": "x0", "pointer": ""}});
    let types = [
        "String",
        "Vec<Option<crate::mail::Email>>",
        "std::collections::BTreeMap<String, (u8, ())>",
        "()",
        "::a::B",
    ];
    let inputs: Vec<Value> = types
        .iter()
        .enumerate()
        .map(|(at, ty)| json!({"name": format!("x{at}"), "type": ty}))
        .collect();
    for pattern in ["Some(m)", "Some(r#type)"] {
        let plan = plan_json(
            json!(inputs),
            json!([{"id": "s", "if": [{"pattern": pattern, "value": list, "then": call}]}]),
        );
        to_rust(&plan).unwrap();
    }
    for ty in [
        "&'static str",
        "[u8; 1]",
        "Evil<u8>",
        "<u8 as T>::X",
        "fn()",
        "dyn T",
        "impl T",
        "t!()",
        "Vec<[u8; f()]>",
        "_",
        "!",
    ] {
        let plan = plan_json(json!([{"name": "x", "type": ty}]), json!([]));
        let found = RustSource::new(&plan).foreign_code().unwrap();
        assert!(found.len() == 1 && to_rust(&plan).is_err(), "{ty}");
    }
}

#[test]
fn a_text_is_all_of_one_kind_of_syntax() {
    for ty in [
        "String /*",
        "String, y: u8",
        "String; evil",
        "no type",
        "u8 = 1",
        "String) -> ! {",
    ] {
        lacks(
            &plan_json(json!([{"name": "x", "type": ty}]), json!([])),
            "is not a Rust type",
        );
    }
    let call = json!({"tool": {"name": "t"}, "arguments": {"object": {}}});
    let list = json!({"computed": {"written": "all()", "reads": []}});
    for pattern in [
        "m in x {} for m",
        "m //",
        "evil!{}",
        "std::process::exit(1) && let Some(x)",
        "m = x {} if let n",
        "self",
        "(a, self)",
        "",
    ] {
        let plan = plan_json(
            json!([{"name": "x", "type": "u8"}]),
            json!([{"id": "s", "if": [{"pattern": pattern, "value": list, "then": call}]}]),
        );
        // A comment is gone, and a macro is one pattern.
        match pattern {
            "m //" => RustSource::new(&plan)
                .allow_code()
                .write()
                .map(drop)
                .unwrap(),
            "evil!{}" => assert!(said(&plan).starts_with(
                "the plan contains code from outside the program in 2 places:\n- step `s`: the pattern"
            )),
            _ => lacks(&plan, "the pattern"),
        }
    }
    let computed = |written: &str| json!({"computed": {"written": written, "reads": []}});
    for (written, fits) in [
        ("1 //", true),
        ("1 /* x */", true),
        ("1, b: 2", false),
        ("1; evil()", false),
        ("1 }", false),
        ("let x = 1", false),
        ("", false),
        ("x /*", false),
        ("\"", false),
        ("a => b", false),
        ("true && let Some(m) = x", false),
        ("f(let Some(m) = x)", false),
        ("m = evil()", false),
        ("if let Some(m) = x && m > 1 { m } else { 2 }", true),
    ] {
        let plan = plan_json(
            json!([]),
            json!([{"id": "s", "tool": {"name": "t"}, "arguments": {"object": {"b": {"object": {"k": computed(written), "limit": 5}}}}}]),
        );
        let source = RustSource::new(&plan).allow_code().write();
        assert_eq!(source.is_ok(), fits, "{written}: {source:?}");
        source
            .iter()
            .for_each(|source| super::expected::check(&plan, source).unwrap());
    }
    for (written, fits) in [
        ("x", true),
        ("S { a: 1 }", false),
        ("x {}", false),
        ("(S { a: 1 }).b", true),
        ("x { evil() } if y", false),
    ] {
        let plan = plan_json(
            json!([]),
            json!([{"id": "s", "if": [{"condition": computed(written), "then": call}]}]),
        );
        assert_eq!(
            RustSource::new(&plan).allow_code().write().is_ok(),
            fits,
            "{written}"
        );
    }
}

#[test]
fn formats_are_those_of_the_standard_library() {
    let plan = |spec: &str| {
        let value = json!({"value": {"reference": {"input": "x", "pointer": "/a"}}, "spec": spec});
        plan_json(
            json!([{"name": "x", "type": "u8"}]),
            json!([{"id": "s", "value": {"text": ["{", value, "}\""]}}]),
        )
    };
    for spec in [
        "", ">8", "*^8", "+08.3e", "#x", "#010x", "?", "#?", "}>8", "->8", ".2",
    ] {
        let found = to_rust(&plan(spec));
        assert_eq!(found.is_ok(), spec != "}>8", "{spec}: {found:?}");
    }
    for spec in [
        ">width$",
        ".*",
        ".prec$",
        "1$",
        "\"; evil!(); \"$",
        "{x}",
        "p",
        "x?x",
        "99999999",
        " ",
        "8 ",
    ] {
        lacks(&plan(spec), "the format");
    }
}

#[test]
fn names_stay_apart() {
    let steps = |ids: &[&str]| {
        let step =
            |id: &&str| json!({"id": id, "tool": {"name": "t"}, "arguments": {"object": {}}});
        let mut steps: Vec<Value> = ids.iter().map(step).collect();
        let read = |id: &&str| json!({"reference": {"step": id, "pointer": ""}});
        let all: Vec<Value> = ids.iter().map(read).collect();
        steps.push(
            json!({"id": "last", "tool": {"name": "t"}, "arguments": {"object": {"all": all}}}),
        );
        plan_json(json!([]), json!(steps))
    };
    for ids in [
        &["type", "r#type", "Type"][..],
        &["a", "A", "a_2", "a/*x*/", "a//", "r#a"],
        &["é", "e\u{301}", "É"],
        &["gen", "r#gen", "self", "Self", "crate", "super", "_", "__"],
        &["1", "step-1", "step_1", "step 1"],
        &[
            "x y",
            "x\ny",
            "x\u{200b}y",
            "x_y",
            "\u{202e}",
            "'a",
            "#![x]",
        ],
    ] {
        let plan = steps(ids);
        let source = to_rust(&plan).unwrap();
        super::expected::check(&plan, &source).unwrap();
        // rustc takes two spellings of one letter for one name.
        assert!(unicode_normalization::is_nfc(&source), "{source}");
    }
    let tools = json!([
        {"id": "a", "tool": {"name": "send_mail"}, "arguments": {"object": {}}},
        {"id": "b", "tool": {"name": "sendMail"}, "arguments": {"object": {}}}
    ]);
    lacks(
        &plan_json(json!([]), tools),
        "the tool `sendMail`, which has the name of `send_mail` in Rust",
    );
    for (name, tool, meant) in [
        ("t", "t", "TPlan"),
        ("string", "t", "StringPlan"),
        ("Self", "t", "Plan"),
        ("t", "t_plan", "T"),
    ] {
        let plan = json!({"name": name, "steps": [{"id": "a", "tool": {"name": tool}, "arguments": {"object": {}}}]});
        let plan: Plan = serde_json::from_value(plan).unwrap();
        assert!(to_rust(&plan).unwrap().contains(&format!("pub {meant}(")));
    }
}

#[test]
fn a_name_that_a_pattern_binds_again_is_not_the_step() {
    let plan = |pattern: &str, inner: &str, source: Source| {
        let list = json!({"reference": {"input": "list", "pointer": ""}});
        let secrets = json!({"reference": {"step": "secrets", "pointer": "/0"}});
        let call = json!({"tool": {"name": "t"}, "arguments": {"object": {"a": secrets}}});
        let inner_for = json!({"for": {"pattern": "n", "list": list, "body": call}});
        let mut plan = plan_json(
            json!([{"name": "list", "type": "Vec<u8>"}]),
            json!([
                {"id": "secrets", "tool": {"name": "t"}, "arguments": {"object": {}}},
                {"id": "s", "for": {"pattern": "m", "list": list, "body": inner_for}}
            ]),
        );
        // No reader makes this.
        let Body::For(outer) = &mut plan.steps[1].body else {
            panic!()
        };
        outer.pattern = pattern.to_owned().into();
        let Body::For(within) = &mut outer.body else {
            panic!()
        };
        within.pattern = inner.to_owned().into();
        let Body::Action(action) = &mut within.body else {
            panic!()
        };
        let Template::Object(entries) = &mut action.args else {
            panic!()
        };
        let Template::Reference(reference) = &mut entries[0].value else {
            panic!()
        };
        reference.source = source;
        plan
    };
    let secrets = Source::Step(0);
    lacks(
        &plan("secrets", "m", secrets),
        "whose name a pattern around it binds",
    );
    lacks(
        &plan("m", "(a, secrets)", secrets),
        "whose name a pattern around it binds",
    );
    lacks(
        &plan("m", "m", Source::Local(0)),
        "whose name another pattern binds again",
    );
    lacks(
        &plan("list", "m", secrets),
        "whose name a pattern around it binds",
    );
    let source = to_rust(&plan("m", "n", secrets)).unwrap();
    assert!(source.contains("T { a: secrets[0], .. }"), "{source}");
    let source = to_rust(&plan("m", "m", Source::Local(1))).unwrap();
    assert!(source.contains("T { a: m[0], .. }"), "{source}");
}

#[test]
fn all_dialects_are_written_without_code() {
    for (dialect, document) in [
        (
            Dialect::ToolPlan,
            json!({"steps": [{"id": "a", "tool": "t", "arguments": {"x": "evil!()"}}, {"id": "b", "tool": "t", "arguments": {"x": "$ref:a.x"}}]}),
        ),
        (
            Dialect::Blueprint,
            json!({"requestId": "r", "steps": [{"tool": "t", "params": {}}, {"tool": "t", "params": {"x": "${step[0].data.x}"}}]}),
        ),
        (
            Dialect::ActionPlan,
            json!([{"id": "a", "tool": "t", "arguments": {"x": "{{PLACEHOLDER_y}}"}}]),
        ),
    ] {
        let text = document.to_string();
        let plan = Reader::new()
            .dialect(dialect)
            .name("p")
            .read(&text)
            .unwrap()
            .into_plan();
        assert!(RustSource::new(&plan).foreign_code().unwrap().is_empty());
        to_rust(&plan).unwrap();
    }
}

/// Says something.
#[tool]
async fn say(text: String) -> Result<String> {
    Ok(text)
}

plan! {
    Talk(words: Vec<String>, maybe: Option<[u8; 2]>, k: bool) -> Vec<String> {
        step said = for word in words.iter().rev() { Say { text: word.trim().to_owned() } };
        step chosen = if let Some([a, _]) = maybe && k { Say { text: format!("{a}") } } else { Say { text: "b" } };
        step texts = if let "a let b" = words[0].as_str() { Say { text: "c" } };
        #[after(chosen, texts)]
        step done = Say { text: said.join(" ") };
        vec![done.clone()]
    }
}

#[test]
fn what_plan_made_is_part_of_the_program_and_json_never_is() {
    let source = to_rust(Talk::PLAN).unwrap();
    assert_eq!(to_rust(&Talk::PLAN.clone()).as_ref(), Ok(&source));
    let read: Plan = serde_json::from_str(&serde_json::to_string(Talk::PLAN).unwrap()).unwrap();
    assert_eq!(&read, Talk::PLAN);
    let foreign = RustSource::new(&read).foreign_code().unwrap();
    assert_eq!(foreign.len(), to_rust(&read).unwrap_err().all().len());
    assert_eq!(foreign.len(), 9, "{foreign:#?}");
    assert_eq!(
        RustSource::new(&read).allow_code().write().as_ref(),
        Ok(&source)
    );
    // A step of another plan does not make this plan trusted, and this plan does not make the step trusted.
    let mut mixed = Talk::PLAN.clone();
    mixed.steps[0] = read.steps[0].clone();
    assert_eq!(RustSource::new(&mixed).foreign_code().unwrap().len(), 2);
    // Parts of a step do not either, and single strings do not.
    let mut mixed = Talk::PLAN.clone();
    let (Body::For(own), Body::For(other)) = (&mut mixed.steps[0].body, &read.steps[0].body) else {
        panic!("`said` is a `for`");
    };
    own.list = other.list.clone();
    mixed.inputs[1].type_name = read.inputs[1].type_name.clone();
    mixed.inputs[0].type_name = Talk::PLAN.inputs[1].type_name.clone();
    let foreign = RustSource::new(&mixed).foreign_code().unwrap();
    let foreign: Vec<String> = foreign.iter().map(ToString::to_string).collect();
    assert_eq!(
        foreign,
        [
            "input `maybe`: the type `Option<[u8; 2]>`",
            "argument `in` of step `said`: the computed value `words.iter().rev()`"
        ]
    );
}

#[test]
fn an_if_let_over_a_text_keeps_its_let() {
    let printed = Talk::PLAN.to_string();
    assert!(
        printed.contains("if let \"a let b\" = words[0].as_str() {"),
        "{printed}"
    );
    assert!(
        printed.contains("if let Some([a, _]) = maybe && k {"),
        "{printed}"
    );
    let drawn = Talk::PLAN.dot().to_string();
    assert!(drawn.contains("if let \\\"a let b\\\" = words"), "{drawn}");
    let source = to_rust(Talk::PLAN).unwrap();
    assert!(
        source.contains("if let \"a let b\" = words[0].as_str() {"),
        "{source}"
    );
    let json = serde_json::to_value(Talk::PLAN).unwrap();
    assert_eq!(
        json["steps"][1]["if"][0]["all"],
        json!([
            {"pattern": "Some([a, _])", "value": {"computed": {"written": "maybe", "reads": [{"input": "maybe"}]}}},
            {"reference": {"input": "k", "pointer": ""}},
        ])
    );
    assert_eq!(json["steps"][2]["if"][0]["pattern"], "\"a let b\"");
    let Body::If(branches) = &Talk::PLAN.steps[1].body else {
        panic!()
    };
    let Body::Action(action) = &branches[0].body else {
        panic!()
    };
    assert!(matches!(&action.args, Template::Object(entries) if entries.len() == 1));
}
