//! Structs that say the fields of a type of another crate, and are wrong about them.

use plan_renamed::issues::{Badge, Color, Issue, User};
use plan_runtime::Shape;

pub enum State {
    Open,
}

#[derive(Shape)]
#[shape(remote = "Issue")]
struct Fields {
    titel: String,
    issue_number: u32,
    assignee: User,
    labels: Vec<String>,
}

#[derive(Shape)]
#[shape(remote = "Color")]
struct TooFew(u8, u8);

#[derive(Shape)]
#[shape(remote = "Badge")]
struct NoTuple(String);

#[derive(Shape)]
#[shape(remote = "Color")]
struct NoNames {
    red: u8,
}

#[derive(Shape)]
#[shape(remote = "State")]
struct OfEnum {
    open: bool,
}

#[derive(Shape)]
#[shape(remote = "State")]
enum Enum {
    Open,
}

#[derive(Shape)]
#[shape(remote = "plan_renamed::issues::Page<T>")]
struct Parameter<T> {
    items: Vec<T>,
}

#[derive(Shape)]
#[shape(remote = "&Issue")]
struct NoPath {
    title: String,
}

#[derive(Shape)]
#[shape(remote = 5)]
struct Number {
    title: String,
}

#[derive(Shape)]
#[shape(remote = "")]
struct Empty {
    title: String,
}

#[derive(Shape)]
#[shape(remote)]
struct NoValue {
    title: String,
}

#[derive(Shape)]
#[shape(remote = "Badge")]
#[serde(into = "String", from = "String")]
struct Converted {
    name: String,
}

fn main() {}
