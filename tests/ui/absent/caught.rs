#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan(filters: Filters, ids: Vec<String>) -> u64 {
        #[catch]
        step inbox = FetchEmails { filters };
        step into = Log { entry: inbox.total };
        step whole = Archive { ids: inbox };
        step _computed: u64 = inbox.total + 1;
        #[catch(each)]
        step said = for text in ids { Say { text } };
        step element = Say { text: said[0].0 };
        step none = Say { text: element? };
        step condition = if inbox { Say { text: "a" } };
        step list = Archive { ids: said };
        inbox
    }
}

fn main() {}
