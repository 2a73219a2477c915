#![deny(warnings, missing_docs)]
#![no_implicit_prelude]
#![allow(dead_code)]
//! A crate that has taken every name.

struct Option;
struct Result;
struct String;
struct Ok;
struct Box;
struct Output;
struct Tool;
struct App;
trait Future {}
trait Send {}
mod std {}
mod core {}
mod serde {}
mod plan_runtime {}

/// The application.
pub struct Mail;

/// Nothing but names.
#[::plan_runtime::tool]
pub async fn take_names(
    app: &Mail,
    self_: u8,
    __app: u8,
    take_names: u8,
    r#type: u8,
    mut result: u8,
) -> ::plan_runtime::Result<u8> {
    let _ = (app, self_, __app, take_names, r#type);
    result += 1;
    ::std::result::Result::Ok(result)
}

/// No application.
#[::plan_runtime::tool]
pub(crate) async fn nothing() -> ::plan_runtime::Result<()> {
    ::std::result::Result::Ok(())
}

/// A contract.
#[derive(::serde::Serialize, ::serde::Deserialize, ::plan_runtime::Shape, ::plan_runtime::Tool)]
#[tool(output = u8)]
pub struct Contract {}

impl ::plan_runtime::Call<Mail> for Contract {
    async fn call(self, _: &Mail) -> ::plan_runtime::Result<u8> {
        ::std::result::Result::Ok(1)
    }
}

fn main() {
    let _ = TakeNames { self_: 1, __app: 2, take_names: 3, r#type: 4, result: 5 };
    let _ = Nothing {};
    let _ = nothing;
}
