//! `Some` of values that are null in JSON.

#![allow(unused_variables)]

use plan_runtime::{Result, plan, tool};

#[tool]
async fn set(age: Option<Option<u8>>, seen: Option<()>, #[serde(default)] all: Vec<Option<Option<u8>>>) -> Result<()> {
    todo!()
}

plan! {
    Nulls() {
        step nested = Set { age: Some(None), .. };
        step unit = Set { seen: Some(()), .. };
        step deeper = Set { all: [None, Some(1), Some(None)], .. };
        step inner = Set { age: Some(Some(None)), .. };
        step written: Option<Option<u8>> = Some(None);
    }
}

fn main() {}
