//! Conditions, loops, and the effects of a failed step.

mod branches;
mod conditions;
mod data;
mod lists;
mod policies;
mod values;

use plan_runtime::{Error, Result, Shape, tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    pub serial_number: u32,
    pub name: String,
    pub tags: Vec<String>,
    pub size: (u32, u32),
    pub owner: Option<String>,
}

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Stock {
    pub all: Vec<Item>,
    pub next: Option<String>,
    pub counts: BTreeMap<String, u32>,
    pub raw: Value,
}

#[derive(Serialize, Deserialize, Shape, Clone, Debug, PartialEq)]
pub struct Said {
    pub id: String,
    pub number: Option<u32>,
}

/// Lists `count` items.
#[tool]
pub async fn list(count: u32) -> Result<Stock> {
    let items = (0..count).map(|serial_number| Item {
        serial_number,
        name: format!("n{serial_number}"),
        tags: (0..serial_number).map(|tag| format!("t{tag}")).collect(),
        size: (serial_number, serial_number * 10),
        owner: (serial_number % 2 == 1).then(|| format!("o{serial_number}")),
    });
    Ok(Stock {
        all: items.collect(),
        next: (count > 0).then(|| "next".to_owned()),
        counts: BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 2)]),
        raw: json!([{"x": 1}, {"x": 2}, "three"]),
    })
}

/// Formats a text, with a number if there is one.
#[tool]
pub async fn say(text: String, number: Option<u32>) -> Result<Said> {
    Ok(Said { id: text, number })
}

/// Fails at this number.
#[tool]
pub async fn check(number: u32, bad: u32) -> Result<u32> {
    if number == bad {
        return Err(Error::msg(format!("{number} is bad")));
    }
    Ok(number)
}

/// The application of the tools with a memory.
#[derive(Default)]
pub struct App {
    attempts: AtomicUsize,
    running: AtomicUsize,
    most: AtomicUsize,
    order: Mutex<Vec<u32>>,
}

/// Fails `failures` times before it works.
#[tool]
pub async fn flaky(app: &App, failures: usize) -> Result<usize> {
    let attempt = app.attempts.fetch_add(1, Ordering::SeqCst) + 1;
    if attempt <= failures {
        return Err(Error::msg(format!("attempt {attempt} failed")));
    }
    Ok(attempt)
}

/// Is wrong for good.
#[tool]
pub async fn wrong(app: &App) -> Result<usize> {
    app.attempts.fetch_add(1, Ordering::SeqCst);
    Err(Error::permanent("wrong for good"))
}

/// Never ends.
#[tool]
pub async fn hang() -> Result<String> {
    std::future::pending().await
}

/// Notes how many work concurrently.
#[tool]
pub async fn work(app: &App, number: u32) -> Result<u32> {
    let now = app.running.fetch_add(1, Ordering::SeqCst) + 1;
    app.most.fetch_max(now, Ordering::SeqCst);
    for _ in 0..10 - number {
        smol::future::yield_now().await;
    }
    app.order.lock().unwrap().push(number);
    app.running.fetch_sub(1, Ordering::SeqCst);
    Ok(number)
}
