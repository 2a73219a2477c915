//! Sample plans, one for each dialect and for each main feature.

use axum::Json;
use serde_json::{Value, json};

/// The name, the title, the dialect in the page's terms, and the source of each sample.
const SAMPLES: [(&str, &str, &str, &str); 7] = [
    (
        "reply",
        "Reply to an e-mail, with inputs",
        "action plan",
        include_str!("samples/reply.json"),
    ),
    (
        "faulty",
        "Reply to an e-mail, with errors",
        "action plan",
        include_str!("samples/faulty.json"),
    ),
    (
        "shipments",
        "Facilities and their shipments",
        "step blueprint",
        include_str!("samples/shipments.json"),
    ),
    (
        "contacts",
        "Write to everybody who is found",
        "tool plan",
        include_str!("samples/contacts.json"),
    ),
    (
        "offsite",
        "Book an event, wait for a room, undo",
        "tool plan",
        include_str!("samples/offsite.json"),
    ),
    (
        "retries",
        "A slow step, and a step that fails twice",
        "step blueprint",
        include_str!("samples/retries.json"),
    ),
    (
        "tidy",
        "Facilities, in the format plan JSON",
        "plan JSON",
        include_str!("samples/tidy.json"),
    ),
];

pub(crate) async fn list() -> Json<Value> {
    let sample = |(name, title, dialect, text)| json!({"name": name, "title": title, "dialect": dialect, "text": text});
    Json(SAMPLES.into_iter().map(sample).collect())
}

#[cfg(test)]
pub(crate) fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    SAMPLES.into_iter().map(|(name, _, _, text)| (name, text))
}

#[cfg(test)]
mod tests {
    use crate::tools::toolbox;
    use plan_runtime::run::Throttle;

    #[test]
    fn each_sample_is_what_its_title_says() {
        let toolbox = toolbox(Throttle::new());
        for (name, text) in super::all() {
            match toolbox.read(text) {
                Ok(document) => {
                    assert_ne!(name, "faulty");
                    assert!(
                        document.warnings().is_empty(),
                        "{name}: {}",
                        document.warnings()
                    );
                }
                Err(findings) => assert!(
                    name == "faulty" && findings.errors().count() >= 3,
                    "{name}: {findings}"
                ),
            }
        }
    }
}
