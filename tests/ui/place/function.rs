#[path = "../tools.rs"]
mod tools;

use tools::*;

mod renamed {
    pub use plan_runtime as plans;
}

fn generic<T>(_: T) {
    plan_runtime::plan! {
        Inside(text: String) -> String {
            step said = Say { text: txt };
            step rated = Rate { id: said.id, stars: "a", weight: 1.0, offset: 1, urgent: true };
            rated
        }
    }
    drop(Inside { text: String::new() }.run(&Mail));
}

fn unnamed() {
    let plan = plan_runtime::plan! {
        step a = Say { text: b };
        step b = Say { text: a };
        step inbox = FetchEmails { filters: Filters { sender: a, limit: "b" } };
        step wrong = Say { text: inbox.total };
        step dot = Say { text: inbox. };
        step computed: u64 = inbox.totl;
        inbox.data[0].subjekt
    };
    drop(plan.run(&Mail));
}

fn unknown_output() {
    let plan = plan_runtime::plan! {
        step said = Say { text: "a" };
        sad
    };
    drop(plan.run(&Mail));
    let plan = plan_runtime::plan! {
        step inbox = FetchEmails { filters: Filters { sender: "a", limit: None } };
        inbox.
    };
    drop(plan.run(&Mail));
}

renamed::plans::plan! {
    #![plan(crate = crate::renamed::plans)]
    Renamed(text: String) -> u64 {
        step said = Say { text: text.id };
        step number = Say { text: 5 };
        step none = Say {};
        number
    }
}

fn main() {
    generic(1);
    unnamed();
    unknown_output();
}
