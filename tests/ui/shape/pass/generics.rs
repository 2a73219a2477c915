#![deny(warnings)]
use plan_runtime::Shape;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// No parameter needs a bound, wherever it is.
#[derive(Serialize, Deserialize, Shape)]
pub struct Page<'a, T, const N: usize>
where
    T: Clone,
{
    pub items: Vec<T>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<T>,
    pub title: Cow<'a, str>,
    #[serde(borrow)]
    pub text: Cow<'a, str>,
    #[serde(skip)]
    pub spare: Option<[u8; N]>,
    pub next: Option<Box<Self>>,
}

#[derive(Shape)]
pub struct Unsized<T: ?Sized> {
    pub head: u8,
    pub tail: T,
}

#[derive(Serialize, Deserialize, Shape, Clone, Copy, Default)]
#[serde(default)]
#[repr(C, packed)]
pub struct Packed {
    pub a: u8,
    #[serde(skip_serializing_if = "is_zero")]
    pub b: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

#[derive(Clone)]
pub struct NoShape;

fn main() {
    let _ = Page::<NoShape, 3>::SHAPE;
    let _ = Unsized::<str>::SHAPE;
    let _ = Packed::SHAPE;
}
