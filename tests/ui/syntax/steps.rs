#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Statements(filters: Filters) -> Inbox {
        step no_semicolon = Say { text: "a" }
        step inbox = FetchEmails { filters };
        #[after(inbox)]
        step no_semicolon_again = Say { text: "a" }
        /// With a comment.
        step next = Say { text: "a" };
        said = Say { text: "a" };
        typed: u64 = inbox.total;
        let taken = Say { text: "a" };
        let mut changed = Say { text: "a" };
        step = Say { text: "a" };
        step nothing;
        step no_value = ;
        step no_type = inbox.total + 1;
        step no_type_either: = inbox.total + 1;
        step wrong_type: 5 = inbox.total;
        step mut of_rust = Say { text: "a" };
        step two words = Say { text: "a" };
        step "text" = Say { text: "a" };
        step 5 = Say { text: "a" };
        step colon: Say { text: "a" };
        Say { text: "a" };
        step extra = Say { text: "a" } inbox;
        step comma = Say { text: "a" },
        step two_values = Say { text: "a" }, Say { text: "b" };
        stp misspelled = Say { text: "a" };
        inbox
    }
}

fn main() {
    drop(Statements { filters: Filters { sender: String::new(), limit: None } }.run(&Mail));
}
