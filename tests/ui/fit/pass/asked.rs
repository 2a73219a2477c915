#[path = "../../tools.rs"]
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
        step _said = Say { text: text.get(1..).ok_or("it is short")?.to_owned() };
        step _typed: u64 = maybe.ok_or("it is missing")? + 1;
        step _number: u64 = half(4).map_err(|odd| format!("{odd:?}"))?;
        step _other = Say { text: boxed().ok().ok_or("no box")?.to_string() };
        step _decided = if *list.first().ok_or("none")? > 1 { Log { entry: 1 } };
        step _inner: Option<u64> = list.first().and_then(|first| Some(first.checked_sub(1)? + maybe?));
        step _whole: u64 = { let first: u64 = text.parse()?; let Some(last) = list.last() else { Err("no last")? }; first + last };
        step _blocks: u64 = { fn two() -> Result<u64, Odd> { Ok(half(4)?) } two().ok().ok_or("odd")? };
        step _checked: usize = { if text.is_empty() { Err("it is empty")?; } (text.len() + 1).min(2) };
        step _sum: u64 = (text.parse::<u64>().map(|n| n + 1))? + 1;
        text.parse()?
    }
}

fn main() {}
