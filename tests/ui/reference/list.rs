#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan(filters: Filters, emails: Vec<Email>) -> Vec<String> {
        step inbox = FetchEmails { filters };
        step argument = Say { text: inbox.data.subject };
        step deep = Say { text: inbox.data.from.name };
        step text = Say { text: format!("{}", emails.subject) };
        step nested = FetchEmails { filters: Filters { sender: emails.from.name, limit: None } };
        step in_json = Log { entry: json!([emails.subject]) };
        step list = Archive { ids: [emails.id] };
        emails.subject
    }
}

fn main() {}
