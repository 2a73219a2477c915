#[path = "../../tools.rs"]
mod tools;

use plan_runtime::{Failure, plan};
use tools::*;

plan! {
    Plan(filters: Filters, ids: Vec<String>) -> Result<Inbox, Failure> {
        #[catch]
        step inbox = FetchEmails { filters };
        step into = Log { entry: inbox?.total };
        step whole = Archive { ids: inbox?.data[..].id };
        step _computed: Option<u64> = inbox.as_ref().ok().map(|inbox| inbox.total + 1);
        #[catch(each)]
        step said = for text in ids { Say { text } };
        step element = Say { text: said[0]? };
        #[catch]
        step again = Say { text: element };
        step condition = if inbox.is_ok() { Say { text: "a" } };
        step list = Archive { ids: said[..]? };
        step why = Log { entry: again.err()?.message };
        inbox
    }
}

fn main() {
    let _ = Plan::PLAN;
}
