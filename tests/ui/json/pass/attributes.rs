#![deny(warnings)]
#![allow(dead_code, unused_variables)]

use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Shape)]
pub struct Address {
    town: String,
    #[serde(default, rename = "ZIP")]
    zip: String,
    #[serde(skip)]
    checked: bool,
}

#[derive(Serialize, Deserialize, Shape)]
pub struct Letter {
    #[serde(flatten)]
    address: Address,
    text: Text,
}

#[derive(Serialize, Deserialize, Shape)]
pub struct Text(String);

#[derive(Serialize, Deserialize, Shape)]
pub enum Place {
    Town { name: String },
    Sea(String),
}

#[derive(Serialize, Deserialize)]
pub struct Shapeless {
    name: String,
}

#[tool]
async fn send(address: Address) -> Result<Letter> {
    todo!()
}

#[tool]
async fn visit(place: Place) -> Result<Shapeless> {
    todo!()
}

#[tool]
async fn name(it: Shapeless) -> Result<String> {
    todo!()
}

plan! {
    Plan(name: String) -> String {
        step sent = Send { address: Address { town: name, .. } };
        step town = Visit { place: Place::Town { name: sent.address.town } };
        step sea = Visit { place: Place::Sea(sent.text.0) };
        step whole = Name { it: town };
        step _computed: String = sea.name.clone();
        format!("{whole}")
    }
}

fn main() {
    let _ = Plan { name: String::new() }.run(&());
}
