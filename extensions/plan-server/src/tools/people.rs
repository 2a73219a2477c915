//! Contacts and a calendar.

use super::Office;
use plan_runtime::run::CallContext;
use plan_runtime::{Error, Result, Shape, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, Shape, JsonSchema)]
pub(super) struct Contact {
    name: String,
    email: String,
    phone: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape, JsonSchema)]
pub(super) struct Event {
    id: u64,
    title: String,
    day: String,
    with: Vec<String>,
}

/// Finds people by a part of their name or address.
#[tool(name = "contacts_find", read_only)]
#[derive(JsonSchema)]
pub(super) async fn find_contacts(office: &Office, name: String) -> Result<Vec<Contact>> {
    let _running = office.enter();
    let contact = |name: &str, email: &str, phone: Option<&str>| Contact {
        name: name.to_owned(),
        email: email.to_owned(),
        phone: phone.map(str::to_owned),
    };
    let mut all = vec![
        contact("Ada Lovelace", "ada@example.org", Some("+44 20 7946 0018")),
        contact("Grace Hopper", "grace@example.org", None),
        contact(
            "Sarah Vaughan",
            "sarah@example.org",
            Some("+1 212 555 0147"),
        ),
    ];
    let name = name.to_lowercase();
    all.retain(|it| it.name.to_lowercase().contains(&name) || it.email.contains(&name));
    Ok(all)
}

/// Lists the events that were booked and not cancelled.
#[tool(name = "events_list", read_only)]
#[derive(JsonSchema)]
pub(super) async fn list_events(
    office: &Office,
    /// Only events of this day, such as `2026-11-27`.
    day: Option<String>,
) -> Result<Vec<Event>> {
    let _running = office.enter();
    let cancelled: Vec<u64> = office.outputs("event_cancel");
    let mut events: Vec<Event> = office.outputs("event_book");
    events.retain(|event| {
        !cancelled.contains(&event.id) && day.as_ref().is_none_or(|day| *day == event.day)
    });
    Ok(events)
}

/// Books an event.
#[tool(name = "event_book")]
#[derive(JsonSchema)]
pub(super) async fn book_event(
    office: &Office,
    #[context] context: CallContext,
    title: String,
    /// Such as `2026-11-27`.
    day: String,
    with: Option<Vec<String>>,
) -> Result<Event> {
    let _running = office.enter();
    office.effect(&context, "event_book", |number| Event {
        id: number,
        title,
        day,
        with: with.unwrap_or_default(),
    })
}

/// Cancels an event, and returns its id.
#[tool(name = "event_cancel")]
#[derive(JsonSchema)]
pub(super) async fn cancel_event(
    office: &Office,
    #[context] context: CallContext,
    id: u64,
) -> Result<u64> {
    let _running = office.enter();
    let booked: Vec<Event> = office.outputs("event_book");
    if !booked.iter().any(|event| event.id == id) {
        return Err(Error::permanent(format!("there is no event {id}")).with_code("NOT_FOUND"));
    }
    office.effect(&context, "event_cancel", |_| id)
}
