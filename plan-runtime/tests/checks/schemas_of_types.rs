//! Schemas of `schemars` for types of serde.

use crate::checks::tool;
use plan_runtime::dynamic::Toolbox;
use plan_runtime::{Result, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, plan_runtime::Shape, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Mail {
    thread_id: String,
    subject: Option<String>,
    from: Person,
    labels: Vec<Label>,
}

#[derive(Serialize, Deserialize, plan_runtime::Shape, JsonSchema)]
struct Person {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    email: Option<String>,
}

#[derive(Serialize, Deserialize, plan_runtime::Shape, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Label {
    /// Not read yet.
    Unread,
    /// Of some importance.
    Starred,
}

#[derive(Serialize, Deserialize, plan_runtime::Shape, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Filter {
    Sender { name: String },
    Newest { count: u8 },
}

#[tool(read_only)]
#[derive(JsonSchema)]
async fn fetch(filters: Vec<Filter>, label: Option<Label>) -> Result<Vec<Mail>> {
    let _ = (filters, label);
    Ok(Vec::new())
}

#[tool]
#[derive(JsonSchema)]
async fn reply(thread_id: String, to: String, subject: Option<String>) -> Result<()> {
    let _ = (thread_id, to, subject);
    Ok(())
}

#[test]
fn are_understood() {
    let toolbox = Toolbox::<()>::new()
        .with_schema::<Fetch>()
        .with_schema::<Reply>();
    let read = |steps: &str| match toolbox.read(&tool(steps)) {
        Ok(document) => document.warnings().to_string(),
        Err(findings) => findings.to_string(),
    };
    assert_eq!(
        read(
            r#"{"id": "mail", "tool": "fetch", "arguments": {"filters": [{"kind": "sender", "name": "Ann"}, {"kind": "newest", "count": 3}], "label": "unread"}},
{"id": "sent", "tool": "reply", "arguments": {"thread_id": "$ref:mail.0.threadId", "to": "$ref:mail.0.from.name", "subject": "$ref:mail.0.subject"}}"#
        ),
        ""
    );
    assert_eq!(
        read(
            r#"{"id": "mail", "tool": "fetch", "arguments": {"filters": [{"kind": "sender"}, {"kind": "newest", "count": 300}, {"kind": "oldest"}], "label": "unraed"}},
{"id": "sent", "tool": "reply", "arguments": {"thread_id": "$ref:mail.0.thread_id", "to": "$ref:mail.0.from.email", "subject": "$ref:mail.0.labels"}}"#
        ),
        "\
error[missing-argument]: argument `filters[0]` lacks `name`
  --> 2:59 in step `mail`
   = help: `name` is a string

error[not-allowed]: argument `filters[1].count` is the number 300, but must be at most 255
  --> 2:107 in step `mail`

error[not-allowed]: argument `filters[2].kind` is the string \"oldest\", but must be one of `sender`, `newest`
  --> 2:122 in step `mail`

error[not-allowed]: argument `label` is the string \"unraed\", but must be one of `unread`, `starred`
  --> 2:143 in step `mail`
   = help: did you mean `unread`?

error[unknown-field]: `[0]` in the output of `fetch` has no field `thread_id`
  --> 3:60 in step `sent`
   = help: did you mean `$ref:mail.0.threadId`?

error[maybe-absent]: argument `to` is required, but `$ref:mail.0.from.email` may have no value: `[0].from.email` may be missing
  --> 3:91 in step `sent`
   = help: call the tool only if the value is present: `\"if\": [{\"pattern\": \"Some(x)\", \"value\": \"$ref:mail.0.from.email\", \"then\": {\"tool\": \"reply\", \"arguments\": {\"thread_id\": \"$ref:mail.0.thread_id\", \"to\": \"$ref:x\", \"subject\": \"$ref:mail.0.labels\"}}}]`

error[list-or-element]: argument `subject` must be a string or null, but `$ref:mail.0.labels` is a list of strings
  --> 3:128 in step `sent`
   = help: did you mean the first element, `$ref:mail.0.labels.0`?
"
    );
}
