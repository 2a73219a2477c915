#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan(filters: Filters, count: u32) -> Receipt {
        step inbox = FetchEmails { filters };
        step number_for_text = Say { text: inbox.total };
        step input_for_text = Say { text: count };
        step struct_for_text = Say { text: inbox.data[0].from };
        step text_for_number = Rate { id: "a", stars: inbox.data[0].id, weight: 1.0, offset: 1, urgent: true };
        step wide_for_narrow = Rate { id: "a", stars: inbox.total, weight: inbox.total, offset: count, urgent: inbox.total };
        step one_for_list = Archive { ids: inbox.data[0].id };
        step list_for_one = Say { text: inbox.data[..].id };
        step list_of_other = Archive { ids: inbox.data[..].size };
        step nested = FetchEmails { filters: Filters { sender: inbox.total, limit: Some(inbox.total) } };
        step element = Archive { ids: [inbox.data[0].id, inbox.total] };
        step struct_for_struct = FetchEmails { filters: inbox };
        step _computed: String = inbox.total + 1;
        step _copied: String = inbox.total;
        step json_for_text = Say { text: inbox.raw["a"] };
        step rated = Rate { id: inbox.data[0].size, stars: 1, weight: 1.0, offset: 1, urgent: true };
        rated
    }
}

fn main() {}
