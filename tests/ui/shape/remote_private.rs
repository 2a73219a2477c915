//! A field that only its own crate sees.

use plan_renamed::issues::Issue;
use plan_runtime::Shape;

#[derive(Shape)]
#[shape(remote = "Issue")]
struct IssueShape {
    title: String,
    node: String,
}

fn main() {}
