//! Databases with a key: no file contains a secret, and a run needs the right key to continue.

use super::support::{Folder, Place, at, has_ended, serve, summary};
use crate::journal::asking::Asking;
use plan_runtime::dynamic::Toolbox;
use plan_runtime::journal::spi::{Message, RunInfo};
use plan_runtime::journal::{
    EncryptionKey, Journal, JournalError, Memory, RunFilter, Sqlite, conformance,
};
use plan_runtime::run::{Attempt, CallContext};
use plan_runtime::{Error, Report, Result, Shape, plan, tool};
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::future::Future;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use std::{env, fs, thread};

/// Part of each secret.
const MARKER: &str = "Hunter2";

fn key() -> EncryptionKey {
    EncryptionKey::new([7; 32])
}

fn keyed(folder: &Folder) -> Sqlite {
    folder.open().encrypted(&key())
}

/// Lets so many calls end.
struct Shop {
    left: AtomicUsize,
    calls: AtomicUsize,
    is_closed: AtomicBool,
    hangs: (smol::channel::Sender<()>, smol::channel::Receiver<()>),
}

impl Shop {
    fn new(left: usize) -> Arc<Self> {
        Arc::new(Self {
            left: left.into(),
            calls: AtomicUsize::new(0),
            is_closed: AtomicBool::new(false),
            hangs: smol::channel::unbounded(),
        })
    }

    fn open() -> Arc<Self> {
        Self::new(usize::MAX)
    }

    async fn call(&self) {
        let less = |left: usize| left.checked_sub(1);
        let order = Ordering::SeqCst;
        self.calls.fetch_add(1, order);
        if self.left.fetch_update(order, order, less).is_err() {
            let _ = self.hangs.0.try_send(());
            std::future::pending::<()>().await;
        }
    }

    /// Runs something until a call hangs.
    fn run_until_it_hangs<T>(&self, run: impl Future<Output = T>) -> Option<T> {
        let run = async { Some(run.await) };
        let hangs = async {
            let _ = self.hangs.1.recv().await;
            None
        };
        smol::block_on(smol::future::or(run, hangs))
    }
}

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Session {
    user: String,
    #[shape(secret)]
    token: String,
}

#[derive(Clone, Serialize, Deserialize, Shape)]
struct Account {
    name: String,
    #[shape(secret)]
    password: String,
}

/// Logs in.
#[tool]
async fn log_in(shop: &Shop, #[shape(secret)] password: String) -> Result<Session> {
    shop.call().await;
    Ok(Session {
        user: "sarah".into(),
        token: format!("{password}!"),
    })
}

/// Fails with the password in the message.
#[tool]
async fn refuse(shop: &Shop, #[shape(secret)] password: String) -> Result<u64> {
    shop.call().await;
    Err(Error::permanent(format!("{password} is wrong")).with_code("LOGIN"))
}

/// Takes a number.
#[tool]
async fn take(shop: &Shop, #[shape(secret)] number: Value) -> Result<u64> {
    shop.call().await;
    let number: u64 = serde_json::from_value(number).map_err(Error::permanent)?;
    Ok(number)
}

/// Is a number, if its argument is.
#[tool]
async fn typed(shop: &Shop, #[shape(secret)] number: u64) -> Result<u64> {
    shop.call().await;
    Ok(number)
}

plan! {
    Inner(#[shape(secret)] password: String) -> String {
        step session = LogIn { password };
        step more: String = format!("{}?", session.token);
        more
    }
}

/// Runs a plan inside its call.
#[tool]
async fn wrap(
    shop: &Shop,
    #[context] context: CallContext,
    #[shape(secret)] password: String,
) -> Result<String> {
    shop.call().await;
    Ok(Inner { password }.run(shop).inside(&context).await?)
}

