use plan_runtime::{Result, Tool, tool};

#[tool(nme = "x", struct = "Fetch")]
async fn fetch(n: u8) -> Result<u8> {
    Ok(n)
}

#[tool(name = x, name = "y")]
async fn send(n: u8) -> Result<u8> {
    Ok(n)
}

#[tool(read_only = 3, readonly, read_only)]
async fn read(n: u8) -> Result<u8> {
    Ok(n)
}

fn main() {
    // The tools are there all the same.
    let _ = (Fetch { n: 1 }, Send { n: 1 }, Read { n: 1 });
    let _ = Fetch::NAME;
}
