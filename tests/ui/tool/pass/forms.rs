#![deny(warnings)]
use plan_runtime::{Call, Result, Shape, Tool, tool};
use serde::{Deserialize, Serialize};

pub struct App;

macro_rules! make {
    ($vis:vis $name:ident, $argument:ident: $ty:ty, $output:ty) => {
        #[tool]
        $vis async fn $name(_app: &App, $argument: $ty) -> Result<$output> {
            Ok($argument.into())
        }
    };
}

make!(pub widen, small: u8, u64);
make!(same, value: Option<String>, Option<String>);

macro_rules! contract {
    ($name:ident, $field:ident: $ty:ty = $default:literal) => {
        #[derive(Serialize, Deserialize, Shape, Tool)]
        #[tool(output = $ty)]
        pub struct $name {
            #[serde(default = $default, skip_serializing_if = "Option::is_none")]
            pub $field: $ty,
        }
    };
}

/// serde makes an owned `Cow`, and does not read what is skipped.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u8)]
pub struct Lives<'a> {
    pub text: std::borrow::Cow<'a, str>,
    #[serde(skip)]
    pub skipped: &'static str,
    #[serde(skip)]
    pub nothing: std::marker::PhantomData<&'a str>,
}

fn none() -> Option<u8> {
    None
}

contract!(Contract, field: Option<u8> = "none");

#[deprecated]
#[tool]
pub async fn old(n: u8) -> Result<u8> {
    Ok(n)
}

#[tool]
#[cfg(any())]
pub async fn gone(n: NoSuchType) -> Result<u8> {
    Ok(n)
}

mod inner {
    pub struct Private;

    #[plan_runtime::tool]
    pub(in crate::inner) async fn hidden(_app: &Private, n: u8) -> plan_runtime::Result<u8> {
        Ok(n)
    }

    #[plan_runtime::tool]
    pub(super) async fn shown(_: &Private, n: u8) -> std::io::Result<u8> {
        Ok(n)
    }

    pub fn use_it() {
        drop(Hidden { n: 1 });
    }
}

fn runs_on<A: ?Sized, T: Call<A>>() {}

#[tool(read_only, name = "look")]
async fn look_up(n: u8) -> Result<u8> {
    Ok(n)
}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u8, read_only)]
struct Peek {}

const _: () = assert!(LookUp::READ_ONLY && Peek::READ_ONLY && !AnyApp::READ_ONLY);

fn main() {
    let _ = (LookUp { n: 1 }, Peek {});
    runs_on::<App, Widen>();
    runs_on::<App, Same>();
    runs_on::<str, AnyApp>();
    runs_on::<inner::Private, inner::Shown>();
    inner::use_it();
    let _ = (Widen { small: 1 }, Same { value: None }, Contract { field: none() });
}

#[tool]
async fn any_app(n: u8) -> Result<u8> {
    Ok(n)
}