plan! {
    Everything(#[shape(secret)] password: String, accounts: Vec<Account>) -> Value {
        step literal = LogIn { password: "Hunter2-literal" };
        #[after(literal)]
        step session = LogIn { password };
        #[concurrency(1)]
        step each = for account in accounts { LogIn { password: account.password } };
        step computed: String = format!("<{}>", session.token);
        step called = Inner { password: computed };
        step made = Inner { password: format!("{computed}+") };
        #[after(made)]
        step wrapped = Wrap { password };
        #[catch]
        #[after(wrapped)]
        step refused = Refuse { password };
        #[catch]
        #[after(refused)]
        step wrong = Typed { number: session.token.parse::<u64>()? };
        #[catch]
        step raised: u64 = session.token.parse::<u64>()?;
        #[optional]
        #[after(wrong)]
        step maybe = if session.token == "none" { Take { number: 1 } } else { Take { number: session.token } };
        #[after(maybe)]
        step answer: String = await;
        #[after(answer)]
        step block = {
            step held = LogIn { password: answer };
            #[undo(held)]
            step released = LogIn { password: held.token };
            step kept: String = held.token;
            kept
        };
        #[always]
        step closed = LogIn { password };
        serde_json::json!([literal, session, each, computed, called, made, wrapped, refused, wrong, raised, maybe, answer, block])
    }
}

/// All calls of a run.
const CALLS: usize = 12;

fn everything() -> Everything {
    let account = |name: &str| Account {
        name: name.into(),
        password: format!("{MARKER}-{name}"),
    };
    Everything {
        password: format!("{MARKER}-input"),
        accounts: vec![account("a"), account("b")],
    }
}

fn answer() -> String {
    format!("{MARKER}-signal")
}

fn toolbox() -> Toolbox<Shop> {
    Toolbox::new().with::<Everything>()
}

/// The output and the report of a run without a journal.
fn expected() -> (Value, Vec<Value>) {
    let shop = Shop::open();
    let run = everything().run(&*shop);
    let run = run.capture_arguments(true).capture_outputs(true);
    let (signals, run) = {
        let signals = run.signals();
        (signals, run.with_report())
    };
    let send = async {
        while signals.send("answer", answer()).is_err() {
            smol::future::yield_now().await;
        }
    };
    let ((), (output, report)) = smol::block_on(smol::future::zip(send, run));
    assert_eq!(shop.calls.load(Ordering::SeqCst), CALLS);
    (output.unwrap(), seen(&report))
}

/// The values and errors in a report.
fn seen(report: &Report) -> Vec<Value> {
    let steps = report.steps().iter();
    let seen = steps.map(|step| {
        let arguments: Vec<_> = step.attempts().iter().map(Attempt::arguments).collect();
        let error = step.error().map(ToString::to_string);
        let arguments = if step.tool().is_some() {
            arguments
        } else {
            Vec::new()
        };
        json!([
            step.id(),
            step.status().name(),
            arguments,
            step.output(),
            error
        ])
    });
    seen.collect()
}

/// Checks that no file of a folder contains a secret, in plain text or in base64 at any of the three positions.
fn no_secret_in(folder: &Path) {
    let mut files = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let bytes = fs::read(&path).unwrap();
            for marker in [MARKER, "unter", "SHVudGVy", "h1bnRlcj", "IdW50ZXIy"] {
                let mut windows = bytes.windows(marker.len());
                let found = windows.any(|window| window == marker.as_bytes());
                assert!(!found, "{} has `{marker}`", path.display());
            }
        }
    }
    assert!(files > 0);
}

fn folder_of(folder: &Folder) -> std::path::PathBuf {
    folder.path().parent().unwrap().to_owned()
}

