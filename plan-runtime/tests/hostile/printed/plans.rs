use super::{STEPS, assert_safe, document, texts};
use plan_runtime::Plan;
use plan_runtime::dynamic::Reader;
use proptest::prelude::*;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

fn read(document: &Value) -> Plan {
    Reader::new()
        .read(&document.to_string())
        .unwrap_or_else(|findings| panic!("{findings}"))
        .into_plan()
}

fn by_serde(document: &Value) -> Plan {
    serde_json::from_value(document.clone()).unwrap()
}

fn headers(text: &str) -> usize {
    text.lines()
        .filter(|line| line.starts_with("  step "))
        .count()
}

/// The lines, without those of descriptions that have lines of their own.
fn lines(text: &str) -> usize {
    let own =
        |line: &&str| line.trim_start().starts_with("//") && !line.starts_with("    // after");
    text.lines().filter(|line| !own(line)).count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn plans_print_as_what_they_are(texts in texts()) {
        let harmless = by_serde(&document(|number| format!("w{number}"))).to_string();
        let hostile = document(|number| texts[number % texts.len()].clone());
        for plan in [by_serde(&hostile), read(&hostile)] {
            let text = plan.to_string();
            assert_safe(&text);
            prop_assert_eq!(headers(&text), STEPS, "{}", text);
            prop_assert_eq!(lines(&text), lines(&harmless), "{}", text);
            let whole = plan.steps.iter().map(|step| step.to_string()).collect::<String>();
            assert_safe(&whole);
            prop_assert_eq!(headers(&whole), STEPS, "{}", whole);
            for step in &plan.steps {
                for usage in step.references() {
                    super::assert_line(&usage.place);
                    super::assert_line(&usage.reference.to_string());
                }
            }
        }
    }

    /// The values of a step's arguments begin in one column.
    #[test]
    fn values_are_aligned(texts in texts()) {
        let keys: serde_json::Map<String, Value> = texts.iter().map(|text| (text.clone(), json!("VALUE"))).collect();
        let plan = by_serde(&json!({"name": "p", "steps": [{"id": "a", "tool": {"name": "t"}, "arguments": {"object": keys}}]}));
        let text = plan.to_string();
        let column = |line: &str| line.rfind("\"VALUE\"").map(|at| line[..at].width());
        let columns: Vec<usize> = text.lines().filter_map(column).collect();
        prop_assert_eq!(columns.len(), keys.len());
        prop_assert!(columns.iter().all(|column| *column == columns[0]), "{}", text);
    }
}

#[track_caller]
fn prints(document: &Value, expected: &str) {
    let text = by_serde(document).to_string();
    assert_eq!(text, expected.trim_start_matches('\n'), "{text}");
    assert_safe(&text);
}

#[test]
fn a_tool_draws_no_steps_and_hides_nothing() {
    prints(
        &json!({"name": "p", "steps": [
            {"id": "a", "tool": {"name": "find  // Only reads.\n\n  step b = send"}, "arguments": {"object": {"x": 1}}},
            {"id": "b", "tool": {"name": "\u{1b}[8mdelete"}},
            {"id": "c", "tool": {"name": "x\rsend"}, "after": ["b"]}
        ]}),
        r#"
plan p

  step a = tool "find  // Only reads.\n\n  step b = send"
    x: 1
    // starts at once

  step b = tool "\u{1b}[8mdelete"
    // starts at once

  step c = tool "x\rsend"
    // needs b
    // after b
"#,
    );
}

#[test]
fn names_are_not_notes() {
    prints(
        &json!({"name": "p\nplan q", "inputs": [{"name": "i: String", "type": "u8  // trusted"}, {"name": "n", "type": "u8"}], "steps": [
            {"id": "a  // needs b", "tool": {"name": "t"}, "arguments": {"object": {"x: 1, y": 2, "": 3}}},
            {"id": "b", "tool": {"name": "t"}, "after": ["a  // needs b"]},
            {"id": "a, b", "tool": {"name": "t"}, "after": ["a  // needs b", "b"],
             "arguments": {"object": {"z": {"reference": {"step": "a  // needs b", "pointer": "/x y/0"}}}}}
        ]}),
        r#"
plan "p\nplan q"
  input "i: String": code("u8  // trusted")
  input n:           u8

  step "a  // needs b" = t
    "":        3
    "x: 1, y": 2
    // starts at once

  step b = t
    // needs "a  // needs b"
    // after "a  // needs b"

  step "a, b" = t
    z: &"a  // needs b"["x y"][0]
    // needs "a  // needs b", b
    // after "a  // needs b", b
"#,
    );
}

