//! The message of every error of resolving.

use crate::support::{at, each, key, object, plan, reference, resolved, string};
use plan_runtime::plan::{Absent, Computed, Part, Reference, Source, Template};
use plan_runtime::resolve::{ErrorKind, ResolveError, Scope, StoredValue, resolve};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn error<T: DeserializeOwned>(template: &Template, inbox: Value) -> ResolveError {
    match resolved::<T>(template, inbox) {
        Ok(_) => panic!("it resolved"),
        Err(error) => error,
    }
}

#[derive(Debug, Deserialize)]
#[allow(dead_code)]
struct Limit {
    limit: u32,
}

#[test]
fn list_too_short() {
    let args = object(vec![(
        "to",
        reference("inbox.data[0].id", vec![key("data"), at(0), key("id")]),
    )]);
    let e = error::<Value>(&args, json!({"data": []}));
    assert_eq!(
        e.to_string(),
        "argument `to`: `inbox` has 0 elements at `/data`, so the list has no element 0 (reference `inbox.data[0].id`)"
    );
    assert_eq!(e.kind(), ErrorKind::Missing);
    assert_eq!(e.argument().as_deref(), Some("to"));
    assert_eq!(e.reference(), Some("inbox.data[0].id"));
    assert_eq!(e.pointer().unwrap().as_str(), "/data/0/id");
    assert_eq!(e.reached().unwrap().as_str(), "/data");
    assert_eq!(e.found_text(), Some("a list of 0 elements"));
}

#[test]
fn no_such_member() {
    let args = reference("inbox.next_page", vec![key("nextPage")]);
    assert_eq!(
        error::<Value>(&args, json!({"data": 1, "next_page": 2})).to_string(),
        "`inbox` has no `nextPage`; it has `data`, `next_page`, and `next_page` is similar (reference `inbox.next_page`)"
    );
    assert_eq!(
        error::<Value>(&args, json!({})).to_string(),
        "`inbox` has no `nextPage`; it is an empty object (reference `inbox.next_page`)"
    );
    let deep = reference("inbox.a.b", vec![key("a"), key("b")]);
    assert_eq!(
        error::<Value>(&deep, json!({"a": {"x": 1}})).to_string(),
        "`inbox` has no `b` at `/a`; it has `x` (reference `inbox.a.b`)"
    );
    let many: Value = (0..100)
        .map(|i| (format!("key{i:02}"), Value::Null))
        .collect::<serde_json::Map<_, _>>()
        .into();
    assert_eq!(
        error::<Value>(&deep, json!({"a": many})).to_string(),
        "`inbox` has no `b` at `/a`; it has `key00`, `key01`, `key02`, `key03`, `key04`, `key05`, `key06`, `key07` and 92 more (reference `inbox.a.b`)"
    );
}

#[test]
fn nothing_inside() {
    let args = reference("inbox.a.b", vec![key("a"), key("b")]);
    assert_eq!(
        error::<Value>(&args, json!({"a": "text"})).to_string(),
        "`inbox` is the string \"text\" at `/a`, so it has no `b` (reference `inbox.a.b`)"
    );
    assert_eq!(
        error::<Value>(&args, json!({"a": null})).to_string(),
        "`inbox` is null at `/a`, so it has no `b` (reference `inbox.a.b`)"
    );
    assert_eq!(
        error::<Value>(&args, json!({"a": [1, 2]})).to_string(),
        "`inbox` is a list of 2 elements at `/a`, so it has no `b` (reference `inbox.a.b`)"
    );
    let e = error::<Value>(&args, json!(7));
    assert_eq!(
        e.to_string(),
        "`inbox` is the number 7, so it has no `a` (reference `inbox.a.b`)"
    );
    assert_eq!(e.kind(), ErrorKind::NotInside);
    let each = reference("inbox.a[..]", vec![key("a"), each()]);
    assert_eq!(
        error::<Value>(&each, json!({"a": true})).to_string(),
        "`inbox` is true at `/a`, not a list, so `[..]` has no elements to read (reference `inbox.a[..]`)"
    );
}