#[test]
fn a_run_with_secrets_survives_crashes_and_no_file_has_them() {
    let (output, report) = expected();
    let mut ended = 0;
    for calls in 0..=CALLS {
        let folder = Folder::new();
        let db = keyed(&folder);
        let shop = Shop::new(calls);
        let run = || everything().run(&*shop).durable(&db, "r");
        // Sent before the step waits, where it is far away.
        let begun = everything().submit(&db, "r");
        smol::block_on(begun).unwrap();
        at(&db, &toolbox(), &shop)
            .signal("r", "answer", answer())
            .unwrap();
        let first = shop.run_until_it_hangs(run());
        no_secret_in(&folder_of(&folder));
        drop(db);
        no_secret_in(&folder_of(&folder));
        ended += usize::from(first.is_some());
        // Another process.
        let (db, shop) = (keyed(&folder), Shop::open());
        let run = everything().run(&*shop).durable(&db, "r");
        assert_eq!(smol::block_on(run).unwrap(), output, "after {calls}");
        let made = shop.calls.load(Ordering::SeqCst);
        // A tool that runs a plan inside its call is called again.
        assert!(calls + made <= CALLS + 2, "after {calls}: {made}");
        let viewed = at(&db, &toolbox(), &shop)
            .report_with("r", |run| run.capture_arguments(true).capture_outputs(true))
            .unwrap();
        assert_eq!(seen(&viewed), report, "after {calls}");
        assert_eq!(db.output_now("r").unwrap().unwrap(), output);
        no_secret_in(&folder_of(&folder));
    }
    assert_eq!(ended, 1);
}

/// A signal that another thread sends while the description of a run is being written is encrypted or refused.
#[test]
fn a_signal_for_a_run_that_begins_is_never_plain() {
    let folder = Folder::new();
    let db = keyed(&folder);
    let claim = db.claim_now("r").unwrap().claim;
    let info = RunInfo::new("everything", "{}", "{}");
    let signal = |path: &str| Message::Signal {
        path: path.to_owned(),
        body: format!("\"{MARKER}\""),
    };
    let sent = thread::scope(|scope| {
        // Holds up the writer, which gets the description first.
        let other = Connection::open(folder.path()).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let described = scope.spawn(|| db.describe_now(&claim, &info));
        thread::sleep(Duration::from_millis(200));
        let sent = scope.spawn(|| db.send_now("r", &signal("early")));
        thread::sleep(Duration::from_millis(200));
        other.execute_batch("COMMIT").unwrap();
        described.join().unwrap().unwrap();
        sent.join().unwrap()
    });
    let is_kept = sent.is_ok();
    assert!(is_kept || matches!(sent, Err(JournalError::Unknown { id }) if id == "r"));
    db.send_now("r", &signal("late")).unwrap();
    let messages = db.messages_now(&claim, 0).unwrap();
    assert_eq!(messages.len(), 1 + usize::from(is_kept));
    no_secret_in(&folder_of(&folder));
}

/// The work of a process that ends without closing anything.
const PROCESS: &str = "ENCRYPTED_TEST_FOLDER";

/// Not a test: the work of a process that a test starts.
#[test]
fn process() {
    let Ok(folder) = env::var(PROCESS) else {
        return;
    };
    let (path, calls) = folder.split_once('|').unwrap();
    let db = Sqlite::open(path).unwrap().encrypted(&key());
    let shop = Shop::new(calls.parse().unwrap());
    let run = everything().run(&*shop).durable(&db, "r");
    let _ = shop.run_until_it_hangs(run);
    // Nothing is closed, and nothing is moved from the log to the database.
    std::process::abort();
}

#[test]
fn no_file_of_a_process_that_was_killed_has_a_secret() {
    let (output, _) = expected();
    let folder = Folder::new();
    let path = folder.path();
    for calls in [3, 4, 2] {
        let mut command = Command::new(env::current_exe().unwrap());
        command
            .args(["--exact", "serving::encrypted::process", "--nocapture"])
            .env(PROCESS, format!("{}|{calls}", path.display()))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .stdout(Stdio::null());
        let status = command.status().unwrap();
        assert!(!status.success());
        assert!(fs::metadata(path.with_extension("db-wal")).unwrap().len() > 0);
        no_secret_in(&folder_of(&folder));
    }
    let (db, shop) = (keyed(&folder), Shop::open());
    at(&db, &toolbox(), &shop)
        .signal("r", "answer", answer())
        .unwrap();
    let run = everything().run(&*shop).durable(&db, "r");
    assert_eq!(smol::block_on(run).unwrap(), output);
    no_secret_in(&folder_of(&folder));
}

