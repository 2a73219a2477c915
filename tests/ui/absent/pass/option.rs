#![deny(warnings)]

#[path = "../../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan(filters: Filters) -> Option<String> {
        step inbox = FetchEmails { filters };
        step by_type = ReplyEmail { thread_id: "a", to: "b", body: "c", cc: inbox.next_page };
        step by_question_mark = ReplyEmail { thread_id: "a", to: "b", body: "c", cc: inbox.data[0].cc?.email };
        step by_get = ReplyEmail { thread_id: "a", to: "b", body: "c", cc: inbox.data.get(0)?.id };
        step always = ReplyEmail { thread_id: "a", to: "b", body: "c", cc: inbox.data[0].id };
        step some = ReplyEmail { thread_id: "a", to: "b", body: "c", cc: Some(inbox.data[0].id) };
        step fallback = Say { text: inbox.next_page.clone().unwrap_or_default() };
        step debug = Say { text: inbox.data[0].cc.as_ref().map_or("nobody".to_owned(), |cc| cc.email.clone()) };
        step json = Log { entry: json!({ "next": inbox.next_page, "cc": inbox.data[0].cc?.email }) };
        inbox.next_page
    }
}

fn main() {}
