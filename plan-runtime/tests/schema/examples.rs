//! The examples of a prompt are plans: each example is read, checked and run.

use super::subset::mistake;
use plan_runtime::dynamic::{Contract, Dialect, Toolbox};
use plan_runtime::{Result, tool};
use serde_json::{Value, json};

/// Cuts a part.
#[tool]
async fn cut(part: String, #[serde(default)] length: u32, note: Option<String>) -> Result<String> {
    Ok(format!("{part}, {length}, {note:?}"))
}

/// The tools that the examples are about, as the prompt writes them.
fn toolbox() -> Toolbox<()> {
    let string = json!({"type": "string"});
    let object = |members: Value, required: &[&str]| json!({"type": "object", "properties": members, "required": required, "additionalProperties": false});
    let id = object(json!({"id": string}), &["id"]);
    let mail = object(
        json!({"id": string, "from": string, "subject": string, "cc": string}),
        &["id", "from", "subject"],
    );
    let page = object(
        json!({"mails": {"type": "array", "items": string}, "next": string}),
        &["mails"],
    );
    let find = Contract::new("find_mails")
        .arguments(object(json!({"sender": string}), &["sender"]))
        .output(json!({"type": "array", "items": mail}));
    let next = Contract::new("next_page")
        .arguments(object(json!({"cursor": string}), &[]))
        .output(page);
    let send = Contract::new("send")
        .arguments(object(
            json!({"to": string, "text": string}),
            &["to", "text"],
        ))
        .output(id.clone());
    let unsend = Contract::new("unsend").arguments(id).output(json!({}));
    Toolbox::new()
        .with_fn(find, |given| async move {
            let from = given["sender"].as_str().unwrap_or_default().to_owned();
            Ok(json!([{"id": "m-1", "from": from, "subject": "Lunch?"}, {"id": "m-2", "from": "tom", "subject": "Hi", "cc": "boss"}]))
        })
        .with_fn(next, |given| async move {
            Ok(match given["cursor"].as_str() {
                None => json!({"mails": ["m-1"], "next": "2"}),
                Some(_) => json!({"mails": ["m-2"]}),
            })
        })
        .with_fn(send, |given| async move { Ok(json!({"id": given["to"]})) })
        .with_fn(unsend, |_| async move { Ok(Value::Null) })
}

/// The examples in the prompt.
struct Shown {
    /// The whole example.
    whole: String,
    first: String,
    second: String,
    /// Steps that come after the first one.
    steps: Vec<String>,
    conditions: Vec<String>,
    text: String,
}

fn shown() -> Shown {
    let text = toolbox().prompt();
    let (tools, guide) = text.split_once("# How to write a plan\n").unwrap();
    // The tools of the examples are those of this test.
    let listed = guide.split("\n\n").nth(1).unwrap();
    let listed: Vec<&str> = listed.lines().collect();
    assert_eq!(listed.len(), 4);
    for tool in listed {
        assert!(tools.contains(&format!("\n{tool}\n")), "{tool}\n{tools}");
    }
    let whole = guide.split("\n\n").nth(2).unwrap();
    let [_, first, second, _] = whole.lines().collect::<Vec<_>>()[..] else {
        panic!("{guide}")
    };
    let in_backquotes = |line: &str| {
        let line = line.strip_prefix("- `")?;
        line.starts_with('{').then(|| line.to_owned())
    };
    let (mut steps, mut conditions) = (Vec::new(), Vec::new());
    let (_, listed) = guide.split_once("\nIn place of a call").unwrap();
    for line in listed.lines().filter_map(in_backquotes) {
        match (line.split_once("`: "), line.strip_suffix('`')) {
            (Some((step, _)), _) => steps.push(step.to_owned()),
            (None, Some(condition)) => conditions.push(condition.to_owned()),
            (None, None) => panic!("{line}"),
        }
    }
    Shown {
        whole: whole.to_owned(),
        first: first.trim().trim_end_matches(',').to_owned(),
        second: second.trim().to_owned(),
        steps,
        conditions,
        text,
    }
}

