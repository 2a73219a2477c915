#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Attributes(filters: Filters, wanted: bool) -> Inbox {
        step inbox = FetchEmails { filters };
        #[timeout]
        step _timeout = Say { text: "a" };
        #[timeout(10)]
        step _number = Say { text: "a" };
        #[timeout("10")]
        step _no_unit = Say { text: "a" };
        #[timeout("10 parsecs")]
        step _unit = Say { text: "a" };
        #[deadline("")]
        step _no_text = Say { text: "a" };
        #[deadline = "1m"]
        step _equals = Say { text: "a" };
        #[timeout("1s")]
        #[timeout("2s")]
        step _twice = Say { text: "a" };
        #[timeout("1s", "2s")]
        step _two = Say { text: "a" };
        #[timeout("1s")]
        step _computed: u64 = inbox.total + 1;
        #[concurrency(2)]
        step _no_loop = Say { text: "a" };
        #[concurrency(2)]
        step _if = if wanted { Say { text: "a" } };
        #[concurrency]
        step _how_many = for x in inbox.data { Say { text: x.id } };
        #[concurrency(0)]
        step _none = for x in inbox.data { Say { text: x.id } };
        #[concurrency(all)]
        step _all = for x in inbox.data { Say { text: x.id } };
        #[optional(each)]
        step _each = Say { text: "a" };
        #[optional(always)]
        step _how = Say { text: "a" };
        #[optional()]
        step _empty = Say { text: "a" };
        #[optional]
        #[optional(each)]
        step _both = for x in inbox.data { Say { text: x.id } };
        #[optoinal]
        step _typo = Say { text: "a" };
        #[repeat(3)]
        step _unknown = Say { text: "a" };
        #[allow(unused)]
        step _rusts = Say { text: "a" };
        inbox
    }
}

fn main() {}
