#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plain(sender: String) -> Receipt {
        step inbox = FetchEmails { filters: Filters { sender: sendr, limit: None } };
        step sent = ReplyEmail {
            thread_id: inbx.data[0].thread_id,
            to: sender,
            body: totally_unknown,
            cc: None,
        };
        snt
    }
}

plan! {
    Inside(sender: String) -> String {
        step inbox = FetchEmails { filters: Filters { sender: format!("{}", sendr), limit: None } };
        step captured = Say { text: format!("{inbx}") };
        step logged = Log { entry: serde_json::json!({ "a": [inbx.total, null], "b": sendr }) };
        step literal = Log { entry: json!({ "a": [inbx.total, null], "b": sendr }) };
        step listed = Archive { ids: [inbx.data[0].id, sender] };
        step some = ReplyEmail { thread_id: sender, to: sender, body: sender, cc: Some(inbx.next_page) };
        step computed: u64 = inbx.total + inbox.total;
        step shown: String = format!("{inbx:?} {computed}");
        shown
    }
}

plan! {
    Shorthand(sender: String) -> Inbox {
        step inbox = FetchEmails { filters: Filters { sendr, limit: None } };
        inbox
    }
}

plan! {
    Several(filters: Filters) -> u64 {
        step total: u64 = inbox.total + inbx.total + missing.total;
        step inbox = FetchEmails { filters };
        total
    }
}

fn main() {
    let _ = Plain { sender: String::new() }.run(&Mail);
    let _ = Inside { sender: String::new() }.run(&Mail);
    let _ = Shorthand { sender: String::new() }.run(&Mail);
}
