//! Structs that say the fields of another type, with attributes that are wrong there, and that are mistaken for other things.

use plan_renamed::issues::{Badge, User};
use plan_runtime::Shape;
use serde::{Deserialize, Serialize};

#[derive(Shape)]
#[shape(remote = "User")]
#[serde(rename_al = "camelCase")]
struct Misspelt {
    #[serde(renam = "name")]
    login: String,
    #[serde(renam = "mail", skip_serializing_if = "Option::is_none")]
    email: Option<String>,
}

#[derive(Shape)]
#[shape(remote = "User")]
#[serde(rename_all = "camelCase", remote = "User")]
struct OfSerde {
    login: String,
}

#[derive(Serialize, Shape)]
#[shape(remote = "Badge")]
struct Written {
    name: String,
}

#[derive(Shape, Deserialize)]
#[shape(remote = "Badge")]
struct Read {
    name: String,
}

#[derive(Shape)]
#[shape(remote = "Itself")]
struct Itself {
    name: String,
}

#[derive(Shape)]
#[shape(remote = Self)]
struct AsSelf {
    name: String,
}

#[derive(Shape)]
#[shape(remote = "crate::ByPath")]
struct ByPath {
    name: String,
}

type Alias = Aliased;

#[derive(Shape)]
#[shape(remote = "Alias")]
struct Aliased {
    name: String,
}

#[derive(Shape)]
#[serde(remote = "User")]
struct OfSerdeAlone {
    login: String,
}

fn main() {}
