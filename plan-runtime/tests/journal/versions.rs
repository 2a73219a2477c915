//! Databases of each version of the tables, which can be opened, and whose runs resume.
//!
//! `versions/1.sql` has the full content of a database of version 1, and so on. The file of a released version never changes.

use crate::journal::asking::Asking;
use crate::journal::support::{Folder, begin, record};
use plan_runtime::journal::spi::{End, Message};
use plan_runtime::journal::{Journal, RunFilter, RunState};
use std::fs;
use std::path::Path;

const NEWEST: usize = 3;

fn file(version: usize) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/journal/versions");
    folder.join(format!("{version}.sql"))
}

/// The statements that make a database.
fn dump(path: &Path) -> String {
    let database = rusqlite::Connection::open(path).unwrap();
    let mut text = String::new();
    let list = |sql: &str| -> Vec<String> {
        let mut statement = database.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    };
    for pragma in ["application_id", "user_version"] {
        let number = list(&format!("SELECT {pragma} || '' FROM pragma_{pragma}"));
        text += &format!("PRAGMA {pragma} = {};\n", number[0]);
    }
    let schema = "FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'";
    for sql in list(&format!("SELECT sql {schema} ORDER BY rowid")) {
        text += &format!("{sql};\n");
    }
    for table in list(&format!(
        "SELECT name {schema} AND type = 'table' ORDER BY rowid"
    )) {
        let columns = list(&format!("SELECT name FROM pragma_table_info('{table}')"));
        let quoted: Vec<String> = columns.iter().map(|it| format!("quote({it})")).collect();
        let rows = list(&format!(
            "SELECT {} FROM {table} ORDER BY rowid",
            quoted.join(" || ', ' || ")
        ));
        for row in rows {
            text += &format!("INSERT INTO {table} VALUES({row});\n");
        }
    }
    text
}

/// The database contains a run that was killed, a waiting run, a failed run, a submitted run, and the rest of a run that is being deleted.
#[test]
fn the_newest_is_kept() {
    let folder = Folder::new();
    let db = folder.open();
    let claim = begin(&db, "killed");
    for key in ["a@1", "it's[2]@1"] {
        smol::block_on(record(&db, &claim, key)).unwrap();
    }
    let path = "b".to_owned();
    let body = "{\"it's\":1}".to_owned();
    db.send_now("killed", &Message::Signal { path, body })
        .unwrap();
    db.release(&begin(&db, "waits"));
    db.send_now("waits", &Message::Cancel).unwrap();
    let claim = begin(&db, "failed");
    let body = "[\"no\"]".to_owned();
    smol::block_on(db.end(&claim, End::Failed(body))).unwrap();
    let claim = db.claim_now("asked for").unwrap().claim;
    smol::block_on(record(&db, &claim, "c")).unwrap();
    drop(db);
    let database = rusqlite::Connection::open(folder.path()).unwrap();
    let times = "UPDATE runs SET began = 1795000000000000000 + number, ended = iif(ended IS NULL, NULL, 1795000001000000000);
        UPDATE runs SET owner = '1-00000000000000ff' WHERE id = 'killed';
        INSERT INTO records VALUES((9 << 32) + 1, 9, 'left', '0'); INSERT INTO deleted VALUES(9);";
    database.execute_batch(times).unwrap();
    drop(database);
    let text = dump(&folder.path());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(file(NEWEST), &text).unwrap();
    }
    let kept = fs::read_to_string(file(NEWEST)).unwrap_or_default();
    assert!(
        text == kept,
        "tables have changed: if a version with the old ones was released, they need a new version, and a step that brings old databases to it; UPDATE_EXPECT=1 writes {NEWEST}.sql:\n{text}"
    );
}

#[test]
fn a_run_of_version_2_waits() {
    let folder = Folder::new();
    let database = rusqlite::Connection::open(folder.path()).unwrap();
    let old = fs::read_to_string(file(2)).unwrap();
    database.execute_batch(&old).unwrap();
    let rests = "UPDATE runs SET rests = 9223372036854775807 WHERE id = 'waits'";
    database.execute_batch(rests).unwrap();
    drop(database);
    let runs = folder.open().runs_now(&RunFilter::new());
    let waits: Vec<_> = runs.iter().filter(|run| run.waits).collect();
    assert_eq!((&*waits[0].id, waits.len()), ("waits", 1));
}

#[test]
fn all_go_on() {
    for version in 1..=NEWEST {
        let folder = Folder::new();
        let old = fs::read_to_string(file(version)).unwrap();
        let database = rusqlite::Connection::open(folder.path()).unwrap();
        database.execute_batch(&old).unwrap();
        drop(database);

        let db = folder.open();
        let runs = db.runs_now(&RunFilter::new());
        let states: Vec<_> = runs.iter().map(|run| (&*run.id, run.state)).collect();
        let expected = [
            ("killed", RunState::Running),
            ("waits", RunState::Running),
            ("failed", RunState::Failed),
        ];
        assert_eq!(states, expected, "version {version}");
        let claimed = db.claim_now("killed").unwrap();
        let info = claimed.run.info.as_ref();
        assert_eq!(info, Some(&crate::journal::support::info("plan")));
        let found = db.find_now(&claimed.claim, "it's[2]@1").unwrap().unwrap();
        assert_eq!((found.number, &*found.body), (2, "\"it's[2]@1\""));
        assert_eq!(db.messages_now(&claimed.claim, 0).unwrap().len(), 1);
        smol::block_on(record(&db, &claimed.claim, "new")).unwrap();
        let failed = db.claim_now("failed").unwrap();
        let end = End::Failed("[\"no\"]".to_owned());
        assert_eq!(failed.run.end, Some(end));
        db.release(&failed.claim);
        assert_eq!(db.delete_now(std::time::Duration::ZERO).unwrap(), 1);
        drop(db);
        let text = dump(&folder.path());
        assert!(!text.contains("'left'"), "{text}");
    }
}