/// Returns the output of a plan, which has no findings.
fn runs(text: &str) -> Value {
    let toolbox = toolbox();
    let document = toolbox.read(text);
    let document = document.unwrap_or_else(|findings| panic!("{findings}\n{text}"));
    assert_eq!(document.dialect(), Dialect::ToolPlan, "{text}");
    let warnings = document.warnings();
    assert!(warnings.is_empty(), "{warnings}\n{text}");
    let run = toolbox.run(document.plan(), (), &());
    smol::block_on(run).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

impl Shown {
    /// Writes a plan with the first step and others.
    fn plan(&self, steps: &str) -> String {
        format!(r#"{{"steps": [{}, {steps}]}}"#, self.first)
    }
}

#[test]
fn the_whole_example_runs() {
    let shown = shown();
    assert_eq!(runs(&shown.whole), json!({"sent": {"id": "sarah"}}));
    let document = serde_json::from_str(&shown.whole).unwrap();
    assert_eq!(mistake(&toolbox().schema(), &document), None);
}

#[test]
fn every_step_runs() {
    let shown = shown();
    assert_eq!(shown.steps.len(), 12, "{}", shown.text);
    let outputs: Vec<Value> = shown.steps.iter().map(|it| runs(&shown.plan(it))).collect();
    // Each has the documented output.
    assert_eq!(outputs[0]["told"], json!({"id": "boss"}));
    assert_eq!(outputs[1]["copied"], Value::Null);
    let sent = json!([{"id": "sarah"}, {"id": "tom"}]);
    assert_eq!(
        (&outputs[2]["answers"], &outputs[3]["earlier"]),
        (&sent, &sent)
    );
    let pages = json!([{"mails": ["m-1"], "next": "2"}, {"mails": ["m-2"]}]);
    assert_eq!(outputs[4]["pages"], pages);
    assert_eq!(outputs[9]["tried"], json!({"Ok": {"id": "boss"}}));
}

#[test]
fn every_condition_is_one() {
    let shown = shown();
    assert_eq!(shown.conditions.len(), 8, "{}", shown.text);
    // The step of a condition, with another one.
    let told = &shown.steps[0];
    let start = told.find("\"condition\": ").unwrap() + "\"condition\": ".len();
    let end = told.find(", \"then\"").unwrap();
    for condition in &shown.conditions {
        let step = format!("{}{condition}{}", &told[..start], &told[end..]);
        runs(&shown.plan(&step));
    }
}

/// The notes about strings are true.
#[test]
fn text_is_text_unless_it_looks_like_a_reference() {
    let shown = shown();
    let value = r#""$ref:mails.0.subject""#;
    assert!(shown.second.contains(value), "{}", shown.second);
    let with = |value_of: &str| shown.plan(&shown.second.replace(value, value_of));
    for text in ["5 $", "{x}", "a {b} $c", "$", "100 % {"] {
        runs(&with(&Value::from(text).to_string()));
    }
    let (_, literal) = shown
        .text
        .split_once("To write text that looks like a reference, put a JSON string after `$ref:`: `")
        .unwrap();
    let (literal, rest) = literal.split_once("` is the text `").unwrap();
    let (text, _) = rest.split_once('`').unwrap();
    runs(&with(literal));
    let plan = toolbox().read(&with(literal)).unwrap().into_plan();
    let printed = plan.to_string();
    assert!(printed.contains(&format!("{text:?}")), "{printed}");
    // Without the JSON string, the document has a reference.
    let plain = with(&Value::from(text).to_string());
    assert!(toolbox().read(&plain).is_err());
}

/// An optional argument can be null, as the schema demands of models that leave it out.
#[test]
fn an_optional_argument_can_be_null() {
    let text = r#"{"steps": [{"tool": "next_page", "id": "a", "arguments": {"cursor": null}}], "output_steps": []}"#;
    let document = serde_json::from_str(text).unwrap();
    assert_eq!(mistake(&toolbox().schema(), &document), None);
    assert_eq!(runs(text)["a"]["next"], "2");

    // A call passes only a null that the type of the argument names.
    let page = json!({"type": "object", "properties": {"size": {"type": "integer"}, "after": {"type": ["string", "null"]}}});
    let schema = json!({"type": "object", "properties": {"page": page, "pages": {"type": "array", "items": page}, "any": {}}, "required": ["any"]});
    let echo = Contract::new("echo").arguments(schema);
    let toolbox = Toolbox::<()>::new()
        .with::<Cut>()
        .with_fn(echo, |given| async move { Ok(given) });
    let page = json!({"size": null, "after": null});
    let text = json!({"steps": [
        {"id": "cut", "tool": "cut", "arguments": {"part": "lamp", "length": null, "note": null}},
        {"id": "echo", "tool": "echo", "arguments": {"page": page, "pages": [page], "any": null}},
    ]});
    let document = text.to_string();
    let document = toolbox.read(&document).unwrap();
    let output = smol::block_on(toolbox.run(document.plan(), (), &())).unwrap();
    let page = json!({"after": null});
    assert_eq!(output["cut"], "lamp, 0, None");
    assert_eq!(
        output["echo"],
        json!({"page": page, "pages": [page], "any": null})
    );
}
