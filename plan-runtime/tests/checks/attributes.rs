//! Each body with each policy: the value of the step has its type, wherever the plan uses the value.

use plan_runtime::dynamic::{Code, Contract, Toolbox};
use plan_runtime::{Error, Failure, Result, plan, tool};
use serde_json::{Value, json};

/// The message of a failed call.
const FAILS: &str = "it fails";

/// Gives the number, or fails.
#[tool]
async fn number(id: u64, fails: bool) -> Result<u64> {
    if fails {
        return Err(Error::msg(FAILS));
    }
    Ok(id)
}

plan! {
    Inner(id: u64, fails: bool) -> u64 {
        step given = Number { id, fails };
        given
    }
}

/// The body of a step.
#[derive(Clone, Debug)]
enum Work {
    Call,
    Plan,
    Value,
    /// An `if` without `else`.
    If(Box<Work>),
    IfElse,
    Block(Box<Work>),
    /// A block with a step that may fail.
    Optional,
    For(Box<Work>),
    Loop,
}

/// The type of the value of a body.
#[derive(Clone, Debug, PartialEq)]
enum Type {
    Number,
    Option(Box<Type>),
    Result(Box<Type>),
    List(Box<Type>),
}

/// The policy for a failed element.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Each {
    Fails,
    Optional,
    Catch,
}

/// The policy for a failed step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Whole {
    Fails,
    Optional,
    Catch,
    Fallback,
}

#[derive(Clone, Copy, Debug)]
struct Policy {
    each: Each,
    whole: Whole,
    more: &'static str,
}

impl Type {
    /// Null has either reason.
    fn or_null(self) -> Self {
        match self {
            Self::Option(_) => self,
            _ => Self::Option(Box::new(self)),
        }
    }

    fn schema(&self) -> Value {
        match self {
            Self::Number => json!({"type": "integer"}),
            Self::Option(ty) => json!({"anyOf": [ty.schema(), {"type": "null"}]}),
            Self::List(ty) => json!({"type": "array", "items": ty.schema()}),
            Self::Result(ty) => {
                let one = |name: &str, schema: Value| json!({"type": "object", "properties": {name: schema}, "required": [name], "additionalProperties": false});
                json!({"oneOf": [one("Ok", ty.schema()), one("Err", json!({"type": "object"}))]})
            }
        }
    }

    /// A value that a fallback can be.
    fn other(&self) -> Value {
        match self {
            Self::Number => json!(0),
            Self::Option(_) => json!(null),
            Self::List(_) => json!([]),
            Self::Result(ty) => json!({"Ok": ty.other()}),
        }
    }

    /// Returns the value, with the messages of failures in place of the failures.
    fn read(&self, value: &Value) -> Option<Value> {
        match (self, value) {
            (Self::Number, Value::Number(_)) | (Self::Option(_), Value::Null) => {
                Some(value.clone())
            }
            (Self::Option(ty), value) => ty.read(value),
            (Self::List(ty), Value::Array(items)) => items.iter().map(|it| ty.read(it)).collect(),
            (Self::Result(ty), Value::Object(members)) if members.len() == 1 => {
                if let Some(value) = members.get("Ok") {
                    return Some(json!({"Ok": ty.read(value)?}));
                }
                let failure: Failure = serde_json::from_value(members.get("Err")?.clone()).ok()?;
                Some(json!({"Err": failure.message}))
            }
            _ => None,
        }
    }
}

