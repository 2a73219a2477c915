//! What stays on its thread is one mistake, in an output, an argument and across an `.await`.
use plan_runtime::{Call, Result, Shape, Tool, plan, tool};
use serde::{Deserialize, Serialize};
use std::rc::Rc;
use std::sync::Mutex;

#[derive(Serialize, Deserialize, Shape)]
struct Page {
    text: Rc<String>,
}

#[tool]
async fn read_page() -> Result<Page> {
    Ok(Page { text: Rc::default() })
}

#[tool]
async fn write_page(page: Page) -> Result<String> {
    Ok(page.text.to_string())
}

#[tool]
async fn count(names: Mutex<Vec<Rc<String>>>) -> Result<usize> {
    std::future::ready(()).await;
    Ok(names.lock().unwrap().len())
}

#[tool]
async fn wait(names: Mutex<Vec<String>>) -> Result<usize> {
    let locked = names.lock().unwrap();
    std::future::ready(()).await;
    std::future::ready(()).await;
    Ok(locked.len())
}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = Rc<String>)]
struct ReadText {
    name: String,
}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = String)]
struct WriteText {
    text: Rc<String>,
}

impl Call<()> for WriteText {
    async fn call(self, _: &()) -> Result<String> {
        Ok(self.text.to_string())
    }
}

plan! {
    Copy(name: String) -> Rc<String> {
        step text = ReadText { name };
        text
    }
}

plan! {
    CopyAll(name: Rc<String>) -> Vec<String> {
        step page = ReadPage {};
        step first = WritePage { page };
        step second = WriteText { text: name };
        [first, second]
    }
}

fn main() {
    let _ = CopyAll { name: Rc::default() }.run(&());
}
