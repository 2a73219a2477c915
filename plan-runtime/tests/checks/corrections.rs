//! Fixes in findings are right: the corrected document is read, checked, and runs.

use plan_runtime::dynamic::{Code, Contract, Contracts, Dialect, Reader, Toolbox};
use serde_json::{Value, json};

fn tools() -> Contracts {
    let find = Contract::new("find").output(json!({
        "type": "object",
        "properties": {
            "from": {"type": "string"},
            "cc": {"type": "string"},
            "nick": {"type": ["string", "null"]},
            "size": {"type": "integer"},
            "urgent": {"type": "boolean"},
        },
        "required": ["from", "nick", "size"],
    }));
    let send = Contract::new("send")
        .arguments(json!({
            "type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"], "additionalProperties": false
        }))
        .output(json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}));
    [find, send].into_iter().collect()
}

/// A toolbox whose mail has no `cc` and no `nick`.
fn toolbox() -> Toolbox<()> {
    let mut toolbox = Toolbox::new();
    for contract in &tools() {
        let gives = match contract.name.as_str() {
            "find" => json!({"from": "sarah", "nick": null, "size": 3}),
            _ => json!({"id": "m-1"}),
        };
        toolbox = toolbox.with_fn(contract.clone(), move |_| {
            let gives = gives.clone();
            async move { Ok(gives) }
        });
    }
    toolbox
}

