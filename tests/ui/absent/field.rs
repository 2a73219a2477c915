#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan(filters: Filters) -> String {
        step inbox = FetchEmails { filters };
        step field = Say { text: inbox.data[0].cc.email };
        step of_get = Say { text: inbox.data.get(0).id };
        step optional = ReplyEmail { thread_id: "a", to: "b", body: "c", cc: inbox.data[0].cc.email };
        step formatted = Say { text: format!("{}", inbox.data[0].cc.email) };
        step in_json = Log { entry: json!([inbox.data[0].cc.email]) };
        step every = Archive { ids: inbox.data[..].cc.email };
        step indexed = Say { text: inbox.next_page[0] };
        step each = Say { text: inbox.next_page[..] };
        step _computed: usize = inbox.data[0].cc.email.len();
        inbox.data[0].cc.email
    }
}

fn main() {}