/// Begins a run that stops before its fourth call.
fn begin(db: &Sqlite, id: &str) {
    let shop = Shop::new(3);
    let run = everything().run(&*shop).durable(db, id);
    assert!(shop.run_until_it_hangs(run).is_none());
}

fn finish(db: &Sqlite, id: &str) -> Value {
    let shop = Shop::open();
    at(db, &toolbox(), &shop)
        .signal(id, "answer", answer())
        .unwrap();
    smol::block_on(everything().run(&*shop).durable(db, id)).unwrap()
}

#[test]
fn without_the_right_key_each_way_to_a_run_is_an_error_and_loses_nothing() {
    let (output, _) = expected();
    let folder = Folder::new();
    begin(&keyed(&folder), "r");
    let without = "run `r` cannot be decrypted: the database was opened without a key; open it with `Sqlite::open(…)?.encrypted(&key)`";
    let with_other = "run `r` cannot be decrypted: the run was encrypted with another key than the key of the database";
    let other = EncryptionKey::new([8; 32]);
    for (db, says) in [
        (folder.open(), without),
        (folder.open().encrypted(&other), with_other),
    ] {
        let (shop, toolbox) = (Shop::open(), toolbox());
        let signal = Message::Signal {
            path: "answer".into(),
            body: json!(answer()).to_string(),
        };
        let mut errors = vec![
            db.claim_now("r").unwrap_err().to_string(),
            db.look_now("r").unwrap_err().to_string(),
            db.records_now("r").err().unwrap().to_string(),
            db.output_now("r").unwrap_err().to_string(),
            db.send_now("r", &signal).unwrap_err().to_string(),
            at(&db, &toolbox, &shop)
                .signal("r", "answer", answer())
                .unwrap_err()
                .to_string(),
            at(&db, &toolbox, &shop)
                .report("r")
                .unwrap_err()
                .to_string(),
            at(&db, &toolbox, &shop)
                .retry_failed("r")
                .unwrap_err()
                .to_string(),
            smol::block_on(everything().run(&*shop).durable(&db, "r"))
                .unwrap_err()
                .to_string(),
            smol::block_on(everything().submit(&db, "r"))
                .unwrap_err()
                .to_string(),
        ];
        let found = at(&db, &toolbox, &shop).check().unwrap();
        errors.extend(found.iter().map(|(_, error)| error.to_string()));
        assert_eq!(errors.len(), 11);
        for error in errors {
            assert!(error.ends_with(says), "{error}");
        }
        serve(&db, &toolbox, &shop, || summary(&db, "r").refusal.is_some());
        assert_eq!(summary(&db, "r").refusal.unwrap(), says);
        assert_eq!(shop.calls.load(Ordering::SeqCst), 0);
    }
    let db = keyed(&folder);
    assert_eq!(finish(&db, "r"), output);
}

/// The sealed strings of a database, as tables and columns.
const SEALED: [(&str, &str); 5] = [
    ("descriptions", "document"),
    ("descriptions", "inputs"),
    ("records", "body"),
    ("ends", "body"),
    ("messages", "body"),
];

