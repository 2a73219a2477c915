//! Runs whose documents an older version wrote. That version accepted orders and policies that have no effect.

use super::support::{Folder, Place, at, has_ended, output, serve, summary};
use crate::journal::asking::Asking;
use plan_runtime::dynamic::{Reader, Toolbox};
use plan_runtime::journal::spi::RunInfo;
use plan_runtime::journal::{Journal, RunState, Sqlite};
use plan_runtime::plan::Executable;
use plan_runtime::{Error, Plan, Result, tool};
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct Shop {
    calls: Mutex<Vec<String>>,
    is_open: AtomicBool,
}

impl Shop {
    fn take(&self) -> Vec<String> {
        let mut calls = std::mem::take(&mut *self.calls.lock().unwrap());
        calls.sort();
        calls
    }
}

/// Notes a call.
#[tool]
async fn note(shop: &Shop, text: String) -> Result<String> {
    shop.calls.lock().unwrap().push(text.clone());
    Ok(text)
}

/// Fails while the shop is closed.
#[tool]
async fn pay(shop: &Shop, text: String) -> Result<String> {
    shop.calls.lock().unwrap().push(text.clone());
    if shop.is_open.load(Ordering::Relaxed) {
        Ok(text)
    } else {
        Err(Error::permanent("the shop is closed"))
    }
}

/// Returns a document in the form of the older version.
fn document() -> String {
    let call = |tool: &str, text: &str| {
        let arguments = json!({"object": {"text": text}});
        json!({"tool": {"name": tool}, "arguments": arguments})
    };
    let step = |id: &str, mut step: serde_json::Value, more: serde_json::Value| {
        step["id"] = json!(id);
        let more = more.as_object().unwrap().clone();
        step.as_object_mut().unwrap().extend(more);
        step
    };
    let each = json!({"for": {"pattern": "it", "list": ["a", "b"], "body": call("note", "each")}});
    let branches = json!({"if": [{"condition": true, "then": each}]});
    let policy = |name: &str, value| json!({"policy": {name: value}});
    json!({
        "name": "old",
        "steps": [
            step("held", call("note", "held"), json!({})),
            step("released", call("note", "released"), json!({"undo": "held"})),
            step("few", branches.clone(), policy("concurrency", json!(1))),
            step("some", branches.clone(), policy("optional", json!("each"))),
            step("caught", branches, policy("catch", json!("each"))),
            step("paid", call("pay", "paid"), json!({"after": ["held", "few", "some", "caught"]})),
            step("closed", call("note", "closed"), json!({"always": true, "after": ["paid"]})),
        ],
        "output": {"value": {"reference": {"step": "paid", "pointer": ""}}},
    })
    .to_string()
}

fn describe(db: &Sqlite, id: &str, plan: &str, document: String, inputs: &str) {
    let claim = db.claim_now(id).unwrap().claim;
    let info = RunInfo::new(plan, document, inputs);
    db.describe_now(&claim, &info).unwrap();
    db.release(&claim);
}

#[test]
fn documents_of_an_older_version_run_to_their_ends() {
    let toolbox = Toolbox::<Shop>::new().with::<Note>().with::<Pay>();
    let (folder, shop) = (Folder::new(), Arc::new(Shop::default()));
    let db = folder.open();
    describe(&db, "a", "old", document(), "{}");

    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    assert_eq!(summary(&db, "a").state, RunState::Failed);
    let each = ["each"; 6];
    let expected = [&["closed"], &each[..], &["held", "paid", "released"]].concat();
    assert_eq!(shop.take(), expected);
    let report = at(&db, &toolbox, &shop).report("a").unwrap();
    let statuses: Vec<_> = report
        .steps()
        .iter()
        .map(|step| step.status().name())
        .collect();
    assert_eq!(statuses.len(), 7, "{statuses:?}");
    assert_eq!(report.step("closed").unwrap().status().name(), "completed");
    assert_eq!(
        report.step("released").unwrap().status().name(),
        "completed"
    );

    shop.is_open.store(true, Ordering::Relaxed);
    at(&db, &toolbox, &shop).retry_failed("a").unwrap();
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    assert_eq!(summary(&db, "a").state, RunState::Done);
    assert_eq!(output(&db, "a"), "\"paid\"");
    assert_eq!(shop.take(), ["closed", "held", "paid"]);
}

/// A program can read and run the document. A new document with the same parts is an error.
#[test]
fn only_new_documents_must_be_free_of_these_parts() {
    let text = document();
    let plan: Plan = serde_json::from_str(&text).unwrap();
    assert_eq!(Executable::new(&plan).mistake(), None);
    let messages = [
        "`concurrency` is for the elements of a `for`",
        "`optional` is `each`, which is for the elements of a `for`",
        "`catch` is `each`, which is for the elements of a `for`",
        "step `closed` waits for `paid`, but an always step runs after `paid` anyway",
    ];
    let found = Reader::new().read(&text).unwrap_err();
    let found: Vec<&str> = found.iter().map(|it| &*it.message).collect();
    assert_eq!(found, messages);
}

/// The values of a run whose document cannot be read may be secrets.
#[test]
fn messages_about_an_unreadable_document_show_no_values() {
    #[tool]
    async fn log_in(password: String) -> Result<u64> {
        Ok(password.len() as u64)
    }

    plan_runtime::plan! {
        Enter(password: String) -> u64 {
            step entered = LogIn { password };
            entered
        }
    }

    let (folder, hidden) = (Folder::new(), "the old value");
    let db = folder.open();
    let unknown = json!({"name": "enter", "secrets_of_a_newer_version": [], "steps": []});
    let inputs = json!({"password": hidden}).to_string();
    describe(&db, "a", "enter", unknown.to_string(), &inputs);
    let enter = Enter {
        password: "the new value".to_owned(),
    };
    let run = enter.run(&()).durable(&db, "a");
    let error = smol::block_on(run).unwrap_err().to_string();
    assert!(error.contains("`password` had another value"), "{error}");
    assert!(!error.contains(hidden), "{error}");
}
