use plan_runtime::{Result, tool};

struct App;

impl App {
    #[tool]
    async fn fetch(&self, n: u8) -> Result<u8> {
        Ok(n)
    }
}

fn main() {}
