#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

struct Calendar;

fn main() {
    let unnamed = plan! {
        step said = Say { text: "a" };
        said
    };
    drop(unnamed.run(&Calendar));
}
