//! Plans as a whole: unused outputs, needless dependencies, inputs, and the time of a check.

use crate::checks::{action, read, read_with, tool, tools};
use plan_runtime::Plan;
use plan_runtime::dynamic::{
    Code, Contract, Contracts, Findings, Profile, Reader, Severity, Toolbox,
};
use plan_runtime::plan::{Action, Reference, Source, Step, Template};
use serde_json::json;

/// Tools that check, pay and tell.
pub(crate) fn payments() -> Contracts {
    let nothing = || json!({"type": "null"});
    [
        Contract::new("check").read_only(),
        Contract::new("approve").read_only().output(nothing()),
        Contract::new("pay").output(json!({"type": "integer"})),
        Contract::new("tell").output(nothing()),
    ]
    .into_iter()
    .collect()
}

/// Reads a plan whose output is that of the step `paid`.
fn read_payment(steps: &str) -> Findings {
    let text = format!("{{\"steps\": [\n{steps}\n], \"output_steps\": [\"paid\"]}}");
    read_with(&payments(), &text)
}

#[test]
fn effects_that_need_no_order() {
    for steps in [
        r#"{"id": "ok", "tool": "check"}, {"id": "paid", "tool": "pay", "after": ["ok"]}"#,
        r#"{"id": "ok", "tool": "check", "policy": {"catch": true}}, {"id": "paid", "tool": "pay"}"#,
        r#"{"id": "paid", "tool": "pay"}, {"id": "told", "tool": "tell"}, {"id": "again", "tool": "tell"}"#,
        r#"{"id": "paid", "tool": "pay"}, {"id": "ok", "tool": "check", "after": ["paid"]}"#,
        r#"{"id": "told", "tool": "tell"}, {"id": "paid", "tool": "pay"}"#,
    ] {
        let codes: Vec<Code> = read_payment(steps).iter().map(|it| it.code).collect();
        assert!(
            !codes.contains(&Code::UnorderedEffect),
            "{steps}: {codes:?}"
        );
    }
}

