//! The plans of document 002, written with `plan!`: the compiler checks each path.

use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Shape)]
pub(crate) struct Name {
    name: String,
}

#[derive(Serialize, Deserialize, Shape)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Query {
    entity_type: String,
    filters: Name,
}

#[derive(Serialize, Deserialize, Shape)]
pub(crate) struct Person {
    name: String,
    email: String,
}

#[derive(Serialize, Deserialize, Shape)]
pub(crate) struct People {
    data: Vec<Person>,
}

#[derive(Serialize, Deserialize, Shape)]
pub(crate) struct Mail {
    to: String,
    subject: String,
    body: String,
}

/// Finds people.
#[tool]
async fn fetch_entity(input: Query) -> Result<People> {
    let name = format!("{} Smith", input.filters.name);
    let email = format!("{}@example.com", name.to_lowercase().replace(' ', "."));
    Ok(People {
        data: vec![Person { name, email }],
    })
}

/// Sends an e-mail.
#[tool]
async fn send_email(input: Mail) -> Result<String> {
    Ok(format!("{}: {}", input.to, input.body))
}

plan! {
    /// Sends an e-mail to John.
    pub(crate) SendToJohn() -> String {
        step find_john = FetchEntity { input: Query { entity_type: "Contact", filters: Name { name: "John" } } };
        step send_email = SendEmail { input: Mail {
            to: find_john.data[0].email,
            subject: "Hello",
            body: format!("Hi {}!", find_john.data[0].name),
        } };
        send_email
    }
}

#[test]
fn the_plan_for_john_runs() {
    let sent = smol::block_on(SendToJohn {}.run(&())).unwrap();
    assert_eq!(sent, "john.smith@example.com: Hi John Smith!");
}

#[derive(Serialize, Deserialize, Shape)]
pub(crate) struct Copied {
    to: String,
    cc: String,
}

/// Finds one person.
#[tool]
async fn find_person(name: String) -> Result<Person> {
    let email = format!("{name}@example.com");
    Ok(Person { name, email })
}

/// Sends an e-mail with a copy.
#[tool]
async fn send_copied(input: Copied) -> Result<String> {
    Ok(format!("{}, {}", input.to, input.cc))
}

plan! {
    /// Sends an e-mail to John and to his manager.
    pub(crate) SendToJohnAndManager() -> String {
        step find_john = FindPerson { name: "john" };
        step find_manager = FindPerson { name: "sarah" };
        step send = SendCopied { input: Copied { to: find_john.email, cc: find_manager.email } };
        send
    }
}

/// Returns its argument.
#[tool]
async fn pass(x: String) -> Result<String> {
    Ok(x)
}

plan! {
    /// The diamond.
    pub(crate) Diamond() -> String {
        step a = Pass { x: "1" };
        step b = Pass { x: a };
        step c = Pass { x: a };
        step d = Pass { x: format!("{b} {c}") };
        d
    }
}

#[derive(Serialize, Deserialize, Shape)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Event {
    title: String,
    start_time: String,
    attendees: Vec<String>,
}

/// Creates an event.
#[tool]
async fn create_calendar_event(input: Event) -> Result<String> {
    Ok(format!("{} at {}", input.title, input.start_time))
}

plan! {
    /// Creates a meeting.
    pub(crate) CreateMeeting(meeting_title: String, start_time: String, attendee_email: String) -> String {
        step create_meeting = CreateCalendarEvent { input: Event {
            title: meeting_title,
            start_time,
            attendees: [attendee_email],
        } };
        create_meeting
    }
}

#[derive(Serialize, Deserialize, Shape)]
pub(crate) struct Sender {
    sender: String,
}

#[derive(Serialize, Deserialize, Shape)]
pub(crate) struct Fetch {
    operation: String,
    filters: Sender,
}

#[derive(Serialize, Deserialize, Shape)]
pub(crate) struct Email {
    id: String,
    from: Person,
    subject: String,
    date: String,
}

#[derive(Serialize, Deserialize, Shape)]
pub(crate) struct Inbox {
    data: Vec<Email>,
}

#[derive(Serialize, Deserialize, Shape)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Reply {
    thread_id: String,
    to: String,
    subject: String,
    body: String,
}

