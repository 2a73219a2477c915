//! Keys of flattened maps that may be fields beside them in JSON, and elements of flattened fields.

#![allow(unused_variables)]

use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Serialize, Deserialize, Shape)]
pub struct Parcel {
    #[serde(rename = "ID")]
    id: u64,
    #[serde(flatten)]
    bag: Bag,
    boxed: Bag,
}

#[derive(Serialize, Deserialize, Shape)]
pub struct Bag {
    size: u64,
    #[serde(flatten)]
    more: BTreeMap<String, u64>,
    #[serde(flatten)]
    raw: Option<Value>,
}

#[tool]
async fn weigh() -> Result<Parcel> {
    todo!()
}

#[tool]
async fn say(number: u64, any: Value) -> Result<()> {
    todo!()
}

plan! {
    Keys(input: Bag) {
        step parcel = Weigh {};
        step fine = Say { number: parcel.bag.more["other"], any: parcel.boxed.raw?["ID"] };
        step beside = Say { number: parcel.bag.more["size"], any: Value::Null };
        step outside = Say { number: parcel.bag.more["ID"], any: Value::Null };
        step untyped = Say { number: 1, any: input.raw?.get("size")? };
        step pointed = Say { number: 1, any: parcel.boxed.raw?.pointer("/size/a")? };
        step elements = Say { number: 1, any: input.raw?[0] };
    }
}

fn main() {}
