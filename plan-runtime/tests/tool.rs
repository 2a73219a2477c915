//! `#[tool]` and `derive(Tool)`.
#![deny(warnings, missing_docs, clippy::pedantic)]
#![allow(
    unreachable_pub,
    reason = "tools are public, as in a crate that others use"
)]

use plan_runtime::shape::{FieldPlace, TypeShape};
use plan_runtime::{Call, Error, Result, Shape, Tool, tool};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fmt;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Runs a future that never waits.
fn now<T>(future: impl Future<Output = T> + Send) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits"),
    }
}

#[derive(Debug)]
struct Mail {
    sender: String,
}

/// Finds mail.
///
/// - one line
///   - nested
#[tool]
async fn fetch_mail(
    mail: &Mail,
    /// Only unread mail.
    #[serde(default)]
    unread: bool,
    #[serde(rename = "max-results")] mut limit: usize,
    r#type: Option<String>,
) -> Result<Vec<String>> {
    limit += usize::from(unread);
    Ok(vec![r#type.unwrap_or_else(|| mail.sender.clone()); limit])
}

#[test]
fn a_function_makes_struct_contract_and_implementation() {
    let mail = Mail {
        sender: "sarah".into(),
    };
    assert_eq!(FetchMail::NAME, "fetch_mail");
    assert_eq!(
        FetchMail::DESCRIPTION,
        "Finds mail.\n\n- one line\n  - nested"
    );
    let fetch: FetchMail = serde_json::from_value(json!({ "max-results": 1 })).unwrap();
    assert!(!fetch.unread && fetch.limit == 1 && fetch.r#type.is_none());
    assert_eq!(now(fetch.call(&mail)).unwrap(), ["sarah"]);
    // The function stays what it was.
    let direct = now(fetch_mail(&mail, true, 1, Some("x".into())));
    assert_eq!(direct.unwrap(), ["x", "x"]);

    let TypeShape::Struct([unread, limit, kind]) = FetchMail::SHAPE else {
        panic!("{:?}", FetchMail::SHAPE);
    };
    assert!(!unread.required);
    assert_eq!(limit.argument, FieldPlace::Key("max-results"));
    assert!(limit.required);
    assert_eq!((kind.ident, kind.required), ("type", false));
}

#[tool]
async fn add(a: u8, b: u8) -> Result<u8> {
    a.checked_add(b)
        .ok_or_else(|| std::io::Error::other("too much").into())
}

#[test]
fn a_tool_without_an_application_is_a_tool_of_every_application() {
    assert_eq!(Add::DESCRIPTION, "");
    assert_eq!(now(Add { a: 1, b: 2 }.call(&())).unwrap(), 3);
    // The application need not even be `Sync`.
    assert_eq!(
        now(Add { a: 1, b: 2 }.call(&std::cell::Cell::new(0))).unwrap(),
        3
    );
    assert_eq!(now(Add { a: 1, b: 2 }.call("unsized")).unwrap(), 3);
    assert!(now(Add { a: 255, b: 1 }.call(&())).is_err());
}

trait Store: Sync {
    fn get(&self, key: &str) -> String;
}

struct Borrowed<'a>(&'a str);

impl Store for Borrowed<'_> {
    fn get(&self, key: &str) -> String {
        format!("{}{key}", self.0)
    }
}

#[tool]
async fn get(store: &dyn Store, key: String) -> Result<String> {
    Ok(store.get(&key))
}

#[tool]
async fn get_more(store: &(dyn Store + Send), key: String) -> Result<String> {
    Ok(store.get(&key))
}

#[tool]
async fn get_borrowed(store: &Borrowed<'_>, key: String) -> Result<String> {
    Ok(store.get(&key))
}

#[test]
fn applications_that_borrow() {
    let text = String::from("a");
    let borrowed = Borrowed(&text);
    let store: &dyn Store = &borrowed;
    let key = || "b".to_owned();
    assert_eq!(now(Get { key: key() }.call(store)).unwrap(), "ab");
    let store: &(dyn Store + Send) = &borrowed;
    assert_eq!(now(GetMore { key: key() }.call(store)).unwrap(), "ab");
    assert_eq!(
        now(GetBorrowed { key: key() }.call(&borrowed)).unwrap(),
        "ab"
    );
}

/// An error of the user's own.
#[derive(Debug)]
struct NoSuchThing;

impl fmt::Display for NoSuchThing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such thing")
    }
}

