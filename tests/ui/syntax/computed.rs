#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan(text: String) -> String {
        step said = Say { text };
        step returns: usize = { return 5; };
        step leaves: usize = { let Some(first) = said.chars().next() else { return 0 }; first.len_utf8() };
        step waits: usize = said.len().await;
        step moves: String = said;
        step moves_inside: Vec<String> = vec![said];
        step in_closure: Option<usize> = Some(1).and_then(|one| Some(one)? .into());
        moves
    }
}

fn main() {}
