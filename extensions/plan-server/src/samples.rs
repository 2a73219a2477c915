//! Sample plans, one for each dialect and for each main feature.

use axum::Json;
use serde_json::{Value, json};

struct Sample {
    name: &'static str,
    title: &'static str,
    /// The actions of the plan, for people who choose a sample.
    about: &'static str,
    /// `true` if the plan runs without inputs and without corrections.
    is_ready: bool,
    /// The dialect in the page's terms.
    dialect: &'static str,
    text: &'static str,
}

const SAMPLES: [Sample; 8] = [
    Sample {
        name: "meeting",
        title: "Book a meeting, and invite Ada",
        about: "Finds Ada's address, books a meeting, and invites Ada. You allow the meeting and the invitation.",
        is_ready: true,
        dialect: "tool plan",
        text: include_str!("samples/meeting.json"),
    },
    Sample {
        name: "reply",
        title: "Reply to an e-mail, with inputs",
        about: "Finds the latest e-mail of a sender, and replies to the sender. You fill in the inputs and allow the reply.",
        is_ready: false,
        dialect: "action plan",
        text: include_str!("samples/reply.json"),
    },
    Sample {
        name: "faulty",
        title: "Reply to an e-mail, with errors",
        about: "The plan has five errors. The editor underlines each error, and shows how to correct it.",
        is_ready: false,
        dialect: "action plan",
        text: include_str!("samples/faulty.json"),
    },
    Sample {
        name: "shipments",
        title: "Move a delayed shipment",
        about: "Finds a delayed shipment in Stuttgart, and moves the shipment to another facility. You allow the move.",
        is_ready: true,
        dialect: "blueprint",
        text: include_str!("samples/shipments.json"),
    },
    Sample {
        name: "contacts",
        title: "Find people, and write an e-mail to each",
        about: "Finds people, and writes an e-mail to each of them. You allow the e-mails one by one, or all together.",
        is_ready: true,
        dialect: "tool plan",
        text: include_str!("samples/contacts.json"),
    },
    Sample {
        name: "offsite",
        title: "Book an event, wait for a room, undo",
        about: "Books an event, and waits for the name of a room. If you cancel the run, its undo step cancels the event.",
        is_ready: true,
        dialect: "tool plan",
        text: include_str!("samples/offsite.json"),
    },
    Sample {
        name: "retries",
        title: "A slow step, and a step that fails twice",
        about: "Runs a slow step, retries a step that fails twice, and sends an e-mail with the results. You allow each call.",
        is_ready: true,
        dialect: "blueprint",
        text: include_str!("samples/retries.json"),
    },
    Sample {
        name: "tidy",
        title: "List delayed shipments, in plan JSON",
        about: "Lists the delayed shipments of the first facility of a place. You fill in the place.",
        is_ready: false,
        dialect: "plan JSON",
        text: include_str!("samples/tidy.json"),
    },
];

pub(crate) async fn list() -> Json<Value> {
    let sample = |it: &Sample| json!({"name": it.name, "title": it.title, "about": it.about, "is_ready": it.is_ready, "dialect": it.dialect, "text": it.text});
    Json(SAMPLES.iter().map(sample).collect())
}

#[cfg(test)]
pub(crate) fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    SAMPLES.iter().map(|it| (it.name, it.text))
}

#[cfg(test)]
mod tests {
    use crate::tools::toolbox;
    use plan_runtime::run::Throttle;

    #[test]
    fn each_sample_is_what_its_title_says() {
        let toolbox = toolbox(Throttle::new());
        for sample in &super::SAMPLES {
            let name = sample.name;
            match toolbox.read(sample.text) {
                Ok(document) => {
                    assert_ne!(name, "faulty");
                    assert_eq!(sample.is_ready, document.plan().inputs.is_empty(), "{name}");
                    assert!(
                        document.warnings().is_empty(),
                        "{name}: {}",
                        document.warnings()
                    );
                }
                Err(findings) => assert!(
                    name == "faulty" && !sample.is_ready && findings.errors().count() == 5,
                    "{name}: {findings}"
                ),
            }
        }
    }
}
