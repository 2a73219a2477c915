//! Strings that are placeholders of other systems.

use crate::reading::{action_plan, blueprint, of, tool_plan};
use plan_runtime::dynamic::{Code, Dialect, Reader};

#[test]
fn placeholders_are_warnings() {
    let tool_plans = of(Dialect::ToolPlan);
    let warnings = |reader: &Reader, document: &str| match reader.read(document) {
        Ok(document) => document.warnings().to_string(),
        Err(findings) => findings.to_string(),
    };
    for placeholder in [
        "{{email}}",
        "{{ user.email }}",
        "{{ $json.email }}",
        "${email}",
        " ${userEmail} ",
        "<your email>",
        "<YOUR_EMAIL>",
        "<insert-address>",
        "...",
        "…",
    ] {
        let found = warnings(&tool_plans, &tool_plan(placeholder));
        let placeholder = placeholder.trim();
        let message = format!("warning[placeholder]: `{placeholder}` is a placeholder");
        assert!(found.starts_with(&message), "{placeholder}: {found}");
    }
    // Values of tools that expand, parse or display their arguments.
    for value in [
        "${HOME}",
        "${email} and more",
        "{{email}} and more",
        "{email}",
        "<b>",
        "<yours>",
        "<your>",
        "<a> < <your b>",
        "TODO",
        "....",
        "",
        "{{}}",
        "${}",
        "{{a b}}",
    ] {
        assert_eq!(warnings(&tool_plans, &tool_plan(value)), "", "{value}");
    }
    // A dialect with inputs names the input, and keeps an escaped string.
    let action_plans = of(Dialect::ActionPlan);
    assert_eq!(
        warnings(&action_plans, &action_plan("<your e-mail>")),
        "warning[placeholder]: `<your e-mail>` is a placeholder
  --> 3:48 in step `b`: the reader uses the placeholder as text
   = help: write a value, or an input: `{{PLACEHOLDER_e_mail}}`
"
    );
    assert_eq!(
        warnings(&action_plans, &action_plan(r#"{{"<your e-mail>"}}"#)),
        ""
    );
    let found = warnings(&action_plans, &action_plan("{{ sender }}"));
    assert!(
        found.contains("did you mean `{{PLACEHOLDER_sender}}`?"),
        "{found}"
    );
    // A reference with spaces gets the form of its name.
    for (written, meant) in [
        ("{{ a }}", "{{a.result}}"),
        ("{{ a.id }}", "{{a.result.id}}"),
        ("{{ a.result.id }}", "{{a.result.id}}"),
        ("{{ user.email }}", "{{user.result.email}}"),
        ("{{ inputs.q }}", "{{PLACEHOLDER_q}}"),
    ] {
        let found = warnings(&action_plans, &action_plan(written));
        assert!(
            found.contains(&format!("did you mean `{meant}`?")),
            "{found}"
        );
    }
    let found = warnings(&action_plans, &action_plan("{{PLACEHOLDER}}"));
    assert!(!found.contains("PLACEHOLDER_PLACEHOLDER"), "{found}");
    let found = warnings(&of(Dialect::Blueprint), &blueprint("{{email}}"));
    assert!(found.starts_with("warning[placeholder]"), "{found}");
    // Only plan JSON declares its inputs.
    let plan_json = |inputs: &str| {
        let step = r#"{"id": "a", "tool": {"name": "t"}, "arguments": {"object": {"to": "<your userEmail>"}}}"#;
        let text = format!(r#"{{"name": "p", "inputs": [{inputs}], "steps": [{step}]}}"#);
        let document = of(Dialect::PlanJson).read(&text).unwrap();
        let warning = &document.warnings()[0];
        assert_eq!(warning.code, Code::Placeholder);
        warning.help.clone().unwrap()
    };
    let reference = r#"{"reference": {"input": "userEmail", "pointer": ""}}"#;
    let input = r#"{"name": "userEmail", "type": "String"}"#;
    assert_eq!(
        plan_json(""),
        format!(
            "write a value, or an input: add `{input}` to the `inputs` of the plan, and write `{reference}`"
        )
    );
    assert_eq!(
        plan_json(input),
        format!("write a value, or an input: `{reference}`")
    );
}
