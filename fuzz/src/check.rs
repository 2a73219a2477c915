//! Checks against schemas: a plan that they accept is not refused by them at the call, and plain values are judged as JSON Schema does.

use super::oracle::{Oracle, Reading, is_exact};
use super::{generate, reader};
use plan_runtime::dynamic::{Code, Contract, Contracts, Findings, Toolbox};
use plan_runtime::plan::{Body, Key, Number, Step, Template};
use plan_runtime::run::{OnFailure, Status, StepError};
use plan_runtime::{Plan, Report};
use serde_json::{Map, Value};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// The tools of the contracts.
const TOOLS: [&str; 2] = ["t", "u"];

/// Checks the properties of a document with several lines: the schema of the arguments, the schema of the output, and
/// the plan.
pub fn check(data: &[u8]) {
    let Some(text) = generate::text(data, generate::checked) else {
        return;
    };
    let mut parts = text.splitn(3, '\n');
    let (Some(arguments), Some(output), Some(text)) = (parts.next(), parts.next(), parts.next())
    else {
        return;
    };
    let arguments: Option<Value> = serde_json::from_str(arguments).ok();
    let output: Option<Value> = serde_json::from_str(output).ok();
    let contract = |name| {
        let mut contract = Contract::new(name);
        contract.arguments = arguments.clone();
        contract.output = output.clone();
        contract
    };
    let contracts: Contracts = TOOLS.map(contract).into_iter().collect();
    let checked = reader().tools(&contracts).read(text);
    let Ok(document) = reader().read(text) else {
        assert!(
            checked.is_err(),
            "with contracts it is read, and without it is not: {text}"
        );
        return;
    };
    let plan = document.plan();
    let found = document.check(&contracts);
    assert_eq!(found.has_errors(), checked.is_err(), "{text}");
    let gave_up = found
        .iter()
        .any(|finding| finding.code == Code::LimitPassed);

    let Some(report) = run(plan, contracts, output.as_ref()) else {
        return;
    };
    for step in &plan.steps {
        let Some(given) = plain(step) else {
            continue;
        };
        let refused = refused(&report, step);
        if checked.is_ok() {
            assert_ne!(refused, Some(true), "read, and then refused: {text}");
        }
        let oracle = arguments.as_ref().and_then(Oracle::of);
        let (Some(oracle), Some(refused)) = (oracle.filter(|_| is_exact(&given)), refused) else {
            continue;
        };
        super::reached();
        if oracle.fits(&given, Reading::Lenient) == Some(false) {
            assert!(refused, "{given} does not fit, and is not refused");
        }
        if oracle.fits(&given, Reading::Strict) == Some(true) && !gave_up {
            assert!(!refused, "{given} fits, and is refused");
            assert!(!is_about(&found, step), "{given} fits: {found}");
        }
    }
}

/// Returns `true` if a finding is about a step's values, and none is about a name that looks like a typing error.
fn is_about(found: &Findings, step: &Step) -> bool {
    let values = [Code::WrongType, Code::NotAllowed, Code::MissingArgument];
    let guessed = |found: &Findings| found.iter().any(|it| it.code == Code::UnknownArgument);
    found
        .iter()
        .any(|finding| finding.step.as_deref() == Some(&*step.id) && values.contains(&finding.code))
        && !guessed(found)
}

/// Runs a plan with tools whose outputs fit their schemas.
fn run(plan: &Plan, contracts: Contracts, output: Option<&Value>) -> Option<Report> {
    if !plan.inputs.is_empty() || plan.steps.iter().any(|step| !is_call(step)) {
        return None;
    }
    let gives = match output {
        None => Value::Null,
        Some(schema) => sample(schema)?,
    };
    let mut toolbox = Toolbox::new();
    for contract in &contracts {
        let gives = gives.clone();
        toolbox = toolbox.with_fn(contract.clone(), move |_| {
            let gives = gives.clone();
            async move { Ok(gives) }
        });
    }
    let mut run = pin!(
        toolbox
            .run(plan, (), &())
            .on_failure(OnFailure::Continue)
            .with_report()
    );
    match run.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready((_, report)) => Some(report),
        Poll::Pending => None,
    }
}

