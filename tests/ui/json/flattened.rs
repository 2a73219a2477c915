//! Fields of a flattened field that may be absent: where the JSON does not tell whether it is.

#![allow(unused_variables)]

use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Shape)]
pub struct Size {
    wide: u8,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    unit: String,
    #[serde(flatten)]
    tags: Tags,
}

#[derive(Serialize, Deserialize, Shape)]
pub struct Tags {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
}

#[derive(Serialize, Deserialize, Shape)]
pub struct Parcel {
    #[serde(flatten)]
    size: Option<Size>,
    plain: Option<Size>,
}

#[tool]
async fn weigh() -> Result<Parcel> {
    todo!()
}

#[tool]
async fn say(text: Option<String>, size: Option<Size>, tags: Option<Vec<String>>) -> Result<()> {
    todo!()
}

plan! {
    Flattened(input: Parcel) {
        step parcel = Weigh {};
        step fine = Say { text: parcel.plain?.unit, size: parcel.plain?, tags: parcel.plain?.tags.tags };
        step itself = Say { text: None, size: parcel.size?, tags: None };
        step in_it = Say { text: parcel.size?.unit, size: None, tags: None };
        step deeper = Say { text: None, size: None, tags: parcel.size?.tags.tags };
        step of_input: String = input.size.as_ref().map(|size| size.unit.clone()).unwrap_or_default();
    }
}

fn main() {}
