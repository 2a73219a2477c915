//! What runs are submitted to.

use plan_runtime::journal::Memory;
use plan_runtime::plan;

plan! {
    Greet(name: String) -> String { format!("Hello, {name}!") }
}

fn greet() -> Greet {
    Greet { name: "Ada".into() }
}

#[allow(unused_must_use)]
fn main() {
    let memory = Memory::new();
    greet().submit(&"runs.db", "greet-1");
    greet().submit(&"http://localhost:8080".to_owned(), "greet-2");
    greet().submit(memory, "greet-3");
    greet().submit(&memory, 4);
    greet().run(&()).submit(&"runs.db", "greet-5");
}
