//! Helps with a fix, applied as written: the finding disappears, and the rest of the document stays.

use plan_runtime::dynamic::{Code, Contract, Contracts, Finding, Reader};
use serde_json::{Map, Value, json};

/// The content of arguments that no help is about.
const KEPT: &str = "kept as it is";

fn tools() -> Contracts {
    let find = Contract::new("find").read_only().output(json!({
        "type": "object",
        "properties": {
            "from": {"type": "string"},
            "cc": {"type": "string"},
            "names": {"type": "array", "items": {"type": "string"}},
            "mails": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}},
            "size": {"type": "integer"},
            "ok": {"type": "boolean"},
        },
        "required": ["from", "names", "mails", "size", "ok"],
        "additionalProperties": false,
    }));
    let send = Contract::new("send")
        .arguments(json!({
            "type": "object",
            "properties": {
                "to": {"type": "string"},
                "note": {"type": "string"},
                "text": {"type": "string"},
                "list": {"type": "array", "items": {"type": "string"}},
                "more": {"type": "object"},
            },
            "required": ["to"],
            "additionalProperties": false,
        }))
        .output(json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"], "additionalProperties": false}));
    let note = Contract::new("note").arguments(json!({
        "type": "object", "properties": {"text": {"type": "string"}, "list": {"type": "array"}}, "additionalProperties": false,
    }));
    [find, send, note].into_iter().collect()
}

/// The first part of a help that is in backquotes.
fn quoted(help: &str) -> &str {
    let (_, rest) = help.split_once('`').unwrap_or_else(|| panic!("{help}"));
    // A literal of a blueprint or an action plan has no backquotes, and these plans have none.
    rest.split_once('`').unwrap_or_else(|| panic!("{help}")).0
}

/// The step of a document that a finding is about.
fn step_of<'d>(document: &'d mut Value, finding: &Finding) -> &'d mut Map<String, Value> {
    let id = finding.step.as_deref().unwrap();
    let steps = match document {
        Value::Array(steps) => steps,
        document => document["steps"].as_array_mut().unwrap(),
    };
    let by_place = id.strip_prefix("step").and_then(|at| at.parse().ok());
    let at = by_place.or_else(|| steps.iter().position(|step| step["id"] == id));
    steps[at.unwrap()].as_object_mut().unwrap()
}

/// Returns the document with the first fix of the help.
fn applied(text: &str, finding: &Finding) -> String {
    let help = finding
        .help
        .as_deref()
        .unwrap_or_else(|| panic!("{finding}"));
    let instead = match finding.code {
        Code::MaybeAbsent => &help[help.find("`\"if\"").unwrap_or_else(|| panic!("{help}"))..],
        _ => help,
    };
    with_fix(text, finding, quoted(instead))
}

