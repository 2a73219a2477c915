use plan_runtime::{Result, tool};
use std::rc::Rc;

#[tool]
async fn fetch(n: u8) -> Result<u8> {
    let shared = Rc::new(n);
    std::future::ready(()).await;
    Ok(*shared)
}

fn main() {}
