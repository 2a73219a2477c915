//! Wrong documents of other authors: each has a finding.

use crate::checks::read_with;
use crate::common::skips;
use plan_runtime::dynamic::{Contract, Contracts};
use serde_json::{Value, json};
use std::fs;

/// The tools of the documents.
fn tools() -> Contracts {
    let (string, integer, number) = (
        json!({"type": "string"}),
        json!({"type": "integer"}),
        json!({"type": "number"}),
    );
    let object = |properties: Value, required: &[&str]| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let item = object(
        json!({"sku": string, "size": integer, "weight": number}),
        &["sku", "size", "weight"],
    );
    let items = json!({"items": {"type": "array", "items": item}});
    let message = json!({"to": string, "text": string, "mode": {"enum": ["mail", "sms"]}});
    let state = json!({"state": {"enum": ["open", "done"]}, "percent": integer});
    let read = |name: &str| Contract::new(name).read_only();
    let numbers = json!({"numbers": {"type": "array", "items": number}});
    [
        read("list_items")
            .arguments(object(json!({"query": string}), &["query"]))
            .output(object(items, &["items"])),
        read("get_item")
            .arguments(object(json!({"sku": string}), &["sku"]))
            .output(item),
        Contract::new("poll")
            .arguments(object(json!({"id": string}), &["id"]))
            .output(object(state, &["state", "percent"])),
        Contract::new("send")
            .arguments(object(message, &["to", "text"]))
            .output(object(json!({"id": string, "at": integer}), &["id", "at"])),
        Contract::new("sum")
            .arguments(object(numbers, &["numbers"]))
            .output(number),
        Contract::new("undo_send")
            .arguments(object(json!({"id": string}), &["id"]))
            .output(json!({"type": "null"})),
    ]
    .into_iter()
    .collect()
}

/// A line `@@ name dialect`, and a line with the document, in which `«»` marks the mistake.
#[test]
fn each_has_one_finding() {
    let Some(file) = skips::unless("wrong documents", skips::wrong_documents()) else {
        return;
    };
    let tools = tools();
    let text = fs::read_to_string(file).unwrap();
    let mut lines = text.lines();
    let mut count = 0;
    while let (Some(name), Some(document)) = (lines.next(), lines.next()) {
        let document = document.replace(['«', '»'], "");
        let findings = read_with(&tools, &document);
        assert_eq!(findings.len(), 1, "{name}\n{findings}\n{document}");
        count += 1;
    }
    assert!(count > 33, "{count}");
}
