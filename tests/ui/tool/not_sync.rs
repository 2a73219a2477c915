use plan_runtime::{Result, tool};
use std::cell::Cell;

struct App {
    calls: Cell<u8>,
}

#[tool]
async fn fetch(app: &App, n: u8) -> Result<u8> {
    app.calls.set(n);
    Ok(n)
}

fn main() {}