#[test]
fn a_document_that_was_read_can_be_checked_later() {
    let text = tool(r#"{"id": "found", "tool": "serach", "arguments": {"query": "x"}}"#);
    let document = Reader::new().read(&text).unwrap();
    assert!(document.warnings().is_empty());
    let findings = document.check(&tools());
    assert_eq!(
        findings,
        Reader::new().tools(&tools()).read(&text).unwrap_err()
    );
    assert_eq!(findings[0].code, Code::UnknownTool);
}

#[test]
fn what_could_not_be_read_is_no_second_mistake() {
    let text = tool(
        r#"{"id": "hits", "tool": "search", "arguments": {"query": "$ref: gone"}},
{"id": 3, "tool": "search", "arguments": {}},
{"id": "more", "arguments": {"query": 3}},
{"id": "sent", "tool": "send", "arguments": {"to": "x", "subject": "$ref:hits.0.id"}}"#,
    );
    let codes: Vec<Code> = read(&text).iter().map(|finding| finding.code).collect();
    let expected = [
        Code::MalformedReference,
        Code::WrongKind,
        Code::MissingMember,
    ];
    assert_eq!(codes, expected);
}

#[test]
fn where_a_profile_allows_nothing_it_is_a_warning() {
    let text = tool(
        r#"{"id": "a", "tool": "read_person", "arguments": {"id": "x"}},
{"id": "b", "tool": "send", "arguments": {"to": "$ref:a.email", "subject": "$ref:a.name"}}"#,
    );
    let tools = tools();
    let reader = Reader::new().tools(&tools).profile(Profile::Compat);
    let document = reader.read(&text).unwrap();
    let codes: Vec<_> = document
        .warnings()
        .iter()
        .map(|f| (f.code, f.severity))
        .collect();
    let warning = Severity::Warning;
    assert_eq!(
        codes,
        [(Code::MaybeAbsent, warning), (Code::UnknownField, warning)]
    );
    assert!(
        Reader::new()
            .tools(&tools)
            .read(&text)
            .unwrap_err()
            .errors()
            .count()
            == 2
    );
}

#[test]
fn inputs_have_the_types_of_the_arguments_that_they_stand_for() {
    let text = action(
        r#"{"id": "a", "tool": "search", "arguments": {"query": "{{PLACEHOLDER_query}}", "limit": "{{PLACEHOLDER_limit}}"}},
{"id": "b", "tool": "archive", "arguments": {"ids": "{{PLACEHOLDER_ids}}"}},
{"id": "c", "tool": "send", "arguments": {"to": "a", "subject": "To {{PLACEHOLDER_name}}, {{PLACEHOLDER_limit}}", "cc": ["{{PLACEHOLDER_cc}}"],
    "options": {"html": "{{PLACEHOLDER_html}}"}, "body": "{{PLACEHOLDER_query}}"}},
{"id": "d", "tool": "anything", "arguments": {"any": "{{PLACEHOLDER_any}}"}},
{"id": "e", "tool": "send", "arguments": {"to": "a", "subject": "s", "options": "{{PLACEHOLDER_options}}"}}"#,
    );
    let tools = tools();
    let types = |profile| {
        let document = Reader::new()
            .tools(&tools)
            .profile(profile)
            .read(&text)
            .unwrap();
        let inputs = document.plan().inputs.iter();
        inputs
            .map(|input| format!("{}: {}", input.name, input.type_name))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        types(Profile::Strict),
        [
            "query: String",
            "limit: i64",
            "ids: Vec<String>",
            "name: String",
            "cc: String",
            "html: bool",
            "any: String",
            "options: serde_json::Value"
        ]
    );
    assert_eq!(types(Profile::Compat)[1], "limit: Option<i64>");

    let stated = r#"{"inputs": [{"name": "limit", "type": "String"}], "plan": [
{"id": "a", "tool": "search", "arguments": {"query": "x", "limit": "{{PLACEHOLDER_limit}}"}}]}"#;
    assert_eq!(
        read(stated).to_string(),
        "\
error[wrong-type]: argument `limit` must be an integer, but `{{PLACEHOLDER_limit}}` is a string
  --> 2:68 in step `a`
"
    );
}

