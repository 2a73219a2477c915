//! The statements of a [`Store`](plan_runtime::journal::Store).

pub(crate) struct StoreSql {
    /// The first part of the statement for a list of runs. Conditions follow.
    pub(crate) runs: String,
    /// The condition for a run with a living owner.
    pub(crate) is_owned: String,
    /// Parameter: most runs.
    pub(crate) due: String,
    /// Parameters: id, milliseconds, reason.
    pub(crate) refuse: String,
    pub(crate) forgive: String,
    pub(crate) delete: DeleteSql,
    pub(crate) retry: RetrySql,
}

/// The statements of a deletion.
pub(crate) struct DeleteSql {
    /// Parameters: age in milliseconds, most runs.
    pub(crate) ended: String,
    /// Parameter: most runs.
    pub(crate) empty: String,
    /// Parameter: most records and most messages.
    pub(crate) purge: String,
    pub(crate) purged: String,
}

/// The statements of a retry, in their order. Their first parameters are run, epoch, owner.
pub(crate) struct RetrySql {
    pub(crate) reopen: String,
    /// The statement has further parameters: keys.
    pub(crate) remove: String,
    pub(crate) uncancel: String,
    pub(crate) recount: String,
    /// The statement has further parameters: number, key, body.
    pub(crate) add: String,
}

const IS_OWNED: &str =
    "EXISTS (SELECT FROM {s}.owners o WHERE o.name = r.owner AND o.lease > now())";

/// The conditions and the order match an index. The columns match the list of runs.
const DUE: &str = "
SELECT number, id, plan, began, ended, end_kind, false, false, reason FROM (
    (
        SELECT 0 AS part, r.* FROM {s}.runs r
        WHERE ended IS NULL AND plan IS NOT NULL AND rests <= now() AND (owner IS NULL OR NOT {owned})
        ORDER BY rests, number LIMIT $1
    ) UNION ALL (
        SELECT 1 AS part, r.* FROM {s}.runs r
        WHERE ended IS NULL AND plan IS NOT NULL AND rests IS NULL AND (owner IS NULL OR NOT {owned})
        ORDER BY rests, number LIMIT $1
    )
) due ORDER BY part, rests, number LIMIT $1";

/// `PURGE` removes the records in bounded statements. A run's number is never used again. The statement skips locked
/// runs.
const DELETE: &str = "
WITH old AS (
    SELECT number FROM {s}.runs r
    WHERE ended < now() - $1 * interval '1 ms' AND (owner IS NULL OR NOT {owned})
    ORDER BY ended, number LIMIT $2 FOR UPDATE SKIP LOCKED
), listed AS (
    INSERT INTO {s}.deleted (run) SELECT number FROM old
)
DELETE FROM {s}.runs WHERE number = ANY (ARRAY(SELECT number FROM old)) RETURNING number";

/// A process that is killed after the claim leaves a run without a description.
const DELETE_EMPTY: &str = "
DELETE FROM {s}.runs WHERE number = ANY (ARRAY(
    SELECT number FROM {s}.runs r WHERE {empty} AND (owner IS NULL OR NOT {owned})
    ORDER BY number LIMIT $1 FOR UPDATE SKIP LOCKED
)) RETURNING number";

/// The inner limits prevent a scan of the whole table.
const PURGE: &str = "
WITH records AS (
    DELETE FROM {s}.records WHERE ctid = ANY (ARRAY(
        SELECT r.row FROM {s}.deleted d
        CROSS JOIN LATERAL (SELECT ctid AS row FROM {s}.records WHERE run = d.run ORDER BY number LIMIT $1) r LIMIT $1
    )) RETURNING run
), messages AS (
    DELETE FROM {s}.messages WHERE ctid = ANY (ARRAY(
        SELECT m.row FROM {s}.deleted d
        CROSS JOIN LATERAL (SELECT ctid AS row FROM {s}.messages WHERE run = d.run ORDER BY number LIMIT $1) m LIMIT $1
    )) RETURNING run
)
SELECT run FROM records UNION ALL SELECT run FROM messages";

const PURGED: &str = "
DELETE FROM {s}.deleted d
WHERE (SELECT run FROM {s}.records WHERE run = d.run ORDER BY number LIMIT 1) IS NULL
AND (SELECT run FROM {s}.messages WHERE run = d.run ORDER BY number LIMIT 1) IS NULL";

impl StoreSql {
    /// Creates the statements. `with` inserts the name of the schema into a statement.
    pub(crate) fn new(with: &dyn Fn(&str) -> String) -> Self {
        let with = |sql: &str| with(&sql.replace("{owned}", IS_OWNED));
        Self {
            runs: with(
                "SELECT number, id, plan, began, ended, end_kind, {owned},
                    owner IS NULL AND ended IS NULL AND reason IS NULL AND coalesce(rests = 'infinity' OR waits AND rests > now(), false), reason
                FROM {s}.runs r WHERE plan IS NOT NULL",
            ),
            is_owned: with(IS_OWNED),
            due: with(DUE),
            refuse: with(
                "UPDATE {s}.runs r SET owner = NULL, rests = now() + $2 * interval '1 ms', reason = $3
                WHERE id = $1 AND plan IS NOT NULL AND ended IS NULL AND (owner IS NULL OR NOT {owned})",
            ),
            forgive: with(
                "UPDATE {s}.runs SET rests = NULL
                WHERE plan IS NOT NULL AND ended IS NULL AND rests IS NOT NULL AND reason IS NOT NULL",
            ),
            delete: DeleteSql::new(&with),
            retry: RetrySql::new(&with),
        }
    }
}

impl DeleteSql {
    fn new(with: &dyn Fn(&str) -> String) -> Self {
        Self {
            ended: with(DELETE),
            empty: with(DELETE_EMPTY),
            purge: with(PURGE),
            purged: with(PURGED),
        }
    }
}

impl RetrySql {
    fn new(with: &dyn Fn(&str) -> String) -> Self {
        let held = "number = $1 AND epoch = $2 AND owner = $3";
        let of_held = "run IN (SELECT number FROM {s}.runs WHERE {held})";
        let with = |sql: &str| with(&sql.replace("{run}", of_held).replace("{held}", held));
        Self {
            reopen: with(
                "UPDATE {s}.runs SET ended = NULL, end_kind = NULL, output = NULL WHERE {held} RETURNING number",
            ),
            remove: with(
                "DELETE FROM {s}.records WHERE {run} AND sha256(key) IN (SELECT sha256(key) FROM unnest($4::bytea[]) AS k(key))",
            ),
            uncancel: with("DELETE FROM {s}.messages WHERE {run} AND path IS NULL"),
            // A run rests only if the run has taken its last message.
            recount: with(
                "UPDATE {s}.runs r SET last_message = (SELECT coalesce(max(number), 0) FROM {s}.messages WHERE run = r.number) WHERE {held}",
            ),
            add: with(
                "INSERT INTO {s}.records (run, number, key, body) SELECT number, $4, $5, $6 FROM {s}.runs WHERE {held}",
            ),
        }
    }
}
