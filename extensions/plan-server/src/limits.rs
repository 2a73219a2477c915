//! Limits that no client and no plan can exceed.

use plan_runtime::run::Limits;
use std::time::Duration;

/// Bytes of the body of a request.
pub const BODY: usize = 1 << 20;

/// Bytes of a plan's source.
pub const PLAN: usize = 256 << 10;

/// The longest time until the head of a request has arrived.
pub const HEAD_TIME: Duration = Duration::from_secs(10);

/// The longest time until the body of a request has arrived.
pub const BODY_TIME: Duration = Duration::from_secs(15);

/// Bytes of the head of a request, which stays in memory until the head is complete.
pub const HEAD: usize = 64 << 10;

/// The longest time that a client may leave its answer unread.
pub const WRITE_TIME: Duration = Duration::from_secs(10);

/// Connections that are open at one time. The connections and the files of the server fit into the usual 1,024 file descriptors. For a connection beyond the limit, the server closes the
/// oldest connection without a token, or whose client does not read.
pub const CONNECTIONS: usize = 768;

/// Concurrent connections of one address, or of one network for IPv6. Local connections may use the total limit,
/// because a local proxy has the connections of all its clients.
pub const CONNECTIONS_OF_ADDRESS: usize = 128;

/// Bytes of one answer, about.
pub const ANSWER: usize = 8 << 20;

/// Approximate bytes of all responses that are being sent.
pub const ANSWERS: usize = 48 << 20;

/// Approximate bytes of all states that are being sent to subscribers.
pub const STATES: usize = 32 << 20;

/// Clients that watch runs at one time.
pub const SUBSCRIBERS: usize = 512;

/// Clients that watch one run at one time.
pub const SUBSCRIBERS_OF_RUN: usize = 128;

/// Events that a client may be late by. A client that is later gets the state of its run again.
pub const EVENTS: usize = 64;

/// Bytes of one event. Instead of a longer event, the server sends the state of the run.
pub const EVENT: usize = 8 << 10;

/// The shortest time between two states of a run for the clients that watch the run. A state that takes longer to compute has a longer pause.
pub const STATE_TIME: Duration = Duration::from_millis(100);

/// Concurrent readings of plans and look-ups of runs. Each may take one second of a processor.
pub const READERS: usize = 4;

/// Requests that may wait to read a plan or to look at a run. After a restart, all watchers look at their runs at one time.
pub const WAITING_READERS: usize = SUBSCRIBERS + 256;

/// Runs that are loaded at one time. A run that only waits for a value or a time is not loaded. A run that waits for an approval is loaded.
pub const LOADED_RUNS: usize = 512;

/// Runs that have not ended. The server refuses further runs.
pub const OPEN_RUNS: usize = 20_000;

/// Bytes of the plans and inputs of all runs that have not ended. Further runs are refused.
pub const OPEN_BYTES: usize = 16 << 20;

/// Calls that wait for an approval at one time. Further calls wait until a person answers a question.
pub const QUESTIONS: usize = 512;

/// Calls that are made at one time, by all runs together.
pub const CALLS: usize = 256;

/// Calls that one run makes at one time.
pub const CALLS_OF_RUN: usize = 16;

/// Bytes of the changed arguments of a question in the list of all questions.
pub const CHANGE: usize = 8_000;

/// The longest time of a run, with all its waits. A retry begins the time again.
pub const RUN_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// The limits of one run.
pub const OF_RUN: Limits = Limits::UNTRUSTED
    .value(2 << 20)
    .arguments(256 << 10)
    .total(8 << 20)
    .recorded(8 << 20)
    .time(RUN_TIME);

/// The limits of the report of one run, with or without the arguments and outputs of all calls.
pub const OF_REPORT: Limits = OF_RUN.total(16 << 20);

/// Bytes of all values that the loaded runs hold together.
pub const RUNS_BYTES: usize = 96 << 20;

/// Bytes of the database of runs.
pub const DATABASE: u64 = 512 << 20;

/// Bytes of the database beyond which no new run starts, so that started runs have room for their records.
pub const DATABASE_FOR_NEW: u64 = DATABASE / 4 * 3;

/// Bytes of the database beyond which the runs that ended first are deleted.
pub const DATABASE_FOR_ENDED: u64 = DATABASE / 2;

/// Bytes of a file with effects of the tools. A full file replaces the old file. A call has no second effect as long as one of the two files has the key of the call.
pub const EFFECTS: u64 = 16 << 20;

/// Bytes of plans that the server keeps parsed.
pub const PLANS: usize = 2 << 20;

/// Characters of the title of a plan without a name.
pub const TITLE: usize = 100;

/// Characters of the name of a run.
pub const RUN_NAME: usize = 60;

/// Names of plans in one answer.
pub const PLAN_NAMES: usize = 100;

/// Characters of the intent of a step.
pub const INTENT: usize = 500;

/// Characters of the name of a person who answers a question.
pub const NAME: usize = 100;

/// Characters of the reason of an answer.
pub const REASON: usize = 2_000;

/// Bytes of a file with the answers of people. A full file replaces the old file.
pub const DECISIONS: u64 = 8 << 20;

/// Bytes of a file with the times of questions, and of a file with the times of retries. A full file replaces the old file.
pub const ASKED: u64 = 4 << 20;

/// Bytes of a file with the attempts before retries. A full file replaces the old file.
pub const RETRIED: u64 = 8 << 20;

/// Stored attempts of a run before one retry.
pub const ATTEMPTS_BEFORE: usize = 200;

/// Retries of one run, with their earlier attempts, in one response.
pub const RETRIES_OF_RUN: usize = 20;

/// Starts of the server during one run in one response.
pub const RESTARTS_OF_RUN: usize = 5;

/// Answers of people about one run in one response.
pub const DECISIONS_OF_RUN: usize = 200;

/// Ended runs whose lengths of lists the server keeps in memory.
pub const LISTS: usize = 1_000;

/// Runs on a page of the list.
pub const RUNS_ON_PAGE: usize = 100;

/// The longest time of one search in the list of runs. The next page continues a search.
pub const LIST_TIME: Duration = Duration::from_millis(500);

/// Open questions of all runs in one answer.
pub const QUESTIONS_ON_PAGE: usize = 100;

/// The longest time that a GraphQL mutation waits for the end of its run.
pub const MUTATION_TIME: Duration = Duration::from_secs(30);

/// The maximum depth of a GraphQL query. Introspection by common clients needs 15.
pub const QUERY_DEPTH: usize = 20;

/// The maximum number of fields of a GraphQL query.
pub const QUERY_COMPLEXITY: usize = 500;

/// Bytes of a GraphQL query.
pub const QUERY: usize = 32 << 10;

/// The longest time of all fields of a GraphQL query together, without waits.
pub const QUERY_TIME: Duration = Duration::from_secs(5);

/// The maximum number of directives of a field of a GraphQL query.
pub const QUERY_DIRECTIVES: usize = 8;

/// The longest time that calls may continue after the server gets the signal to end.
pub const GRACE: Duration = Duration::from_secs(10);
