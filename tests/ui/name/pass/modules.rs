#![deny(warnings)]

#[path = "../../tools.rs"]
mod tools;

macro_rules! twice {
    ($name:ident) => {
        pub mod left {
            #[plan_runtime::tool]
            pub async fn $name(number: u64) -> plan_runtime::Result<u64> {
                Ok(number)
            }
        }
        pub mod right {
            #[plan_runtime::tool]
            pub async fn $name(text: String) -> plan_runtime::Result<String> {
                Ok(text)
            }
        }
    };
}

twice!(count);

mod first {
    use super::left::Count;
    use plan_runtime::plan;

    plan! { pub Counted() -> u64 { step count = Count { number: 1 }; count } }

    pub mod inner {
        use super::super::tools::*;
        use plan_runtime::plan;

        plan! { pub Counted() -> String { step said = Say { text: "a { string" }; said } }
    }
}

mod second {
    use super::right::Count;
    use plan_runtime::plan;

    plan! { pub Counted() -> String { step count = Count { text: "}" }; count } }
}

/// In one function, each block may have a plan of this name.
fn main() {
    let mail = tools::Mail;
    {
        use tools::Say;
        plan_runtime::plan! { Counted() -> String { step said = Say { text: "a" }; said } }
        let _ = Counted {}.run(&mail);
    }
    {
        use left::Count;
        plan_runtime::plan! { Counted() -> u64 { step count = Count { number: 2 }; count } }
        let _ = Counted {}.run(&mail);
    }
    let _ = first::Counted {}.run(&mail);
    let _ = first::inner::Counted {}.run(&mail);
    let _ = second::Counted {}.run(&mail);
}
