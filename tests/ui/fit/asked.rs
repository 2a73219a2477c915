#[path = "../tools.rs"]
mod tools;

use plan_runtime::plan;
use tools::*;

#[derive(Debug)]
struct Odd;

fn half(number: u64) -> Result<u64, Odd> {
    if number % 2 == 0 { Ok(number / 2) } else { Err(Odd) }
}

fn boxed() -> Result<u64, Box<dyn std::error::Error>> {
    Ok(1)
}

plan! {
    Plan(text: String, maybe: Option<u64>, list: Vec<u64>) -> u64 {
        step _said = Say { text: text.get(1..)? };
        step _typed: u64 = maybe? + 1;
        step _listed = for n in list.first()?.to_le_bytes() { Log { entry: n } };
        step _decided = if list.first()? > &1 { Log { entry: 1 } };
        step _bound = if let Some(_n) = Some(maybe? + 2) { Log { entry: 2 } };
        step _in_text = Say { text: format!("{}", maybe? + 3) };
        step _number: u64 = half(4)?;
        step _other = Say { text: boxed()?.to_string() };
        step _each = for n in half(5)?..9 { Log { entry: n } };
        step _plain: u64 = (text.len())?;
        step _wrong: u64 = text.parse::<u64>()?.missing();
        step _fits: String = text.parse::<u64>()?;
        half(6)?
    }
}

fn main() {}
