#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan(filters: Filters, note: Option<String>) -> String {
        step inbox = FetchEmails { filters };
        step by_type = Say { text: inbox.next_page };
        step of_input = Say { text: note };
        step by_question_mark = Say { text: inbox.data[0].cc?.email };
        step by_get = Say { text: inbox.data.get(0)?.id };
        step of_get = Say { text: inbox.data.get(0) };
        step formatted = Say { text: format!("{} {}", inbox.total, inbox.next_page) };
        step in_list = Archive { ids: [inbox.next_page] };
        step in_some = ReplyEmail { thread_id: "a", to: "b", body: "c", cc: Some(inbox.next_page) };
        step in_literal = FetchEmails { filters: Filters { sender: inbox.next_page, limit: None } };
        step every = Archive { ids: inbox.data[..].cc?.email };
        step _computed: String = inbox.next_page;
        step other_type = ReplyEmail { thread_id: "a", to: "b", body: "c", cc: inbox.data.get(0)?.size };
        inbox.next_page
    }
}

fn main() {}
