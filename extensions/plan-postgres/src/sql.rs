//! The SQL statements, with the name of the schema.

use super::store_sql::StoreSql;

pub(crate) struct Sql {
    pub(crate) claims: ClaimSql,
    pub(crate) messages: MessageSql,
    pub(crate) calls: CallSql,
    pub(crate) store: StoreSql,
    /// Parameter: id.
    pub(crate) look: String,
    /// Parameters: id, number of the last known record, most records, most bytes.
    pub(crate) read: String,
    /// Parameters: owner, description of the owner, lease in milliseconds.
    pub(crate) renew: String,
    /// Parameter: owner.
    pub(crate) leave: String,
    /// Parameters: runs, epochs, owner, and of each record the run, the number, the key and the body.
    pub(crate) write: String,
    /// Parameters: runs and numbers of records, runs and epochs of releases.
    pub(crate) present: String,
    /// Parameters: runs, epochs, owner, plans, documents, inputs.
    pub(crate) describe: String,
    /// Parameters: runs, epochs, owner, kinds of ends, bodies.
    pub(crate) end: String,
    /// Parameters: runs, epochs, owner.
    pub(crate) remove: String,
    /// Parameters: runs, epochs, owner, milliseconds of rests, numbers of the last known messages, channel.
    pub(crate) release: String,
    /// The channel for notifications of messages and of due runs.
    pub(crate) channel: String,
}

pub(crate) struct ClaimSql {
    /// Parameters: id, owner, time of the start.
    pub(crate) claim: String,
    pub(crate) begin: String,
    /// Parameter: id.
    pub(crate) last_number: String,
    /// Parameter: id.
    pub(crate) owner: String,
    /// Parameters: ids, owner.
    pub(crate) abandon: String,
    /// Parameters: ids, owner.
    pub(crate) owned: String,
}

pub(crate) struct MessageSql {
    /// Parameters: run, epoch, owner, number of the last known message.
    pub(crate) read: String,
    /// Parameters: id, path, body, token, channel.
    pub(crate) send: String,
    /// Parameters: id, token.
    pub(crate) is_sent: String,
    /// Parameters: runs, epochs, owner, numbers of the last known messages.
    pub(crate) waiting: String,
}

/// Quotes a Postgres name.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The condition for a run without records and without a description. The release deletes such a run.
const EMPTY: &str = "r.plan IS NULL AND NOT EXISTS (SELECT FROM {s}.records WHERE run = r.number)";

const CLAIM: &str = "
WITH seen AS (
    SELECT number, epoch FROM {s}.runs r WHERE id = $1 AND (
        owner IS NULL OR owner = $2
        OR NOT EXISTS (SELECT FROM {s}.owners o WHERE o.name = r.owner AND o.lease > now())
    )
)
UPDATE {s}.runs r SET epoch = greatest(r.epoch + 1, nextval('{q}.epochs')), owner = $2, rests = NULL, reason = NULL,
    began = CASE WHEN r.plan IS NULL THEN $3 ELSE r.began END
FROM seen WHERE r.number = seen.number AND r.epoch = seen.epoch
RETURNING r.number, r.epoch, r.began, r.plan, r.document, r.inputs, r.end_kind, r.output";

const BEGIN: &str = "
INSERT INTO {s}.runs AS r (id, epoch, owner, began) VALUES ($1, nextval('{q}.epochs'), $2, $3)
ON CONFLICT (id) DO NOTHING
RETURNING r.number, r.epoch, r.began, r.plan, r.document, r.inputs, r.end_kind, r.output";

const READ: &str = "
SELECT number, key, body FROM (
    SELECT number, key, body, sum(length(key) + length(body)) OVER (ORDER BY number) - length(key) - length(body) AS before
    FROM (
        SELECT number, key, body FROM {s}.records
        WHERE run = (SELECT number FROM {s}.runs WHERE id = $1) AND number > $2
        ORDER BY number LIMIT $3
    ) page
) page WHERE before < $4 ORDER BY number";

/// The lock ensures that each message has a distinct number. A refused message has no number, since a run with an untaken
/// message cannot rest.
const SEND: &str = "
WITH run AS (
    SELECT number, last_message FROM {s}.runs WHERE id = $1 AND plan IS NOT NULL FOR NO KEY UPDATE
), sent AS (
    INSERT INTO {s}.messages (run, number, path, body, token)
    SELECT number, last_message + 1, $2, $3, $4 FROM run
    ON CONFLICT DO NOTHING RETURNING run, number
), counted AS (
    UPDATE {s}.runs r SET last_message = sent.number, rests = NULL FROM sent WHERE r.number = sent.run
)
SELECT (SELECT count(*) FROM sent) AS sent, (SELECT pg_notify($5, run::text) FROM sent) FROM run";

