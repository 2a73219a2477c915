#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

fn helper() -> String {
    String::new()
}

fn main() {
    let sender = String::from("sarah");
    let limit = 3;

    plan! {
        Named(body: String) -> Inbox {
            step inbox = FetchEmails { filters: Filters { sender, limit: Some(limit) } };
            step text: String = format!("{body} {sender}").to_uppercase();
            step function: String = Some(text).map_or_else(helper, |text| text.clone());
            step said = Say { text: function };
            inbox
        }
    }

    let unnamed = plan! {
        step inbox = FetchEmails { filters: Filters { sender: sender, limit: None } };
        inbox.total
    };
    let _ = unnamed.run(&Mail);
    let _ = Named { body: sender }.run(&Mail);
}
