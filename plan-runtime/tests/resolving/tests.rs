//! Tests as data: their results, their order of evaluation, and their errors.

use crate::support::{each, key, object, reference, resolved, string};
use plan_runtime::plan::{
    Absent, Comparison, Question, Reference, Segment, Source, Template, Test,
};
use serde_json::{Value, json};

fn of(name: &str) -> Template {
    reference(&format!("inbox.{name}"), vec![key(name)])
}

fn compare(left: impl Into<Template>, how: Comparison, right: impl Into<Template>) -> Template {
    Test::Compare([left.into(), right.into()], how).into()
}

fn ask(question: Question, operand: Template) -> Template {
    Test::Ask(question, operand).into()
}

#[track_caller]
fn says(test: &Template, expected: impl Into<Value>) {
    let inbox = json!({
        "yes": true, "no": false, "one": 1, "text": "ä", "list": [1, 2], "map": {"a": 1}, "null": null,
        "ok": {"Ok": null}, "err": {"Err": "x"}, "lists": [{"a": 1}, {"a": 2}],
    });
    let found = resolved::<Value>(test, inbox);
    assert_eq!(
        found.map_err(|e| e.to_string()),
        Ok(expected.into()),
        "{test}"
    );
}

#[track_caller]
fn fails(test: &Template, expected: &str) {
    let inbox = json!({
        "yes": true, "one": 1, "text": "ä", "list": [], "null": null, "both": {"Ok": 1, "Err": 2}, "map": {},
    });
    let error = resolved::<Value>(test, inbox).unwrap_err();
    assert_eq!(error.to_string(), expected, "{test}");
}

#[test]
fn they_stop_at_the_operand_that_decides() {
    let missing = || of("missing");
    let null = || of("null");
    for (test, expected) in [
        (Test::All(vec![of("no"), missing()]), false),
        (Test::All(vec![of("yes"), of("no"), null()]), false),
        (Test::Any(vec![of("yes"), missing()]), true),
        (Test::Any(vec![of("no"), of("yes"), of("one")]), true),
        (
            Test::Any(vec![of("no"), Test::Not(of("yes")).into()]),
            false,
        ),
        (Test::All(vec![of("yes"), Test::Not(of("no")).into()]), true),
        (
            Test::All(vec![of("no"), compare(1, Comparison::Less, "x")]),
            false,
        ),
    ] {
        says(&test.into(), expected);
    }
    for test in [
        Test::All(vec![of("yes"), missing()]),
        Test::Any(vec![Test::Not(of("yes")).into(), missing()]),
        Test::Compare([missing(), 1.into()], Comparison::Equal),
        Test::Not(missing()),
    ] {
        let inbox = json!({"yes": true});
        let error = resolved::<Value>(&test.into(), inbox).unwrap_err();
        assert!(
            error.to_string().starts_with("`inbox` has no `missing`"),
            "{error}"
        );
    }
}

#[test]
fn absent_is_null() {
    let absent = |absent| {
        let mut segment = Segment::new(plan_runtime::plan::Selector::Key("gone".to_owned()));
        segment.absent = absent;
        Template::from({
            let mut reference = Reference::new(Source::Step(0));
            reference.path = [segment].into();
            reference
        })
    };
    for gone in [
        absent(Absent::End),
        absent(Absent::Default(Value::Null.into())),
        of("null"),
    ] {
        says(&ask(Question::IsNone, gone.clone()), true);
        says(&ask(Question::IsSome, gone.clone()), false);
        says(
            &compare(gone.clone(), Comparison::Equal, Template::Null),
            true,
        );
        says(&compare(gone.clone(), Comparison::NotEqual, false), true);
        let fails = |test| {
            let error = resolved::<Value>(&test, json!({"null": null})).unwrap_err();
            error.to_string()
        };
        let error = fails(compare(gone.clone(), Comparison::Less, 1));
        assert!(
            error.contains("compares null with") && error.contains("have no order"),
            "{error}"
        );
        let error = fails(Test::All(vec![gone.clone(), true.into()]).into());
        assert!(
            error.contains("needs `true` or `false`") && error.contains("is null"),
            "{error}"
        );
    }
    let default = absent(Absent::Default(json!([]).into()));
    says(&ask(Question::IsEmpty, default), true);
}

#[test]
fn questions() {
    for (question, name, expected) in [
        (Question::IsSome, "no", json!(true)),
        (Question::IsNone, "list", json!(false)),
        (Question::IsOk, "ok", json!(true)),
        (Question::IsErr, "ok", json!(false)),
        (Question::IsErr, "err", json!(true)),
        (Question::IsOk, "err", json!(false)),
        (Question::IsEmpty, "text", json!(false)),
        (Question::Len, "text", json!(2)),
        (Question::Len, "list", json!(2)),
        (Question::Len, "map", json!(1)),
    ] {
        says(&ask(question, of(name)), expected);
    }
    // A value that is made is one as well.
    let made = reference("inbox.lists[].a", vec![key("lists"), each(), key("a")]);
    says(&ask(Question::Len, made.clone()), 2);
    let list = Template::List(vec![1.into(), 2.into()]);
    says(&compare(made, Comparison::Equal, list), true);
    let text = object(vec![("a", of("one"))]);
    says(&compare(text, Comparison::Equal, of("map")), true);
    says(&compare(string("ä"), Comparison::AtLeast, of("text")), true);
}

#[test]
fn what_has_no_answer_fails() {
    fails(
        &compare(of("one"), Comparison::Less, of("text")),
        "`inbox.one < inbox.text` compares the number 1 with the string \"ä\", which have no order",
    );
    fails(
        &compare(of("list"), Comparison::AtLeast, of("list")),
        "`inbox.list >= inbox.list` compares a list of 0 elements with a list of 0 elements, which have no order",
    );
    fails(
        &Test::Not(of("one")).into(),
        "`!inbox.one` needs `true` or `false`, but `inbox.one` is the number 1",
    );
    fails(
        &ask(Question::Len, of("one")),
        "`inbox.one.len()` needs a string, a list or an object, but found the number 1",
    );
    fails(
        &ask(Question::IsEmpty, of("null")),
        "`inbox.null.is_empty()` needs a string, a list or an object, but found null",
    );
    for name in ["both", "map", "null"] {
        let error = resolved::<Value>(
            &ask(Question::IsOk, of(name)),
            json!({"both": {"Ok": 1, "Err": 2}, "map": {}, "null": null}),
        );
        let error = error.unwrap_err().to_string();
        assert!(error.contains("needs a `Result`"), "{error}");
    }
}
