#![deny(warnings)]

#[path = "../../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan(filters: Filters, ids: Vec<String>, stars: u8) -> Receipt {
        step inbox = FetchEmails { filters };
        step literals = Rate { id: "a", stars: 5, weight: -1.5, offset: -3, urgent: false };
        step suffixes = Rate { id: "a", stars: 5_u8, weight: 1_f64, offset: 0x10, urgent: true };
        step of_step = Say { text: inbox.data[0].id };
        step of_input = Rate { id: of_step, stars, weight: 1.0, offset: 1, urgent: inbox.total > 3 };
        step list = Archive { ids };
        step elements = Archive { ids: ["a", of_step, format!("{}", inbox.total)] };
        step none = Archive { ids: [] };
        step nested = FetchEmails { filters: Filters { sender: of_step, limit: Some(5) } };
        step lone = FetchEmails { filters: Filters { sender: "a", limit: inbox.data[0].size } };
        step json = Log { entry: json!({ "a": [list, elements, none, null, -1, true], "b": { "c": nested } }) };
        step any = Log { entry: lone };
        #[after(json, any, literals, suffixes)]
        step last = Rate { id: "a", stars: 1, weight: 1.0, offset: 1, urgent: true };
        Receipt { id: format!("{} {}", of_input.id, last.id) }
    }
}

fn main() {
    let _ = Plan { filters: Filters { sender: String::new(), limit: None }, ids: Vec::new(), stars: 1 }.run(&Mail);
}
