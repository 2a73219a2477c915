//! Computed values.

plan! {
    pub Compute(filters: Filters, words: Vec<String>, limit: u64) -> String {
        step inbox = FetchEmails { filters };
        step left: u64 = limit.saturating_sub(inbox.total) + 1;
        step longest: Option<String> = words.iter().max_by_key(|word| word.len()).cloned();
        step names: Vec<String> = inbox.data.iter().filter(|email| email.size > 100).map(|email| email.from.name.clone()).collect();
        step size: u32 = match inbox.data.first() {
            Some(email) if email.size > 10 => email.size,
            Some(_) => 10,
            None => 0,
        };
        step text: String = {
            let mut text = words.join(", ");
            for name in &names {
                text.push_str(name);
            }
            text
        };
        step folder: Option<String> = inbox.raw.pointer("/folders/0/name").and_then(|it| it.as_str()).map(Into::into);
        step sum: u32 = if left > 3 { size * 2 } else { inbox.labels.values().sum() };
        step said = Say { text: text.to_uppercase() };
        step waited = Wait { millis: u64::from(sum).max(left) };
        step counted = Count { text: longest.clone().unwrap_or_else(|| said.clone()), from: waited };
        format!("{said}, {counted:>4}, {}", folder.as_deref().unwrap_or("none"))
    }
}
