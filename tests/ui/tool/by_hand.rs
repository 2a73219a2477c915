use plan_runtime::{Call, Result, Shape, Tool};
use serde::{Deserialize, Serialize};

struct App;

#[derive(Serialize, Deserialize)]
struct Fetch {
    n: u8,
}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = u8)]
struct Send {
    n: u8,
}

impl Call<App> for Fetch {
    async fn call(self, _app: &App) -> Result<u8> {
        Ok(self.n)
    }
}

fn runs_on<A, T: Call<A>>() {}

fn main() {
    runs_on::<App, Send>();
}
