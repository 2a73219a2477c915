//! Policies, fallbacks and order.

plan! {
    Careful(name: String, ids: Vec<String>) -> (u64, Vec<Option<String>>, String) {
        #[retry(3)]
        step first = Wait { millis: 10 };
        #[retry(5, backoff = "200ms", max = "10s", jitter = false)]
        #[timeout("10s")]
        #[deadline("1m 30s")]
        step second = Count { text: name, from: first };
        #[optional]
        step maybe = Archive { ids };
        #[after(second)]
        #[optional(each)]
        #[concurrency(2)]
        #[retry(2, backoff = "2s")]
        step all = for id in ids { Say { text: id } };
        #[fallback(format!("nobody, but {name}"))]
        step held = if second > 3 { Say { text: name } } else { Say { text: "few" } };
        #[fallback(Inbox { data: [], next_page: Some(held), total: first, labels: BTreeMap::new(), raw: json!(null) })]
        step inbox = FetchEmails { filters: Filters { sender: held, limit: Some(3) } };
        step sum: u64 = maybe.unwrap_or(second);
        #[fallback(0)]
        #[timeout("5s")]
        step last = Archive { ids: inbox.data[..].id };
        (last + sum, all, held)
    }
}
