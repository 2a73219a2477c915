#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Absent(filters: Filters, wanted: bool) -> String {
        step inbox = FetchEmails { filters };
        step skipped = if wanted { Say { text: "a" } };
        #[optional]
        step may_fail = Say { text: "a" };
        #[optional]
        step may_fail_whole = for email in inbox.data { Say { text: email.id } };
        #[optional(each)]
        step may_fail_each = for email in inbox.data { Say { text: email.id } };
        #[optional]
        step found = FetchEmails { filters };
        #[optional]
        step yes: bool = inbox.total > 3;
        step each_skipped = for email in inbox.data { if email.size > 3 { Say { text: email.id } } };
        step _skipped = Say { text: skipped };
        step _optional = Say { text: may_fail };
        step _in_format = Say { text: format!("{}", may_fail) };
        step _in_format_skipped = Say { text: format!("{} {}", inbox.total, skipped) };
        step _in_for = for x in may_fail_whole { Say { text: x } };
        step _in_for_field = for x in found.data { Say { text: x.id } };
        step _in_for_absent = for x in found?.data { Say { text: x.id } };
        step _in_if = if yes { Say { text: "b" } };
        step _field = Log { entry: found.total };
        step _whole_list = Archive { ids: may_fail_whole };
        step _each_list = Archive { ids: may_fail_each };
        step _each_skipped = Archive { ids: each_skipped };
        step _each_element = for x in may_fail_each { Say { text: x } };
        skipped
    }
}

fn main() {}
