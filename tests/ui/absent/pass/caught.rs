#[path = "../../tools.rs"]
mod tools;

use plan_runtime::{Failure, plan, tool};
use serde::{Deserialize, Serialize};
use tools::*;

plan! {
    Plan(filters: Filters, ids: Vec<String>) -> Result<Inbox, Failure> {
        #[catch]
        step inbox = FetchEmails { filters };
        step into = Log { entry: inbox?.total };
        step whole = Archive { ids: inbox?.data[..].id };
        step _computed: Option<u64> = inbox.as_ref().ok().map(|inbox| inbox.total + 1);
        #[catch(each)]
        step said = for text in ids { Say { text } };
        step element = Say { text: said[0]? };
        #[catch]
        step again = Say { text: element };
        step condition = if inbox.is_ok() { Say { text: "a" } };
        step list = Archive { ids: said[..]? };
        step why = Log { entry: again.err()?.message };
        inbox
    }
}

/// A type without `Clone`.
#[derive(Serialize, Deserialize)]
struct Answer {
    text: String,
}

/// A type with `Clone`.
#[derive(Clone, Serialize, Deserialize)]
struct Copied {
    text: String,
}

macro_rules! borrow {
    ($($name:ident),*) => {$(
        impl $name {
            fn ok(&self) -> bool {
                self.text.is_empty()
            }

            fn err(&self) -> Option<&str> {
                Some(&self.text)
            }

            fn inspect(&self) -> &str {
                &self.text
            }

            fn unzip(&self) -> (&str, usize) {
                (&self.text, self.text.len())
            }
        }
    )*};
}

borrow!(Answer, Copied);

#[tool]
async fn ask(text: String) -> plan_runtime::Result<Answer> {
    Ok(Answer { text })
}

#[tool]
async fn copy(text: String) -> plan_runtime::Result<Copied> {
    Ok(Copied { text })
}

plan! {
    Methods(text: String) {
        step answer = Ask { text };
        step _ok: bool = !answer.ok();
        step _err: String = { let it = answer.err(); it.unwrap_or_default().to_owned() };
        step _inspect: usize = { let it = answer.inspect(); it.len() };
        step _unzip: usize = { let (text, size) = answer.unzip(); text.len() + size };
        step copied = Copy { text };
        step _ok_of_copied: bool = !copied.ok();
        step _err_of_copied: String = { let it = copied.err(); it.unwrap_or_default().to_owned() };
        step _inspect_copied: usize = { let it = copied.inspect(); it.len() };
        step _unzip_copied: usize = { let (text, size) = copied.unzip(); text.len() + size };
    }
}

fn main() {
    let _ = (Plan::PLAN, Methods::PLAN);
}
