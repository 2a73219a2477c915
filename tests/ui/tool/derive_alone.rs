//! A tool that lacks derives is one mistake, wherever plans use it. Only where `Call` is implemented for it, rustc asks for each trait again.
use plan_runtime::{Call, Result, Shape, Tool, plan};
use serde::{Deserialize, Serialize};

struct App;

#[derive(Tool)]
#[tool(output = String)]
struct Alone {
    id: String,
}

impl Call<App> for Alone {
    async fn call(self, _: &App) -> Result<String> {
        Ok(self.id)
    }
}

#[derive(Serialize, Deserialize, Tool)]
#[tool(output = u8)]
struct NoShape {
    id: String,
}

#[derive(Shape, Tool)]
#[tool(output = u8)]
struct NoSerde {
    id: String,
}

plan! {
    UseThem(id: String) -> String {
        step alone = Alone { id };
        step shape = NoShape { id: alone };
        step serde = NoSerde { id: format!("{shape}") };
        format!("{serde}")
    }
}

fn main() {
    let _ = UseThem { id: String::new() }.run(&App);
}
