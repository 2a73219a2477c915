//! Secrets of recorded runs, which errors about a later version of the plan do not show.

use super::support::{Folder, Place};
use crate::journal::asking::Asking;
use plan_runtime::journal::EncryptionKey;
use plan_runtime::journal::spi::Message;
use plan_runtime::{Plan, Shape, plan};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

mod marked {
    use plan_runtime::plan;

    plan! {
        pub(super) Pay(#[shape(secret)] card: String) -> usize {
            card.len()
        }
    }
}

mod unmarked {
    use plan_runtime::plan;

    plan! {
        pub(super) Pay(card: String) -> usize {
            card.len()
        }
    }
}

#[test]
fn submit_shows_no_recorded_secret() {
    let folder = Folder::new();
    let db = folder.open().encrypted(&EncryptionKey::new([7; 32]));
    let recorded = marked::Pay {
        card: "Hunter2".into(),
    };
    smol::block_on(recorded.submit(&db, "r")).unwrap();
    let other = unmarked::Pay {
        card: "Hunter3".into(),
    };
    let error = smol::block_on(other.submit(&db, "r")).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("different inputs"), "{error}");
    assert!(!error.contains("Hunter"), "{error}");
}

/// A value from outside.
#[derive(Serialize, Deserialize, Shape)]
struct Login {
    user: String,
    #[shape(secret)]
    password: String,
}

plan! {
    EnterInBlock() -> usize {
        step block = {
            step login: Login = await;
            step length: usize = login.password.len();
            length
        };
        block
    }
}

plan! {
    Enter() -> usize {
        step login: Login = await;
        step length: usize = login.password.len() + login.user.len();
        length
    }
}

fn login() -> Value {
    json!({"user": "ada", "password": "Hunter2"})
}

#[test]
fn a_secret_from_outside_is_masked() {
    let run = Enter {}
        .run(&())
        .capture_outputs(true)
        .capture_arguments(true);
    run.signals().send("login", login()).unwrap();
    let (length, report) = smol::block_on(run.with_report());
    assert_eq!(length.unwrap(), 10);
    for shown in [json!(report).to_string(), report.to_html()] {
        assert!(shown.contains("ada"), "{shown}");
        assert!(!shown.contains("Hunter2"), "{shown}");
    }
}

#[test]
fn a_journal_without_a_key_refuses_a_secret_from_outside() {
    let folder = Folder::new();
    let error = smol::block_on(Enter {}.run(&()).durable(&folder.open(), "r")).unwrap_err();
    assert!(error.to_string().contains("it has secrets"), "{error}");
    let run = EnterInBlock {}.run(&()).durable(&folder.open(), "block");
    let error = smol::block_on(run).unwrap_err();
    assert!(error.to_string().contains("it has secrets"), "{error}");
    // The plan of the journal has the secrets as well.
    let plan = serde_json::to_value(&**Enter::PLAN).unwrap();
    let wait = json!({"type": "Login", "secrets": ["/password"]});
    assert_eq!(plan["steps"][0]["await"], wait);
    let read: Plan = serde_json::from_value(plan).unwrap();
    assert_eq!(read, **Enter::PLAN);
}

#[test]
fn a_sent_value_of_a_wrong_type_is_not_shown() {
    let folder = Folder::new();
    let db = folder.open().encrypted(&EncryptionKey::new([7; 32]));
    let login = json!({"user": "ada", "password": 271_828});
    smol::block_on(Enter {}.submit(&db, "r")).unwrap();
    let body = login.to_string();
    let path = "login".to_owned();
    db.send_now("r", &Message::Signal { path, body }).unwrap();
    let error = smol::block_on(Enter {}.run(&()).durable(&db, "r")).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("step `login`"), "{error}");
    assert!(!error.contains("271828"), "{error}");
}
