//! A step whose tool could not be read is reported once, even if it is referred to several times.

#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Untyped(n: u32) -> Inbox {
        step lost = fetch_emails { filters: n };
        step shown: String = format!("{}", lost.data.len());
        step said = Say { text: lost.data[0].id };
        #[after(lost)]
        step each = for x in lost.data { Say { text: format!("{} {shown} {said}", x.id) } };
        #[after(each)]
        step other = if lost.ready { Say { text: "yes" } };
        #[after(other)]
        step last = FetchEmails { filters: lost.filters };
        lost
    }
}

fn main() {
    let _ = Untyped { n: 1 };
}
