#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Retries(filters: Filters) -> Inbox {
        step inbox = FetchEmails { filters };
        #[retry]
        step _nothing = Say { text: "a" };
        #[retry()]
        step _empty = Say { text: "a" };
        #[retry(0)]
        step _zero = Say { text: "a" };
        #[retry(-1)]
        step _negative = Say { text: "a" };
        #[retry(99999999999)]
        step _many = Say { text: "a" };
        #[retry(attempts = 3)]
        step _named = Say { text: "a" };
        #[retry("3")]
        step _text = Say { text: "a" };
        #[retry = 3]
        step _equals = Say { text: "a" };
        #[retry(3, backof = "1s")]
        step _typo = Say { text: "a" };
        #[retry(3, tries = 4)]
        step _unknown = Say { text: "a" };
        #[retry(3, backoff = "1s", backoff = "2s")]
        step _option_twice = Say { text: "a" };
        #[retry(backoff = "1s")]
        step _no_attempts = Say { text: "a" };
        #[retry(3, backoff = "soon")]
        step _duration = Say { text: "a" };
        #[retry(3, backoff = 200)]
        step _number = Say { text: "a" };
        #[retry(3, jitter = "no")]
        step _jitter = Say { text: "a" };
        #[retry(3 backoff = "1s")]
        step _comma = Say { text: "a" };
        #[retry(3)]
        step _computed: u64 = inbox.total + 1;
        inbox
    }
}

fn main() {}
