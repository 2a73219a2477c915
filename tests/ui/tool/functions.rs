//! Arguments and inputs that a function of the author's own reads, and literals with such a field.

use plan_runtime::{Result, Shape, Tool, plan, tool};
use serde::{Deserialize, Serialize};

pub mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(number)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[tool]
async fn count(
    #[serde(with = "as_text")] number: u64,
    #[serde(default, deserialize_with = "as_text::deserialize")] more: u64,
) -> Result<u64> {
    Ok(number + more)
}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u64)]
struct Add {
    left: u64,
    #[serde(
        rename = "other",
        with = "as_text"
    )]
    right_one: u64,
}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u64)]
struct Negate(#[serde(deserialize_with = "as_text::deserialize")] u64);

plan! {
    Both(
        #[serde(with = "self::as_text")] number: u64,
        #[serde(serialize_with = "as_text::serialize")] more: u64,
    ) -> u64 {
        step counted = Count { number, more };
        step added = Add { left: counted, right_one: number };
        added
    }
}

#[derive(Serialize, Deserialize, Shape)]
struct Room {
    #[serde(with = "as_text")]
    number: u64,
    name: String,
}

#[derive(Serialize, Deserialize, Shape)]
enum Place {
    Room {
        #[serde(serialize_with = "as_text::serialize", deserialize_with = "as_text::deserialize")]
        number: u64,
    },
    Floor(#[serde(with = "as_text")] u64, u8),
}

fn room() -> Room {
    Room { number: 1, name: String::new() }
}

#[tool]
async fn enter(room: Room, places: Vec<Place>) -> Result<u64> {
    let _ = places;
    Ok(room.number + u64::from(room.name.is_empty()))
}

plan! {
    Literals(number: u64) -> u64 {
        step one = Enter { room: Room { number, name: "a" }, places: [] };
        step other = Enter { room: room(), places: [Place::Room { number: 5 }] };
        step last = Enter { room: room(), places: [Place::Floor(number, 1)] };
        one + other + last
    }
}

fn main() {}
