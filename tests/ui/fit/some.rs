//! `Some` of values that are null in JSON.

#![allow(unused_variables)]

use plan_runtime::{Result, plan, tool};

#[tool]
async fn set(age: Option<Option<u8>>, seen: Option<()>, name: Option<String>, #[serde(default)] all: Vec<Option<Option<u8>>>) -> Result<()> {
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

plan! {
    Absent(age: Option<u8>, there: u8, name: Option<String>) {
        step absent = Set { age: Some(age), .. };
        step listed = Set { all: [Some(Some(there)), Some(age)], .. };
        step plain = Set { name: Some(name), .. };
        step right = Set { age: Some(there), all: [None, Some(there)], name, .. };
        step computed = Set { age: age.map(Some), .. };
    }
}

fn main() {}
