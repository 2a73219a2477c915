//! Tools and types that the plans of these tests use.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "some other tests use a part of this"
)]

use plan_runtime::plan::Template;
use plan_runtime::run::Run;
use plan_runtime::{Call, Plan, Result, Shape, Tool, tool};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// A tool that returns its argument, of any type.
#[derive(Serialize, Deserialize, Shape, Debug, PartialEq)]
pub struct Same<T> {
    pub value: T,
}

impl<T: Serialize + DeserializeOwned + Send + 'static> Tool for Same<T> {
    type Output = T;
    const NAME: &'static str = "same";
    const DESCRIPTION: &'static str = "Returns its argument.";
}

impl<A: ?Sized + Sync, T: Serialize + DeserializeOwned + Send + 'static> Call<A> for Same<T> {
    async fn call(self, _: &A) -> Result<T> {
        Ok(self.value)
    }
}

/// A tool that converts JSON text to a value of any type.
#[derive(Serialize, Deserialize, Shape)]
pub struct Make<T> {
    pub json: String,
    #[serde(skip)]
    pub made: std::marker::PhantomData<T>,
}

impl<T: Serialize + DeserializeOwned + Send + 'static> Tool for Make<T> {
    type Output = T;
    const NAME: &'static str = "make";
}

impl<A: ?Sized + Sync, T: Serialize + DeserializeOwned + Send + Sync + 'static> Call<A>
    for Make<T>
{
    async fn call(self, _: &A) -> Result<T> {
        Ok(serde_json::from_str(&self.json)?)
    }
}

/// Adds two numbers.
#[tool]
pub async fn add(left: i64, right: i64) -> Result<i64> {
    left.checked_add(right)
        .ok_or_else(|| plan_runtime::Error::new("too large"))
}

/// Does nothing.
#[tool]
pub async fn nothing() -> Result<()> {
    Ok(())
}

/// Runs to the end.
#[track_caller]
pub fn done<A: ?Sized + Sync, O: DeserializeOwned>(run: Run<'_, A, O>) -> O {
    match smol::block_on(run) {
        Ok(output) => output,
        Err(error) => panic!("{error}"),
    }
}

/// The error of a run that fails.
#[track_caller]
pub fn failed<A: ?Sized + Sync, O: DeserializeOwned + Debug>(run: Run<'_, A, O>) -> String {
    smol::block_on(run).unwrap_err().to_string()
}

/// The template of an argument of a step.
#[track_caller]
pub fn argument<'a>(plan: &'a Plan, step: &str, name: &str) -> &'a Template {
    let Template::Object(entries) = &plan.step(step).unwrap().action().unwrap().args else {
        panic!("the arguments of `{step}` are not an object")
    };
    let found = entries
        .iter()
        .find(|entry| matches!(&entry.key, plan_runtime::plan::Key::Name(key) if key == name));
    &found.unwrap().value
}

/// The pointers of the first reference in an argument of a step.
#[track_caller]
pub fn pointers(plan: &Plan, step: &str, name: &str) -> Vec<String> {
    let uses = argument(plan, step, name).references();
    let pointers = uses[0].reference.pointers();
    pointers.iter().map(ToString::to_string).collect()
}
