//! Literals whose fields are not read from JSON.

#![allow(unused_variables)]

use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Shape)]
pub struct Address {
    town: String,
    #[serde(skip)]
    checked: bool,
    #[serde(skip_deserializing)]
    stamped: bool,
}

#[derive(Serialize, Deserialize, Shape)]
pub struct Pair(String, #[serde(skip)] bool);

#[derive(Serialize, Deserialize, Shape)]
pub enum Place {
    Town { name: String, #[serde(skip)] known: bool },
    #[serde(skip)]
    Sea { name: String },
}

#[derive(Serialize, Deserialize)]
pub struct Shapeless {
    name: String,
}

#[tool]
async fn send(address: Address) -> Result<()> {
    todo!()
}

#[tool]
async fn join(pair: Pair) -> Result<()> {
    todo!()
}

#[tool]
async fn visit(place: Place) -> Result<()> {
    todo!()
}

#[tool]
async fn name(it: Shapeless, others: Vec<Shapeless>) -> Result<()> {
    todo!()
}

plan! {
    LeftOut(name: String) {
        step skipped = Send { address: Address { town: name, checked: true, stamped: true } };
        step of_tuple = Join { pair: Pair(name, true) };
        step of_variant = Visit { place: Place::Town { name, known: true } };
        step variant = Visit { place: Place::Sea { name } };
    }
}

plan! {
    NoShape(name: String) {
        step named = Name { it: Shapeless { name }, others: [Shapeless { name: "a" }] };
    }
}

fn main() {}
