//! A type of the author's own says which JSON it has, and is an argument, an input and a value as any other.
#![deny(warnings)]

use plan_runtime::{Result, Shape, Tool, plan, tool};
use serde::{Deserialize, Serialize};

pub mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(number)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[derive(Serialize, Deserialize, Shape, Clone)]
pub struct Number(#[serde(with = "as_text")] u64);

impl Number {
    fn new(number: u64) -> Self {
        Self(number)
    }
}

#[derive(Serialize, Deserialize, Shape)]
pub struct Room {
    #[serde(with = "as_text")]
    number: u64,
    // What serde writes of it is what this reads.
    #[serde(deserialize_with = "trimmed")]
    name: String,
}

fn trimmed<'de, D: serde::Deserializer<'de>>(from: D) -> std::result::Result<String, D::Error> {
    String::deserialize(from).map(|text| text.trim().to_owned())
}

fn room(number: u64) -> Room {
    Room { number, name: " a ".into() }
}

/// What writes an argument does not say how it is read.
#[tool]
async fn count(number: Number, #[serde(serialize_with = "as_text::serialize")] more: u64) -> Result<u64> {
    Ok(number.0 + more)
}

#[tool]
async fn enter(room: Room) -> Result<Number> {
    Ok(Number(room.number + room.name.len() as u64))
}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = Number)]
pub struct Add {
    #[serde(rename = "with", default)]
    left: u64,
    right: Number,
}

plan! {
    Both(number: Number, more: u64) -> u64 {
        step entered = Enter { room: room(more) };
        step counted = Count { number, more };
        step again = Count { number: entered, more: counted };
        step last = Count { number: Number::new(again), more };
        last
    }
}

fn main() {
    let plan = Both { number: Number(4), more: 2 };
    let last = smol::block_on(plan.run(&()));
    assert_eq!(last.unwrap(), 11);
}
