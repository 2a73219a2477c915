//! References, literals and texts.

plan! {
    /// Answers the first e-mail of a sender.
    pub Answer(filters: Filters, person: Person, pair: (String, u32)) -> (String, Vec<String>) {
        step inbox = FetchEmails { filters };
        /// Says who wrote.
        step said = Say { text: format!("{} wrote {:>3} e-mails to {name}", person.name, inbox.total, name = pair.0) };
        step answer = ReplyEmail {
            thread_id: inbox.data[0].thread_id,
            to: person.email,
            body: format!("{said}: I am on it."),
            cc: inbox.data.get(0)?.cc?.email,
        };
        step other = FetchEmails { filters: Filters { sender: "Sam", limit: Some(pair.1) } };
        step liked = Prefer { taste: Taste { size: inbox.labels["work"], name: None } };
        step mode = SetMode { mode: Mode::Fast };
        step logged = Log { entry: json!({ "id": answer.id, "sizes": [liked.size, 5, -1.5], "on": true }) };
        #[after(logged, mode)]
        step archived = Archive { ids: [other.data[1].id, "a"] };
        (format!("{archived} done"), inbox.data[..].from.email)
    }
}
