//! The names of variables in the errors of a run, and in a printed plan.

use crate::checks::variables::{DIALECTS, Root, call, document, reference};
use plan_runtime::dynamic::{Contract, Dialect, Reader, Toolbox};
use serde_json::{Value, json};

fn failure(text: &str) -> (String, String, String) {
    let toolbox = Toolbox::<()>::new()
        .with_fn(Contract::new("make"), |_| async {
            Ok(json!([{"id": 5, "none": null, "list": []}]))
        })
        .with_fn(
            Contract::new("take"),
            |given: Value| async move { Ok(given) },
        );
    let document = Reader::new().read(text).unwrap();
    let plan = document.plan();
    let error = smol::block_on(toolbox.run(plan, (), &())).unwrap_err();
    let error = error.to_string();
    let (_, error) = error.split_once("(take): ").unwrap();
    (
        error.to_owned(),
        plan.to_string(),
        plan.mermaid().to_string(),
    )
}

/// Returns the notation of a reference to this variable in a document.
fn written(dialect: Dialect, name: &str, path: &[&str]) -> String {
    match reference(dialect, Root::Variable(name, 0), path) {
        Value::String(text) => text,
        _ => [name]
            .iter()
            .chain(path)
            .copied()
            .collect::<Vec<_>>()
            .join("."),
    }
}

#[test]
fn errors_call_variables_as_the_document_does() {
    for dialect in DIALECTS {
        for (path, expected) in [
            (
                &["sendr"][..],
                "argument `x`: `m` has no `sendr`; it has `id`, `list`, `none`",
            ),
            (
                &["none", "id"],
                "argument `x`: `m` is null at `/none`, so it has no `id`",
            ),
        ] {
            let to = reference(dialect, Root::Variable("m", 0), path);
            let body = call(dialect, "take", json!({"x": to}));
            let list = reference(dialect, Root::First, &[]);
            let second = json!({"for": {"pattern": "m", "list": list, "body": body}});
            let text = document(dialect, call(dialect, "make", json!({})), second);
            let (error, printed, drawn) = failure(&text);
            let written = written(dialect, "m", path);
            assert_eq!(
                error,
                format!("{expected} (reference `{written}`)"),
                "{dialect:?}"
            );
            // A plan is printed and drawn alike in all dialects.
            let plain = format!("m.{}", path.join("."));
            assert!(printed.contains(&format!("x: {plain}\n")), "{printed}");
            assert!(drawn.contains(&format!("<br/>{plain}\"|")), "{drawn}");
        }
    }
}

#[test]
fn errors_of_conditions_and_lists_do_so_too() {
    for dialect in DIALECTS {
        let m = |path: &[&str]| reference(dialect, Root::Variable("m", 0), path);
        let (id, list) = (
            written(dialect, "m", &["id"]),
            written(dialect, "m", &["list"]),
        );
        let body = call(dialect, "take", json!({}));
        for (inner, expected) in [
            (
                json!({"for": {"pattern": "t", "list": m(&["id"]), "body": body}}),
                format!("`for` iterates over a list or an object, but `{id}` is the number 5"),
            ),
            (
                json!({"if": [{"condition": m(&["id"]), "then": body}]}),
                format!("the value must be a boolean, but `{id}` (/id) is the number 5"),
            ),
            (
                json!({"if": [{"condition": {"compare": [m(&["id"]), "<", m(&["list"])]}, "then": body}]}),
                format!(
                    "`{id} < {list}` compares the number 5 with a list of 0 elements, which have no order"
                ),
            ),
        ] {
            let list = reference(dialect, Root::First, &[]);
            let second = json!({"for": {"pattern": "m", "list": list, "body": inner}});
            let text = document(dialect, call(dialect, "make", json!({})), second);
            assert_eq!(failure(&text).0, expected, "{dialect:?}");
        }
    }
}

/// A pointer into a variable of a pair starts at the variable's own value.
#[test]
fn errors_of_parts_of_pairs() {
    for dialect in DIALECTS {
        let path: &[&str] = match dialect {
            Dialect::PlanJson => &["1", "sendr"],
            _ => &["sendr"],
        };
        let to = reference(dialect, Root::Variable("v", 0), path);
        let body = call(dialect, "take", json!({"x": to}));
        let list = reference(dialect, Root::First, &["0"]);
        let second = json!({"for": {"pattern": "(k, v)", "list": list, "body": body}});
        let text = document(dialect, call(dialect, "make", json!({})), second);
        let (error, printed, drawn) = failure(&text);
        let written = written(dialect, "v", &["sendr"]);
        let expected = format!(
            "argument `x`: `v` is the number 5, so it has no `sendr` (reference `{written}`)"
        );
        assert_eq!(error, expected, "{dialect:?}");
        assert!(printed.contains("x: v.sendr\n"), "{printed}");
        assert!(drawn.contains("<br/>v.sendr\"|"), "{drawn}");
    }
}
