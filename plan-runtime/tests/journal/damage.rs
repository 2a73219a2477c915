//! Files that cannot be written or are damaged.

use crate::common::skips;
use crate::journal::asking::Asking;
use crate::journal::support::{Folder, begin, info, integrity, record};
use plan_runtime::journal::{Journal, JournalError, Sqlite, SqliteOptions};
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

#[track_caller]
fn refused(path: &Path) -> String {
    match Sqlite::open(path) {
        Ok(_) => panic!("it is opened"),
        Err(error) => {
            assert!(matches!(error, JournalError::Storage(_)), "{error:?}");
            let path = path.canonicalize().unwrap_or(path.to_owned());
            let shown = format!("`{}`", path.display());
            error.to_string().replace(&shown, "FILE")
        }
    }
}

fn change(folder: &Folder, sql: &str) {
    let database = rusqlite::Connection::open(folder.path()).unwrap();
    database.execute_batch(sql).unwrap();
}

#[test]
fn files_of_others_are_refused() {
    let folder = Folder::new();
    let path = folder.path();
    change(&folder, "CREATE TABLE mine(x)");
    let before = fs::read(&path).unwrap();
    assert_eq!(
        refused(&path),
        "the journal cannot be used: FILE: the file is a database of another program"
    );
    change(&folder, "DROP TABLE mine; PRAGMA application_id = 7");
    refused(&path);
    fs::write(&path, "no database, but a text that somebody needs").unwrap();
    assert_eq!(
        refused(&path),
        "the journal cannot be used: FILE: the file is not an SQLite database, or it is damaged"
    );
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "no database, but a text that somebody needs"
    );
    // And nothing was changed in the first.
    fs::write(&path, &before).unwrap();
    refused(&path);
    assert_eq!(fs::read(&path).unwrap(), before);

    // There is no such folder, or it is one itself.
    let error = refused(&folder.join("nowhere/runs.db"));
    assert!(
        error.starts_with("the journal cannot be used: FILE: "),
        "{error}"
    );
    fs::create_dir(folder.join("runs")).unwrap();
    refused(&folder.join("runs"));
    refused(Path::new("/"));
}

#[test]
fn a_newer_version_is_refused() {
    let folder = Folder::new();
    drop(folder.open());
    change(&folder, "PRAGMA user_version = 7");
    assert_eq!(
        refused(&folder.path()),
        "the journal cannot be used: FILE: the file was written by a newer version of plan-runtime: its tables have version 7, and this version supports table versions up to 3"
    );
    change(&folder, "PRAGMA user_version = 3");
    drop(folder.open());
}

/// After a record that was not written, no later one is written. Other runs are recorded as soon as the disk has space, and acknowledged records
/// stay.
#[test]
fn a_full_disk() {
    let folder = Folder::new();
    let options = SqliteOptions::new().max_bytes(400 << 10);
    let db = options.open(folder.path()).unwrap();
    let (claim, other) = (begin(&db, "a"), begin(&db, "b"));
    let mut written = 0;
    let error = loop {
        let body = "x".repeat(3000);
        match smol::block_on(db.append(&claim, format!("{written}"), body)) {
            Ok(()) => written += 1,
            Err(error) => break error,
        }
        assert!(written < 1000, "it is never full");
    };
    assert!(written > 50, "{written}");
    assert!(matches!(error, JournalError::Storage(_)));
    let path = folder.path().canonicalize().unwrap();
    let full = format!(
        "`{}`: the file has 400 KiB, its limit (`SqliteOptions::max_bytes`), or the disk is full",
        path.display()
    );
    assert_eq!(
        error.to_string(),
        format!("the journal cannot be used: {full}")
    );
    // A small record would have space: but not after the one that is missing.
    let later = smol::block_on(record(&db, &claim, "small")).unwrap_err();
    assert_eq!(
        later.to_string(),
        format!("the journal cannot be used: an earlier write of run `a` has failed: {full}")
    );
    let end = plan_runtime::journal::spi::End::Done(String::new());
    assert!(smol::block_on(db.end(&claim, end)).is_err());
    assert!(db.describe_now(&claim, &info("plan")).is_err());
    // A large record among small ones of other runs does not take them with it.
    let large = db.append(&claim, "large".into(), "x".repeat(1 << 20));
    let small: Vec<_> = (0..20)
        .map(|n| record(&db, &other, format!("{n}")))
        .collect();
    assert!(smol::block_on(large).is_err());
    let small: Vec<bool> = small
        .into_iter()
        .map(|it| smol::block_on(it).is_ok())
        .collect();
    let fits = small.iter().filter(|fits| **fits).count();
    assert!(fits > 0 && small.is_sorted_by(|a, b| a >= b), "{small:?}");

    // The next claim continues after the last record.
    db.release(&claim);
    let again = db.claim_now("a");
    drop(db);
    let db = folder.open();
    let claim = match again {
        Ok(_) | Err(JournalError::Storage(_)) => db.claim_now("a").unwrap().claim,
        Err(error) => panic!("{error}"),
    };
    for n in 0..written {
        assert!(
            db.find_now(&claim, &format!("{n}")).unwrap().is_some(),
            "{n}"
        );
    }
    assert_eq!(db.records_now("a").unwrap().len(), written);
    assert_eq!(db.records_now("b").unwrap().len(), fits);
    smol::block_on(record(&db, &claim, "small")).unwrap();
    drop(db);
    assert_eq!(integrity(&folder.path()), "ok");
}