/// A sealed string that moved to another field, or changed, is an error that names the run. With the original string, the run resumes.
#[test]
fn a_text_at_another_place_is_an_error() {
    let (output, _) = expected();
    let folder = Folder::new();
    {
        let db = keyed(&folder);
        for id in ["r", "s"] {
            begin(&db, id);
            let shop = Shop::open();
            at(&db, &toolbox(), &shop)
                .signal(id, "answer", answer())
                .unwrap();
        }
        begin(&db, "ended");
        assert_eq!(finish(&db, "ended"), output);
    }
    let sql = Connection::open(folder.path()).unwrap();
    let mut texts: Vec<(usize, i64, i64, String)> = Vec::new();
    for (place, (table, column)) in SEALED.iter().enumerate() {
        let read = format!("SELECT rowid, run, {column} FROM {table}");
        let mut statement = sql.prepare(&read).unwrap();
        let rows =
            statement.query_map([], |row| Ok((place, row.get(0)?, row.get(1)?, row.get(2)?)));
        texts.extend(rows.unwrap().map(Result::unwrap));
    }
    assert!(texts.len() > 20);
    let number: i64 = sql
        .query_row("SELECT number FROM runs WHERE id = 'r'", [], |row| {
            row.get(0)
        })
        .unwrap();
    let write = |place: usize, row: i64, text: &str| {
        let (table, column) = SEALED[place];
        let write = format!("UPDATE {table} SET {column} = ?1 WHERE rowid = ?2");
        sql.execute(&write, params![text, row]).unwrap();
    };
    let of_run = texts.iter().filter(|(_, _, run, _)| *run == number);
    let mut tried = 0;
    for (place, row, _, text) in of_run {
        let mut others: Vec<String> = Vec::new();
        // One of each kind, of the same run and of others.
        for kind in 0..SEALED.len() {
            for is_same_run in [true, false] {
                let mut of_kind = texts.iter().filter(|(other, other_row, run, _)| {
                    *other == kind
                        && (*run == number) == is_same_run
                        && (*other, *other_row) != (*place, *row)
                });
                others.extend(of_kind.next().map(|other| other.3.clone()));
            }
        }
        let mut changed = text.clone().into_bytes();
        let last = changed.len() - 1;
        changed[last] = if changed[last] == b'A' { b'E' } else { b'A' };
        others.push(String::from_utf8(changed).unwrap());
        others.push(text[..text.len() - 8].to_owned());
        others.push("{}".to_owned());
        for other in others {
            write(*place, *row, &other);
            let (db, shop) = (keyed(&folder), Shop::open());
            let is_plain = other == "{}" && SEALED[*place] == ("descriptions", "inputs");
            let result = smol::block_on(everything().run(&*shop).durable(&db, "r"));
            let error = result.unwrap_err().to_string();
            let says = if is_plain {
                // Such a run was begun without a key.
                "run `r` began without a key"
            } else {
                "run `r` cannot be decrypted: its "
            };
            assert!(error.contains(says), "{:?}: {error}", SEALED[*place]);
            assert_eq!(shop.calls.load(Ordering::SeqCst), 0);
            tried += 1;
        }
        write(*place, *row, text);
    }
    assert!(tried > 50, "{tried}");
    let (db, shop) = (keyed(&folder), Shop::open());
    let run = everything().run(&*shop).durable(&db, "r");
    assert_eq!(smol::block_on(run).unwrap(), output);
}

plan! {
    Plain(n: u64) -> u64 {
        step first = Plainly { n };
        #[after(first)]
        step second = Plainly { n: 2 };
        first + second
    }
}

/// Has no secrets.
#[tool]
async fn plainly(shop: &Shop, n: u64) -> Result<u64> {
    shop.call().await;
    Ok(n)
}

#[test]
fn a_run_that_began_without_a_key_stays_in_plain_text() {
    let folder = Folder::new();
    let shop = Shop::new(1);
    {
        let db = folder.open();
        assert!(
            shop.run_until_it_hangs(Plain { n: 1 }.run(&*shop).durable(&db, "old"))
                .is_none()
        );
    }
    {
        let db = keyed(&folder);
        let is_encrypted = |id| db.look_now(id).unwrap().unwrap().is_encrypted;
        assert!(!is_encrypted("old") && db.encrypts());
        let shop = Shop::new(0);
        for id in ["old", "new"] {
            let run = Plain { n: 1 }.run(&*shop).durable(&db, id);
            assert!(shop.run_until_it_hangs(run).is_none());
        }
    }
    let (db, shop) = (folder.open(), Shop::open());
    assert_eq!(
        smol::block_on(Plain { n: 1 }.run(&*shop).durable(&db, "old")).unwrap(),
        3
    );
    assert!(smol::block_on(Plain { n: 1 }.run(&*shop).durable(&db, "new")).is_err());
    let db = db.encrypted(&key());
    assert_eq!(
        smol::block_on(Plain { n: 1 }.run(&*shop).durable(&db, "new")).unwrap(),
        3
    );
    assert_eq!(db.runs_now(&RunFilter::new()).len(), 2);
}

