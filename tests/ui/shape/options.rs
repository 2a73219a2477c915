//! Every mistake in `#[shape(…)]` is reported, in one pass, and the type still has a shape.
use plan_runtime::Shape;

#[derive(Shape)]
#[shape(crat = plan_runtime)]
struct Misspelt;

#[derive(Shape)]
#[shape(crate = "plan_runtime", rename = "x", crate = plan_runtime)]
struct Three;

#[derive(Shape)]
#[shape]
struct Bare;

#[derive(Shape)]
#[shape(crate)]
struct NoValue;

#[derive(Shape)]
struct OnAField {
    #[shape(rename = "x")]
    field: u8,
}

fn main() {
    let _ = (Misspelt::SHAPE, Three::SHAPE, Bare::SHAPE, NoValue::SHAPE, OnAField::SHAPE);
}
