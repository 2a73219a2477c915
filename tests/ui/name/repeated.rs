#[path = "../tools.rs"]
mod tools;

use plan_runtime::{Result, Shape, Tool, plan, tool};
use serde::{Deserialize, Serialize};
use tools::*;

#[tool]
async fn look(_mail: &Mail, text: String) -> Result<String> {
    Ok(text)
}

/// The copy has other arguments and another output.
#[tool(read_only)]
async fn look(_mail: &Mail, number: u64) -> Result<u64> {
    Ok(number)
}

#[tool]
async fn see(_mail: &Mail, text: String) -> Result<String> {
    Ok(text)
}

#[tool(struct = See)]
async fn view(_mail: &Mail, number: u64) -> Result<u64> {
    Ok(number)
}

plan! {
    Told(text: String) -> String {
        step seen = Look { text };
        step said = Say { text: seen };
        said
    }
}

plan! {
    Told(number: u64) -> String {
        step said = Say { text: number.to_string() };
        said
    }
}

mod inside {
    use super::tools::*;
    use plan_runtime::plan;

    plan! { pub Told() { step said = Say { text: "a" }; } }
    plan! { pub Told() { step said = Say { text: "b" }; } }
}

// rustc itself reports the derives of serde.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = String)]
struct Hear {
    text: String,
}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u64)]
struct Hear {
    number: u64,
}

#[tool(read_only)]
#[tool(name = "mail.read")]
async fn read(_mail: &Mail, text: String) -> Result<String> {
    Ok(text)
}

#[tool]
#[plan_runtime::tool]
async fn find(_mail: &Mail, text: String) -> Result<String> {
    Ok(text)
}

fn main() {
    let _ = Told { text: String::new() }.run(&Mail);
    let _ = inside::Told {}.run(&Mail);
    let _ = plan! {
        step read = Read { text: "a" };
        step found = Find { text: read };
        step seen = See { text: found };
        seen
    };
}
