//! The shape of `serde_json::Value`.

use super::{Shape, TypeShape};
use serde_json::{Map, Number, Value};

#[diagnostic::do_not_recommend]
impl Shape for Value {
    const SHAPE: TypeShape = TypeShape::Opaque;
}

#[diagnostic::do_not_recommend]
impl Shape for Number {
    const SHAPE: TypeShape = TypeShape::Opaque;
}

#[diagnostic::do_not_recommend]
impl Shape for Map<String, Value> {
    const SHAPE: TypeShape = TypeShape::Opaque;
}
