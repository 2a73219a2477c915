#![deny(warnings)]

#[path = "../../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Nothing(text: String) {
        step said = Say { text };
    }
}

plan! {
    DeclaredNothing(text: String) -> () {
        step said = Say { text };
    }
}

plan! {
    Text(text: String) -> String {
        step said = Say { text };
        format!("{said}!")
    }
}

plan! {
    Computed(text: String) -> usize {
        step said = Say { text };
        said.len() + 1
    }
}

plan! {
    Wrapped(text: String) -> Option<String> {
        step said = Say { text };
        said
    }
}

plan! {
    Tuple(text: String) -> (String, u64) {
        step said = Say { text };
        step count = Archive { ids: [said] };
        (said, count)
    }
}

fn main() {
    let _ = Nothing { text: String::new() }.run(&Mail);
    let _ = DeclaredNothing { text: String::new() }.run(&Mail);
    let _ = Text { text: String::new() }.run(&Mail);
    let _ = Computed { text: String::new() }.run(&Mail);
    let _ = Wrapped { text: String::new() }.run(&Mail);
    let _ = Tuple { text: String::new() }.run(&Mail);
}