/// The notation of a dialect for the first step, a reference to a field of it, a call to `send`, and a document with a
/// second step.
struct Form {
    dialect: Dialect,
    frame: [&'static str; 2],
    reference: fn(&str) -> String,
    call: fn(&str) -> String,
    id: &'static str,
}

fn forms() -> [Form; 4] {
    let plain = |to: &str| format!(r#""tool": "send", "arguments": {{"to": {to}}}"#);
    [
        Form {
            dialect: Dialect::ActionPlan,
            frame: [
                r#"[{"id": "mail", "tool": "find", "arguments": {}}, {"#,
                "}]",
            ],
            reference: |field| format!(r#""{{{{mail.result.{field}}}}}""#),
            call: plain,
            id: r#""id": "s", "#,
        },
        Form {
            dialect: Dialect::ToolPlan,
            frame: [
                r#"{"steps": [{"id": "mail", "tool": "find", "arguments": {}}, {"#,
                r#"}], "output_steps": ["s"]}"#,
            ],
            reference: |field| format!(r#""$ref:mail.{field}""#),
            call: plain,
            id: r#""id": "s", "#,
        },
        Form {
            dialect: Dialect::Blueprint,
            frame: [
                r#"{"requestId": "r", "steps": [{"tool": "find", "params": {}}, {"#,
                "}]}",
            ],
            reference: |field| format!(r#""${{step[0].data.{field}}}""#),
            call: |to| format!(r#""tool": "send", "params": {{"to": {to}}}"#),
            id: "",
        },
        Form {
            dialect: Dialect::PlanJson,
            frame: [
                r#"{"name": "p", "inputs": [], "steps": [{"id": "mail", "tool": {"name": "find"}}, {"#,
                r#"}], "output": {"value": {"reference": {"step": "s", "pointer": ""}}}}"#,
            ],
            reference: |field| {
                format!(r#"{{"reference": {{"step": "mail", "pointer": "/{field}"}}}}"#)
            },
            call: |to| {
                format!(r#""tool": {{"name": "send"}}, "arguments": {{"object": {{"to": {to}}}}}"#)
            },
            id: r#""id": "s", "#,
        },
    ]
}

impl Form {
    fn document(&self, does: &str) -> String {
        let [open, close] = self.frame;
        format!("{open}{}{does}{close}", self.id)
    }

    /// The help of the only finding, which has this code.
    fn help(&self, does: &str, code: Code) -> String {
        let text = self.document(does);
        let findings = Reader::new().tools(&tools()).read(&text).unwrap_err();
        assert_eq!(findings.len(), 1, "{findings}");
        assert_eq!(findings[0].code, code, "{findings}");
        findings[0].help.clone().unwrap()
    }

    /// Returns the output of a corrected plan.
    fn runs(&self, does: &str) -> Value {
        let toolbox = toolbox();
        let text = self.document(does);
        let document = toolbox
            .read(&text)
            .unwrap_or_else(|findings| panic!("{findings}\n{text}"));
        assert_eq!(document.dialect(), self.dialect);
        assert!(document.warnings().is_empty(), "{}", document.warnings());
        smol::block_on(toolbox.run(document.plan(), (), &()))
            .unwrap_or_else(|error| panic!("{error}\n{text}"))
    }
}

/// Returns the text in backquotes that starts with this.
fn quoted<'h>(help: &'h str, start: &str) -> &'h str {
    let mut parts = help.split('`');
    parts
        .find(|part| part.starts_with(start))
        .unwrap_or_else(|| panic!("{help}"))
}

#[test]
fn a_call_only_if_a_value_is_there() {
    for form in forms() {
        for field in ["cc", "nick"] {
            let reference = (form.reference)(field);
            let help = form.help(&(form.call)(&reference), Code::MaybeAbsent);
            let output = form.runs(quoted(&help, "\"if\""));
            let text = output.to_string();
            assert!(!text.contains("m-1"), "{text}");
            assert!(
                form.runs(&(form.call)(&(form.reference)("from")))
                    .to_string()
                    .contains("m-1")
            );
        }
    }
}

#[test]
fn a_number_as_text() {
    for form in forms() {
        let call = (form.call)(&(form.reference)("size"));
        if form.dialect == Dialect::ToolPlan {
            let text = form.document(&call);
            let findings = Reader::new().tools(&tools()).read(&text).unwrap_err();
            assert_eq!(findings[0].help, None);
            continue;
        }
        let help = form.help(&call, Code::WrongType);
        let text = help
            .strip_prefix("write the value as text: `")
            .unwrap()
            .strip_suffix('`')
            .unwrap();
        let text = match form.dialect {
            Dialect::PlanJson => text.to_owned(),
            _ => Value::from(text).to_string(),
        };
        assert!(form.runs(&(form.call)(&text)).to_string().contains("m-1"));
    }
}

#[test]
fn a_condition_on_what_may_be_absent() {
    for form in forms() {
        let call = (form.call)(r#""me""#);
        let then = |condition: &str| {
            format!(r#""if": [{{"condition": {condition}, "then": {{{call}}}}}]"#)
        };
        let cc = (form.reference)("cc");
        let longer = format!(r#"{{"compare": [{{"len": {cc}}}, ">", 3]}}"#);
        let help = form.help(&then(&longer), Code::MaybeAbsent);
        let all = quoted(&help, r#"{"all""#).replace('…', &longer);
        assert!(!form.runs(&then(&all)).to_string().contains("m-1"));
        let urgent = (form.reference)("urgent");
        let help = form.help(&then(&urgent), Code::MaybeAbsent);
        let is_there = quoted(&help, r#"{"all""#);
        assert!(!form.runs(&then(is_there)).to_string().contains("m-1"));
        let size = (form.reference)("size");
        let help = form.help(&then(&size), Code::WrongType);
        let compared = quoted(&help, r#"{"compare""#).replace("…]", "3]");
        assert!(form.runs(&then(&compared)).to_string().contains("m-1"));
    }
}

/// An output that may be absent as a whole, and fields of it.
#[test]
fn the_output_of_a_step_that_may_be_skipped() {
    let tools = tools();
    let plan = |policy: &str, last: &str, third: &str| {
        format!(
            r#"[{{"id": "mail", "tool": "find", "arguments": {{}}}},
            {{"id": "o", "if": [{{"condition": {{"compare": ["{{{{mail.result.size}}}}", ">", 3]}}, "then": {{"tool": "send", "arguments": {{"to": "a"}}}}}}{last}]{policy}}},
            {{"id": "s", {third}}}]"#
        )
    };
    let call = r#""tool": "send", "arguments": {"to": "{{o.result.id}}"}"#;
    let text = plan("", "", call);
    let findings = Reader::new().tools(&tools).read(&text).unwrap_err();
    assert_eq!(findings.len(), 1, "{findings}");
    let help = findings[0].help.clone().unwrap();
    assert!(
        help.starts_with("give the `if` of `o` a last branch without a condition, or "),
        "{help}"
    );
    let last = r#", {"then": {"tool": "send", "arguments": {"to": "b"}}}"#;
    for corrected in [plan("", last, call), plan("", "", quoted(&help, "\"if\""))] {
        let toolbox = toolbox();
        let document = toolbox
            .read(&corrected)
            .unwrap_or_else(|findings| panic!("{findings}"));
        smol::block_on(toolbox.run(document.plan(), (), &())).unwrap();
    }
    let text = plan(r#", "policy": {"optional": "whole"}"#, last, call);
    let findings = Reader::new().tools(&tools).read(&text).unwrap_err();
    let help = findings[0].help.clone().unwrap();
    assert!(
        help.starts_with("replace `optional` of `o` with a `fallback` in its `policy`, or "),
        "{help}"
    );
    let text = plan(r#", "policy": {"fallback": {"id": "none"}}"#, last, call);
    assert!(Reader::new().tools(&tools).read(&text).is_ok());
}

#[test]
fn a_loop_over_what_is_no_list() {
    let text = |list: &str| {
        format!(
            r#"[{{"id": "mail", "tool": "find", "arguments": {{}}}},
            {{"id": "s", "for": {{"pattern": "x", "list": "{list}", "body": {{"tool": "send", "arguments": {{"to": "me"}}}}}}}}]"#
        )
    };
    let findings = Reader::new()
        .tools(&tools())
        .read(&text("{{mail.result.size}}"))
        .unwrap_err();
    assert_eq!(findings[0].code, Code::ListOrElement);
    assert_eq!(
        findings[0].message,
        "a `for` iterates over a list or an object, but `{{mail.result.size}}` is an integer"
    );
    assert!(
        Reader::new()
            .tools(&tools())
            .read(&text("{{mail.result}}"))
            .is_ok()
    );
}
