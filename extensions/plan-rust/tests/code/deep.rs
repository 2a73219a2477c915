//! Code for which a parser would recurse once for each character, on a stack of 2 MB.

use plan_runtime::Plan;
use plan_runtime::plan::{Computed, Output, Reference, Source, Template};
use plan_rust::{RustSource, to_rust};
use serde_json::{Value, json};

fn plan(kind: &str, text: &str) -> Plan {
    let call = json!({"tool": {"name": "t"}, "arguments": {"object": {}}});
    let computed = |text: &str| json!({"computed": {"written": text, "reads": []}});
    let step = |body: Value| {
        let mut step = body;
        step["id"] = "s".into();
        json!([step])
    };
    let mut ty = "String";
    let mut steps = json!([]);
    match kind {
        "type" => ty = text,
        "value" => {
            let arguments = json!({"object": {"a": computed(text)}});
            steps = step(json!({"tool": {"name": "t"}, "arguments": arguments}));
        }
        "condition" => steps = step(json!({"if": [{"condition": computed(text), "then": call}]})),
        "all" => {
            let all = json!([{"pattern": "Some(y)", "value": computed(text)}, computed(text)]);
            steps = step(json!({"if": [{"all": all, "then": call}]}));
        }
        "let" => {
            steps = step(json!({"if": [{"pattern": text, "value": computed("x"), "then": call}]}));
        }
        "for" => {
            let each = json!({"pattern": text, "list": computed("x"), "body": call});
            steps = step(json!({"for": each}));
        }
        "path" => {}
        _ => unreachable!(),
    }
    let mut plan: Plan = serde_json::from_value(json!({
        "name": "p", "inputs": [{"name": "x", "type": ty}], "steps": steps
    }))
    .unwrap();
    if kind == "path" {
        // Documents cannot contain a path of this length, but programs can build one.
        let keys = text.split('/').skip(1);
        let input = Reference::new(Source::Input(0));
        plan.output.value = Template::Reference(keys.fold(input, Reference::key));
    }
    plan
}

/// Returns `true` if the code is written, on a small stack.
fn is_written(plan: Plan) -> bool {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let thread = thread.spawn(move || {
        let source = RustSource::new(&plan).allow_code();
        let said = to_rust(&plan).map_err(|unsupported| unsupported.all().len());
        assert_ne!(said.err(), Some(0));
        let written = source.write();
        if let Ok(text) = &written {
            syn::parse_str::<syn::ItemMacro>(text).unwrap();
        }
        written.is_ok()
    });
    thread.unwrap().join().unwrap()
}

#[test]
fn what_is_nested_is_written_or_refused_and_never_ends_the_process() {
    let forms: &[(&[&str], &str, &str, &str)] = &[
        (&["type", "let", "for", "value"], "&", "x", ""),
        (&["type", "let", "for", "value"], "(", "x", ")"),
        (&["type"], "Vec<", "u8", ">"),
        (&["type"], "fn() -> ", "u8", ""),
        (&["type"], "*const ", "u8", ""),
        (&["type"], "[", "u8", "; 1]"),
        (&["let", "for"], "Some(", "x", ")"),
        (&["let", "for"], "x @ ", "x", ""),
        (&["let", "for"], "[", "x", "]"),
        (&["let"], "x | ", "x", ""),
        (&["value", "condition", "all"], "!", "x", ""),
        (&["value", "condition", "all"], "-", "x", ""),
        (&["value", "condition", "all"], "|x| ", "x", ""),
        (&["value", "condition", "all"], "return ", "x", ""),
        (&["value", "condition"], "x = ", "x", ""),
        (&["value", "condition", "all"], "[", "x", "]"),
        (&["value", "condition", "all"], "{", "x", "}"),
        (&["value", "condition", "all"], "if x {} else ", "{}", ""),
        (&["value", "condition", "all"], "x + ", "x", ""),
        (&["value", "condition"], "x..", "x", ""),
        (&["value", "condition", "all"], "", "x", ".x"),
        (&["value", "condition", "all"], "", "x", "?"),
        (&["value", "condition", "all"], "", "x", "()"),
        (&["value", "condition", "all"], "", "x", "[0]"),
        (&["value", "condition", "all"], "", "x", " as u8"),
        (&["value", "condition", "all"], "x::<", "u8", ">"),
        (&["value"], "async {", "x", "}"),
        (&["value"], "'a: ", "loop {}", ""),
        (&["value"], "#[a] ", "x", ""),
        (&["value"], "match x { x => ", "x", "}"),
        (&["path"], "", "", "/x"),
    ];
    for (kinds, before, middle, after) in forms {
        for kind in *kinds {
            for count in [1, 20, 60, 120, 250, 500, 2_000, 30_000] {
                let text = before.repeat(count) + middle + &after.repeat(count);
                let is = is_written(plan(kind, &text));
                // Realistic code is accepted. Another test checks the kind of a character.
                let few = count == 1 && !["return ", "x = ", "'a: ", "#[a] "].contains(before);
                assert!(!few || is || *kind == "condition", "{kind}: {text}");
                assert!(!is || count <= 500, "{kind}: {count} times {before}{after}");
            }
        }
    }
}

#[test]
fn templates_are_nested_as_deep_as_that_is_written() {
    for (depth, fits) in [(3, true), (100, true), (130, false), (3_000, false)] {
        let thread = std::thread::Builder::new().stack_size(64 << 20);
        // Making so deep a value, and dropping it, takes a stack as well.
        let thread = thread.spawn(move || {
            for object in [false, true] {
                let mut value = Template::Bool(true);
                for _ in 0..depth {
                    value = if object {
                        Template::object([("k", value)])
                    } else {
                        vec![value].into()
                    };
                }
                let mut plan = Plan::new("p");
                plan.output = Output::new(value);
                let written = std::thread::scope(|scope| {
                    let thread = std::thread::Builder::new().stack_size(2 << 20);
                    let thread = thread.spawn_scoped(scope, || to_rust(&plan));
                    thread.unwrap().join().unwrap()
                });
                assert_eq!(written.is_ok(), fits, "{depth}");
                // A part that is not visited could contain code.
                let foreign = RustSource::new(&plan).foreign_code();
                match foreign {
                    Ok(found) => assert!(fits && found.is_empty()),
                    Err(deep) => {
                        let said = "`plan!` cannot express a part of the plan: the output: a value that is nested too deeply";
                        assert!(!fits && deep.to_string() == said, "{deep}");
                    }
                }
            }
        });
        thread.unwrap().join().unwrap();
    }
}

#[test]
fn a_large_text_is_refused_before_it_is_read() {
    for text in [
        "x + ".repeat(1 << 18) + "x",
        "\"".to_owned() + &"x".repeat(1 << 20) + "\"",
    ] {
        let mut plan = Plan::new("p");
        plan.output = Output::new(Computed::new(text, []));
        plan.output.type_name = "String".into();
        let said = RustSource::new(&plan).allow_code().write().unwrap_err();
        assert!(
            said.to_string()
                .ends_with("…`, which is too long or too deep")
        );
        assert!(said.to_string().len() < 300);
    }
}