/// Returns the document with each fix that a help shows as complete JSON.
pub(crate) fn all_fixes(text: &str, finding: &Finding) -> Vec<String> {
    let help = finding.help.as_deref().unwrap_or_default();
    let starts = [r#""if": "#, r#""for": "#, "{"];
    let is_fix = |part: &&str| {
        let is_json = starts.iter().any(|start| part.starts_with(start));
        // An action plan has references in braces.
        is_json && !part.starts_with("{{") && !part.contains('…')
    };
    let fixes = help.split('`').skip(1).step_by(2).filter(is_fix);
    fixes.map(|fix| with_fix(text, finding, fix)).collect()
}

/// Returns the document with a fix: members of the step, or a value at the position of the finding.
pub(crate) fn with_fix(text: &str, finding: &Finding, instead: &str) -> String {
    let help = finding.help.as_deref().unwrap_or_default();
    let span = finding.label.span.clone();
    let given = &text[span.clone()];
    let member: Option<Map<String, Value>> = serde_json::from_str(&format!("{{{instead}}}")).ok();
    if let Some(member) = member {
        let mut document: Value = serde_json::from_str(text).unwrap();
        let mut step = step_of(&mut document, finding);
        let key: Result<String, _> = serde_json::from_str(given);
        let is_body = member.contains_key("if") || member.contains_key("for");
        if let Some(key) = key.ok().filter(|_| !is_body)
            && step.remove(&key).is_none()
        {
            step = step["policy"].as_object_mut().unwrap();
            step.remove(&key).unwrap();
        }
        if is_body {
            for call in ["tool", "arguments", "params", "value"] {
                step.remove(call);
            }
        }
        step.extend(member);
        return document.to_string();
    }
    let around = |open: char, close: char| {
        let start = text[..span.start].rfind(open).unwrap();
        let end = span.end + text[span.end..].find(close).unwrap() + 1;
        (start, end)
    };
    let (start, end) = match () {
        () if help.contains("remove the brackets") => around('[', ']'),
        () if help.contains("without an object") => {
            let start = text[..span.start].rfind('{').unwrap();
            let value: usize = text[start..].find('}').unwrap();
            (start, start + value + 1)
        }
        () => (span.start, span.end),
    };
    // A reference replaces a string that is a reference.
    let is_json = serde_json::from_str::<Value>(instead).is_ok();
    let is_text = given.starts_with('"') && !is_json;
    let instead = if is_text {
        Value::from(instead).to_string()
    } else {
        instead.to_owned()
    };
    format!("{}{instead}{}", &text[..start], &text[end..])
}

/// Applies helps until nothing is found, at most a few times.
fn corrected(text: &str, code: Code) {
    let tools = tools();
    let reader = Reader::new().tools(&tools);
    let mut text = text.to_owned();
    for round in 0..4 {
        let findings = match reader.read(&text) {
            Ok(document) => {
                assert!(round > 0, "nothing is wrong with {text}");
                assert!(
                    document.warnings().is_empty(),
                    "{}\n{text}",
                    document.warnings()
                );
                let printed = document.plan().to_string();
                assert!(printed.contains(KEPT), "{printed}\n{text}");
                return;
            }
            Err(findings) => findings,
        };
        // An output that only the wrong member uses is a warning.
        let first = findings.errors().next().unwrap();
        if round == 0 {
            assert_eq!(first.code, code, "{findings}");
        }
        text = applied(&text, first);
    }
    panic!(
        "{:?}\n{text}",
        reader.read(&text).err().map(|it| it.to_string())
    );
}

fn tool_plan(step: &Value) -> String {
    let find = json!({"id": "mail", "tool": "find", "arguments": {}});
    json!({"steps": [find, step], "output_steps": ["s"]}).to_string()
}

fn action_plan(step: &Value) -> String {
    json!([{"id": "mail", "tool": "find", "arguments": {}}, step]).to_string()
}

fn blueprint(step: &Value) -> String {
    json!({"requestId": "r", "steps": [{"tool": "find", "params": {}}, step]}).to_string()
}

fn plan_json(step: &Value) -> String {
    let find = json!({"id": "mail", "tool": {"name": "find"}});
    let output = json!({"value": {"reference": {"step": "s", "pointer": ""}}});
    json!({"name": "p", "inputs": [], "steps": [find, step], "output": output}).to_string()
}

/// A step of each dialect, which sends something to this field of the first step, with other members.
fn in_all(field: &str, name: &str, value: &Value) -> [String; 4] {
    let given = |to: String| json!({"to": to, "note": KEPT, "list": ["a"], "more": {"x": [KEPT]}});
    let with = |mut step: Value| {
        if !name.is_empty() {
            step[name] = value.clone();
        }
        step
    };
    let by_id = |to: String| with(json!({"id": "s", "tool": "send", "arguments": given(to)}));
    let place = json!({"tool": "send", "params": given(format!("${{step[0].data.{field}}}"))});
    let to = json!({"reference": {"step": "mail", "pointer": format!("/{field}")}});
    let object = json!({"to": to, "note": KEPT, "list": ["a"], "more": {"object": {"x": [KEPT]}}});
    let own = json!({"id": "s", "tool": {"name": "send"}, "arguments": {"object": object}});
    [
        tool_plan(&by_id(format!("$ref:mail.{field}"))),
        action_plan(&by_id(format!("{{{{mail.result.{field}}}}}"))),
        blueprint(&with(place)),
        plan_json(&with(own)),
    ]
}

#[test]
fn a_call_only_if_a_value_is_there_keeps_its_arguments() {
    for text in in_all("cc", "", &Value::Null) {
        corrected(&text, Code::MaybeAbsent);
        // The document is on many lines.
        let text: Value = serde_json::from_str(&text).unwrap();
        corrected(&format!("{text:#}"), Code::MaybeAbsent);
    }
    // Two loops, one inside the other. The first one's variable has another name.
    let step = json!({"id": "s", "tool": "send", "arguments": {"to": "$ref:mail.cc", "note": "$ref:mail.cc", "text": KEPT}});
    let required = json!({"type": "object", "properties": {"to": {"type": "string"}, "note": {"type": "string"}, "text": {"type": "string"}}, "required": ["to", "note"]});
    let find = tools().get("find").unwrap().clone();
    let both: Contracts = [find, Contract::new("send").arguments(required)]
        .into_iter()
        .collect();
    let reader = Reader::new().tools(&both);
    let text = tool_plan(&step);
    let once = applied(&text, &reader.read(&text).unwrap_err()[0]);
    let help = reader.read(&once).unwrap_err()[0].help.clone().unwrap();
    assert!(
        help.contains("Some(found)") && help.contains("$ref:x") && help.contains(KEPT),
        "{help}"
    );
}

#[test]
fn orders_and_policies() {
    for (name, value) in [
        ("retry", json!(3)),
        ("retries", json!(3)),
        ("policy", json!({"retry": 3})),
        ("maxAttempts", json!(3)),
        ("timeout_ms", json!(500)),
        ("timeoutSeconds", json!(5)),
        ("continue_on_error", json!(true)),
        ("fallback", json!("none")),
        ("retryDelay", json!("2s")),
    ] {
        for text in in_all("from", name, &value) {
            corrected(&text, Code::UnknownMember);
        }
    }
    for name in ["depends_on", "dependencies", "needs", "dependsOn"] {
        let [tool_plan, action_plan, _, plan_json] = in_all("from", name, &json!(["mail"]));
        for text in [tool_plan, action_plan, plan_json] {
            corrected(&text, Code::UnknownMember);
        }
    }
    let [tool_plan, action_plan, ..] = in_all("from", "timeout", &json!("5s"));
    for text in [tool_plan, action_plan] {
        corrected(&text, Code::UnknownMember);
    }
    let [tool_plan, action_plan, _, plan_json] = in_all("from", "optional", &json!(true));
    for text in [tool_plan, action_plan, plan_json] {
        corrected(&text, Code::UnknownMember);
    }
}

#[test]
fn values_in_quotes_and_outside_of_lists() {
    for (name, value) in [
        ("retryCount", json!("2")),
        ("timeout", json!("500")),
        ("timeout", json!("5s")),
        ("optional", json!("true")),
        ("dependsOn", json!(["0"])),
        ("dependsOn", json!(0)),
        ("policy", json!({"attempts": "2"})),
    ] {
        let [_, _, blueprint, _] = in_all("from", name, &value);
        corrected(&blueprint, Code::WrongKind);
    }
    let policy = json!({"attempts": 2, "backoff": "1s", "jitter": "false"});
    for text in in_all("from", "policy", &policy) {
        corrected(&text, Code::WrongKind);
    }
    let [tool_plan, action_plan, _, plan_json] = in_all("from", "after", &json!("mail"));
    for text in [tool_plan, action_plan, plan_json] {
        corrected(&text, Code::WrongKind);
    }
}

/// A step of each dialect that refers to the first step, and has something else as the `text` of its message.
fn with_text(text: &Value) -> [String; 4] {
    let note = format!(r#""note":"{KEPT}""#);
    let both = format!(r#"{note},"text":{text}"#);
    in_all("from", "", &Value::Null).map(|document| document.replacen(&note, &both, 1))
}

#[test]
fn references_of_other_languages() {
    let tools = tools();
    let help = |text: &str| {
        let findings = Reader::new().tools(&tools).read(text).unwrap_err();
        findings[0].help.clone().unwrap_or_default()
    };
    for name in ["$ref", "ref", "reference"] {
        let forms = ["`$ref:id`", "`{{id.result}}`", "`${step[0].data}`"];
        for (text, form) in with_text(&json!({ name: "mail.from" })).iter().zip(forms) {
            assert_eq!(
                help(text),
                format!("a reference is a string, such as {form}")
            );
        }
        let own = [
            "$ref:mail.from",
            "{{mail.result.from}}",
            "${step[0].data.from}",
        ];
        for (at, value) in own.into_iter().enumerate() {
            corrected(&with_text(&json!({ name: value }))[at], Code::WrongType);
        }
    }
    for name in ["$ref", "ref"] {
        let source = json!({"step": "mail", "pointer": "/from"});
        let [.., plan_json] = with_text(&json!({ name: source }));
        corrected(&plan_json, Code::UnknownMember);
        let [.., plan_json] = with_text(&json!({ name: "mail.from" }));
        assert_eq!(help(&plan_json), "did you mean `reference`?");
    }
}

#[test]
fn a_step_with_a_similar_name() {
    for text in ["{{mai.from}}", "See {{mai.from}}.", "{{mai}}"] {
        let [_, action_plan, ..] = with_text(&json!(text));
        let findings = Reader::new()
            .tools(&tools())
            .read(&action_plan)
            .unwrap_err();
        let help = findings[0].help.as_deref().unwrap();
        assert!(help.starts_with("did you mean `{{mail.result"), "{help}");
        // The whole output is not a string.
        if text != "{{mai}}" {
            corrected(&action_plan, Code::UnknownStep);
        }
    }
}

#[test]
fn outputs_by_another_name() {
    let [text, ..] = in_all("from", "", &Value::Null);
    for name in ["outputs", "results", "result", "outputSteps"] {
        let listed = text.replace("output_steps", name);
        corrected(&listed, Code::UnknownMember);
    }
    for name in ["outputs", "results", "result"] {
        let named = text.replace("output_steps", name);
        let named = named.replace(r#"["s"]"#, r#"{"sent":"$ref:s"}"#);
        corrected(&named, Code::UnknownMember);
    }
}

/// Steps whose condition is no branch of a list: beside the call, and around it.
fn conditions(conditions: [Value; 4]) -> Vec<String> {
    let given = json!({"to": "me", "note": KEPT});
    let call = json!({"tool": "send", "arguments": given});
    let placed = json!({"tool": "send", "params": given});
    let own = json!({"tool": {"name": "send"}, "arguments": {"object": given}});
    let frames: [fn(&Value) -> String; 4] = [tool_plan, action_plan, blueprint, plan_json];
    let calls = [&call, &call, &placed, &own].into_iter().zip(frames);
    let all = conditions.into_iter().zip(calls);
    all.flat_map(|(condition, (call, frame))| {
        let mut beside = call.clone();
        beside["if"] = json!({ "condition": condition });
        let around = json!({"if": {"condition": condition, "then": call}});
        [beside, around].map(|mut step| {
            step["id"] = json!("s");
            frame(&step)
        })
    })
    .collect()
}

#[test]
fn conditions_that_are_text_or_no_branch() {
    let reference = json!({"reference": {"step": "mail", "pointer": "/ok"}});
    let texts = |texts: [&str; 4]| texts.map(Value::from);
    let [tool_plan, action_plan, blueprint, _] = texts([
        "$ref:mail.ok",
        "{{mail.result.ok}}",
        "${step[0].data.ok}",
        "",
    ]);
    for text in conditions([tool_plan, action_plan, blueprint, reference]) {
        corrected(&text, Code::WrongKind);
    }
    let frames: [fn(&Value) -> String; 4] = [
        self::tool_plan,
        self::action_plan,
        self::blueprint,
        plan_json,
    ];
    let text = [
        "mail.size >= 3",
        "{{mail.result.size}} > 3",
        "${step[0].data.size} != 3",
        "mail.ok",
    ];
    for (condition, frame) in text.into_iter().zip(frames) {
        let branch = json!({"condition": condition, "then": {"value": KEPT}});
        let text = frame(&json!({"id": "s", "if": [branch]}));
        let findings = Reader::new().tools(&tools()).read(&text).unwrap_err();
        let error = findings.errors().next().unwrap();
        assert_eq!(error.code, Code::WrongType, "{findings}");
        let help = error.help.as_deref().unwrap_or_default();
        assert_eq!(
            help,
            r#"a condition is a reference, or a test such as `{"compare": […, ">", …]}`"#
        );
    }
}

#[test]
fn a_branch_with_its_else() {
    let call = |note: &str| json!({"tool": "send", "arguments": {"to": "me", "note": note}});
    let branch = json!({"condition": "$ref:mail.ok", "then": call("a"), "else": call(KEPT)});
    let step = json!({"id": "s", "if": branch});
    corrected(&tool_plan(&step), Code::WrongKind);
}

#[test]
fn a_branch_that_is_no_list() {
    let call = json!({"tool": "send", "arguments": {"to": "me", "note": KEPT}});
    let branch = json!({"condition": "$ref:mail.ok", "then": call});
    corrected(
        &tool_plan(&json!({"id": "s", "if": branch})),
        Code::WrongKind,
    );
    let call = json!({"tool": "send", "params": {"to": "me", "note": KEPT}});
    let branch = json!({"condition": "${step[0].data.ok}", "then": call});
    corrected(&blueprint(&json!({"if": branch})), Code::WrongKind);
}

#[test]
fn a_list_in_a_list() {
    let given = |list: &str| json!({"to": "me", "note": KEPT, "list": [list]});
    let step = json!({"id": "s", "tool": "send", "arguments": given("$ref:mail.mails[*].id")});
    corrected(&tool_plan(&step), Code::ListOrElement);
    let step = json!({"id": "s", "tool": "send", "arguments": given("{{mail.result.names}}")});
    corrected(&action_plan(&step), Code::ListOrElement);
    let step = json!({"tool": "send", "params": given("${step[0].data.mails[*].id}")});
    corrected(&blueprint(&step), Code::ListOrElement);
}

#[test]
fn what_other_systems_put_around_an_output() {
    for field in ["result.from", "output.from", "data.from"] {
        let [tool_plan, ..] = in_all(field, "", &Value::Null);
        corrected(&tool_plan, Code::UnknownField);
    }
    let [_, action_plan, blueprint, _] = in_all("data.from", "", &Value::Null);
    for text in [action_plan, blueprint] {
        corrected(&text, Code::UnknownField);
    }
    let step = json!({"id": "s", "tool": "note", "arguments": {"text": KEPT, "list": "$ref:mail.names.result"}});
    corrected(&tool_plan(&step), Code::ListOrElement);
}

#[test]
fn the_length_of_something() {
    let compared = |operand: &str, call: Value| json!({"id": "s", "if": [{"condition": {"compare": [operand, ">", 2]}, "then": call}]});
    let call = json!({"tool": "send", "arguments": {"to": "me", "note": KEPT}});
    for field in ["names.length", "from.len", "mails.count", "names.size"] {
        let code = if field.starts_with("from") {
            Code::UnknownField
        } else {
            Code::ListOrElement
        };
        let step = compared(&format!("$ref:mail.{field}"), call.clone());
        corrected(&tool_plan(&step), code);
        let step = compared(&format!("{{{{mail.result.{field}}}}}"), call.clone());
        corrected(&action_plan(&step), code);
    }
}

#[test]
fn templates_of_plan_json() {
    let to = json!({"reference": {"step": "mail", "pointer": "/from"}});
    let object = json!({"to": to, "note": KEPT, "list": {"list": ["a", "b"]}});
    let step = json!({"id": "s", "tool": {"name": "send"}, "arguments": {"object": object}});
    corrected(&plan_json(&step), Code::UnknownMember);
    for name in ["text", "reference"] {
        let step = json!({"id": "s", "tool": {"name": "note"}, "arguments": {(name): KEPT}});
        let text = plan_json(&step);
        let found = Reader::new().read(&text).unwrap_err();
        assert_eq!(found.len(), 1, "{found}");
        let text = applied(&text, &found[0]);
        let printed = Reader::new().read(&text).unwrap().plan().to_string();
        assert!(
            printed.contains(KEPT) && printed.contains(&format!("{name}:")),
            "{printed}"
        );
    }
}

#[test]
fn members_of_loops_by_other_names() {
    let body = json!({"tool": "send", "arguments": {"to": "$ref:name", "note": KEPT}});
    let each = json!({"as": "name", "in": "$ref:mail.names", "do": body});
    let text = tool_plan(&json!({"id": "s", "for": each}));
    let found = Reader::new().tools(&tools()).read(&text).unwrap_err();
    let helps: Vec<_> = found.iter().map(|it| it.help.as_deref().unwrap()).collect();
    assert_eq!(
        helps,
        [
            "did you mean `pattern`?",
            "did you mean `body`?",
            "did you mean `list`?"
        ]
    );
    corrected(&text, Code::UnknownMember);
}

/// A block of a blueprint reads a step around it by its inputs.
#[test]
fn a_tail_that_means_a_step_around_its_block() {
    let steps = |tail: &str, inputs: Value| {
        let tail = json!({"tool": "send", "params": {"to": tail, "note": KEPT}});
        let block =
            json!({"inputs": inputs, "steps": [{"tool": "find", "params": {}}], "tail": tail});
        let other = json!({"tool": "find", "params": {}});
        json!({"requestId": "r", "steps": [other, other, {"block": block}]}).to_string()
    };
    let tools = tools();
    let reader = Reader::new().tools(&tools);
    let found = reader
        .read(&steps("${step[1].data.from}", json!({})))
        .unwrap_err();
    assert_eq!(
        found[0].message,
        "step[1] is this `tail` itself, which has one step before it, step[0]"
    );
    let help = found[0].help.clone().unwrap();
    let inputs = help
        .split('`')
        .find(|part| part.starts_with("\"inputs\": "))
        .unwrap();
    let inputs: Value = serde_json::from_str(&format!("{{{inputs}}}")).unwrap();
    assert_eq!(inputs["inputs"]["x"], "${step[1].data}");
    let value = help
        .split('`')
        .find(|part| part.starts_with("${x.data"))
        .unwrap();
    let value = value.replace('}', ".from}");
    let document = steps(&value, inputs["inputs"].clone());
    let read = reader
        .read(&document)
        .unwrap_or_else(|found| panic!("{found}"));
    assert!(read.plan().to_string().contains(KEPT));
}
