//! Conditions and loops.

plan! {
    pub(crate) Triage(sender: String, busy: bool, limit: u64, maybe: Option<Person>) -> Vec<String> {
        step inbox = FetchEmails { filters: Filters { sender, limit: None } };
        step note = if busy && inbox.total > limit {
            Say { text: "too many" }
        } else if let Some(person) = &inbox.data[0].cc && person.name != "Tom" {
            Say { text: format!("{} knows", person.name) }
        } else if !busy {
            Say { text: "just one" }
        } else {
            Say { text: sender }
        };
        step copy = if let Some(person) = maybe { Say { text: person.email } };
        #[concurrency(4)]
        step sent = for email in inbox.data {
            ReplyEmail { thread_id: email.thread_id, to: email.from.email, body: note, cc: copy }
        };
        step labels = for (name, count) in inbox.labels { Count { text: name, from: u64::from(count) } };
        step copies = for email in inbox.data.iter().take(3) {
            if let Some(Person { name, email: to }) = &email.cc { Say { text: format!("{name} {to}") } } else { Say { text: "no" } }
        };
        step sums = for (at, count) in labels.iter().enumerate() { Wait { millis: count + at as u64 } };
        step total: u64 = sums.iter().sum();
        step counted = Wait { millis: total };
        step told = Say { text: format!("{counted}") };
        [sent[0].id, copies[1], told]
    }
}
