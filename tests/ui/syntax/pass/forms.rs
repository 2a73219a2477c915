#![deny(warnings)]

#[path = "../../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    /// A plan with all that a step can have.
    #[derive(Clone, Debug)]
    pub(crate) Plan(
        /// What to say.
        text: String,
        limit: Option<u32>,
    ) -> Receipt {
        /// The first step.
        step said = Say { text, };
        #[after(said,)]
        /// The second one.
        step inbox = FetchEmails { filters: Filters { sender: said, limit } };
        step position: Option<usize> = inbox.data.iter().position(|email| email.size > 3);
        step parsed: u64 = { let said = said.len(); said as u64 };
        step asked: Option<u64> = (|| { let id: u64 = inbox.data.first()?.id.parse().ok()?; Some(id) })();
        step logged = Log {
            entry: json!({ "a": [position, { "b": null }], "c": asked, "d": [parsed, -1, "e"], }),
        };
        #[after(logged)]
        step sent = ReplyEmail { thread_id: "a", to: "b", body: format!("{said:>5} {0}", parsed), .. };
        sent
    }
}

fn main() {
    let plan = Plan { text: String::new(), limit: None };
    let _ = plan.clone().run(&Mail);
    println!("{plan:?}");
}
