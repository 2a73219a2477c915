#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    pub NoParentheses -> String {
        step said = Say { text: "a" };
        said
    }
}

plan! {
    NoParenthesesNoOutput {
        step said = Say { text: "a" };
    }
}

plan! {
    NoType(text, other: String) -> String {
        step said = Say { text: other };
        said
    }
}

plan! {
    Borrowed(text: &str, list: &[String]) -> String {
        step said = Say { text };
        said
    }
}

plan! {
    Changed(mut text: String, pub other: String, self, &self) -> String {
        step said = Say { text: "a" };
        said
    }
}

plan! {
    NoComma(text: String other: String) -> String {
        step said = Say { text };
        said
    }
}

plan! {
    NoOutput(text: String) -> {
        step said = Say { text };
        said
    }
}

plan! {
    Two(text: String) -> String {
        step said = Say { text };
        said
    }
    AndMore(text: String) -> String {
        step said = Say { text };
        said
    }
}

plan! {
    pub(crate) fn Function(text: String) -> String {
        step said = Say { text };
        said
    }
}

plan! {
    struct Struct(text: String) -> String {
        step said = Say { text };
        said
    }
}

plan! {
    Generic<T>(text: T) -> String {
        step said = Say { text };
        said
    }
}

plan! {
    Braces(text: String) -> String;
}

plan! {
    lower_case(text: String) -> String {
        step said = Say { text };
        said
    }
}

plan! {
    #![plan(krate = ::plan_runtime)]
    Option1() {
        step said = Say { text: "a" };
    }
}

plan! {
    #![other]
    Option2() {
        step said = Say { text: "a" };
    }
}

plan! {}

fn main() {
    drop(NoType { text: String::new(), other: String::new() }.run(&Mail));
}
