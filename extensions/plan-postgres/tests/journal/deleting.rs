//! Deletions, and the indexes that lists need when most runs have ended.

use crate::server::{Server, within};
use crate::store::{HOUR, LIMIT, begin, ids};
use crate::{append, claim, open};
use plan_postgres::Postgres;
use plan_runtime::journal::spi::{End, Message};
use plan_runtime::journal::{Journal, RunFilter, RunState, Store};
use smol::block_on;
use std::time::Duration;

/// Notes the number of records that each statement deletes.
const NOTE: &str = "
CREATE TABLE notes (count bigint);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO notes SELECT count(*) FROM gone; RETURN NULL; END';
CREATE TRIGGER note AFTER DELETE ON plan.records REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note()";

/// Writes a run that has ended, with a message.
fn ended(db: &Postgres, id: &str, records: usize) {
    let held = begin(db, id);
    (0..records).for_each(|n| drop(append(db, &held, n)));
    block_on(db.send(id, &Message::Cancel)).unwrap();
    block_on(db.end(&held, End::Done("1".to_owned()))).unwrap();
    db.release(&held);
}

#[test]
fn records_are_removed_in_bounded_statements() {
    let Some(server) = Server::start() else {
        return;
    };
    let db = open(&server.url());
    ended(&db, "a", 1500);
    ended(&db, "b", 1500);
    ended(&db, "killed", 3);
    // A process was killed between the deletion of the run and that of its records.
    server.execute(
        "INSERT INTO plan.deleted SELECT number FROM plan.runs WHERE id = 'killed';
        DELETE FROM plan.runs WHERE id = 'killed'",
    );
    server.execute(NOTE);
    assert_eq!(block_on(db.delete(HOUR)).unwrap(), 0);
    let removed = "SELECT coalesce(sum(count), 0)::bigint FROM notes";
    assert_eq!(server.number(removed), 3, "the rest of an earlier deletion");
    assert_eq!(block_on(db.delete(Duration::ZERO)).unwrap(), 2);
    assert_eq!(server.number(removed), 3003);
    assert_eq!(server.number("SELECT max(count) FROM notes"), 1000);
    for table in ["runs", "records", "messages", "deleted"] {
        let sql = format!("SELECT count(*) FROM plan.{table}");
        assert_eq!(server.number(&sql), 0, "{table}");
    }
}

#[test]
fn a_process_that_is_killed_before_the_description_leaves_nothing() {
    let Some(server) = Server::start() else {
        return;
    };
    let (db, other) = (open(&server.url()), open(&server.url()));
    claim(&other, "killed");
    claim(&other, "living");
    begin(&other, "described");
    server.execute("UPDATE plan.runs SET owner = 'dead' WHERE id <> 'living'");
    assert_eq!(block_on(db.delete(HOUR)).unwrap(), 0);
    let left = "SELECT count(*) FROM plan.runs WHERE id IN ('living', 'described')";
    assert_eq!(server.number(left), 2);
    assert_eq!(server.number("SELECT count(*) FROM plan.runs"), 2);
}

#[test]
fn runs_with_an_output_do_not_slow_lists_of_other_runs() {
    let Some(server) = Server::start() else {
        return;
    };
    let db = open(&server.url());
    server.execute(
        "INSERT INTO plan.runs (id, epoch, began, plan, document, inputs, ended, end_kind, output)
        SELECT n::text::bytea, 1, n, 'plan', '{}', '{}', now(), 0, '1' FROM generate_series(1, 5000) n",
    );
    begin(&db, "running");
    let failed = begin(&db, "failed");
    block_on(db.end(&failed, End::Failed("{}".to_owned()))).unwrap();
    let list = || {
        for (state, expected) in [
            (RunState::Running, &["running"][..]),
            (RunState::Failed, &["failed"]),
            (RunState::Cancelled, &[]),
        ] {
            let filter = RunFilter::new().state(state);
            assert_eq!(ids(&db, &filter), expected);
            assert_eq!(ids(&db, &filter.newest_first()), expected);
        }
    };
    let numbers = [
        "SELECT idx_scan FROM pg_stat_user_tables WHERE relname = 'runs'",
        "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'runs'",
    ];
    let numbers = || numbers.map(|sql| server.number(sql));
    for analyze in ["SELECT 1", "ANALYZE plan.runs"] {
        server.execute(analyze);
        server.execute("SELECT pg_stat_reset()");
        // A session reports its numbers after a second.
        let is_reported = within(LIMIT, || {
            list();
            numbers()[0] >= 60
        });
        let [searches, read] = numbers();
        assert!(is_reported, "{searches} searches, {read} rows");
        assert!(read <= searches * 4, "{read} rows in {searches} searches");
    }
}
