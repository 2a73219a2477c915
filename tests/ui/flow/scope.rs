#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Scopes(filters: Filters) -> String {
        step inbox = FetchEmails { filters };
        step _inside = for email in inbox.data { Say { text: email.id } };
        step _behind_loop = Say { text: email.id };
        step _of_let = if let Some(page) = &inbox.next_page { Say { text: page } } else { Say { text: page } };
        #[fallback(email.id.clone())]
        step _in_fallback = for email in inbox.data { Say { text: email.id } };
        #[after(email)]
        step _in_after = for email in inbox.data { Say { text: email.id } };
        page
    }
}

fn main() {}