/// Returns `true` if the step is one call without waits.
fn is_call(step: &Step) -> bool {
    let calls = |body: &Body| match body {
        Body::Action(action) => action
            .tool
            .as_ref()
            .is_some_and(|it| TOOLS.contains(&&*it.name)),
        _ => false,
    };
    let policy = &step.policy;
    calls(&step.body) && policy.attempts <= 1 && policy.fallback.is_none()
}

/// Returns `true` if a step's call was refused, or `None` if the call did not happen.
fn refused(report: &Report, step: &Step) -> Option<bool> {
    match report.step(&step.id)?.status() {
        Status::Completed => Some(false),
        Status::Failed(StepError::Arguments(_)) | Status::Recovered(StepError::Arguments(_)) => {
            Some(true)
        }
        _ => None,
    }
}

/// Returns the arguments of a step that contain no references.
fn plain(step: &Step) -> Option<Value> {
    value(&step.action()?.args)
}

fn value(template: &Template) -> Option<Value> {
    Some(match template {
        Template::Null => Value::Null,
        Template::Bool(value) => Value::Bool(*value),
        Template::Number(Number::Unsigned(value)) => (*value).into(),
        Template::Number(Number::Signed(value)) => (*value).into(),
        Template::Number(Number::Float(value)) => (*value).into(),
        Template::String(text) => Value::String(text.to_string()),
        Template::List(items) => items.iter().map(value).collect::<Option<Vec<_>>>()?.into(),
        Template::Object(entries) => {
            let mut members = Map::new();
            for entry in entries {
                let Key::Name(name) = &entry.key else {
                    return None;
                };
                members.insert(name.to_string(), value(&entry.value)?);
            }
            Value::Object(members)
        }
        _ => return None,
    })
}

/// Returns a value that fits a schema, if one is easy to find.
fn sample(schema: &Value) -> Option<Value> {
    let oracle = Oracle::of(schema)?;
    let fits = |value: &Value| oracle.fits(value, Reading::Strict) == Some(true);
    let guess = guess(schema, schema, 0);
    let others = [
        Value::Null,
        1.into(),
        "".into(),
        true.into(),
        Value::Array(Vec::new()),
    ];
    guess.into_iter().chain(others).find(fits)
}

fn guess(schema: &Value, root: &Value, depth: usize) -> Option<Value> {
    if depth > 8 {
        return None;
    }
    let inner = |schema| guess(schema, root, depth + 1);
    if let Some(value) = schema.get("const").or_else(|| schema.get("enum")?.get(0)) {
        return Some(value.clone());
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        return inner(root.pointer(target.strip_prefix('#')?)?);
    }
    for name in ["anyOf", "oneOf", "allOf"] {
        if let Some(first) = schema.get(name).and_then(|all| all.get(0)) {
            return inner(first);
        }
    }
    let name = match schema.get("type") {
        Some(Value::Array(names)) => names.first()?.as_str()?,
        Some(name) => name.as_str()?,
        None if schema.get("properties").is_some() => "object",
        None => "null",
    };
    Some(match name {
        "object" => {
            let mut members = Map::new();
            if let Some(Value::Object(properties)) = schema.get("properties") {
                for (name, schema) in properties {
                    members.insert(name.clone(), inner(schema)?);
                }
            }
            Value::Object(members)
        }
        "array" => match schema.get("items") {
            Some(items) => Value::Array(vec![inner(items)?]),
            None => Value::Array(Vec::new()),
        },
        "string" => "text".into(),
        "boolean" => true.into(),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or_else(|| 1.into()),
        _ => Value::Null,
    })
}