/// The plan `Plain`, with a secret now.
mod secret {
    use super::{Plainly, Shop, Typed};
    plan_runtime::plan! {
        pub(crate) Plain(#[shape(secret)] n: u64) -> u64 {
            step first = Plainly { n };
            #[after(first)]
            step second = Typed { number: 2 };
            first + second
        }
    }
    const _: Option<Shop> = None;
}

/// A run with the id of a deleted run begins while a signal is on its way. The signal is stored in the form of the new run.
#[test]
fn a_signal_has_the_form_of_the_run_that_gets_it() {
    let describe = |db: &Sqlite| {
        let claim = db.claim_now("r").unwrap().claim;
        let (plan, document, inputs) = ("p".to_owned(), "{}".to_owned(), "{}".to_owned());
        let info = RunInfo::new(plan, document, inputs);
        db.describe_now(&claim, &info).unwrap();
        db.release(&claim);
    };
    let signal = || Message::Signal {
        path: "answer".to_owned(),
        body: "17".to_owned(),
    };
    for was_encrypted in [false, true] {
        let open = |folder: &Folder, encrypted: bool| {
            if encrypted {
                keyed(folder)
            } else {
                folder.open()
            }
        };
        // The description of the new run, which has this id in its sealed form as well.
        let other = Folder::new();
        describe(&open(&other, !was_encrypted));
        let read = |column: &str| -> String {
            let database = Connection::open(other.path()).unwrap();
            let sql = format!("SELECT {column} FROM descriptions");
            database.query_row(&sql, [], |row| row.get(0)).unwrap()
        };
        let (document, inputs) = (read("document"), read("inputs"));
        let folder = Folder::new();
        describe(&open(&folder, was_encrypted));
        let sender = keyed(&folder);
        let database = Connection::open(folder.path()).unwrap();
        database.execute_batch("BEGIN IMMEDIATE").unwrap();
        let sent = thread::spawn(move || sender.send_now("r", &signal()));
        // The sender has time to look at the old run, and cannot write yet.
        thread::sleep(Duration::from_millis(200));
        database
            .execute_batch("DELETE FROM runs; DELETE FROM descriptions; INSERT INTO runs(id, epoch, began, plan) VALUES('r', 9, 0, 'p')")
            .unwrap();
        let run = database.last_insert_rowid();
        let sql = "INSERT INTO descriptions(run, document, inputs) VALUES(?1, ?2, ?3)";
        database
            .execute(sql, params![run, document, inputs])
            .unwrap();
        database.execute_batch("COMMIT").unwrap();
        sent.join().unwrap().unwrap();
        let db = keyed(&folder);
        let claim = db.claim_now("r").unwrap().claim;
        let messages = db.messages_now(&claim, 0).unwrap();
        let messages: Vec<Message> = messages.into_iter().map(|(_, it)| it).collect();
        assert_eq!(messages, [signal()]);
        let sql = "SELECT body FROM messages";
        let stored: String = database.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(stored == "17", was_encrypted, "{stored}");
    }
}

