#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Fallbacks(filters: Filters, note: Option<String>) -> Inbox {
        step inbox = FetchEmails { filters };
        #[fallback]
        step _nothing = Say { text: "a" };
        #[fallback()]
        step _empty = Say { text: "a" };
        #[fallback(3)]
        step _number = Say { text: "a" };
        #[fallback(inbox.total)]
        step _reference = Say { text: "a" };
        #[fallback(inbox.totl)]
        step _field = Say { text: "a" };
        #[fallback(inbx.total)]
        step _name = Say { text: "a" };
        #[fallback(note)]
        step _absent = Say { text: "a" };
        #[fallback(inbox.data.len())]
        step _computed = Say { text: "a" };
        #[fallback("none")]
        step _element = for x in inbox.data { Say { text: x.id } };
        #[fallback(None)]
        step _none = Say { text: "a" };
        #[fallback("a", "b")]
        step _two = Say { text: "a" };
        #[optional]
        #[fallback("none")]
        step _both = Say { text: "a" };
        #[fallback("none")]
        #[fallback("nothing")]
        step _twice = Say { text: "a" };
        #[fallback(Say { text: "b" })]
        step _tool = Say { text: "a" };
        inbox
    }
}

fn main() {}
