//! The examples of a prompt are plans: each example of each dialect is read, checked and run.

use super::DIALECTS;
use plan_runtime::dynamic::{Contract, Dialect, Toolbox};
use serde_json::{Value, json};

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

/// The examples in the prompt of a dialect.
struct Shown {
    dialect: Dialect,
    /// The beginning of the whole example, its steps, and its end.
    open: String,
    first: String,
    second: String,
    close: String,
    /// Steps that come after the first one.
    steps: Vec<String>,
    conditions: Vec<String>,
    text: String,
}

fn shown(dialect: Dialect) -> Shown {
    let text = toolbox().prompt(dialect);
    let (tools, guide) = text.split_once("# How to write a plan\n").unwrap();
    // The tools of the examples are those of this test.
    let listed = guide.split("\n\n").nth(1).unwrap();
    let listed: Vec<&str> = listed.lines().collect();
    assert_eq!(listed.len(), 4);
    for tool in listed {
        assert!(tools.contains(&format!("\n{tool}\n")), "{tool}\n{tools}");
    }
    let whole: Vec<&str> = guide.split("\n\n").nth(2).unwrap().lines().collect();
    let [open, first, second, close] = whole[..] else {
        panic!("{guide}")
    };
    let first = first.trim().strip_suffix(',').unwrap();
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
        dialect,
        open: open.to_owned(),
        first: first.to_owned(),
        second: second.trim().to_owned(),
        close: close.to_owned(),
        steps,
        conditions,
        text,
    }
}

impl Shown {
    /// Returns the output of a plan with the first step and others, which has no findings.
    fn runs(&self, steps: &str) -> Value {
        let toolbox = toolbox();
        // If a document names its output, it is the step of the whole example.
        let steps = format!("{}, {steps}", self.first);
        let close = match self.dialect {
            Dialect::ToolPlan => "]}",
            Dialect::PlanJson => "]}",
            _ => &self.close,
        };
        let text = format!("{}{steps}{close}", self.open);
        let document = toolbox.read(&text);
        let document = document.unwrap_or_else(|findings| panic!("{findings}\n{text}"));
        assert_eq!(document.dialect(), self.dialect, "{text}");
        assert!(
            document.warnings().is_empty(),
            "{}\n{text}",
            document.warnings()
        );
        let run = toolbox.run(document.plan(), (), &());
        smol::block_on(run).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }
}

#[test]
fn the_whole_example_runs() {
    for dialect in DIALECTS {
        let shown = shown(dialect);
        let text = format!(
            "{}{}, {}{}",
            shown.open, shown.first, shown.second, shown.close
        );
        let toolbox = toolbox();
        let document = toolbox
            .read(&text)
            .unwrap_or_else(|findings| panic!("{findings}"));
        assert_eq!(
            (document.dialect(), document.warnings().len()),
            (dialect, 0)
        );
        let output = smol::block_on(toolbox.run(document.plan(), (), &())).unwrap();
        assert!(output.to_string().contains(r#""id":"sarah""#), "{output}");
    }
}

#[test]
fn every_step_runs() {
    for dialect in DIALECTS {
        let shown = shown(dialect);
        assert_eq!(shown.steps.len(), 12, "{}", shown.text);
        let outputs: Vec<Value> = shown.steps.iter().map(|steps| shown.runs(steps)).collect();
        if dialect == Dialect::PlanJson {
            continue;
        }
        // Each has the documented output.
        let of = |at: usize| {
            let steps: Vec<&Value> = outputs[at].as_object().unwrap().values().collect();
            // The mails are a list of objects; the other one is the step of the example.
            let is_mails = |it: &&&Value| it[0]["subject"] != "Lunch?";
            (*steps.iter().find(is_mails).unwrap()).clone()
        };
        assert_eq!(of(0), json!({"id": "boss"}));
        assert_eq!(of(1), Value::Null);
        assert_eq!(of(2), json!([{"id": "sarah"}, {"id": "tom"}]));
        assert_eq!(of(3), json!([{"id": "sarah"}, {"id": "tom"}]));
        assert_eq!(
            of(4),
            json!([{"mails": ["m-1"], "next": "2"}, {"mails": ["m-2"]}])
        );
        assert!(
            outputs[9].to_string().contains(r#"{"Ok":{"id":"boss"}}"#),
            "{}",
            outputs[9]
        );
    }
}

#[test]
fn every_condition_is_one() {
    for dialect in DIALECTS {
        let shown = shown(dialect);
        assert_eq!(shown.conditions.len(), 8, "{}", shown.text);
        // The step of a condition, with another one.
        let told = &shown.steps[0];
        let start = told.find("\"condition\": ").unwrap() + "\"condition\": ".len();
        let end = told.find(", \"then\"").unwrap();
        for condition in &shown.conditions {
            shown.runs(&format!("{}{condition}{}", &told[..start], &told[end..]));
        }
    }
}

/// The notes about strings are true.
#[test]
fn text_is_text_unless_it_looks_like_a_reference() {
    for dialect in DIALECTS {
        let shown = shown(dialect);
        let sent = &shown.second;
        let value = match dialect {
            Dialect::PlanJson => r#"{"reference": {"step": "mails", "pointer": "/0/subject"}}"#,
            Dialect::ToolPlan => r#""$ref:mails.0.subject""#,
            Dialect::Blueprint => r#""${step[0].data[0].subject}""#,
            _ => r#""{{mails.result[0].subject}}""#,
        };
        assert!(sent.contains(value), "{sent}");
        for text in ["5 $", "{x}", "a {b} $c", "$", "100 % {"] {
            shown.runs(&sent.replace(value, &Value::from(text).to_string()));
        }
        if dialect == Dialect::PlanJson {
            continue;
        }
        let (_, literal) = shown
            .text
            .split_once("To write text that looks like a reference, put a JSON string")
            .unwrap();
        let (_, literal) = literal.split_once(": `").unwrap();
        let (literal, rest) = literal.split_once("` is the text `").unwrap();
        let (text, _) = rest.split_once('`').unwrap();
        let document = sent.replace(value, literal);
        shown.runs(&document);
        let text_of = format!("{}{}, {document}{}", shown.open, shown.first, shown.close);
        let plan = toolbox().read(&text_of).unwrap().into_plan();
        let printed = plan.to_string();
        assert!(printed.contains(&format!("{text:?}")), "{printed}");
        // Without the JSON string, the document has an error.
        let plain = sent.replace(value, &Value::from(text).to_string());
        let text_of = format!("{}{}, {plain}{}", shown.open, shown.first, shown.close);
        assert!(toolbox().read(&text_of).is_err(), "{text_of}");
    }
}