#[test]
fn what_cannot_keep_a_secret_names_the_key() {
    let folder = Folder::new();
    let shop = Shop::open();
    let says = "plan `everything` cannot start: it has secrets, which its journal would keep in plain text; give the journal a key: `Sqlite::open(…)?.encrypted(&key)`";
    let (db, memory) = (folder.open(), Memory::new());
    for error in [
        smol::block_on(everything().run(&*shop).durable(&db, "r")).map(drop),
        smol::block_on(everything().run(&*shop).durable(&memory, "r")).map(drop),
        smol::block_on(everything().submit(&db, "r")),
        smol::block_on(everything().run(&*shop).submit(&memory, "r")),
    ] {
        assert_eq!(error.unwrap_err().to_string(), says);
    }
    assert!(db.look_now("r").unwrap().is_none());
    // A run in plain text cannot get secrets.
    let stopped = Shop::new(1);
    let run = Plain { n: 1 }.run(&*stopped).durable(&db, "plain");
    assert!(stopped.run_until_it_hangs(run).is_none());
    let db = db.encrypted(&key());
    let run = secret::Plain { n: 1 }.run(&*shop).durable(&db, "plain");
    assert_eq!(
        smol::block_on(run).unwrap_err().to_string(),
        "plan `plain` cannot start: the plan has secrets, but run `plain` began without a key and is stored in plain text; resume the run with its original plan, or use a new ID"
    );
    assert_eq!(
        smol::block_on(Plain { n: 1 }.run(&*shop).durable(&db, "plain")).unwrap(),
        3
    );
}

#[test]
fn an_error_about_a_change_shows_no_secret() {
    let folder = Folder::new();
    let db = keyed(&folder);
    begin(&db, "r");
    let shop = Shop::open();
    let mut other = everything();
    other.password = format!("{MARKER}-other");
    let run = other.run(&*shop).durable(&db, "r");
    assert_eq!(
        smol::block_on(run).unwrap_err().to_string(),
        "plan `everything` cannot start: run `r` already exists with different inputs (`password` had another value); use a new ID, or the original inputs"
    );
    let stopped = Shop::new(1);
    let run = secret::Plain { n: 1 }.run(&*stopped).durable(&db, "s");
    assert!(stopped.run_until_it_hangs(run).is_none());
    // The secret is in the recorded plan alone.
    let run = Plain { n: 3 }.run(&*shop).durable(&db, "s");
    assert_eq!(
        smol::block_on(run).unwrap_err().to_string(),
        "plan `plain` cannot start: run `s` already exists with different inputs (`n` had another value); use a new ID, or the original inputs"
    );
}

/// Fails once the shop is closed.
#[tool]
async fn pay(shop: &Shop, #[shape(secret)] card: String) -> Result<String> {
    shop.call().await;
    if shop.is_closed.load(Ordering::SeqCst) {
        return Err(Error::msg(format!("closed for {card}")));
    }
    Ok(card)
}

plan! {
    Buy(#[shape(secret)] card: String) -> String {
        step first = Pay { card: "Hunter2-first" };
        #[undo(first)]
        step back = Pay { card: first };
        step sure: bool = await;
        #[after(sure)]
        step paid = if sure { Pay { card } } else { Pay { card: first } };
        paid
    }
}

#[test]
fn encrypted_runs_are_served_failed_and_retried() {
    let folder = Folder::new();
    let db = keyed(&folder);
    let (shop, toolbox) = (Shop::open(), Toolbox::new().with::<Buy>());
    let card = format!("{MARKER}-card");
    smol::block_on(Buy { card: card.clone() }.submit(&db, "a")).unwrap();
    shop.is_closed.store(true, Ordering::SeqCst);
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    no_secret_in(&folder_of(&folder));
    let report = at(&db, &toolbox, &shop).report("a").unwrap();
    assert_eq!(report.totals().failed, 1);
    shop.is_closed.store(false, Ordering::SeqCst);
    at(&db, &toolbox, &shop).retry_failed("a").unwrap();
    at(&db, &toolbox, &shop).signal("a", "sure", true).unwrap();
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    assert_eq!(db.output_now("a").unwrap(), Some(json!(card)));
    let records: Vec<_> = db.records_now("a").unwrap();
    assert!(records.iter().any(|record| record.body.contains(MARKER)));
    no_secret_in(&folder_of(&folder));
}

