//! Strings that name a step or an input in the notation of another dialect.

use plan_runtime::dynamic::{Code, Dialect, Findings, Profile, Reader, Severity};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const ALL: [Dialect; 4] = [
    Dialect::PlanJson,
    Dialect::ToolPlan,
    Dialect::Blueprint,
    Dialect::ActionPlan,
];

/// Returns a step `b` with a string as its argument `x`, after a step `now`.
fn document(dialect: Dialect, text: &Value) -> String {
    let document = match dialect {
        Dialect::PlanJson => json!({
            "name": "p",
            "inputs": [{"name": "reply", "type": "String"}],
            "steps": [
                {"id": "now", "tool": {"name": "t"}},
                {"id": "b", "tool": {"name": "t"}, "arguments": {"object": {"x": text}}}
            ]
        }),
        Dialect::ToolPlan => json!({"steps": [
            {"id": "now", "tool": "t"},
            {"id": "b", "tool": "t", "arguments": {"x": text}}
        ]}),
        Dialect::Blueprint => json!({"requestId": "p", "steps": [
            {"id": "now", "tool": "t", "params": {}},
            {"id": "b", "tool": "t", "params": {"x": text}}
        ]}),
        Dialect::ActionPlan => json!({"inputs": [{"name": "reply"}], "plan": [
            {"id": "now", "tool": "t", "arguments": {}},
            {"id": "b", "tool": "t", "arguments": {"x": text}}
        ]}),
        other => panic!("no document of {other:?}"),
    };
    document.to_string()
}

fn found(dialect: Dialect, text: &str) -> Findings {
    found_in(&Reader::new().dialect(dialect), dialect, text)
}

fn found_in(reader: &Reader<'_>, dialect: Dialect, text: &str) -> Findings {
    let document = document(dialect, &text.into());
    match reader.read(&document) {
        Ok(document) => document.warnings().clone(),
        Err(findings) => findings,
    }
}

