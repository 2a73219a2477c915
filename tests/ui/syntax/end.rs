#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    NoSemicolon(text: String) -> String {
        step said = Say { text }
        said
    }
}

plan! {
    NoSemicolonBehindComputed(text: String) -> String {
        step said: String = text.to_uppercase()
        said
    }
}

plan! {
    NoSemicolonAtTheEnd(text: String) {
        step said = Say { text }
    }
}

plan! {
    Dot(text: String) -> String {
        step said = Say { text };
        said.
    }
}

plan! {
    Operator(text: String) -> String {
        step said = Say { text };
        said +
    }
}

plan! {
    HalfAStep(text: String) -> String {
        step said = Say { text };
        step
    }
}

plan! {
    HalfAName(text: String) -> String {
        step said = Say { text };
        step next
    }
}

plan! {
    HalfAValue(text: String) -> String {
        step said = Say { text };
        step next =
    }
}

plan! {
    Comment(text: String) -> String {
        step said = Say { text };
        said
        /// Nothing follows.
    }
}

fn main() {
    drop(NoSemicolon { text: String::new() }.run(&Mail));
    drop(Dot { text: String::new() }.run(&Mail));
    drop(HalfAStep { text: String::new() }.run(&Mail));
    drop(HalfAValue { text: String::new() }.run(&Mail));
}
