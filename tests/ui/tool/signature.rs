//! Every mistake in a function is reported, in one pass, at its token.
use plan_runtime::{Result, tool};

struct App;

#[tool]
fn not_async(n: u8) -> Result<u8> {
    Ok(n)
}

#[tool]
async unsafe extern "C" fn qualified(n: u8) -> Result<u8> {
    Ok(n)
}

#[tool]
async fn no_output(n: u8) {
    drop(n);
}

#[tool]
async fn generic<T>(n: T) -> Result<T> {
    Ok(n)
}

#[tool]
async fn lifetime<'a>(_app: &'a App, n: u8) -> Result<u8> {
    Ok(n)
}

#[tool]
async fn opaque(_app: &App, n: impl Into<u8>) -> Result<impl Send> {
    Ok(n.into())
}

#[tool]
async fn patterns(_: &App, (a, b): (u8, u8), _: u8, ref c: u8) -> Result<u8> {
    Ok(a + b + *c)
}

#[tool]
async fn exclusive(_app: &mut App) -> Result<()> {
    Ok(())
}

#[tool]
async fn borrowed(name: &str, names: &[String], more: Option<&u8>) -> Result<()> {
    let _ = (name, names, more);
    Ok(())
}

#[tool]
async fn borrowed_output(_app: &App) -> Result<std::borrow::Cow<'_, str>> {
    Ok("x".into())
}

#[tool]
async fn self_(n: u8) -> Result<u8> {
    Ok(n)
}

#[tool]
async fn nameless(_: App, n: u8) -> Result<u8> {
    Ok(n)
}

fn main() {}
