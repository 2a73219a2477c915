//! Schemas of any size, with documents that reach the whole schema or no part of it.

use super::{Case, Shape, list, object};
use plan_runtime::dynamic::Dialect;
use serde_json::{Map, Value, json};

type Tool = (String, Value, Value);

fn any() -> Value {
    json!({})
}

/// A tool plan of a step `a` without arguments and a step `s` with these.
fn case(arguments: &str, takes: Value, gives: Value) -> Case {
    let text = format!(
        r#"{{"steps":[{{"id":"a","tool":"a","arguments":{{}}}},{{"id":"s","tool":"t","arguments":{arguments}}}]}}"#
    );
    let tools = vec![
        ("a".to_owned(), any(), gives),
        ("t".to_owned(), takes, any()),
    ];
    Case {
        dialect: Dialect::ToolPlan,
        text,
        tools,
    }
}

fn steps(count: usize, step: impl Fn(usize) -> String, tools: Vec<Tool>) -> Case {
    let text = format!(r#"{{"steps":{}}}"#, list(count, step));
    Case {
        dialect: Dialect::ToolPlan,
        text,
        tools,
    }
}

fn members(count: usize, name: &str, value: &Value) -> Value {
    let members = (0..count).map(|at| (format!("{name}{at}"), value.clone()));
    Value::Object(members.collect::<Map<_, _>>())
}

fn names(count: usize, name: &str) -> Vec<String> {
    (0..count).map(|at| format!("{name}{at}")).collect()
}

/// An object of these members, and no others.
fn closed(properties: &Value) -> Value {
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

/// An object whose `x` is a list of values of this schema.
fn items(schema: &Value) -> Value {
    json!({"type": "object", "properties": {"x": {"type": "array", "items": schema}}})
}

/// A chain of 60 schemas, each of which names the next one twice.
fn doubled(keyword: &str) -> Value {
    let mut definitions = Map::new();
    for level in 0..60 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions.insert(format!("d{level}"), json!({ keyword: [next, next] }));
    }
    definitions.insert("d60".to_owned(), json!({"type": "string"}));
    let mut schema = items(&json!({"$ref": "#/$defs/d0"}));
    schema["$defs"] = Value::Object(definitions);
    schema
}

/// Returns objects that each have a unique member.
fn forms(count: usize) -> Value {
    let form = |at: usize| {
        let name = format!("a{at}");
        json!({"type": "object", "properties": {&name: {"type": "string"}}, "required": [name], "additionalProperties": false})
    };
    json!({"anyOf": (0..count).map(form).collect::<Vec<_>>()})
}

/// Objects that a tag tells apart.
fn tagged(count: usize) -> Value {
    let form = |at: usize| json!({"type": "object", "properties": {"tag": {"const": format!("k{at}")}, "y": {"type": "integer"}}, "required": ["tag", "y"]});
    json!({"oneOf": (0..count).map(form).collect::<Vec<_>>()})
}

fn text() -> Value {
    json!({"type": "string"})
}

pub(super) fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    let mut add = |name: &str, make: fn(usize) -> Case| {
        shapes.push(Shape {
            name: format!("{name} (schema)"),
            make: Box::new(make),
        });
    };
    add("unknown arguments of a closed schema", |n| {
        case(
            &object(n, |_| "1".into()),
            closed(&members(20, "p", &text())),
            any(),
        )
    });
    add("as many unknown arguments as properties", |n| {
        case(
            &object(n, |_| "1".into()),
            closed(&members(n, "p", &text())),
            any(),
        )
    });
    add("misspelled arguments of a closed schema", |n| {
        let names: Vec<String> = (0..n).map(|at| format!("\"name{at}x\":1")).collect();
        case(
            &format!("{{{}}}", names.join(",")),
            closed(&members(n, "name", &text())),
            any(),
        )
    });
    add("unknown arguments of an open schema", |n| {
        let open = json!({"type": "object", "properties": members(20, "p", &text())});
        case(&object(n, |_| "1".into()), open, any())
    });
    add("all arguments of a schema", |n| {
        let mut schema = closed(&members(n, "", &text()));
        schema["required"] = json!(names(n, ""));
        case(&object(n, |_| "\"x\"".into()), schema, any())
    });
    add("no arguments of a schema", |n| {
        let mut schema = closed(&members(n, "p", &text()));
        schema["required"] = json!(names(n, "p"));
        case("{}", schema, any())
    });
    add("required names without properties", |n| {
        case(
            "{}",
            json!({"type": "object", "required": names(n, "p")}),
            any(),
        )
    });
    add("one wrong value of an enum", |n| {
        let schema =
            json!({"type": "object", "properties": {"x": {"enum": names(n, "value number ")}}});
        case(r#"{"x":"value numbr 5"}"#, schema, any())
    });
    add("wrong values of an enum", |n| {
        case(
            &format!("{{\"x\":{}}}", list(n, |at| format!("\"v{at}x\""))),
            items(&json!({"enum": names(n, "v")})),
            any(),
        )
    });
    add("right values of an enum", |n| {
        case(
            &format!("{{\"x\":{}}}", list(n, |at| format!("\"v{at}\""))),
            items(&json!({"enum": names(n, "v")})),
            any(),
        )
    });
    add("an enum of lists", |n| {
        let values: Vec<Value> = (0..n).map(|at| json!([at, {"a": at}])).collect();
        case(
            &format!(
                "{{\"x\":{}}}",
                list(n, |at| format!("[{at},{{\"a\":{}}}]", at + 1))
            ),
            items(&json!({"enum": values})),
            any(),
        )
    });
    add("an enum to an enum", |n| {
        let (gives, takes) = (
            json!({"enum": names(n, "a")}),
            json!({"enum": names(n, "b")}),
        );
        let schema = json!({"type": "object", "properties": {"x": takes}});
        case(r#"{"x":"$ref:a"}"#, schema, gives)
    });
    add("references from an enum to an enum", |n| {
        let (gives, takes) = (
            json!({"enum": names(n, "a")}),
            json!({"enum": names(n, "a")}),
        );
        case(
            &format!("{{\"x\":{}}}", list(n, |_| "\"$ref:a\"".into())),
            items(&takes),
            gives,
        )
    });
    add("a doubled chain of allOf", |n| {
        case(
            &format!("{{\"x\":{}}}", list(n, |_| "\"s\"".into())),
            doubled("allOf"),
            any(),
        )
    });
    add("a doubled chain of anyOf", |n| {
        case(
            &format!("{{\"x\":{}}}", list(n, |_| "1".into())),
            doubled("anyOf"),
            any(),
        )
    });
    add("a doubled chain of oneOf", |n| {
        case(
            &format!("{{\"x\":{}}}", list(n, |_| "1".into())),
            doubled("oneOf"),
            any(),
        )
    });
    add("a list of values that fit no form of 60", |n| {
        case(
            &format!("{{\"x\":{}}}", list(n, |_| "{\"z\":1}".into())),
            items(&forms(60)),
            any(),
        )
    });
    add("one value that fits no form of many", |n| {
        case(r#"{"x":[{"z":1}]}"#, items(&forms(n)), any())
    });
    add("many values of many forms", |n| {
        case(
            &format!("{{\"x\":{}}}", list(n, |at| format!("{{\"a{at}\":\"\"}}"))),
            items(&forms(n)),
            any(),
        )
    });
    add("many values of many tags", |n| {
        case(
            &format!(
                "{{\"x\":{}}}",
                list(n, |at| format!("{{\"tag\":\"k{at}\",\"y\":1}}"))
            ),
            items(&tagged(n)),
            any(),
        )
    });
    add("many wrong tags of 50", |n| {
        case(
            &format!(
                "{{\"x\":{}}}",
                list(n, |at| format!("{{\"tag\":\"z{at}\",\"y\":1}}"))
            ),
            items(&tagged(50)),
            any(),
        )
    });
    add("many tags of 50 with a mistake", |n| {
        case(
            &format!(
                "{{\"x\":{}}}",
                list(n, |at| format!("{{\"tag\":\"k{}\",\"y\":\"\"}}", at % 50))
            ),
            items(&tagged(50)),
            any(),
        )
    });
    add("forms to forms", |n| {
        let schema = json!({"type": "object", "properties": {"x": forms(n)}});
        case(r#"{"x":"$ref:a"}"#, schema, forms(n))
    });
    add("allOf of many", |n| {
        let all: Vec<Value> = (0..n)
            .map(|at| json!({"properties": {format!("p{at}"): {"type": "string"}}}))
            .collect();
        case(
            &object(n, |_| "1".into()),
            json!({"type": "object", "allOf": all}),
            any(),
        )
    });
    add("allOf of one many times", |n| {
        let schema = json!({"type": "object", "properties": {"x": {"allOf": vec![text(); n]}}});
        case(r#"{"x":1}"#, schema, any())
    });
    add("allOf of enums", |n| {
        let all = vec![json!({"enum": names(n / 10 + 1, "v")}); 10];
        case(
            &format!("{{\"x\":{}}}", list(n, |at| format!("\"v{at}\""))),
            items(&json!({ "allOf": all })),
            any(),
        )
    });
    add("a chain of $ref", |n| {
        let mut definitions = Map::new();
        for at in 0..n {
            definitions.insert(
                format!("d{at}"),
                json!({"$ref": format!("#/$defs/d{}", at + 1)}),
            );
        }
        definitions.insert(format!("d{n}"), text());
        let schema = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions});
        case(r#"{"x":1}"#, schema, any())
    });
    add("a definition for each argument", |n| {
        let properties =
            (0..n).map(|at| (at.to_string(), json!({"$ref": format!("#/$defs/d{at}")})));
        let mut schema = closed(&Value::Object(properties.collect()));
        schema["$defs"] = members(n, "d", &text());
        case(&object(n, |_| "1".into()), schema, any())
    });
    add("a schema in itself", |n| {
        let branch = |at: usize| json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/s"}, format!("t{at}"): text()}, "required": [format!("t{at}")], "additionalProperties": false});
        let mut schema = items(&json!({"$ref": "#/$defs/s"}));
        schema["$defs"] = json!({"s": {"anyOf": (0..4).map(branch).collect::<Vec<_>>()}});
        let deep = format!("{}{{\"z\":1}}{}", "{\"a\":".repeat(40), "}".repeat(40));
        case(
            &format!("{{\"x\":{}}}", list(n / 40 + 1, |_| deep.clone())),
            schema,
            any(),
        )
    });
    add("deep schemas", |n| {
        let mut schema = text();
        for _ in 0..50 {
            schema = json!({"type": "object", "properties": {"a": schema}});
        }
        let wrong = object(n / 50 + 1, |_| r#"{"a":{"a":{"a":1}}}"#.into());
        case(&wrong, closed(&members(n / 50 + 1, "", &schema)), any())
    });
    add("fields that an output has not", |n| {
        let gives = json!({"type": "object", "properties": members(n, "f", &text())});
        case(
            &format!("{{\"x\":{}}}", list(n, |at| format!("\"$ref:a.f{at}x\""))),
            items(&text()),
            gives,
        )
    });
    add("fields of an output", |n| {
        let gives =
            json!({"type": "object", "properties": members(n, "f", &json!({"type": "integer"}))});
        case(
            &format!("{{\"x\":{}}}", list(n, |at| format!("\"$ref:a.f{at}\""))),
            items(&text()),
            gives,
        )
    });
    add("an output of many forms", |n| {
        case(
            &format!("{{\"x\":{}}}", list(n, |at| format!("\"$ref:a.a{at}\""))),
            items(&text()),
            forms(n),
        )
    });
    add("unknown tools", |n| {
        let tools = names(n, "tool_numbre_")
            .into_iter()
            .map(|name| (name, any(), any()));
        steps(
            n,
            |at| format!(r#"{{"id":"s{at}","tool":"tool_number_{at}_x","arguments":{{}}}}"#),
            tools.collect(),
        )
    });
    add("a tool for each step", |n| {
        let tools = names(n, "t")
            .into_iter()
            .map(|name| (name, closed(&json!({"x": text()})), any()));
        steps(
            n,
            |at| format!(r#"{{"id":"s{at}","tool":"t{at}","arguments":{{"x":1}}}}"#),
            tools.collect(),
        )
    });
    add("steps with a large schema", |n| {
        let tool = (
            "t".to_owned(),
            closed(&members(n, "p", &text())),
            members(n, "f", &text()),
        );
        steps(
            n,
            |at| format!(r#"{{"id":"s{at}","tool":"t","arguments":{{"p{at}":1}}}}"#),
            vec![tool],
        )
    });
    add("steps with a large enum", |n| {
        let enumeration = json!({"type": "object", "properties": {"x": {"enum": names(n, "v")}}});
        let tool = ("t".to_owned(), enumeration, any());
        steps(
            n,
            |at| format!(r#"{{"id":"s{at}","tool":"t","arguments":{{"x":"{at}"}}}}"#),
            vec![tool],
        )
    });
    add("a long name of a property", |n| {
        let schema = closed(&json!({"p".repeat(n): text()}));
        case(&format!("{{\"{}q\":1}}", "p".repeat(n - 1)), schema, any())
    });
    add("long names of properties", |n| {
        let properties =
            (0..n / 1_000 + 1).map(|at| (format!("{}{at}", "p".repeat(1_000)), text()));
        let names = (0..n / 1_000 + 1).map(|at| format!("\"{}x{at}\":1", "p".repeat(1_000)));
        let names: Vec<String> = names.collect();
        case(
            &format!("{{{}}}", names.join(",")),
            closed(&Value::Object(properties.collect())),
            any(),
        )
    });
    shapes
}
