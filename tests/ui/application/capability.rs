//! A tool of all applications with a capability names it where it is missing, and each one once.
use plan_runtime::{Call, Result, Shape, Tool, plan, tool};
use serde::{Deserialize, Serialize};

pub trait Readers: Sync {
    fn read(&self, name: String) -> String;
}

pub trait Writers: Sync {
    fn write(&self, text: String);
}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = String)]
pub struct ReadFile {
    name: String,
}

impl<App: Readers> Call<App> for ReadFile {
    async fn call(self, app: &App) -> Result<String> {
        Ok(app.read(self.name))
    }
}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = String)]
pub struct ReadPage {
    name: String,
}

impl<App: Readers> Call<App> for ReadPage {
    async fn call(self, app: &App) -> Result<String> {
        Ok(app.read(self.name))
    }
}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = ())]
pub struct WriteFile {
    text: String,
}

impl<App: Writers> Call<App> for WriteFile {
    async fn call(self, app: &App) -> Result<()> {
        app.write(self.text);
        Ok(())
    }
}

/// It is one of every application.
#[tool]
async fn trim(text: String) -> Result<String> {
    Ok(text.trim().into())
}

plan! {
    One(name: String) -> String {
        step text = ReadFile { name };
        text
    }
}

plan! {
    Copy(name: String) -> () {
        step text = ReadFile { name };
        step page = ReadPage { name: text };
        step written = WriteFile { text: page };
        written
    }
}

plan! {
    Around(name: String) -> () {
        step trimmed = Trim { text: name };
        step copied = Copy { name: trimmed };
        copied
    }
}

struct Nothing;

struct Reader;

impl Readers for Reader {
    fn read(&self, name: String) -> String {
        name
    }
}

fn one(name: String) {
    let _ = One { name }.run(&Nothing);
}

fn another_than_the_first(name: String) {
    let _ = Copy { name }.run(&Reader);
}

fn both(name: String) {
    let _ = Copy { name }.run(&Nothing);
}

fn in_a_plan(name: String) {
    let _ = Around { name }.run(&Reader);
}

fn in_a_reference(name: String) {
    let _ = Copy { name }.run(&&Reader);
}

fn of_a_plan_without_a_name() {
    let plan = plan! {
        step text = ReadFile { name: "a" };
        step page = ReadPage { name: text };
        page
    };
    let _ = plan.run(&Nothing);
}

fn main() {}
