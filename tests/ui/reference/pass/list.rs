#[path = "../../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan(filters: Filters, emails: Vec<Email>) -> Vec<String> {
        step inbox = FetchEmails { filters };
        step argument = Say { text: inbox.data[0].subject };
        step deep = Say { text: inbox.data[0].from.name };
        step text = Say { text: format!("{}", emails[0].subject) };
        step nested = FetchEmails { filters: Filters { sender: emails[0].from.name, limit: None } };
        step in_json = Log { entry: json!([emails[..].subject]) };
        step list = Archive { ids: emails[..].id };
        emails[..].subject
    }
}

fn main() {}
