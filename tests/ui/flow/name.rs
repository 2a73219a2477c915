#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Names(filters: Filters) -> Inbox {
        step inbox = FetchEmails { filters };
        step _condition = if inboxx.total > 3 { Say { text: "a" } };
        step _nothing_like_it = if ready { Say { text: "a" } };
        step _in_branch = if inbox.total > 3 { Say { text: subjct } };
        step _let = if let Some(page) = &inbx.next_page { Say { text: page } };
        step _bound = if let Some(page) = &inbox.next_page { Say { text: pge } };
        step _list = for email in inbx.data { Say { text: email.id } };
        step _list_computed = for email in inbx.data.iter().take(2) { Say { text: email.id } };
        step _element = for email in inbox.data { Say { text: emial.id } };
        step _in_format = for email in inbox.data { Say { text: format!("{}", emial.id) } };
        step _in_computed = for email in inbox.data { Say { text: emial.id.clone() } };
        inbox
    }
}

fn main() {}
