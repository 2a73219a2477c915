#![deny(warnings)]

#[path = "../../tools.rs"]
mod tools;

use plan_runtime::{Call, Result, plan};
use tools::*;

struct Mock;

impl Call<Mock> for Say {
    async fn call(self, _: &Mock) -> Result<String> {
        Ok(self.text)
    }
}

plan! {
    Inner(text: String) -> String {
        step said = Say { text };
        said
    }
}

plan! {
    Outer() -> String {
        step inner = Inner { text: "a" };
        step again = tools::Say { text: inner };
        again
    }
}

fn main() {
    let _ = Outer {}.run(&Mock);
    let _ = Outer {}.run(&Mail);
    let unnamed = plan! {
        step said = Say { text: "a" };
        said
    };
    let _ = unnamed.run(&Mock);
    let _ = unnamed.run(&Mail);
}
