//! What is wrong with a serde attribute is said by serde, once.
use plan_runtime::Shape;
use serde::Serialize;

#[derive(Serialize, Shape)]
#[serde(rename_all = "camelcase")]
struct Email {
    #[serde(renam = "id")]
    thread_id: String,
}

fn main() {
    let _ = Email::SHAPE;
}