#[test]
fn wrong_type() {
    let args = object(vec![(
        "limit",
        reference("inbox.total", vec![key("total")]),
    )]);
    let e = error::<Limit>(&args, json!({"total": "ten"}));
    assert_eq!(
        e.to_string(),
        "argument `limit` takes u32, but `inbox.total` (/total) is the string \"ten\""
    );
    assert_eq!(e.kind(), ErrorKind::Type);
    assert_eq!(
        error::<Limit>(&args, json!({"total": -5})).to_string(),
        "argument `limit` takes u32, but `inbox.total` (/total) is the number -5"
    );
    assert_eq!(
        error::<Limit>(&args, json!({"total": {"a": 1}})).to_string(),
        "argument `limit` takes u32, but `inbox.total` (/total) is an object with `a`"
    );
    assert_eq!(
        error::<Limit>(&args, json!({"total": "x".repeat(1000)})).to_string(),
        format!(
            "argument `limit` takes u32, but `inbox.total` (/total) is the string \"{}\"… (1000 bytes)",
            "x".repeat(60)
        )
    );
    let whole = object(vec![("limit", reference("inbox", vec![]))]);
    assert_eq!(
        error::<Limit>(&whole, json!([1])).to_string(),
        "argument `limit` takes u32, but `inbox` is a list of 1 element"
    );
    let literal = object(vec![("limit", string("ten"))]);
    assert_eq!(
        error::<Limit>(&literal, json!(null)).to_string(),
        "argument `limit`: invalid type: string \"ten\", expected u32"
    );
}

#[test]
fn wrong_type_inside() {
    #[derive(Debug, Deserialize)]
    #[allow(dead_code)]
    struct Args {
        filters: Vec<Limit>,
    }
    let args = object(vec![("filters", reference("inbox.a", vec![key("a")]))]);
    let e = error::<Args>(&args, json!({"a": [{"limit": 1}, {"limit": true}]}));
    assert_eq!(
        e.to_string(),
        "argument `filters[1].limit` takes u32, but `inbox.a` (/a/1/limit) is true"
    );
    assert_eq!(
        error::<Args>(&args, json!({"a": [{"limi": 1}]})).to_string(),
        "argument `filters[0]`: missing field `limit`; `inbox.a` (/a/0) is an object with `limi`"
    );
    let numbers = reference(
        "inbox.a[..].n[..]",
        vec![key("a"), each(), key("n"), each()],
    );
    let e = error::<Vec<Vec<u8>>>(&numbers, json!({"a": [{"n": [1]}, {"n": [2, "x"]}]}));
    assert_eq!(
        e.to_string(),
        "argument `[1][1]` takes u8, but `inbox.a[..].n[..]` (/a/1/n/1) is the string \"x\""
    );
    let e = error::<Vec<Vec<u8>>>(&numbers, json!({"a": [{"n": [1]}, {"m": []}]}));
    assert_eq!(
        e.to_string(),
        "argument `[1]`: `inbox` has no `n` at `/a/1`; it has `m`, and `m` is similar (reference `inbox.a[..].n[..]`)"
            .replace(", and `m` is similar", "")
    );
}

#[test]
fn absent_into_required() {
    let inbox = || Reference::new(Source::Step(0));
    let total = inbox().key("total").absent(Absent::End).optional();
    let total = Template::Reference(total.written("inbox.total?"));
    let args = object(vec![("limit", total)]);
    let e = error::<Limit>(&args, json!({}));
    assert_eq!(
        e.to_string(),
        "argument `limit` takes u32, but `inbox.total?` (/total) is absent; make the argument optional, or give a default with `unwrap_or`"
    );
    assert_eq!(e.kind(), ErrorKind::Absent);
    let first = inbox().index(0).absent(Absent::End);
    let stop = object(vec![("limit", Template::Reference(first))]);
    assert_eq!(error::<Limit>(&stop, json!([])).kind(), ErrorKind::Absent);
}

#[test]
fn missing_argument() {
    let e = error::<Limit>(&object(vec![]), json!(null));
    assert_eq!(e.to_string(), "argument `limit` is missing");
    assert_eq!(e.kind(), ErrorKind::MissingArgument);
    #[derive(Debug, Deserialize)]
    #[allow(dead_code)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        inner: Limit,
    }
    assert_eq!(
        error::<Outer>(&object(vec![("inner", object(vec![]))]), json!(null)).to_string(),
        "argument `inner.limit` is missing"
    );
    assert_eq!(
        error::<Outer>(&object(vec![("outer", Template::Null)]), json!(null)).to_string(),
        "unknown field `outer`, expected `inner`"
    );
}

