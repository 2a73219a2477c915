//! Names of types that do not exist, or have parameters.

use plan_runtime::Shape;

#[derive(Shape)]
#[shape(remote = "plan_renamed::issues::Isue")]
struct Misspelt {
    title: String,
}

#[derive(Shape)]
#[shape(remote = "plan_renamed::issues::Page")]
struct NoParameter {
    next: Option<u64>,
}

fn main() {}
