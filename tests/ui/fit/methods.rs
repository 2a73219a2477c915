//! A method without `()`, and elements that JSON cannot hold, are one mistake each.
#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Methods(maybe: Option<String>) -> bool {
        step said = if maybe.is_some { Say { text: "a" } };
        step absent: bool = maybe.is_none;
        absent && maybe.is_some() && said.is_some()
    }
}

pub struct Lamp {
    pub on: bool,
}

fn lamps() -> Vec<Lamp> {
    Vec::new()
}

plan! {
    Elements() {
        step said = for _lamp in lamps() { Say { text: "on" } };
        step listed = for on in lamps().into_iter().map(|lamp| lamp.on) { Say { text: format!("{on}") } };
    }
}

fn main() {}
