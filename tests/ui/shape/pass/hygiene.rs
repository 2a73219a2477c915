#![deny(warnings)]
#![no_implicit_prelude]
#![allow(dead_code)]

struct Option;
struct Result;
struct String;
struct Some;
struct None;
struct Ok;
struct Err;
struct Vec;
struct Box;
struct Default;
trait Sized {}
mod std {}
mod core {}
mod serde_json {}
mod plan_runtime {}

fn five() -> u8 {
    5
}

fn is_five(n: &u8) -> bool {
    *n == 5
}

#[derive(::serde::Serialize, ::serde::Deserialize, ::plan_runtime::Shape)]
#[serde(default)]
struct Everything<T> {
    r#type: T,
    #[serde(skip_serializing_if = "is_five")]
    by_container: u8,
    #[serde(default, skip_serializing_if = "is_five")]
    by_type: u8,
    #[serde(default = "five", skip_serializing_if = "is_five")]
    by_function: u8,
    #[serde(skip)]
    skipped: ::std::option::Option<u8>,
}

impl<T: ::std::default::Default> ::std::default::Default for Everything<T> {
    fn default() -> Self {
        Everything {
            r#type: ::std::default::Default::default(),
            by_container: 1,
            by_type: 2,
            by_function: 3,
            skipped: ::std::option::Option::None,
        }
    }
}

#[derive(::serde::Serialize, ::serde::Deserialize, ::plan_runtime::Shape)]
struct Tuple(u8, #[serde(skip)] u8, u8);

#[derive(::serde::Serialize, ::serde::Deserialize, ::plan_runtime::Shape)]
enum Choice {
    #[serde(skip)]
    Unit,
    Newtype(u8),
    Tuple(u8, u8),
    Struct { field: u8 },
}

#[deprecated]
#[derive(::serde::Serialize, ::serde::Deserialize, ::plan_runtime::Shape)]
struct Old {
    #[deprecated]
    field: u8,
}

fn main() {
    let _ = <Everything<u8> as ::plan_runtime::Shape>::SHAPE;
    let _ = <Tuple as ::plan_runtime::Shape>::SHAPE;
    let _ = <Choice as ::plan_runtime::Shape>::SHAPE;
}