/// Finds e-mails.
#[tool]
async fn fetch_emails(input: Fetch) -> Result<Inbox> {
    let name = input.filters.sender;
    let email = format!("{name}@company.com");
    Ok(Inbox {
        data: vec![Email {
            id: "thread_abc123".into(),
            from: Person { name, email },
            subject: "Q1 Report".into(),
            date: "2024-01-15T10:30:00Z".into(),
        }],
    })
}

/// Replies to an e-mail.
#[tool]
async fn reply_email(input: Reply) -> Result<String> {
    Ok(format!("{}: {}", input.thread_id, input.subject))
}

plan! {
    /// Replies to the most recent e-mail of Sarah.
    pub(crate) ReplyToSarah(reply_message: String) -> String {
        step fetch_sarah_emails = FetchEmails { input: Fetch { operation: "fetch", filters: Sender { sender: "sarah" } } };
        step reply_to_email = ReplyEmail { input: Reply {
            thread_id: fetch_sarah_emails.data[0].id,
            to: fetch_sarah_emails.data[0].from.email,
            subject: format!("Re: {}", fetch_sarah_emails.data[0].subject),
            body: reply_message,
        } };
        reply_to_email
    }
}

#[test]
fn the_plan_for_sarah_runs() {
    let plan = ReplyToSarah {
        reply_message: "Thank you.".into(),
    };
    let replied = smol::block_on(plan.run(&())).unwrap();
    assert_eq!(replied, "thread_abc123: Re: Q1 Report");
}

/// Tools of the exercise, whose `fetch_emails` has other arguments.
mod of_exercise {
    use super::{Deserialize, Result, Serialize, Shape, tool};

    #[derive(Serialize, Deserialize, Shape)]
    pub(crate) struct Contact {
        pub(super) email: String,
    }

    #[derive(Serialize, Deserialize, Shape)]
    pub(crate) struct Contacts {
        pub(super) data: Vec<Contact>,
    }

    #[derive(Serialize, Deserialize, Shape)]
    pub(crate) struct Nothing {}

    #[derive(Serialize, Deserialize, Shape)]
    pub(crate) struct From {
        pub(super) from: String,
    }

    #[derive(Serialize, Deserialize, Shape)]
    pub(crate) struct Body {
        pub(super) body: String,
    }

    #[derive(Serialize, Deserialize, Shape)]
    pub(crate) struct Bodies {
        pub(super) data: Vec<Body>,
    }

    #[derive(Serialize, Deserialize, Shape)]
    pub(crate) struct Text {
        pub(super) text: String,
    }

    #[derive(Serialize, Deserialize, Shape)]
    pub(crate) struct Summary {
        pub(super) summary: String,
    }

    #[derive(Serialize, Deserialize, Shape)]
    pub(crate) struct Note {
        pub(super) to: String,
        pub(super) body: String,
    }

    /// Finds contacts.
    #[tool]
    pub(crate) async fn fetch_contacts(input: Nothing) -> Result<Contacts> {
        let Nothing {} = input;
        let email = "ada@example.com".into();
        Ok(Contacts {
            data: vec![Contact { email }],
        })
    }

    /// Finds e-mails.
    #[tool]
    pub(crate) async fn fetch_emails(input: From) -> Result<Bodies> {
        let body = format!("{} is well.", input.from);
        Ok(Bodies {
            data: vec![Body { body }],
        })
    }

    /// Shortens a text.
    #[tool]
    pub(crate) async fn summarize(input: Text) -> Result<Summary> {
        Ok(Summary {
            summary: input.text,
        })
    }

    /// Sends an e-mail.
    #[tool]
    pub(crate) async fn send_email(input: Note) -> Result<String> {
        Ok(format!("{}: {}", input.to, input.body))
    }
}

plan! {
    /// The plan of the exercise.
    pub(crate) Exercise() -> String {
        step a = of_exercise::FetchContacts { input: of_exercise::Nothing {} };
        step b = of_exercise::FetchEmails { input: of_exercise::From { from: a.data[0].email } };
        step c = of_exercise::Summarize { input: of_exercise::Text { text: b.data[0].body } };
        step d = of_exercise::SendEmail { input: of_exercise::Note { to: a.data[0].email, body: c.summary } };
        d
    }
}

#[test]
fn the_plan_of_the_exercise_runs() {
    let sent = smol::block_on(Exercise {}.run(&())).unwrap();
    assert_eq!(sent, "ada@example.com: ada@example.com is well.");
}
