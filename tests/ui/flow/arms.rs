#[path = "../tools.rs"]
mod tools;

use plan_runtime::{Shape, plan};
use serde::{Deserialize, Serialize};
use tools::*;

#[derive(Clone, Serialize, Deserialize, Shape)]
pub enum Tone {
    Plain,
    Loud,
    Silent,
}

plan! {
    Calls(tone: Tone) -> String {
        step said = match tone {
            Tone::Plain => Say { text: "a" },
            Tone::Loud => Say { text: "b" },
        };
        said
    }
}

plan! {
    Braces(tone: Tone) -> String {
        step said = match tone {
            Tone::Plain => {
                Say { text: "a" }
            }
            Tone::Loud => {
                Say { text: "b" }
            }
        };
        said
    }
}

plan! {
    Values(tone: Tone, name: String) -> String {
        step said = match tone { Tone::Plain => name, Tone::Loud => Say { text: "b" } };
        said
    }
}

fn main() {}
