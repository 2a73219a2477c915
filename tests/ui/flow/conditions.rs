#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Several(filters: Filters, urgent: Option<bool>, wanted: bool, next: Option<String>) -> Inbox {
        step inbox = FetchEmails { filters };
        step _reference = if wanted && inbox.total { Say { text: "a" } };
        step _option = if wanted && urgent { Say { text: "a" } };
        step _literal = if wanted && "yes" { Say { text: "a" } };
        step _computed = if inbox.data.len() && wanted { Say { text: "a" } };
        step _pattern = if wanted && let Some(page) = inbox.total { Say { text: page } };
        step _bound = if let Some(page) = next && page { Say { text: page } };
        step _compared = if let Some(page) = next && page.len() > "a" { Say { text: page } };
        step _field = if let Some(mail) = inbox.data.first() && mail.subjct == "a" { Say { text: mail.id } };
        step _later = if page.len() > 3 && let Some(page) = next { Say { text: page } };
        step _unknown = if wanted && let Some(page) = nextt && page.len() > 3 { Say { text: page } };
        step _outside = if let Some(page) = next && wanted { Say { text: page } } else { Say { text: page } };
        step _or = if wanted || let Some(page) = next && page.len() > 3 { Say { text: page } };
        step _in_parentheses = if wanted && (let Some(page) = next) { Say { text: page } };
        step _broken = if wanted && let Some(page) { Say { text: "a" } };
        step _nothing = if wanted && { Say { text: "a" } };
        inbox
    }
}

fn main() {}
