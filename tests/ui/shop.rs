//! The tools of a shop, which check, pay and tell.
#![allow(dead_code, unused_variables)]

use plan_runtime::{Result, tool};

pub struct Shop;

/// Checks an amount.
#[tool(read_only)]
pub async fn check(_shop: &Shop, cents: u64) -> Result<()> {
    todo!()
}

/// Pays an amount.
#[tool]
pub async fn pay(_shop: &Shop, cents: u64) -> Result<u64> {
    todo!()
}

/// Looks for an amount.
#[tool(read_only)]
pub async fn look(_shop: &Shop, cents: u64) -> Result<u64> {
    todo!()
}

/// Takes a note.
#[tool]
pub async fn note(_shop: &Shop, cents: u64) -> Result<()> {
    todo!()
}