#[test]
fn a_large_record_fails_alone() {
    let folder = Folder::new();
    let options = SqliteOptions::new().max_bytes(400 << 10);
    let db = options.open(folder.path()).unwrap();
    let (claim, other) = (begin(&db, "a"), begin(&db, "b"));
    for round in 0..20 {
        // They come together often, though not always.
        let before = record(&db, &other, format!("{round} before"));
        let large = db.append(&claim, format!("{round}"), "x".repeat(1 << 20));
        let after = record(&db, &other, format!("{round} after"));
        smol::block_on(before).unwrap();
        smol::block_on(large).unwrap_err();
        smol::block_on(after).unwrap();
    }
    assert_eq!(db.records_now("a").unwrap().len(), 0);
}

/// The message to a user who may only read.
#[cfg(unix)]
#[test]
fn a_read_only_file() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;

    let folder = Folder::new();
    drop(folder.open());
    let owners = folder.join("runs.db-owners");
    let allow = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    allow(&folder.join(""), 0o777);
    allow(&folder.path(), 0o444);
    let is_superuser = fs::OpenOptions::new()
        .write(true)
        .open(folder.path())
        .is_ok();
    let told = || {
        let mut command = crate::journal::killed::command("open", &folder.path());
        if is_superuser {
            // A superuser may write every file, so the command runs as another user.
            command.uid(65534).gid(65534);
        }
        let output = command.output().ok()?;
        let text = String::from_utf8(output.stdout).unwrap();
        let (_, line) = text.split_once("# ")?;
        let real = folder.path().canonicalize().unwrap();
        let line = line.lines().next()?;
        Some(line.replace(real.to_str().unwrap(), "FILE"))
    };
    for mode in [0o777, 0o555] {
        allow(&owners, mode);
        allow(&owners.join("gate"), mode & 0o666);
        let why = || "another user cannot run this binary here".to_owned();
        let Some(told) = skips::unless("a_read_only_file", told().ok_or_else(why)) else {
            return;
        };
        let expected = if mode == 0o777 {
            "the journal cannot be used: `FILE`: the file is read-only"
        } else {
            "the journal cannot be used: `FILE-owners`: Permission denied (os error 13)"
        };
        assert_eq!(told, expected);
    }
    allow(&owners, 0o777);
    allow(&owners.join("gate"), 0o666);
    allow(&folder.path(), 0o644);
    drop(folder.open());
}

