//! Every mistake in `#[tool(…)]` is reported, in one pass, at its token.
use plan_runtime::{Shape, Tool};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Shape, Tool)]
struct NoOutput {}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(ouptut = std::collections::BTreeMap<String, u8>, name = 5, name = "x", crate)]
struct Many {}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u8, name = "", output = u16)]
struct Twice {}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool = "u8"]
struct NoList {}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u8 name = "x")]
struct NoComma {}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u8)]
enum Choice {
    One,
}

fn is_tool<T: Tool>() {}

fn main() {
    is_tool::<NoOutput>();
    is_tool::<Many>();
    is_tool::<Choice>();
}
