#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Elements(filters: Filters) -> Inbox {
        step inbox = FetchEmails { filters };
        step _field = for email in inbox.data { Say { text: email.subjct } };
        step _field_of_let = if let Some(page) = &inbox.data[0].cc { Say { text: page.nmae } };
        step _type = for email in inbox.data { Say { text: email.size } };
        step _whole = for email in inbox.data { Say { text: email } };
        step _value = for (name, count) in inbox.labels { Say { text: count } };
        step _absent = for email in inbox.data { Say { text: email.cc?.name } };
        step _index = for email in inbox.data { Say { text: email[0] } };
        step _format = for email in inbox.data { Say { text: format!("{}", email.from) } };
        step _format_field = for email in inbox.data { Say { text: format!("{}", email.form) } };
        step _computed = for email in inbox.data { Say { text: email.size + 1 } };
        step _computed_field = for email in inbox.data { Say { text: email.subjct.clone() } };
        step _argument = for email in inbox.data { Say { txt: email.id } };
        step _missing = for email in inbox.data { ReplyEmail { thread_id: email.thread_id, to: email.id, cc: None } };
        step said = for email in inbox.data { Say { text: email.id } };
        step _results = Say { text: said };
        step _result = Say { text: said[0].id };
        step nested = for email in inbox.data { for name in email.cc.iter() { Say { text: name.nmae } } };
        step _used = Archive { ids: nested };
        inbox
    }
}

fn main() {}