#[test]
fn plan_json_is_checked_where_things_stand_in_it() {
    let text = r#"{"name": "p", "inputs": [{"name": "most"}, {"name": "who", "type": "u32"}], "steps": [
  {"id": "people", "for": {"pattern": "who", "list": [1, 2], "body": {
    "tool": {"name": "read_person"}, "arguments": {"object": {"id": {"reference": {"local": 0, "pointer": ""}}}}}}},
  {"id": "maybe", "if": [{"condition": true, "then":
    {"tool": {"name": "read_person"}, "arguments": {"object": {"id": 5}}}}]},
  {"id": "hits", "tool": {"name": "search"}, "after": ["maybe"], "arguments": {"object": {
    "query": {"reference": {"input": "who", "pointer": ""}},
    "limit": {"reference": {"input": "most", "pointer": ""}}}}},
  {"id": "sent", "tool": {"name": "send"}, "arguments": {"object": {
    "to": {"reference": {"step": "maybe", "pointer": "/id"}},
    "subject": {"text": ["Re: ", {"value": {"reference": {"step": "people", "pointer": "/0/idd"}}}]},
    "cc": [{"reference": {"step": "people", "path": [{"each": "element"}, "id"]}}]}}}
], "output": {"value": {"reference": {"step": "sent", "pointer": "/state"}}}}"#;
    assert_eq!(read(text).to_string(), "\
error[wrong-type]: if `who` is element [0] of the list, argument `id` is the number 1, but must be a string
  --> 3:69 in step `people`
   = note: 2:55: the value is here
   = help: write it as a string: `\"1\"`

error[wrong-type]: argument `id` is the number 5, but must be a string
  --> 5:70 in step `maybe`
   = help: write it as a string: `\"5\"`

warning[unused-output]: nothing uses the output of step `hits`, and `search` only reads
  --> 6:10 in step `hits`
   = help: remove the step, or use its output

warning[unneeded-dependency]: step `hits` uses no output of step `maybe`, and both steps only read, so step `hits` does not have to wait
  --> 6:56 in step `hits`
   = help: remove the step from the list, so that both steps can run concurrently

error[wrong-type]: argument `query` must be a string, but `who` is an integer
  --> 7:14 in step `hits`
   = help: write the value as text: `{\"text\": [{\"value\": {\"reference\": {\"input\": \"who\", \"pointer\": \"\"}}}]}`

error[maybe-absent]: argument `to` is required, but `maybe.id` may have no value: if step `maybe` is skipped, its output is null
  --> 10:11 in step `sent`
   = help: give the `if` of `maybe` a last branch without a condition, or call the tool only if the value is present: `\"if\": [{\"pattern\": \"Some(x)\", \"value\": {\"reference\": {\"step\": \"maybe\", \"pointer\": \"/id\"}}, \"then\": {\"tool\": {\"name\": \"send\"}, \"arguments\": {\"object\": {\"to\": {\"reference\": {\"local\": 0, \"pointer\": \"\"}}, \"subject\": {\"text\": [\"Re: \", {\"value\": {\"reference\": {\"step\": \"people\", \"pointer\": \"/0/idd\"}}}]}, \"cc\": [{\"reference\": {\"step\": \"people\", \"path\": [{\"each\": \"element\"}, \"id\"]}}]}}}}]` (`local` is the number of a value from a `for` or a pattern; 0 is the outermost)

error[unknown-field]: `[0]` in the output of step `people` has no field `idd`
  --> 11:44 in step `sent`
   = help: did you mean `{\"reference\": {\"step\": \"people\", \"pointer\": \"/0/id\"}}`?

error[list-or-element]: argument `cc[0]` must be a string, but `people[..].id` is a list of strings
  --> 12:12 in step `sent`
   = help: the reference already is a list; remove the brackets: `{\"reference\": {\"step\": \"people\", \"path\": [{\"each\": \"element\"}, \"id\"]}}`

error[unknown-field]: the output of `send` has no field `state`
  --> 13:24
   = help: did you mean `{\"reference\": {\"step\": \"sent\", \"pointer\": \"/status\"}}`?
");
}

/// An input is compared with the amount of a policy that it gives, in a block as well.
#[test]
fn amounts_that_inputs_give() {
    let plan = |ty: &str, member: &str, body: &str| {
        format!(
            r#"{{"name": "p", "inputs": [{{"name": "given", "type": "{ty}"}}], "steps": [
{{"id": "a", {body}, "policy": {{"{member}": {{"reference": {{"input": "given", "pointer": ""}}}}}}}}],
"output": {{"value": null}}}}"#
        )
    };
    let call = r#""tool": {"name": "anything"}"#;
    let each = r#""for": {"pattern": "x", "list": [1], "body": {"tool": {"name": "anything"}}}"#;
    for (member, body) in [("attempts", call), ("concurrency", each)] {
        for (ty, found) in [("String", "a string"), ("bool", "`true` or `false`")] {
            let said = read(&plan(ty, member, body)).to_string();
            let expected = format!(
                "error[wrong-type]: `{member}` is a number, but the input `given` is {found}\n"
            );
            assert!(said.starts_with(&expected), "{said}");
            assert!(said.contains(" in step `a`"), "{said}");
        }
        for right in ["u32", "usize"] {
            assert_eq!(read(&plan(right, member, body)).to_string(), "");
        }
        let said = read(&plan("Settings", member, body)).to_string();
        let expected = format!(
            "warning[unchecked]: `{member}` is a number, but the input `given` may be anything\n"
        );
        assert!(said.starts_with(&expected), "{said}");
    }
    for member in ["timeout", "deadline", "backoff", "max"] {
        let said = read(&plan("u64", member, call)).to_string();
        let expected = format!(
            "error[wrong-type]: `{member}` is a duration, but the input `given` is an integer\n"
        );
        assert!(said.starts_with(&expected), "{said}");
        for right in ["String", "Duration", "std::time::Duration"] {
            assert_eq!(read(&plan(right, member, call)).to_string(), "");
        }
    }
}