/// Each string is a warning in each dialect that has a form for it here, and the help has that form.
#[test]
fn what_names_a_step_is_told_with_the_form_of_the_document() {
    const NONE: &str = "";
    let now = |path: &str, pointer: &str| {
        [
            format!(r#"`{{"reference": {{"step": "now", "pointer": "{pointer}"}}}}`"#),
            format!("`$ref:now{path}`"),
            format!("`${{step[0].data{path}}}`"),
            format!("`{{{{now.result{path}}}}}`"),
        ]
    };
    let datetime = now(".datetime", "/datetime");
    for (text, forms, own) in [
        ("{{now.datetime}}", &datetime, Some(Dialect::ActionPlan)),
        ("{{ now.datetime }}", &datetime, Some(Dialect::ActionPlan)),
        (
            "{{ now.result.datetime }}",
            &datetime,
            Some(Dialect::ActionPlan),
        ),
        (
            "{{step[0].data.datetime}}",
            &datetime,
            Some(Dialect::ActionPlan),
        ),
        ("${now.datetime}", &datetime, Some(Dialect::Blueprint)),
        (
            "${now.result.datetime}",
            &datetime,
            Some(Dialect::Blueprint),
        ),
        ("${step[0].datetime}", &datetime, Some(Dialect::Blueprint)),
        ("$ref:step[0].datetime", &datetime, Some(Dialect::ToolPlan)),
        ("$now.datetime", &datetime, Some(Dialect::ToolPlan)),
        ("{now.datetime}", &datetime, None),
        ("{now[\"datetime\"]}", &datetime, None),
        ("{{now}}", &now("", ""), Some(Dialect::ActionPlan)),
        ("${now}", &now("", ""), Some(Dialect::Blueprint)),
    ] {
        for (dialect, form) in ALL.into_iter().zip(forms) {
            let findings = found(dialect, text);
            assert_eq!(findings.len(), 1, "{dialect}, {text}: {findings}");
            let help = findings[0].help.as_deref().unwrap_or(NONE);
            assert!(help.contains(form.as_str()), "{dialect}, {text}: {help}");
            // Each dialect is strict about malformed references of its own.
            let is_own = own == Some(dialect)
                || (dialect == Dialect::ActionPlan && text.contains("{now.result"))
                || (dialect == Dialect::Blueprint && text.contains("{step[0]"));
            if !is_own {
                assert_eq!(findings[0].severity, Severity::Warning, "{dialect}, {text}");
                assert_eq!(findings[0].code, Code::MalformedReference);
            }
        }
    }
}

#[test]
fn what_names_an_input_is_told() {
    for text in ["{{reply}}", "${reply}", "${PLACEHOLDER_reply}", "{reply.x}"] {
        for (dialect, form) in [
            (
                Dialect::PlanJson,
                r#"`{"reference": {"input": "reply", "pointer": ""}}`"#,
            ),
            (Dialect::ActionPlan, "`{{PLACEHOLDER_reply}}`"),
        ] {
            let findings = found(dialect, text);
            assert_eq!(findings.len(), 1, "{dialect}, {text}: {findings}");
            let help = findings[0].help.as_deref().unwrap_or_default();
            let form = match (dialect, text) {
                (Dialect::PlanJson, "{reply.x}") => {
                    r#"`{"reference": {"input": "reply", "pointer": "/x"}}`"#
                }
                _ => form,
            };
            assert!(help.contains(form), "{dialect}, {text}: {help}");
        }
    }
    for dialect in [Dialect::ToolPlan, Dialect::Blueprint] {
        let findings = found(dialect, "{{PLACEHOLDER_reply}}");
        let help = findings[0].help.as_deref().unwrap_or_default();
        assert!(help.contains("has no inputs"), "{findings}");
    }
}

/// The name of an input that only a string or the name of another input contains is not an input of the plan.
#[test]
fn what_looks_like_the_name_of_an_input_is_none() {
    let read = |document: Value| {
        let document = document.to_string();
        let reader = Reader::new().dialect(Dialect::ActionPlan);
        let found = reader
            .read(&document)
            .map(|plan| plan.warnings().to_string());
        found.unwrap_or_else(|findings| findings.to_string())
    };
    let step = |arguments: Value| json!([{"id": "b", "tool": "t", "arguments": arguments}]);
    let with = |text: &str| step(json!({"x": "{a} $ref:a.b ${a}", "y": text}));
    assert_eq!(read(with(r#"{{"{{PLACEHOLDER_a}}"}}"#)), "");
    assert_eq!(read(with(r#"{{"PLACEHOLDER_PLACEHOLDER_a}}"}}"#)), "");
    assert_eq!(read(with("PLACEHOLDER_a}}")), "");
    // The same, where it is one.
    let told = read(with("{{PLACEHOLDER_a}}"));
    assert!(told.contains("it names the input `a`"), "{told}");
    assert!(told.contains("{{PLACEHOLDER_a}}"), "{told}");
    // Each further error is reported once.
    let wrong = step(json!({"x": "$ref:a", "y": "PLACEHOLDER_a}}", "z": "{{c.result}}"}));
    let told = read(wrong);
    assert_eq!(told.matches("error[").count(), 1, "{told}");
    assert_eq!(told.matches("warning[").count(), 0, "{told}");
}

/// The dialect of a document is shown at a member of this dialect.
#[test]
fn a_foreign_member_does_not_show_the_dialect() {
    let foreign = json!({"tool": "t", "arguments": {}});
    let own = json!({"tool": "t", "params": {"x": "{{step0.result.y}}"}});
    for (steps, shows) in [
        (json!([foreign, own]), true),
        (json!([own, foreign]), true),
        (json!([foreign]), false),
    ] {
        let text = json!({"requestId": "p", "steps": steps}).to_string();
        let text = if shows {
            text
        } else {
            text.replace("{}", r#"{"x": "{{step0.result.y}}"}"#)
        };
        let findings = Reader::new().read(&text).unwrap_err();
        let of_dialect = |it: &&plan_runtime::dynamic::Finding| {
            it.message.contains("reference of an action plan")
        };
        for finding in findings.iter().filter(of_dialect) {
            for related in &finding.related {
                assert_eq!(&text[related.span.clone()], r#""params""#, "{findings}");
            }
        }
        assert!(
            !shows || findings.iter().any(|it| !it.related.is_empty()),
            "{findings}"
        );
    }
}

/// An intent contains no references, so a name in an intent is not an input.
#[test]
fn an_intent_declares_no_input() {
    let read = |intent: &str, more: &str| {
        let text = json!([
            {"id": "a", "intent": intent, "tool": "t", "arguments": {"intent": "$ref:reply"}},
            {"id": "b", "if": [{"condition": true, "then": {"tool": "t", "arguments": {"description": more}}}]},
        ]);
        let text = text.to_string();
        let reader = Reader::new().dialect(Dialect::ActionPlan);
        match reader.read(&text) {
            Ok(read) => read.warnings().to_string(),
            Err(findings) => findings.to_string(),
        }
    };
    assert_eq!(read("Use {{PLACEHOLDER_reply}}.", ""), "");
    let told = read("", "{{PLACEHOLDER_reply}}");
    assert!(
        told.contains("this is a reference of a tool plan"),
        "{told}"
    );
}

#[test]
fn the_whole_of_it() {
    assert_eq!(
        found(Dialect::Blueprint, "at {{now.datetime}}, ${step[0].data.x}").to_string(),
        r#"warning[malformed-reference]: `{{now.datetime}}` is not a reference in a blueprint (`${step[0]…}`), though it names the step `now`
  --> 1:91 in step `b`: the reader uses this string as text
   = help: write the reference as `${step[0].data.datetime}`; to keep the text, write `${"{{now.datetime}}"}`
"#
    );
    assert_eq!(
        found(Dialect::PlanJson, "at {{now.result}}").to_string(),
        r#"warning[malformed-reference]: `{{now.result}}` is not a reference in plan JSON, though it names the step `now`
  --> 1:131 in step `b`: the reader uses this string as text
   = help: the text with it is `{"text": ["…", {"value": {"reference": {"step": "now", "pointer": ""}}}]}`; to keep the text, write `{"text": ["…"]}`
"#
    );
    assert_eq!(
        found(Dialect::ToolPlan, "at {{now.datetime}}").to_string(),
        r#"warning[malformed-reference]: `{{now.datetime}}` is not a reference in a tool plan (`$ref:`), though it names the step `now`
  --> 1:57 in step `b`: the reader uses this string as text
   = help: use a tool to join the text and `$ref:now.datetime`; to keep the text, write `$ref:"at {{now.datetime}}"`
"#
    );
}

/// Unknown names, marks with other uses, and escaped strings have no findings.
#[test]
fn text_is_text() {
    for text in [
        "",
        "{{name}} ${name} $ref {name.x} $name.x",
        "costs $5, or ${5}, or $now",
        "{now} {\"now\": 1} { now: 1 } {now",
        "{{now.datetime ${now.datetime",
        "{{ if now }} {{now | upper}} {{now.}} {{now.x y}}",
        "step[0] step[9] {{step[9].data}} {step}",
        "<now.datetime> now.datetime @now #now",
        "see $now.x of it",
        "$$now $(now)",
    ] {
        for dialect in [Dialect::PlanJson, Dialect::ToolPlan] {
            let findings = found(dialect, text);
            assert!(findings.is_empty(), "{dialect}, {text}: {findings}");
        }
    }
    for (dialect, text) in [
        (Dialect::ToolPlan, r#"$ref:"{{now.result}} ${now.x}""#),
        (Dialect::Blueprint, r#"${"{{now.result}}"} ${"{now.x}"}"#),
        (Dialect::ActionPlan, r#"{{"${now.x}"}} {{"{now.x}"}}"#),
    ] {
        let findings = found(dialect, text);
        assert!(findings.is_empty(), "{dialect}, {text}: {findings}");
    }
}

#[test]
fn in_the_compat_profile_and_in_texts_of_parts_too() {
    let compat = Reader::new().profile(Profile::Compat);
    let findings = found_in(
        &compat.dialect(Dialect::ToolPlan),
        Dialect::ToolPlan,
        "{{now.datetime}}",
    );
    assert_eq!(findings.len(), 1, "{findings}");
    let parts = json!({"text": ["at ", {"value": "{{now.datetime}}"}, " ${now.x} "]});
    let text = document(Dialect::PlanJson, &parts);
    let read = Reader::new().read(&text).unwrap();
    // A literal part has no finding.
    assert_eq!(read.warnings().len(), 1, "{}", read.warnings());
    // JSON in a string has positions in the document.
    let inner = json!({"x": "{{now.datetime}}"}).to_string();
    let text = json!({"steps": [
        {"id": "now", "tool": "t"},
        {"id": "b", "tool": "t", "arguments": inner}
    ]})
    .to_string();
    let read = Reader::new().read(&text).unwrap();
    let warning = &read.warnings()[0];
    assert_eq!(&text[warning.label.span.clone()], "{{now.datetime}}");
}

#[test]
fn of_many_in_one_text_a_few_are_told_and_the_rest_counted() {
    let findings = found(Dialect::PlanJson, &"{{now.x}} ".repeat(100));
    assert_eq!(findings.len(), 8, "{findings}");
    assert_eq!(
        findings[7].label.text,
        "the reader uses this string as text, and 92 more like it"
    );
}

/// Reading a long string takes linear time: with quadratic time, these would take minutes.
#[test]
fn long_texts_of_nearly_references_are_read_in_time() {
    for part in [
        "{{now.x",
        "{{now.x}}",
        "{{now[",
        "{{[\"now",
        "{{[\"now\"][\"",
        "{now.result",
        "{now.x",
        "${now.x",
        "${step[",
        "${step[}",
        "{step[0]",
        "$step[0]",
        "${step[0].data[",
        "$ref:now.",
        "$ref:now[",
        "$now.x$",
        "{{ ",
        "{",
        "$",
        "{{\"",
        "${\"",
        "${step[0].data}",
        "{{now.result}}{{now.x}}",
        "{{now.result}}\n",
        "${step[0].data}\n",
    ] {
        let text = part.repeat(crate::common::amount::<usize>(1 << 15, 1 << 17) / part.len());
        for dialect in ALL {
            let start = Instant::now();
            drop(found(dialect, &text));
            let time = start.elapsed();
            assert!(
                time < Duration::from_secs(10),
                "{dialect}, {part}: {time:?}"
            );
        }
    }
}

static FOUND: AtomicUsize = AtomicUsize::new(0);

#[test]
fn what_is_found_lies_in_the_text() {
    each_finding_lies_in_the_text();
    let found = FOUND.load(Ordering::Relaxed);
    assert!(found > 50, "{found}");
}

proptest! {
    /// For any string, the found references are inside it and in order, and their help is in the document's dialect.
    fn each_finding_lies_in_the_text(
        parts in prop::collection::vec(prop::sample::select(vec![
            "{{now.x}}", "${now.x}", "$now.x", "{now.result}", "${step[0].data}", "{{reply}}",
            "{{", "}}", "{", "}", "${", "$ref:", "$", "now", "reply", "step[0]", "steps[0]", ".", ".result", ".data",
            "[0]", "[*]", "[\"", "\"]", "[", "]", " ", "x", "é", "\n", "\"", "\\", "PLACEHOLDER_", "😀",
        ]), 0..12),
        dialect in prop::sample::select(ALL.to_vec()),
    ) {
        let text = parts.concat();
        let document = document(dialect, &text.as_str().into());
        let findings = match Reader::new().dialect(dialect).read(&document) {
            Ok(read) => read.warnings().clone(),
            Err(findings) => findings,
        };
        let string = serde_json::to_string(&text).unwrap();
        let whole = document.rfind(&string).unwrap();
        let whole = whole..whole + string.len();
        let mut end = 0;
        for warning in findings.warnings().filter(|it| it.code == Code::MalformedReference) {
            let span = &warning.label.span;
            prop_assert!(whole.start < span.start && span.end < whole.end, "{findings}");
            prop_assert!(span.start >= end, "{findings}");
            FOUND.fetch_add(1, Ordering::Relaxed);
            end = span.end;
        }
    }
}