impl std::error::Error for NoSuchThing {}

type Found<T> = std::result::Result<T, NoSuchThing>;

#[tool]
async fn find(name: String) -> Found<String> {
    if name.is_empty() {
        return Err(NoSuchThing);
    }
    Ok(name)
}

#[test]
fn any_error_that_converts() {
    let error: Error = now(Find {
        name: String::new(),
    }
    .call(&()))
    .unwrap_err();
    assert!(format!("{error:?}").contains("no such thing"));
}

mod options {
    use plan_runtime as renamed;

    /// Documented.
    #[renamed::tool(name = "mail.send", struct = Send, crate = renamed)]
    #[derive(Debug, Clone, PartialEq)]
    #[serde(rename_all = "camelCase")]
    pub(crate) async fn send_it(
        _app: &super::Mail,
        thread_id: String,
        _dry_run: bool,
    ) -> renamed::Result<()> {
        drop(thread_id);
        Ok(())
    }

    #[derive(serde::Serialize, serde::Deserialize, renamed::Shape, renamed::Tool)]
    #[shape(crate = renamed)]
    #[tool(crate = renamed)]
    #[tool(output = std::collections::BTreeMap<String, u8>, name = "count")]
    pub(super) struct CountAll {}
}

#[test]
fn options() {
    assert_eq!(options::Send::NAME, "mail.send");
    assert_eq!(options::CountAll::NAME, "count");
    let send = options::Send {
        thread_id: "t".into(),
        _dry_run: true,
    };
    assert_eq!(
        serde_json::to_value(send.clone()).unwrap(),
        json!({ "threadId": "t", "dryRun": true })
    );
    assert_eq!(send.clone(), send);
}

/// Says how much.
#[derive(Debug, Serialize, Deserialize, Shape, Tool)]
#[tool(output = f64)]
pub struct HTTPQuote {
    /// The unit.
    pub item: String,
}

impl Call<Mail> for HTTPQuote {
    async fn call(self, mail: &Mail) -> Result<f64> {
        now_and_then().await;
        Ok(if self.item == mail.sender { 1.5 } else { 0.0 })
    }
}

async fn now_and_then() {
    std::future::ready(()).await;
}

/// A tool for every type.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = Vec<T>)]
pub struct Repeat<T: Send + 'static> {
    /// What.
    pub item: T,
    /// How often.
    pub times: usize,
}

impl<T, App: ?Sized + Sync> Call<App> for Repeat<T>
where
    T: Clone + Send + Sync + 'static,
    Self: Tool<Output = Vec<T>>,
{
    async fn call(self, _app: &App) -> Result<Vec<T>> {
        Ok(vec![self.item; self.times])
    }
}

#[test]
fn a_struct_with_the_contract() {
    assert_eq!(HTTPQuote::NAME, "http_quote");
    assert_eq!(HTTPQuote::DESCRIPTION, "Says how much.");
    let mail = Mail {
        sender: "sarah".into(),
    };
    let quote = HTTPQuote {
        item: "sarah".into(),
    };
    assert!(now(quote.call(&mail)).unwrap() > 1.0);
    let repeat = Repeat { item: 1, times: 2 };
    assert_eq!(now(repeat.call(&mail)).unwrap(), [1, 1]);
}

#[test]
fn inside_a_function() {
    /// Doubles.
    #[tool]
    async fn double(n: u8) -> Result<u8> {
        Ok(n * 2)
    }
    assert_eq!(now(Double { n: 2 }.call(&())).unwrap(), 4);
}

/// In a module of its own, so that the visibility shows.
pub mod public {
    use plan_runtime::tool;

    /// Takes much.
    ///
    /// # Errors
    /// Never.
    #[tool]
    pub async fn take(
        one: bool,
        #[cfg(any())] gone: NoType,
        take: u8,
    ) -> plan_runtime::Result<(bool, u8)> {
        Ok((one, take))
    }
}

#[test]
fn fields_are_as_visible_as_the_function() {
    let take = public::Take { one: true, take: 2 };
    assert_eq!(now(take.call(&())).unwrap(), (true, 2));
}
