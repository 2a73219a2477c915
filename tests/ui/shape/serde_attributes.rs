//! serde reports a wrong serde attribute, once.
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
