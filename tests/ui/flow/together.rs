#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Together(filters: Filters, wanted: bool) -> Inbox {
        step inbox = FetchEmails { filters };
        #[retry(0)]
        step two = for email in inbx.data { Say { text: email.subjct } };
        step branches = if inbox.total { Say { text: inbox.next_pge } } else { Say { txt: "b" } };
        #[optional]
        step skipped = if wantd { Say { text: 3 } };
        step list = for email in inbox.total { Say { text: email.subjct } };
        step user = Say { text: skipped };
        step other = Archive { ids: [user, list[0], two[0], branches, unknown_one] };
        inbox
    }
}

fn main() {}
