//! The graph of a plan with errors: the steps and references that its JSON contains.

use crate::picture::svg;
use crate::view::StepView;
use plan_graph::MessageName;
use serde_json::Value;

/// Returns the graph of a JSON document with steps, or `None` without steps. `is_read_only` gets the names of tools.
pub(crate) fn draft(text: &str, is_read_only: &dyn Fn(&str) -> bool) -> Option<String> {
    let document: Value = serde_json::from_str(text).ok()?;
    let steps = match &document {
        Value::Array(steps) => steps,
        document => document.get("steps").or(document.get("plan"))?.as_array()?,
    };
    let ids: Vec<String> = steps
        .iter()
        .enumerate()
        .map(|(at, step)| {
            step["id"]
                .as_str()
                .map_or(format!("step{at}"), str::to_owned)
        })
        .collect();
    // A reference to a doubled id has no single target.
    let is_single = |id: &str| ids.iter().filter(|it| *it == id).count() == 1;
    let shown = |id: &str| MessageName(id).to_string();
    let view = |(at, step): (usize, &Value)| {
        let tool = step["tool"].as_str().or(step["tool"]["name"].as_str());
        let undoes = step["undo"].as_str().filter(|it| is_single(it));
        let reads = |need: usize| needs(step, &ids[need], need);
        let is_after = |need: usize| {
            let mut after = ["after", "dependsOn"]
                .into_iter()
                .filter_map(|it| step[it].as_array())
                .flatten();
            after.any(|it| *it == *ids[need] || *it == need)
        };
        let others = |is_found: &dyn Fn(usize) -> bool| -> Vec<String> {
            let is_other = |need: usize| need != at && is_single(&ids[need]);
            let found = (0..ids.len()).filter(|need| is_other(*need) && is_found(*need));
            found.map(|need| shown(&ids[need])).collect()
        };
        // A step with an unknown tool may change something.
        StepView {
            path: shown(&ids[at]),
            tool: tool.map(shown),
            read_only: tool.is_some_and(is_read_only),
            waits: !step["await"].is_null(),
            undoes: undoes.map(shown),
            needs: others(&|need| reads(need) || is_after(need)),
            after: others(&|need| !reads(need) && is_after(need)),
            ..StepView::default()
        }
    };
    let steps: Vec<StepView> = steps.iter().enumerate().map(view).collect();
    let name = document["name"].as_str().or(document["requestId"].as_str());
    svg(name.unwrap_or_default(), &steps)
}

/// Returns `true` if a value contains a reference to the step with this id and this number.
fn needs(value: &Value, id: &str, number: usize) -> bool {
    let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let has = |text: &str, before: &str| {
        let mut found = text.match_indices(before);
        found.any(|(at, _)| {
            let rest = text[at + before.len()..].strip_prefix(id);
            rest.is_some_and(is_end)
        })
    };
    match value {
        Value::String(text) => {
            has(text, "{{") || has(text, "$ref:") || text.contains(&format!("${{step[{number}]"))
        }
        Value::Array(list) => list.iter().any(|it| needs(it, id, number)),
        Value::Object(members) => members.iter().any(|(name, value)| match &**name {
            "step" | "undo" => value == id,
            _ => needs(value, id, number),
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    fn draft(text: &str) -> Option<String> {
        super::draft(text, &|tool| tool == "email_read")
    }

    #[test]
    fn a_faulty_plan_has_a_graph() {
        let (_, text) = crate::samples::all()
            .find(|(it, _)| *it == "faulty")
            .unwrap();
        let svg = draft(text).unwrap();
        let edges: Vec<&str> = svg.split("data-from=\"").skip(1).collect();
        let edges: Vec<&str> = edges
            .iter()
            .map(|it| it.split(" d=").next().unwrap())
            .collect();
        assert_eq!(edges.len(), 3, "{edges:?}");
        assert!(svg.contains("latest: email_read, only reads"), "{svg}");
        for (from, to) in [("inbox", "latest"), ("latest", "sent"), ("latest", "copy")] {
            let edge = format!("data-from=\"{from}\" data-to=\"{to}\"");
            assert!(svg.contains(&edge), "{edge}");
        }
        let numbered =
            r#"{"steps": [{"tool": "a"}, {"tool": "b", "params": {"x": "${step[0].data}"}}]}"#;
        assert!(
            draft(numbered)
                .unwrap()
                .contains(r#"data-from="step0" data-to="step1""#)
        );
        // A draft has the lines of a plan: `after` without a reference is order only.
        let ordered = draft(
            r#"{"steps": [{"id": "a"}, {"id": "b", "after": ["a"]}, {"id": "c", "dependsOn": [0, 1], "params": {"after": "{{b}}"}}]}"#,
        );
        let ordered = ordered.unwrap();
        for edge in [
            r#"class="edge after" data-from="a" data-to="b""#,
            r#"class="edge after" data-from="a" data-to="c""#,
            r#"class="edge" data-from="b" data-to="c""#,
        ] {
            assert!(ordered.contains(edge), "{edge} in {ordered}");
        }
        let doubled = r#"[{"id": "m"}, {"id": "m", "arguments": {"x": "{{m}}"}}, {"id": "n", "arguments": {"x": "{{m}}"}}]"#;
        let doubled = draft(doubled).unwrap();
        assert_eq!(doubled.matches("data-path=\"m\"").count(), 2, "{doubled}");
        assert_eq!(doubled.matches("data-from").count(), 0, "{doubled}");
        let steps = r#"[{"id": "a"}]"#;
        let wrapped = format!(r#"{{"plan": {steps}}}"#);
        assert_eq!(draft(&wrapped), draft(steps));
        for other in ["[", "{}", "[]", r#"{"steps": 3}"#] {
            assert_eq!(draft(other), None, "{other}");
        }
    }
}
