#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Steps(filters: Filters) -> Inbox {
        step inbox = FetchEmails { filters };
        step inbox = Say { text: "again" };
        inbox
    }
}

plan! {
    Inputs(text: String, text: String) -> String {
        step said = Say { text };
        said
    }
}

plan! {
    Both(text: String) -> String {
        step text = Say { text };
        text
    }
}

plan! {
    Names(Text: String) -> String {
        step Said = Say { text: "a" };
        step _ = Say { text: "b" };
        step self = Say { text: "c" };
        "x"
    }
}

fn main() {
    let _ = Inputs { text: String::new() }.run(&Mail);
    let _ = Both { text: String::new() }.run(&Mail);
}
