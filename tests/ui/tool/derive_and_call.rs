//! A mistake in a contract is one message, also where `Call` is implemented for it.
use plan_runtime::{Call, Result, Shape, Tool, plan};
use serde::{Deserialize, Serialize};

struct App;

#[derive(Serialize, Deserialize, Shape, Tool)]
struct NoOutput {
    id: String,
}

impl Call<App> for NoOutput {
    async fn call(self, _: &App) -> Result<String> {
        Ok(self.id)
    }
}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = "String")]
struct Quoted {
    id: String,
}

impl Call<App> for Quoted {
    async fn call(self, _: &App) -> Result<String> {
        Ok(self.id)
    }
}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = String)]
struct Borrowed {
    id: &'static str,
}

impl Call<App> for Borrowed {
    async fn call(self, _: &App) -> Result<String> {
        Ok(self.id.to_owned())
    }
}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = usize)]
struct Lives<'a> {
    id: &'a str,
}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = Option<&'static str>)]
struct BorrowedOutput {
    id: String,
}

impl Call<App> for BorrowedOutput {
    async fn call(self, _: &App) -> Result<Option<&'static str>> {
        Ok(None)
    }
}

#[derive(Serialize, Deserialize, Shape, Tool)]
struct Both {
    id: &'static [u8],
}

plan! {
    UseThem(id: String) -> String {
        step one = NoOutput { id };
        one
    }
}

fn main() {
    let _ = UseThem { id: String::new() }.run(&App);
}