impl Work {
    fn all() -> Vec<Self> {
        let of = |make: fn(Box<Self>) -> Self, work: Self| make(Box::new(work));
        let leaves = [
            Self::Call,
            Self::Plan,
            Self::Value,
            Self::IfElse,
            Self::Optional,
        ];
        let leaves = leaves.into_iter().chain([of(Self::Block, Self::Call)]);
        let once: Vec<_> = leaves
            .flat_map(|it| [it.clone(), of(Self::If, it)])
            .chain([of(Self::Block, of(Self::If, Self::Call))])
            .collect();
        let lists: Vec<_> = once.iter().map(|it| of(Self::For, it.clone())).collect();
        let short = [
            of(Self::For, Self::Call),
            of(Self::For, of(Self::If, Self::Call)),
            of(Self::If, of(Self::For, Self::Call)),
            of(Self::If, of(Self::For, of(Self::If, Self::Call))),
            of(Self::Block, of(Self::For, Self::Call)),
            of(Self::For, of(Self::For, of(Self::If, Self::Call))),
        ];
        let nested = short.iter().map(|it| of(Self::For, it.clone()));
        let nested: Vec<_> = nested.collect();
        let all = once.into_iter().chain(lists).chain(short).chain(nested);
        all.chain([Self::Loop]).collect()
    }

    /// The body in plan JSON. `from` is the source of the element that it is about, `locals` the number of those around.
    fn body(&self, from: &Value, locals: usize) -> Value {
        let read = |pointer: &str| {
            let mut source = from.clone();
            source["pointer"] = json!(pointer);
            json!({"reference": source})
        };
        let call = |tool: &str| {
            let arguments = json!({"id": read("/id"), "fails": read("/fails")});
            json!({"tool": {"name": tool}, "arguments": {"object": arguments}})
        };
        let block = json!({"input": "it"});
        match self {
            Self::Call => call("number"),
            Self::Plan => call("inner"),
            Self::Value => json!({"value": read("/id")}),
            Self::If(then) => {
                json!({"if": [{"condition": read("/wanted"), "then": then.body(from, locals)}]})
            }
            Self::IfElse => {
                json!({"if": [{"condition": read("/wanted"), "then": call("number")}, {"then": {"value": 0}}]})
            }
            Self::Block(tail) => {
                json!({"block": {"inputs": {"it": read("")}, "steps": [], "tail": tail.body(&block, 0)}})
            }
            Self::Optional => {
                let mut step = Self::Call.body(&block, 0);
                step["id"] = json!("maybe");
                step["policy"] = json!({"optional": "whole"});
                let value = json!({"reference": {"step": "maybe", "pointer": ""}});
                json!({"block": {"inputs": {"it": read("")}, "steps": [step], "value": value}})
            }
            Self::For(body) => {
                let body = body.body(&json!({"local": locals}), locals + 1);
                json!({"for": {"pattern": "x", "list": read("/items"), "body": body}})
            }
            Self::Loop => {
                let mut step = Self::Call.body(&block, 0);
                step["id"] = json!("round");
                let value = json!({"reference": {"step": "round", "pointer": ""}});
                let again = json!({"is_none": {"reference": {"input": "last", "pointer": ""}}});
                json!({"loop": {"last": "last", "inputs": {"it": read("")}, "steps": [step], "value": value, "while": again}})
            }
        }
    }

    fn ty(&self, policy: &Policy) -> Type {
        match self {
            Self::Call | Self::Plan | Self::Value | Self::IfElse => Type::Number,
            Self::If(then) => then.ty(policy).or_null(),
            // The policy of a step is not that of steps in it.
            Self::Block(tail) => tail.ty(&Policy::NONE),
            Self::Optional => Type::Number.or_null(),
            Self::For(body) => {
                let ty = body.ty(policy);
                Type::List(Box::new(match policy.each {
                    _ if matches!(**body, Self::For(_)) => ty,
                    Each::Fails => ty,
                    Each::Optional => ty.or_null(),
                    Each::Catch => Type::Result(Box::new(ty)),
                }))
            }
            Self::Loop if policy.more == "collect" => Type::List(Box::new(Type::Number)),
            Self::Loop => Type::Number,
        }
    }

