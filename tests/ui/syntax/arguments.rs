#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Arguments(filters: Filters) -> Inbox {
        step inbox = FetchEmails { filters };
        step dot = Say { text: inbox. };
        step dot_before_comma = ReplyEmail { thread_id: inbox.data[0]., to: inbox., body: "a", cc: None };
        step dot_inside = Say { text: inbox.data.[0].id };
        step no_value = Say { text: };
        step no_value_before_comma = ReplyEmail { thread_id: , to: "a", body: "b", cc: None };
        step no_comma = ReplyEmail { thread_id: "a" to: "b", body: "c", cc: None };
        step no_comma_after_reference = ReplyEmail { thread_id: inbox.data[0].id to: "b", body: "c", cc: None };
        step equals = Say { text = "a" };
        step arrow = Say { text => "a" };
        step no_colon = Say { text "a" };
        step two_commas = Say { text: "a",, };
        step first_comma = Say { , text: "a" };
        step rest_and_more = ReplyEmail { .., thread_id: "a" };
        step rest_of_other = ReplyEmail { thread_id: "a", to: "b", body: "c", ..inbox };
        step text_as_name = Say { "text": "a" };
        step number_as_name = Say { 0: "a" };
        step attribute = Say { #[after(inbox)] text: "a" };
        step empty_index = Say { text: inbox.data[].id };
        step operator = Rate { id: "a", stars: 1 +, weight: 1.0, offset: 1, urgent: true };
        step keyword = Say { text: let };
        inbox
    }
}

plan! {
    Inside(filters: Filters) -> Inbox {
        step inbox = FetchEmails { filters };
        step nested = FetchEmails { filters: Filters { sender: inbox., limit: } };
        step listed = Archive { ids: [inbox.data[0]., "a" "b"] };
        step formatted = Say { text: format!("{}", inbox.) };
        step in_json = Log { entry: json!({ "a": inbox., "b": [inbox.total inbox.total] }) };
        step some = ReplyEmail { thread_id: "a", to: "b", body: "c", cc: Some(inbox.) };
        step two_in_some = ReplyEmail { thread_id: "a", to: "b", body: "c", cc: Some("a", "b") };
        inbox
    }
}

fn main() {
    drop(Arguments { filters: Filters { sender: String::new(), limit: None } }.run(&Mail));
}