/// The result contains lost runs, whose owner must wake as well.
const WAITING: &str = "
SELECT w.run FROM unnest($1::bigint[], $2::bigint[], $4::bigint[]) AS w(run, epoch, after)
LEFT JOIN {s}.runs r ON r.number = w.run AND r.epoch = w.epoch AND r.owner = $3
WHERE r.number IS NULL OR r.last_message > w.after";

/// A single statement is a whole transaction. Its share lock on the runs delays claims until the commit of the records.
const WRITE: &str = "
WITH held AS (
    SELECT r.number FROM {s}.runs r JOIN unnest($1::bigint[], $2::bigint[]) AS c(run, epoch)
    ON r.number = c.run AND r.epoch = c.epoch WHERE r.owner = $3 FOR SHARE OF r
), added AS (
    INSERT INTO {s}.records (run, number, key, body)
    SELECT n.run, n.number, n.key, n.body
    FROM unnest($4::bigint[], $5::bigint[], $6::bytea[], $7::bytea[]) AS n(run, number, key, body)
    JOIN held ON held.number = n.run
    ON CONFLICT DO NOTHING RETURNING run, number
)
SELECT number AS run, 0::bigint AS number FROM held UNION ALL SELECT run, number FROM added";

/// The row lock orders the release and a concurrent message, so that the message ends the rest.
const RELEASE: &str = "
WITH released AS (
    UPDATE {s}.runs r SET owner = NULL, rests = CASE
        WHEN c.millis IS NULL OR r.last_message > c.seen THEN NULL
        WHEN c.millis = 'infinity' THEN 'infinity'
        ELSE now() + c.millis * interval '1 ms'
    END, waits = c.waits
    FROM unnest($1::bigint[], $2::bigint[], $4::float8[], $5::bigint[], $6::bool[]) AS c(run, epoch, millis, seen, waits)
    WHERE r.number = c.run AND r.epoch = c.epoch AND r.owner = $3
    RETURNING r.plan IS NOT NULL AND r.ended IS NULL AND r.rests IS NULL AS is_due
)
SELECT pg_notify($7, '') FROM released WHERE is_due LIMIT 1";

/// The statements for the transaction of a call.
pub(crate) struct CallSql {
    /// Parameters: run, epoch, owner, number, key, body, token.
    pub(crate) write: String,
    /// Parameters: run, epoch, owner, number, key.
    pub(crate) is_written: String,
    /// Parameter: name of the session.
    pub(crate) end_session: String,
}

/// Checks the token, since the tool may have ended the transaction, which ends the setting. Sets `synchronous_commit`,
/// since the tool may have turned it off.
const WRITE_CALL: &str = "
WITH held AS (
    SELECT r.number FROM {s}.runs r
    WHERE r.number = $1 AND r.epoch = $2 AND r.owner = $3 AND current_setting('plan_postgres.call', true) = $7 FOR SHARE OF r
), added AS (
    INSERT INTO {s}.records (run, number, key, body) SELECT number, $4, $5, $6 FROM held ON CONFLICT DO NOTHING RETURNING run
)
SELECT coalesce(current_setting('plan_postgres.call', true) = $7, false), EXISTS (SELECT FROM held), EXISTS (SELECT FROM added),
    CASE WHEN current_setting('synchronous_commit') IN ('off', 'local') THEN set_config('synchronous_commit', 'on', true) END";

impl CallSql {
    fn new(with: &dyn Fn(&str) -> String) -> Self {
        Self {
            write: with(WRITE_CALL),
            is_written: with(
                "SELECT EXISTS (SELECT FROM {s}.records c WHERE c.run = r.number AND c.number = $4 AND c.key = $5)
                FROM {s}.runs r WHERE r.number = $1 AND r.epoch = $2 AND r.owner = $3",
            ),
            end_session: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND usename = current_user"
                .to_owned(),
        }
    }
}