/// The output of a step that waits has a type, like an input with that type.
#[test]
fn a_value_from_outside_is_of_its_type() {
    let read = |body: String| read(&body).to_string();
    let call = |reference: &str| {
        format!(
            r#"{{"id": "call", "tool": {{"name": "search"}}, "arguments": {{"object": {{"query": "x", "limit": {reference}}}}}}}"#
        )
    };
    let mut wrong = 0;
    for ty in [
        "u64",
        "String",
        "bool",
        "Option<u64>",
        "Vec<u64>",
        "Vec<String>",
        "Option<Vec<bool>>",
        "Mail",
    ] {
        for pointer in ["", "/0", "/name", "/0/name"] {
            let of_input =
                format!(r#"{{"reference": {{"input": "given", "pointer": "{pointer}"}}}}"#);
            let of_step = of_input.replace("input", "step");
            let input = read(format!(
                r#"{{"name": "p", "inputs": [{{"name": "given", "type": "{ty}"}}], "steps": [{}], "output": {{"value": {{"reference": {{"step": "call", "pointer": ""}}}}}}}}"#,
                call(&of_input)
            ));
            let step = read(format!(
                r#"{{"name": "p", "steps": [{{"id": "given", "await": "{ty}"}}, {}], "output": {{"value": {{"reference": {{"step": "call", "pointer": ""}}}}}}}}"#,
                call(&of_step)
            ));
            let first = |said: &str| said.lines().next().unwrap_or_default().to_owned();
            let of_both = |said: &str| {
                let said = first(said).replace("the input `given`", "given");
                said.replace("the output of step `given`", "given")
                    .replace("the output may", "it may")
            };
            assert_eq!(of_both(&input), of_both(&step), "{ty} {pointer}");
            wrong += usize::from(!input.is_empty());
        }
    }
    assert!(wrong > 20, "{wrong}");
}
#[test]
fn a_plan_without_text_is_checked() {
    let schema =
        json!({"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]});
    let send = Contract::new("send").arguments(schema);
    let toolbox = Toolbox::<()>::new().with_fn(send, |given| async { Ok(given) });
    let check = |to: Template| {
        let step = Step::new("sent", Action::call("send", Template::object([("to", to)])));
        let mut plan = Plan::new("p");
        plan.steps = vec![step];
        toolbox.check(&plan)
    };
    assert_eq!(check("a".into()).to_string(), "");
    let findings = check(Template::Bool(true));
    assert_eq!(findings.len(), 1);
    assert_eq!(
        findings[0].message,
        "argument `to` is true, but must be a string"
    );
    assert_eq!(&findings.text()[findings[0].label.span.clone()], "true");
    let findings = check(Reference::new(Source::Step(7)).into());
    assert_eq!(
        findings[0].message,
        "the plan cannot be written as JSON: the plan has no Step(7)"
    );
    // An older version may have recorded a policy without an effect.
    let each = json!({"for": {"pattern": "x", "list": [1], "body": {"value": 1}}});
    let policy = json!({"concurrency": 2});
    let step = json!({"id": "a", "if": [{"condition": true, "then": each}], "policy": policy});
    let text = json!({"name": "p", "steps": [step], "output": {}});
    let plan = serde_json::from_value(text.clone()).unwrap();
    assert_eq!(toolbox.check(&plan).to_string(), "");
    assert!(read(&text.to_string()).has_errors());
}
