#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Awaited(filters: Filters, wanted: bool) -> Inbox {
        step inbox = FetchEmails { filters }.await?;
        step said = Say { text: inbox.data[0].subjekt }.await;
        step asked = tools::Say { text: said }?;
        step branch = if wanted { Say { text: asked }.await? };
        step function = say(asked).await?;
        step value = Some(wanted)?;
        return inbox;
    }
}

fn main() {}
