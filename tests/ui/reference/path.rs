#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Fields(filters: Filters) -> String {
        step inbox = FetchEmails { filters };
        step plain = Say { text: inbox.data[0].subjekt };
        step formatted = Say { text: format!("{} {}", inbox.data[0].subject, inbox.totl) };
        step in_json = Log { entry: json!({ "a": [inbox.data[0].from.mail] }) };
        step nested = FetchEmails { filters: Filters { sender: inbox.data[0].form.email, limit: None } };
        step _computed: u64 = inbox.total + inbox.totle;
        step through_text = Say { text: inbox.data[0].subject.lines };
        inbox.data[0].subjekt
    }
}

plan! {
    Indexes(filters: Filters) -> u64 {
        step inbox = FetchEmails { filters };
        step index_of_struct = Say { text: inbox.data[0].from[0] };
        step index_of_number = Say { text: inbox.total[0] };
        step key_of_list = Say { text: inbox.data["0"].id };
        step index_of_map = FetchEmails { filters: Filters { sender: "a", limit: inbox.labels[0] } };
        step every_of_struct = Archive { ids: inbox.data[0].from[..].email };
        step every_of_text = Archive { ids: inbox.data[0].subject[..] };
        step member_of_struct = Say { text: inbox.0 };
        step asked = Say { text: inbox.total?.id };
        step asked_twice = ReplyEmail { thread_id: "a", to: "b", body: "c", cc: inbox.next_page?? };
        inbox.total
    }
}

plan! {
    Two(filters: Filters) -> String {
        step inbox = FetchEmails { filters };
        step said = Say { text: inbox.data[0].subjekt.lines.lines };
        step replied = ReplyEmail { thread_id: inbox.date[0].id, to: inbox.data[0].form.email, body: "x", cc: None };
        said
    }
}

fn main() {}
