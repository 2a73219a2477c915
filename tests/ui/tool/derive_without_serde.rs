use plan_runtime::{Shape, Tool};
use serde::Serialize;

#[derive(Serialize, Shape, Tool)]
#[tool(output = u8)]
struct NoDeserialize {
    id: String,
}

fn main() {}
