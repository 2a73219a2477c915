//! What rustc finds only where there is no other error.

#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan(text: String) -> Receipt {
        step too_big = Rate { id: text, stars: 256, weight: 1.0, offset: 1, urgent: true };
        step too_small = Rate { id: too_big.id, stars: 1, weight: 1.0, offset: -2147483649, urgent: true };
        step in_option = FetchEmails { filters: Filters { sender: too_small.id, limit: Some(4294967296) } };
        step fits = Rate { id: format!("{}", in_option.total), stars: 255, weight: -1.0, offset: -2147483648, urgent: true };
        fits
    }
}

fn main() {}
