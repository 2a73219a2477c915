#[path = "../tools.rs"]
mod tools;

use plan_runtime::{Call, Result, Shape, Tool, plan};
use serde::{Deserialize, Serialize};
use tools::*;

struct Calendar;

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u64)]
struct CountDays {
    year: u64,
}

impl Call<Calendar> for CountDays {
    async fn call(self, _: &Calendar) -> Result<u64> {
        Ok(365)
    }
}

plan! {
    One() -> Receipt {
        step days = CountDays { year: 2026 };
        step sent = Rate { id: "a", stars: 1, weight: 1.0, offset: 1, urgent: true };
        #[after(days)]
        step again = Rate { id: sent.id, stars: 1, weight: 1.0, offset: 1, urgent: true };
        again
    }
}

plan! {
    Two(filters: Filters) -> Inbox {
        step inbox = FetchEmails { filters };
        step said = Say { text: inbox.data[0].id };
        inbox
    }
}

plan! {
    Nested() -> String {
        step inner = One {};
        inner.id
    }
}

fn one() {
    let _ = One {}.run(&Mail);
}

fn two() {
    let _ = Two { filters: Filters { sender: String::new(), limit: None } }.run(&Calendar);
}

// Where rustc has said so of `CountDays`, it says it in the same function no more.
fn nested() {
    let _ = Nested {}.run(&Mail);
}

fn main() {}
