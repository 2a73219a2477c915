#![no_implicit_prelude]
#![allow(dead_code, unused_macros)]
//! A module without a prelude, in which every name that the expansion might use means something else.

mod std {}
mod core {}
mod alloc {}
mod serde {}
mod serde_json {}
mod plan_runtime {}
struct Option;
struct Result;
struct String;
struct Vec;
struct Box;
struct Cow;
struct Some;
struct None;
struct Ok;
struct Err;
struct Sized;
struct Send;
struct Sync;
struct Future;
struct Plan;
struct Tool;
struct Call;
struct Steps;
struct Shape;
struct Clone;
struct Copy;
struct Default;
struct Fn;
struct Into;
struct From;

macro_rules! vec {
    ($($any:tt)*) => {
        ::std::compile_error!("not this `vec!`")
    };
}
macro_rules! format {
    ($($any:tt)*) => {
        ::std::compile_error!("not this `format!`")
    };
}
macro_rules! panic {
    ($($any:tt)*) => {
        ::std::compile_error!("not this `panic!`")
    };
}
macro_rules! stringify {
    ($($any:tt)*) => {
        ::std::compile_error!("not this `stringify!`")
    };
}
macro_rules! unreachable {
    ($($any:tt)*) => {
        ::std::compile_error!("not this `unreachable!`")
    };
}

/// A thing.
#[derive(::serde::Serialize, ::serde::Deserialize, ::plan_runtime::Shape)]
pub struct Thing {
    pub name: ::std::string::String,
    pub parts: ::std::vec::Vec<::std::primitive::u8>,
    pub next: ::std::option::Option<::std::string::String>,
}

/// Finds a thing.
#[::plan_runtime::tool]
async fn find(
    name: ::std::string::String,
    limit: ::std::primitive::u8,
) -> ::plan_runtime::Result<Thing> {
    let parts = ::std::iter::Iterator::collect(0..limit);
    ::std::result::Result::Ok(Thing {
        name,
        parts,
        next: ::std::option::Option::None,
    })
}

::plan_runtime::plan! {
    /// Finds two.
    pub Two(name: ::std::string::String, limit: ::std::primitive::u8) -> (Thing, ::serde_json::Value) {
        /// The first.
        step first = Find { name, limit };
        #[after(first)]
        step second = Find { name: format!("{name} {:>3}", first.parts[0]), limit: first.parts[1] };
        step count: ::std::primitive::usize = first.parts.len() + 1;
        step both = Find { name: first.name, limit: count as ::std::primitive::u8 };
        step made: Thing = Thing { name: "x", parts: [1, limit], next: second.next? };
        (made, json!({"both": both, "second": [second.name, count + 1], "none": null}))
    }
}

::plan_runtime::plan! {
    /// Conditions, loops and policies.
    pub Flow(name: ::std::string::String, limit: ::std::primitive::u8) -> ::serde_json::Value {
        #[retry(2, backoff = "1ms")]
        #[timeout("10s")]
        #[deadline("1m")]
        step first = Find { name, limit };
        step skipped = if limit > 3 { Find { name, limit: 1 } };
        step chosen = if let ::std::option::Option::Some(next) = &first.next {
            Find { name: next, limit }
        } else if first.parts.len() > 1 {
            Find { name: format!("{name} {}", first.name), limit: first.parts[1] }
        } else {
            Find { name: "none", limit: 0 }
        };
        #[concurrency(1)]
        #[optional(each)]
        step each = for part in first.parts { for (index, other) in ::std::iter::Iterator::enumerate(first.parts.iter()) {
            Find { name: format!("{part} {index}"), limit: other + part }
        } };
        step some = for part in first.parts.iter() { if part > 0 { Find { name: "part", limit: part } } };
        #[fallback(Thing { name: name, parts: [limit], next: first.next })]
        step fallen = Find { name: "x", limit: 1 };
        #[optional]
        step optional = Find { name: fallen.name, limit: 1 };
        json!([skipped, chosen.name, each, some, optional])
    }
}

#[::std::prelude::v1::test]
fn flow() {
    let flow = Flow {
        name: ::std::convert::From::from("n"),
        limit: 2,
    };
    let json = ::std::result::Result::unwrap(::smol::block_on(flow.run(&())));
    ::std::assert_eq!(json[0], ::serde_json::json!(null));
    ::std::assert_eq!(json[1], "n n");
    ::std::assert_eq!(json[2][1][1]["name"], "1 1");
    ::std::assert_eq!(json[3][0], ::serde_json::json!(null));
    ::std::assert_eq!(json[4]["name"], "x");
}

#[::std::prelude::v1::test]
fn runs() {
    let two = Two {
        name: ::std::convert::From::from("n"),
        limit: 3,
    };
    let (made, json) = ::std::result::Result::unwrap(::smol::block_on(two.run(&())));
    ::std::assert_eq!((&*made.name, &*made.parts), ("x", &[1, 3][..]));
    ::std::assert_eq!(json["second"], ::serde_json::json!(["n   0", 5]));
    let plan = ::plan_runtime::plan! {
        step first = Find { name: "y", limit: 2 };
        (first.parts[..], first.parts.len(), format!("{}", first.name), [first.parts[0]])
    };
    let output = ::std::result::Result::unwrap(::smol::block_on(plan.run(&())));
    ::std::assert_eq!(
        (&*output.0, output.1, &*output.2, &*output.3),
        (&[0, 1][..], 2, "y", &[0][..])
    );
}
