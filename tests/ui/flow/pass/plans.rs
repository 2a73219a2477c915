#[path = "../../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    #[allow(clippy::all)]
    Every(filters: Filters, wanted: bool, note: Option<String>) -> Vec<Option<String>> {
        /// Find them.
        #[retry(3, backoff = "200ms", max = "10s", jitter = false)]
        #[timeout("10s")]
        #[deadline("1m 30s")]
        step inbox = FetchEmails { filters };
        step skipped = if wanted { Say { text: "a" } };
        step chosen = if let Some(page) = &inbox.next_page && wanted {
            Say { text: format!("{page}") }
        } else if inbox.total > 3 {
            Say { text: note.clone().unwrap_or_default() }
        } else {
            Say { text: chosen_before }
        };
        #[fallback(format!("{} e-mails", inbox.total))]
        step chosen_before = Say { text: "b" };
        #[concurrency(2)]
        #[optional(each)]
        step each = for email in inbox.data { Say { text: email.subject } };
        step labeled = for (label, count) in inbox.labels { Log { entry: json!({"label": label, "count": count}) } };
        #[optional]
        #[after(labeled)]
        step cc = ReplyEmail { thread_id: inbox.data[0].thread_id, to: chosen, body: "c", cc: skipped? };
        step some = for (index, email) in inbox.data.iter().enumerate().skip(1) {
            if email.size > 3 { Rate { id: email.id, stars: index as u8, weight: 1.5, offset: 0, urgent: wanted } }
        };
        step _last: usize = some.len() + cc.as_ref().map_or(0, |receipt| receipt.id.len());
        each
    }
}

fn main() {}