/// Pages with other content: each call has its result or an error, and reads return only written data.
#[test]
fn a_damaged_page() {
    let body = |n: usize| format!("{n} {}", "x".repeat(500));
    let count = 200;
    let whole = Folder::new();
    {
        let db = whole.open();
        let claim = begin(&db, "a");
        for n in 0..count {
            drop(db.append(&claim, format!("{n}"), body(n)));
        }
    }
    let bytes = fs::read(whole.path()).unwrap();
    let (mut errors, mut right) = (0, 0);
    for page in 0..bytes.len() / 4096 {
        let folder = Folder::new();
        fs::write(folder.path(), &bytes).unwrap();
        let mut file = fs::OpenOptions::new()
            .write(true)
            .open(folder.path())
            .unwrap();
        file.seek(SeekFrom::Start(page as u64 * 4096)).unwrap();
        let noise: Vec<u8> = std::iter::repeat_with(|| fastrand::u8(..))
            .take(4096)
            .collect();
        file.write_all(&noise).unwrap();
        drop(file);

        let mut results: Vec<Result<(), JournalError>> = Vec::new();
        let Ok(db) = Sqlite::open(folder.path()) else {
            errors += 1;
            continue;
        };
        results.push(db.records_now("a").map(drop));
        match db.claim_now("a") {
            Err(error) => results.push(Err(error)),
            Ok(claimed) => {
                let claim = claimed.claim;
                for after in 0..count {
                    let found = smol::block_on(db.read("a", after as u64));
                    for record in found.iter().flatten() {
                        let n: usize = record.key.parse().unwrap();
                        assert_eq!(record.body, body(n), "page {page}");
                        right += 1;
                    }
                    results.push(found.map(drop));
                }
                results.push(smol::block_on(record(&db, &claim, "new")));
                results.push(db.messages_now(&claim, 0).map(drop));
            }
        }
        let wrong = results.into_iter().filter_map(Result::err);
        for error in wrong {
            assert!(matches!(error, JournalError::Storage(_)), "{error:?}");
            let text = error.to_string();
            assert!(
                text.contains("damaged") || text.contains("failed"),
                "{text}"
            );
            errors += 1;
        }
    }
    assert!(
        errors > 0 && right > count,
        "{errors} errors, {right} right"
    );
}

/// A truncated log, or one with other content: the earlier records are present, in order.
#[test]
fn a_torn_log() {
    let whole = Folder::new();
    let db = whole.open();
    let claim = begin(&db, "a");
    for n in 0..40 {
        smol::block_on(record(&db, &claim, format!("{n}"))).unwrap();
    }
    // While the database is open, the log contains all records.
    let file = fs::read(whole.path()).unwrap();
    let log = fs::read(whole.join("runs.db-wal")).unwrap();
    assert!(log.len() > 100_000, "{}", log.len());
    let mut counts = Vec::new();
    for case in 0..60 {
        let folder = Folder::new();
        let at = log.len() * case / 60 + fastrand::usize(..1000);
        let at = at.min(log.len() - 1);
        let mut torn = log.clone();
        if case % 2 == 0 {
            torn.truncate(at);
        } else {
            let end = (at + 100).min(torn.len());
            torn[at..end].iter_mut().for_each(|byte| *byte ^= 0x55);
        }
        fs::write(folder.path(), &file).unwrap();
        fs::write(folder.join("runs.db-wal"), torn).unwrap();
        let db = match Sqlite::open(folder.path()) {
            Ok(db) => db,
            Err(error) => panic!("{at}: {error}"),
        };
        // The process is not alive in the copy: its lock has not been copied.
        let claimed = db.claim_now("a").unwrap();
        let keys: Vec<String> = match db.records_now("a") {
            Ok(records) => records.into_iter().map(|record| record.key).collect(),
            Err(error) => {
                assert!(matches!(error, JournalError::Unknown { .. }), "{error}");
                Vec::new()
            }
        };
        let prefix: Vec<String> = (0..keys.len()).map(|n| format!("{n}")).collect();
        assert_eq!(keys, prefix, "{at}");
        smol::block_on(record(&db, &claimed.claim, "next")).unwrap();
        counts.push(keys.len());
        drop(db);
        assert_eq!(integrity(&folder.path()), "ok");
    }
    assert!(
        counts.iter().any(|it| *it > 30) && counts.contains(&0),
        "{counts:?}"
    );
}
