#![deny(warnings)]

#[path = "../../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

const LIMIT: u32 = 3;

fn shout(text: &str) -> String {
    text.to_uppercase()
}

plan! {
    Plan(sender: String, r#type: String) -> String {
        step inbox = FetchEmails { filters: Filters { sender, limit: Some(LIMIT) } };
        step r#match = Say { text: r#type };
        step shouted: String = shout(&r#match);
        step mapped: String = inbox.next_page.as_deref().map_or_else(String::new, self::shout);
        step step = Say { text: format!("{shouted} {mapped} {type}", type = r#type) };
        step
    }
}

fn main() {
    let local = String::from("sarah");
    let _ = Plan { sender: local.clone(), r#type: local }.run(&Mail);
}
