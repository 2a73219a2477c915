//! References to what is not in the JSON of an output.

#![allow(unused_variables)]

use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize, Serializer};

fn shout<S: Serializer>(person: &Person, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_str(&person.name.to_uppercase())
}

#[derive(Serialize, Deserialize, Shape, Default)]
pub struct Person {
    name: String,
}

#[derive(Serialize, Deserialize, Shape, Default)]
pub struct Address {
    town: String,
}

#[derive(Serialize, Deserialize, Shape)]
pub struct Letter {
    #[serde(skip)]
    skipped: String,
    #[serde(skip_serializing)]
    not_written: String,
    #[serde(skip)]
    skipped_person: Person,
    #[serde(flatten)]
    address: Address,
    #[serde(serialize_with = "shout")]
    shouted: Person,
}

#[derive(Serialize, Deserialize, Shape)]
pub enum Choice {
    Letter(Letter),
}

#[derive(Serialize, Deserialize)]
pub struct Shapeless {
    name: String,
    inner: Inner,
}

#[derive(Serialize, Deserialize)]
pub struct Inner {
    name: String,
}

#[tool]
async fn write() -> Result<Letter> {
    todo!()
}

#[tool]
async fn choose() -> Result<Shapeless> {
    todo!()
}

#[tool]
async fn say(text: String, entry: Option<Address>) -> Result<()> {
    todo!()
}

#[tool]
async fn log(entry: serde_json::Value) -> Result<()> {
    todo!()
}

plan! {
    LeftOut() {
        step letter = Write {};
        step skipped = Say { text: letter.skipped, entry: None };
        step not_written = Say { text: letter.not_written, entry: None };
        step in_skipped = Say { text: letter.skipped_person.name, entry: None };
        step formatted = Say { text: format!("{}", letter.skipped), entry: None };
        step in_json = Log { entry: json!({ "a": [letter.not_written] }) };
        step flattened = Say { text: letter.address.town, entry: letter.address };
        step written_by_hand = Say { text: letter.shouted.name, entry: None };
        step two = Log { entry: json!([letter.skipped, letter.not_written]) };
    }
}

plan! {
    NoShape(input: Shapeless) -> String {
        step chosen = Choose {};
        step named = Say { text: chosen.name, entry: None };
        step deeper = Say { text: chosen.inner.name, entry: None };
        step of_input = Say { text: format!("{}", input.name), entry: None };
        input.inner.name
    }
}

fn main() {}
