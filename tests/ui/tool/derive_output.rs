use plan_runtime::{Shape, Tool};
use serde::{Deserialize, Serialize};

struct Receipt;

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = Receipt)]
struct Send {
    to: String,
}

fn main() {}