    /// Returns the value of the body; `None` is a failure.
    fn value(&self, policy: &Policy, item: &Value) -> Option<Value> {
        let is_wanted = item["wanted"] == true;
        let call = || (item["fails"] == false).then(|| item["id"].clone());
        match self {
            Self::Call | Self::Plan => call(),
            Self::Value => Some(item["id"].clone()),
            Self::If(then) if is_wanted => then.value(policy, item),
            Self::If(_) => Some(Value::Null),
            Self::IfElse if is_wanted => call(),
            Self::IfElse => Some(json!(0)),
            Self::Block(tail) => tail.value(&Policy::NONE, item),
            Self::Optional => Some(call().unwrap_or_default()),
            Self::For(body) => {
                let items = item["items"].as_array().unwrap().iter();
                let values = items.map(|item| match (body.value(policy, item), policy.each) {
                    (value, _) if matches!(**body, Self::For(_)) => value,
                    (value, Each::Fails) => value,
                    (value, Each::Optional) => Some(value.unwrap_or_default()),
                    (Some(value), Each::Catch) => Some(json!({"Ok": value})),
                    (None, Each::Catch) => Some(json!({"Err": FAILS})),
                });
                values.collect()
            }
            Self::Loop if policy.more == "collect" => Some(json!([call()?, call()?])),
            Self::Loop => call(),
        }
    }
}

impl Policy {
    const NONE: Self = Self {
        each: Each::Fails,
        whole: Whole::Fails,
        more: "",
    };

    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for each in [Each::Fails, Each::Optional, Each::Catch] {
            for whole in [Whole::Fails, Whole::Optional, Whole::Catch, Whole::Fallback] {
                for more in ["", "attempts", "concurrency", "collect"] {
                    // A policy has one `optional` and one `catch`.
                    let is_one = !matches!(
                        (each, whole),
                        (Each::Optional, Whole::Optional) | (Each::Catch, Whole::Catch)
                    );
                    if is_one && (more.is_empty() || whole == Whole::Fails) {
                        all.push(Self { each, whole, more });
                    }
                }
            }
        }
        all
    }

    fn json(&self, work: &Work) -> Value {
        let mut policy = json!({"backoff": "1ns", "attempts": 1});
        match self.each {
            Each::Fails => {}
            Each::Optional => policy["optional"] = json!("each"),
            Each::Catch => policy["catch"] = json!("each"),
        }
        match self.whole {
            Whole::Fails => {}
            Whole::Optional => policy["optional"] = json!("whole"),
            Whole::Catch => policy["catch"] = json!(true),
            Whole::Fallback => policy["fallback"] = fallback(&work.ty(self).other()),
        }
        match self.more {
            "attempts" => policy["attempts"] = json!(2),
            "concurrency" => policy["concurrency"] = json!(1),
            "collect" => policy["collect"] = json!(true),
            _ => {}
        }
        if matches!(work, Work::Loop) {
            policy["at_most"] = json!(3);
        }
        if self.more != "attempts" {
            policy
                .as_object_mut()
                .unwrap()
                .retain(|name, _| !matches!(name.as_str(), "attempts" | "backoff"));
        }
        policy
    }

    fn ty(&self, work: &Work) -> Type {
        let ty = work.ty(self);
        match self.whole {
            Whole::Fails | Whole::Fallback => ty,
            Whole::Optional => ty.or_null(),
            Whole::Catch => Type::Result(Box::new(ty)),
        }
    }

    fn value(&self, work: &Work, item: &Value) -> Option<Value> {
        match (work.value(self, item), self.whole) {
            (Some(value), Whole::Catch) => Some(json!({"Ok": value})),
            (None, Whole::Catch) => Some(json!({"Err": FAILS})),
            (None, Whole::Optional) => Some(Value::Null),
            (None, Whole::Fallback) => Some(work.ty(self).other()),
            (value, _) => value,
        }
    }
}

/// A value as a template.
fn fallback(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(name, value)| (name.clone(), fallback(value)));
            json!({"object": members.collect::<serde_json::Map<_, _>>()})
        }
        other => other.clone(),
    }
}

/// A reference to a part of the step.
fn read(path: &[Value]) -> Value {
    json!({"reference": {"step": "s", "path": path}})
}