#[test]
fn a_cancelled_run_is_listed_as_cancelled() {
    let folder = Folder::new();
    let db = keyed(&folder);
    let (shop, toolbox) = (Shop::open(), Toolbox::new().with::<Buy>());
    let card = format!("{MARKER}-card");
    smol::block_on(Buy { card }.submit(&db, "a")).unwrap();
    db.cancel_now("a").unwrap();
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    for db in [db.clone(), folder.open()] {
        let state = plan_runtime::journal::RunState::Cancelled;
        assert_eq!(summary(&db, "a").state, state);
    }
    no_secret_in(&folder_of(&folder));
}

/// A run that no process with the key can begin leaves no secret in its reason.
#[test]
fn a_reason_is_encrypted() {
    let folder = Folder::new();
    let db = keyed(&folder);
    let (shop, toolbox) = (Shop::open(), Toolbox::new().with::<Buy>());
    let card = format!("{MARKER}-card");
    smol::block_on(Buy { card }.submit(&db, "a")).unwrap();
    let server = at(&db, &toolbox, &shop).0;
    let serving = server
        .serve()
        .configure(|run, _| run.allow_tools([MARKER]))
        .cancel_on(super::support::until(|| {
            summary(&db, "a").refusal.is_some()
        }));
    smol::block_on(serving).unwrap();
    let refusal = summary(&db, "a").refusal.unwrap();
    assert!(refusal.contains(MARKER), "{refusal}");
    no_secret_in(&folder_of(&folder));
    let refusal = summary(&folder.open(), "a").refusal.unwrap();
    assert!(refusal.contains("opened without a key"), "{refusal}");
}

#[test]
fn an_encrypted_database_keeps_the_rules() {
    let folder = Folder::new();
    conformance::check(|| keyed(&folder));
    assert!(matches!(
        folder.open().claim_now("none").map(drop),
        Ok(()) | Err(JournalError::Owned { .. })
    ));
}

mod held {
    use super::{Result, Session, Shop, plan, tool};

    /// Logs in.
    #[tool]
    async fn enter(shop: &Shop, #[shape(secret)] password: String) -> Result<Session> {
        shop.call().await;
        Ok(Session {
            user: "sarah".into(),
            token: password,
        })
    }

    plan! {
        pub(crate) Held(#[shape(secret)] password: String) -> String {
            step first = Enter { password };
            #[after(first)]
            step second = Enter { password };
            second.user
        }
    }
}

mod changed {
    use super::{Deserialize, Result, Serialize, Shape, Shop, plan, tool};

    #[derive(Clone, Serialize, Deserialize, Shape)]
    struct Session {
        user: String,
        #[shape(secret)]
        token: u64,
    }

    /// Logs in. A token is a number now.
    #[tool]
    async fn enter(shop: &Shop, #[shape(secret)] password: String) -> Result<Session> {
        shop.call().await;
        Ok(Session {
            user: password,
            token: 1,
        })
    }

    plan! {
        pub(crate) Held(#[shape(secret)] password: String) -> String {
            step first = Enter { password };
            #[after(first)]
            step second = Enter { password };
            second.user
        }
    }
}

#[test]
fn an_output_of_another_type_shows_no_secret() {
    let folder = Folder::new();
    let db = keyed(&folder);
    let password = || format!("{MARKER}-first");
    let stopped = Shop::new(1);
    let run = held::Held {
        password: password(),
    };
    let run = run.run(&*stopped).durable(&db, "r");
    assert!(stopped.run_until_it_hangs(run).is_none());
    let shop = Shop::open();
    let run = changed::Held {
        password: password(),
    };
    let error = smol::block_on(run.run(&*shop).durable(&db, "r")).unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(
        text.contains("the recorded output of step `first`"),
        "{text}"
    );
    assert!(!text.contains(MARKER), "{text}");
}
