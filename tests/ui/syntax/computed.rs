#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

plan! {
    Plan(text: String) -> String {
        step said = Say { text };
        step asks: usize = said.parse::<usize>()? + 1;
        step returns: usize = { return 5; };
        step waits: usize = said.len().await;
        step in_argument = Say { text: said.parse::<String>()?.clone() };
        step moves: String = said;
        step moves_inside: Vec<String> = vec![said];
        step in_closure: Option<usize> = Some(1).and_then(|one| Some(one)? .into());
        moves
    }
}

fn main() {}
