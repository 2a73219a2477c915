//! What only points to an application is one mistake, whatever the plan calls.
#[path = "../tools.rs"]
mod tools;

use plan_runtime::{plan, run::Mock};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use tools::*;

plan! {
    One(text: String) -> String {
        step said = Say { text };
        said
    }
}

plan! {
    Two(text: String) -> u64 {
        step said = Say { text };
        step archived = Archive { ids: [said] };
        archived
    }
}

plan! {
    Nested(text: String) -> u64 {
        step archived = Two { text };
        step said = Say { text: format!("{archived}") };
        said.len() as u64
    }
}

fn one() -> One {
    One { text: String::new() }
}

fn two() -> Two {
    Two { text: String::new() }
}

fn nested() -> Nested {
    Nested { text: String::new() }
}

fn a_mock() {
    let mock = Mock::new();
    let _ = one().run(&&mock);
    let _ = two().run(&&mock);
    let _ = nested().run(&&mock);
}

fn a_shared_mock() {
    let _ = one().run(&Arc::new(Mock::new()));
    let _ = two().run(&Rc::new(Mock::new()));
}

fn an_application(app: Arc<Mail>, locked: Mutex<Mail>) {
    let _ = one().run(&app);
    let _ = two().run(&app);
    let _ = two().run(&&*app);
    let _ = nested().run(&Box::new(Mail));
    let _ = two().run(&locked.lock().unwrap());
}

fn an_object(app: Box<dyn std::fmt::Debug>) {
    let _ = two().run(&app);
}

fn an_unnamed_plan(app: Rc<Mail>) {
    let plan = plan! {
        step said = Say { text: "a" };
        step archived = Archive { ids: [said] };
        archived
    };
    let _ = plan.run(&app);
}

fn main() {}