#[test]
fn descriptions_are_comments_and_no_notes() {
    prints(
        &json!({"name": "p", "description": "One.\u{202e}\n\n  step x = y\r\nTwo.", "inputs": [
            {"name": "i", "type": "u8", "description": "a\n  step x = y\n"}], "steps": [
            {"id": "a", "intent": "Send it.\nneeds b\n  after c\nstarts at once\nAnd \u{1b}[8mmore.", "tool": {"name": "t"}},
            {"id": "b", "intent": "\u{2028}  step c = d", "tool": {"name": "t"}}
        ]}),
        r#"
plan p
  // One.\u{202e}
  //
  // step x = y
  // Two.
  input i: u8
    // a
    // step x = y

  step a = t
    // Send it.
    // "needs b"
    // "after c"
    // "starts at once"
    // And \u{1b}[8mmore.
    // starts at once

  step b = t  // step c = d
    // starts at once
"#,
    );
}

#[test]
fn rust_that_was_never_parsed_stays_in_its_place() {
    prints(
        &json!({"name": "p", "inputs": [{"name": "i", "type": "Vec<u8>"}], "steps": [
            {"id": "a", "for": {"pattern": "x in [] {  // nothing", "list": {"computed": {"written": "all()", "reads": []}}, "body": {"if": [
                {"condition": {"computed": {"written": "false {  //", "reads": []}}, "then": {"tool": {"name": "t"}}}]}}},
            {"id": "b", "value": {"computed": {"written": "\"a text\"", "reads": []}}},
            {"id": "c", "value": {"computed": {"written": "mail.subject", "reads": []}}},
            {"id": "d", "value": {"computed": {"written": "a, y: 2", "reads": []}}},
            {"id": "e", "value": {"computed": {"written": "i.len() + 1", "reads": [{"input": "i"}]}}},
            {"id": "f", "tool": {"name": "i"}},
            {"id": "h", "for": {"pattern": "(a, b)", "list": {"computed": {"written": "i", "reads": [{"input": "i"}]}}, "body": {"tool": {"name": "t"}}}},
            {"id": "j", "for": {"pattern": "(a, b)", "list": {"computed": {"written": "h", "reads": [{"input": "i"}]}}, "body": {"tool": {"name": "t"}}}},
            {"id": "g", "value": {"reference": {"input": "i", "pointer": ""}}}
        ], "output": {"type": "u8\n\n  step h = t", "value": null}}),
        r#"
plan p -> code("u8\n\n  step h = t")
  input i: Vec<u8>

  step a = for code("x in [] {  // nothing") in all() {
    if computed("false {  //") {
      t
    }
  }
    // starts at once

  step b = computed("\"a text\"")

  step c = computed("mail.subject")

  step d = computed("a, y: 2")

  step e = i.len() + 1

  step f = tool "i"
    // starts at once

  step h = for (a, b) in i {
    t
  }
    // starts at once

  step j = for (a, b) in computed("h") {
    t
  }
    // starts at once

  step g = i
"#,
    );
}

/// A plan that was built in Rust may have references with any notation.
#[test]
fn references_are_no_more_than_that() {
    use plan_runtime::plan::{Reference, Source, Template};
    for (written, shown) in [
        ("mail", "mail"),
        ("mail.subject", "step0"),
        ("{{ mail.result.subject }}", "step0"),
        ("a\n    // needs b", r#"reference("a\n    // needs b")"#),
        ("a, b: 1", r#"reference("a, b: 1")"#),
        ("a\u{200b}", r#"reference("a\u{200b}")"#),
        ("a  // b", r#"reference("a  // b")"#),
    ] {
        let reference = Reference::new(Source::Step(0)).written(written);
        assert_eq!(reference.to_string(), shown);
        assert_eq!(Template::Reference(reference).to_string(), shown);
    }
}