#[test]
fn no_output() {
    let plan = plan();
    let args = object(vec![("x", reference("inbox.a", vec![key("a")]))]);
    let e = resolve::<Value>(&args, &Scope::new(&plan, &[], &[None])).unwrap_err();
    assert_eq!(
        e.to_string(),
        "argument `x`: `inbox` has no output to read (reference `inbox.a`)"
    );
    assert_eq!(e.kind(), ErrorKind::NoOutput);
    let e = Scope::new(&plan, &[], &[None])
        .value_of::<u8>(Source::Step(0))
        .unwrap_err();
    assert_eq!(e.to_string(), "`inbox` has no output to read");
}

#[test]
fn typed_values() {
    let plan = plan();
    let outputs = [Some(StoredValue::json(json!({"limit": "x"})))];
    let scope = Scope::new(&plan, &[], &outputs);
    let e = scope.value_of::<Limit>(Source::Step(0)).unwrap_err();
    assert_eq!(
        e.to_string(),
        "the value must be u32, but `inbox` (/limit) is the string \"x\""
    );
    let outputs = [Some(StoredValue::json(json!(7)))];
    let scope = Scope::new(&plan, &[], &outputs);
    assert_eq!(*scope.value_of::<u8>(Source::Step(0)).unwrap(), 7);
    let e = scope.value_of::<u16>(Source::Step(0)).unwrap_err();
    assert_eq!(
        e.to_string(),
        "`inbox` is read as a value of another type than `u16`"
    );
}

#[test]
fn not_executable() {
    let computed = Computed::new("a + b", []).into();
    let e = error::<Value>(&object(vec![("x", computed)]), json!(null));
    assert_eq!(
        e.to_string(),
        "argument `x`: the plan was read from JSON, so there is no code to compute the value (in the computed `a + b`)"
    );
    assert_eq!(e.kind(), ErrorKind::NotExecutable);
    let text = Template::Text(vec![Part::value(string("x"), ">8")]);
    assert_eq!(
        error::<Value>(&text, json!(null)).to_string(),
        "the plan was read from JSON, so there is no code to compute the value (in the computed `{:>8}`)"
    );
}

#[test]
fn flattened_scalar() {
    let args = object(vec![("..", reference("inbox", vec![]))]);
    let e = error::<Value>(&args, json!(3));
    assert_eq!(
        e.to_string(),
        "only an object can be flattened into the argument, not the number 3"
    );
}

#[test]
fn too_deep() {
    let deep = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(
        resolved::<Value>(&reference("inbox", vec![]), deep(200)).unwrap(),
        deep(200)
    );
    let e = error::<Value>(&object(vec![("x", reference("inbox", vec![]))]), deep(1000));
    assert_eq!(e.kind(), ErrorKind::TooDeep);
    assert!(
        e.to_string().contains("the value is nested too deeply"),
        "{e}"
    );
    assert!(e.to_string().len() < 600, "{} bytes", e.to_string().len());
}

/// An error uses the current name of the step that was read, instead of its name when the reference was written; a reference of another
/// language keeps its notation.
#[test]
fn a_step_that_was_renamed() {
    use plan_runtime::Plan;
    use plan_runtime::plan::{Action, Step};
    for (written, shown) in [
        ("first.data", "other.data"),
        ("other.data", "other.data"),
        ("{{first.result.data}}", "other.data"),
    ] {
        let mut plan = Plan::new("p");
        plan.steps = vec![Step::new("other", Action::call("t", Template::Null))];
        let reference = Reference::new(Source::Step(0)).key("data").written(written);
        let outputs = [Some(StoredValue::json(json!({"date": 1})))];
        let scope = Scope::new(&plan, &[], &outputs);
        let error = resolve::<u64>(&reference.into(), &scope).unwrap_err();
        assert!(error.to_string().contains(&format!("`{shown}`")), "{error}");
    }
}

#[test]
fn an_option_keeps_the_reference() {
    #[derive(Debug, Deserialize)]
    #[serde(tag = "kind")]
    enum Kind {
        A {
            #[allow(dead_code)]
            n: u32,
        },
    }
    #[derive(Debug, Deserialize)]
    struct Args {
        #[allow(dead_code)]
        f: Option<Kind>,
    }
    let template = object(vec![("f", reference("inbox", vec![]))]);
    let error = error::<Args>(&template, json!({"kind": "A"}));
    assert_eq!(
        (error.kind(), error.reference()),
        (ErrorKind::Type, Some("inbox"))
    );
}