/// A step that uses the value: its name, its body and its expected output.
type Use = (&'static str, Value, Value);

/// All uses of a value of this type.
fn uses(ty: &Type, value: &Value) -> Vec<Use> {
    let local = |pointer: &str| json!({"reference": {"local": 0, "pointer": pointer}});
    let choose = |first: Value| json!({"if": [first, {"then": {"value": "other"}}]});
    let take = |tool: &str, value: Value| json!({"tool": {"name": tool}, "arguments": {"object": {"value": value}}});
    let mut uses = vec![("given", take("take", read(&[])), value.clone())];
    let (test, holds) = match ty {
        Type::Number => ("len", None),
        Type::Option(_) => ("is_some", Some(!value.is_null())),
        Type::Result(_) => ("is_ok", Some(value.get("Ok").is_some())),
        Type::List(_) => ("is_empty", value.as_array().map(Vec::is_empty)),
    };
    if let Some(holds) = holds {
        let first = json!({"condition": {test: read(&[])}, "then": {"value": "holds"}});
        let expected = if holds { "holds" } else { "other" };
        uses.push(("tested", choose(first), json!(expected)));
    }
    match ty {
        Type::Number => {
            let text = json!({"text": ["<", {"value": read(&[])}, ">"]});
            uses.push(("text", json!({"value": text}), json!(format!("<{value}>"))));
        }
        Type::Option(_) => {
            let then =
                json!({"pattern": "Some(x)", "value": read(&[]), "then": take("take", local(""))});
            let expected = if value.is_null() {
                json!("other")
            } else {
                value.clone()
            };
            uses.push(("matched", choose(then), expected));
        }
        Type::Result(_) => {
            let then = json!({"pattern": "Err(e)", "value": read(&[]), "then": {"value": local("/message")}});
            let expected = value.get("Err").cloned().unwrap_or(json!("other"));
            uses.push(("matched", choose(then), expected));
        }
        Type::List(_) => {
            let body =
                json!({"pattern": "x", "list": read(&[]), "body": take("take_one", local(""))});
            uses.push(("elements", json!({"for": body}), value.clone()));
        }
    }
    let (mut depth, mut inner) = (Vec::new(), ty);
    while let Type::List(ty) = inner {
        depth.push(json!({"each": "element"}));
        inner = &**ty;
    }
    if let Type::Result(_) = inner {
        for (name, outcome, rest) in [
            ("oks", "Ok", None),
            ("errors", "Err", Some(json!("message"))),
        ] {
            let path = depth.iter().cloned();
            let path = path.chain([json!({"token": outcome, "absent": "end"})]);
            let path: Vec<_> = path.chain(rest).collect();
            uses.push((
                name,
                json!({"value": read(&path)}),
                side(value, outcome, depth.len()),
            ));
        }
    }
    uses
}

/// Returns the value, with the messages of failures in place of the failures.
fn said(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(said).collect(),
        Value::Object(members) => {
            let failure = members.get("message");
            let members = members
                .iter()
                .map(|(name, value)| (name.clone(), said(value)));
            failure
                .cloned()
                .unwrap_or_else(|| Value::Object(members.collect()))
        }
        _ => value.clone(),
    }
}

/// Returns one side of all results at this depth.
fn side(value: &Value, outcome: &str, depth: usize) -> Value {
    match value {
        Value::Array(items) if depth > 0 => items
            .iter()
            .map(|it| side(it, outcome, depth - 1))
            .collect(),
        _ => value.get(outcome).cloned().unwrap_or_default(),
    }
}

/// Elements that succeed and fail, with and without a branch that is taken.
fn items(depth: usize) -> Value {
    if depth == 0 {
        return json!([]);
    }
    let all = [(true, false), (true, true), (false, false), (false, true)];
    let all = all.iter().zip(1..);
    all.map(|((wanted, fails), id)| item(id, *wanted, *fails, items(depth - 1)))
        .collect()
}

fn item(id: u64, wanted: bool, fails: bool, items: Value) -> Value {
    json!({"id": id, "wanted": wanted, "fails": fails, "items": items})
}

