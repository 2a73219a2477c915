#![deny(warnings)]

#[path = "../../tools.rs"]
mod tools;

use tools::*;

mod renamed {
    pub use plan_runtime as plans;
}

fn generic<T: Send>(_: T) {
    plan_runtime::plan! {
        Inside(text: String) -> String {
            step said = Say { text };
            said
        }
    }
    let _ = Inside { text: String::new() }.run(&Mail);
}

renamed::plans::plan! {
    #![plan(crate = crate::renamed::plans)]
    Renamed(text: String) -> String {
        step said = Say { text };
        said
    }
}

fn main() {
    generic(1);
    let _ = Renamed { text: String::new() }.run(&Mail);
    let plan = plan_runtime::plan! {
        step a = Say { text: "a" };
        step b = Say { text: a };
        (a, b)
    };
    let _ = plan.run(&Mail);
}
