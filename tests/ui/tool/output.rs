use plan_runtime::{Result, tool};

struct Receipt;
struct Failed;
type Alias = u16;

#[tool]
async fn no_result(n: u8) -> u8 {
    n
}

#[tool]
async fn no_result_either(n: u16) -> Alias {
    n
}

#[tool]
async fn no_json(n: u8) -> Result<Receipt> {
    drop(n);
    Ok(Receipt)
}

#[tool]
async fn no_error(n: u8) -> Result<u8, Failed> {
    Ok(n)
}

fn main() {}