fn worlds(work: &Work) -> Vec<Value> {
    let good = json!([
        item(1, true, false, json!([])),
        item(2, false, false, items(0))
    ]);
    let lists = [items(2), json!([]), good];
    let lists = if format!("{work:?}").contains("For") {
        &lists[..]
    } else {
        &lists[1..2]
    };
    let tops = [(true, false), (true, true), (false, false), (false, true)];
    let tops = if matches!(work, Work::For(_)) {
        &tops[..1]
    } else {
        &tops[..]
    };
    let mut worlds = Vec::new();
    for (wanted, fails) in tops {
        for list in lists {
            worlds.push(item(7, *wanted, *fails, list.clone()));
        }
    }
    worlds
}

fn toolbox(ty: &Type) -> Toolbox<()> {
    let take = |name: &str, ty: &Type| {
        let arguments =
            json!({"type": "object", "properties": {"value": ty.schema()}, "required": ["value"]});
        Contract::new(name).arguments(arguments).output(ty.schema())
    };
    let element = match ty {
        Type::List(ty) => ty,
        ty => ty,
    };
    let same = |given: Value| async move { Ok(given["value"].clone()) };
    Toolbox::new()
        .with::<Number>()
        .with::<Inner>()
        .with_fn(take("take", ty), same)
        .with_fn(take("take_one", element), same)
}

/// Runs a plan that uses the value of a step in each possible form. Returns `true` if a step may have this policy.
fn used(work: &Work, policy: &Policy) -> bool {
    let ty = policy.ty(work);
    let toolbox = toolbox(&ty);
    for item in worlds(work) {
        let expected = policy.value(work, &item);
        let mut step = work.body(&json!({"input": "it"}), 0);
        step["id"] = json!("s");
        step["policy"] = policy.json(work);
        let mut steps = vec![step];
        let mut output = json!({"s": read(&[])});
        // Without a value, no step uses the value.
        let uses = uses(&ty, expected.as_ref().unwrap_or(&ty.other()));
        for (id, body, _) in &uses {
            let mut step = body.clone();
            step["id"] = json!(id);
            steps.push(step);
            output[id] = json!({"reference": {"step": id, "pointer": ""}});
        }
        let text = json!({"name": "p", "inputs": [{"name": "it"}], "steps": steps, "output": {"value": {"object": output}}});
        let text = text.to_string();
        let document = match toolbox.read(&text) {
            Ok(document) => document,
            Err(found) => {
                let mut errors = found.errors();
                assert!(
                    errors.all(|it| it.code == Code::NotAllowed),
                    "{found} in {text}"
                );
                return false;
            }
        };
        let run = toolbox.run(document.plan(), json!({"it": item}), &());
        let case = || format!("{work:?} with {policy:?} of {item}");
        match (smol::block_on(run), expected) {
            (Ok(output), Some(expected)) => {
                let read = |value: &Value| {
                    ty.read(value)
                        .unwrap_or_else(|| panic!("{}: {value}", case()))
                };
                assert_eq!(read(&output["s"]), expected, "{}", case());
                for (id, _, expected) in uses {
                    let value = &output[id];
                    let given = match id {
                        "given" | "elements" => read(value),
                        "matched" if matches!(ty, Type::Option(_)) && value != "other" => {
                            read(value)
                        }
                        _ => said(value),
                    };
                    assert_eq!(given, expected, "`{id}` of {}", case());
                }
            }
            (Err(error), None) => {
                let failed = &error.failures()[0];
                assert!(failed.step().starts_with('s'), "{error} of {}", case());
                assert!(error.to_string().contains(FAILS), "{error} of {}", case());
            }
            (result, expected) => panic!("{result:?}, and not {expected:?}, of {}", case()),
        }
    }
    true
}

#[test]
fn each_value_has_its_type_wherever_it_is_used() {
    let (mut used_with, mut refused) = (0, 0);
    for work in Work::all() {
        for policy in Policy::all() {
            if used(&work, &policy) {
                used_with += 1;
            } else {
                refused += 1;
            }
        }
    }
    assert_eq!((used_with, refused), (438, 303));
}