impl ClaimSql {
    fn new(with: &dyn Fn(&str) -> String) -> Self {
        Self {
            claim: with(CLAIM),
            begin: with(BEGIN),
            last_number: with(
                "SELECT coalesce(max(number), 0) FROM {s}.records WHERE run = (SELECT number FROM {s}.runs WHERE id = $1)",
            ),
            owner: with(
                "SELECT o.words FROM {s}.runs r JOIN {s}.owners o ON o.name = r.owner AND o.lease > now() WHERE r.id = $1",
            ),
            // A locked run must not delay the release of the other runs.
            abandon: with(
                "UPDATE {s}.runs SET owner = NULL WHERE number = ANY (ARRAY(
                    SELECT number FROM {s}.runs WHERE id = ANY ($1) AND owner = $2 FOR NO KEY UPDATE SKIP LOCKED
                ))",
            ),
            owned: with("SELECT id FROM {s}.runs WHERE id = ANY ($1) AND owner = $2"),
        }
    }
}

impl MessageSql {
    fn new(with: &dyn Fn(&str) -> String) -> Self {
        Self {
            read: with(
                "SELECT m.number, m.path, m.body FROM {s}.runs r LEFT JOIN {s}.messages m ON m.run = r.number AND m.number > $4
                WHERE r.number = $1 AND r.epoch = $2 AND r.owner = $3 ORDER BY m.number",
            ),
            send: with(SEND),
            is_sent: with(
                "SELECT FROM {s}.messages WHERE run = (SELECT number FROM {s}.runs WHERE id = $1) AND token = $2",
            ),
            waiting: with(WAITING),
        }
    }
}

impl Sql {
    pub(crate) fn new(schema: &str) -> Self {
        let s = quoted(schema);
        // The name of the schema is in quotes inside a string of SQL.
        let q = s.replace('\'', "''");
        let with = |sql: &str| {
            let sql = sql.replace("{empty}", EMPTY);
            sql.replace("{s}", &s).replace("{q}", &q)
        };
        let owned = "FROM unnest($1::bigint[], $2::bigint[]) AS c(run, epoch) WHERE r.number = c.run AND r.epoch = c.epoch AND r.owner = $3";
        let owned_free = owned.replacen("FROM", "USING", 1);
        Self {
            claims: ClaimSql::new(&with),
            messages: MessageSql::new(&with),
            calls: CallSql::new(&with),
            store: StoreSql::new(&with),
            look: with(
                "SELECT number, epoch, began, plan, document, inputs, end_kind, output FROM {s}.runs WHERE id = $1 AND plan IS NOT NULL",
            ),
            read: with(READ),
            renew: with(
                "WITH gone AS (DELETE FROM {s}.owners WHERE lease < now() - interval '1 day' AND name <> $1)
                INSERT INTO {s}.owners (name, words, lease)
                VALUES ($1, $2 || coalesce(' at ' || host(inet_client_addr()), ''), now() + $3 * interval '1 ms')
                ON CONFLICT (name) DO UPDATE SET lease = excluded.lease",
            ),
            leave: with("DELETE FROM {s}.owners WHERE name = $1"),
            write: with(WRITE),
            present: with(
                "SELECT r.run, r.number FROM {s}.records r JOIN unnest($1::bigint[], $2::bigint[]) AS n(run, number)
                ON r.run = n.run AND r.number = n.number
                UNION ALL SELECT r.number, 0 FROM {s}.runs r JOIN unnest($3::bigint[], $4::bigint[]) AS c(run, epoch)
                ON r.number = c.run AND r.epoch = c.epoch WHERE r.owner IS NULL",
            ),
            describe: with(
                "UPDATE {s}.runs r SET plan = c.plan, document = c.document, inputs = c.inputs
                FROM unnest($1::bigint[], $2::bigint[], $4::bytea[], $5::bytea[], $6::bytea[]) AS c(run, epoch, plan, document, inputs)
                WHERE r.number = c.run AND r.epoch = c.epoch AND r.owner = $3",
            ),
            end: with(
                "UPDATE {s}.runs r SET ended = coalesce(r.ended, now()), end_kind = c.kind, output = c.output
                FROM unnest($1::bigint[], $2::bigint[], $4::smallint[], $5::bytea[]) AS c(run, epoch, kind, output)
                WHERE r.number = c.run AND r.epoch = c.epoch AND r.owner = $3",
            ),
            remove: with(&format!(
                "DELETE FROM {{s}}.runs r {owned_free} AND {{empty}}"
            )),
            release: with(RELEASE),
            channel: format!("{schema} messages"),
        }
    }
}
