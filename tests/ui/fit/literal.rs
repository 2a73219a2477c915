#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan() -> Receipt {
        step text_for_number = Rate { id: "a", stars: "5", weight: 1.0, offset: 1, urgent: true };
        step number_for_text = Say { text: 5 };
        step out_of_range = Rate { id: "a", stars: 256, weight: 1.0, offset: 1, urgent: true };
        step negative = Rate { id: "a", stars: -1, weight: 1.0, offset: -1, urgent: true };
        step float_for_integer = Rate { id: "a", stars: 1.5, weight: 1.0, offset: 1, urgent: true };
        step integer_for_float = Rate { id: "a", stars: 1, weight: 1, offset: 1, urgent: true };
        step number_for_bool = Rate { id: "a", stars: 1, weight: 1.0, offset: 1, urgent: 1 };
        step suffix = Rate { id: "a", stars: 1_u64, weight: 1.0, offset: 1, urgent: true };
        step format_for_number = Rate { id: "a", stars: format!("{}", 1), weight: 1.0, offset: 1, urgent: true };
        step json_for_text = Say { text: json!({ "a": 1 }) };
        step text_for_list = Archive { ids: "a" };
        step list_for_text = Say { text: ["a"] };
        step elements = Archive { ids: ["a", 5] };
        step some_for_text = Say { text: Some("a") };
        step none_for_text = Say { text: None };
        step text_for_struct = FetchEmails { filters: "from sarah" };
        step nested = FetchEmails { filters: Filters { sender: 5, limit: Some("5") } };
        step other_struct = FetchEmails { filters: Receipt { id: "a" } };
        step tuple = Say { text: ("a", "b") };
        step char = Say { text: 'a' };
        step bytes = Say { text: b"a" };
        step two = Rate { id: 1, stars: "1", weight: 1.0, offset: 1, urgent: true };
        step _computed: u8 = "a";
        two
    }
}

fn main() {}
