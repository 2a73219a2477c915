#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    OtherType(filters: Filters) -> Receipt {
        step inbox = FetchEmails { filters };
        inbox
    }
}

plan! {
    OtherField(filters: Filters) -> String {
        step inbox = FetchEmails { filters };
        inbox.total
    }
}

plan! {
    Missing(filters: Filters) -> Inbox {
        step inbox = FetchEmails { filters };
    }
}

plan! {
    Empty() -> String {}
}

plan! {
    Undeclared(filters: Filters) {
        step inbox = FetchEmails { filters };
        inbox
    }
}

plan! {
    Semicolon(filters: Filters) -> Inbox {
        step inbox = FetchEmails { filters };
        inbox;
    }
}

plan! {
    Twice(filters: Filters) -> Inbox {
        step inbox = FetchEmails { filters };
        inbox inbox
    }
}

plan! {
    TooEarly(filters: Filters) -> Inbox {
        inbox
        step inbox = FetchEmails { filters };
    }
}

plan! {
    Literal() -> Receipt {
        Receipt { id: 5 }
    }
}

plan! {
    Text() -> u64 {
        "five"
    }
}

plan! {
    Formatted(filters: Filters) -> u64 {
        step inbox = FetchEmails { filters };
        format!("{}", inbox.total)
    }
}

plan! {
    Computed(filters: Filters) -> String {
        step inbox = FetchEmails { filters };
        inbox.total + 1
    }
}

fn main() {
    let _: u64 = 5;
    drop(OtherType { filters: Filters { sender: String::new(), limit: None } }.run(&Mail));
    drop(Missing { filters: Filters { sender: String::new(), limit: None } }.run(&Mail));
}
