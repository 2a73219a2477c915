//! What no client and no plan can exceed.

use plan_runtime::run::Limits;
use std::time::Duration;

/// Bytes of the body of a request.
pub const BODY: usize = 1 << 20;

/// Bytes of the text of a plan.
pub const PLAN: usize = 256 << 10;

/// How long the head of a request may take to arrive.
pub const HEAD_TIME: Duration = Duration::from_secs(10);

/// How long the body of a request may take to arrive.
pub const BODY_TIME: Duration = Duration::from_secs(15);

/// Bytes of the head of a request, which are kept until it is complete.
pub const HEAD: usize = 64 << 10;

/// The longest time in which a client reads no byte of its answer.
pub const WRITE_TIME: Duration = Duration::from_secs(10);

/// Connections that are open at one time; with the files of the server, they fit into the 1,024 file descriptors that are usual. Where there are more, the oldest connection without a token, or
/// whose client does not read, is closed.
pub const CONNECTIONS: usize = 768;

/// Connections of one address that are open at one time: of an IPv6 address, of its network. This machine itself may have as many as all: a proxy on this machine has the connections of all its clients.
pub const CONNECTIONS_OF_ADDRESS: usize = 128;

/// Bytes of one answer, about.
pub const ANSWER: usize = 8 << 20;

/// Bytes of all answers that are on their way at one time, about.
pub const ANSWERS: usize = 48 << 20;

/// Bytes of all states of runs that are on their way to those who watch, about.
pub const STATES: usize = 32 << 20;

/// Clients that watch runs at one time.
pub const SUBSCRIBERS: usize = 512;

/// Clients that watch one run at one time.
pub const SUBSCRIBERS_OF_RUN: usize = 128;

/// Events that a client may be late by. One that is later gets the state of its run again.
pub const EVENTS: usize = 64;

/// Bytes of one event. Instead of a longer one, the state of the run is sent.
pub const EVENT: usize = 8 << 10;

/// How often the state of a run is made for those who watch the run, at most. A state that takes long is made less often.
pub const STATE_TIME: Duration = Duration::from_millis(100);

/// Plans that are read, and runs that are looked at, at one time. Each may take a second of a processor.
pub const READERS: usize = 4;

/// Requests that may wait for their turn as one of these.
pub const WAITING_READERS: usize = 256;

/// Runs that are loaded at one time. Those that only wait for a value or a time are not; those that wait for an approval are.
pub const LOADED_RUNS: usize = 512;

/// Runs that have not ended. Further ones are refused.
pub const OPEN_RUNS: usize = 20_000;

/// Bytes of the plans and inputs of all runs that have not ended. Further runs are refused.
pub const OPEN_BYTES: usize = 16 << 20;

/// Calls that wait for an approval at one time. Others wait until one of these is answered.
pub const QUESTIONS: usize = 512;

/// Calls that are made at one time, by all runs together.
pub const CALLS: usize = 256;

/// Calls that one run makes at one time.
pub const CALLS_OF_RUN: usize = 16;

/// How long a run may take, with all its waits.
pub const RUN_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// What one run may do and hold.
pub const OF_RUN: Limits = Limits::UNTRUSTED
    .value(2 << 20)
    .arguments(256 << 10)
    .total(8 << 20)
    .recorded(8 << 20)
    .time(RUN_TIME);

/// What a report of one run may hold, with the arguments and outputs of all calls or without them.
pub const OF_REPORT: Limits = OF_RUN.total(16 << 20);

/// Bytes of all values that the loaded runs hold together.
pub const RUNS_BYTES: usize = 96 << 20;

/// Bytes of the database of runs.
pub const DATABASE: u64 = 512 << 20;

/// Bytes of the database beyond which no run begins, so that those that have begun have room for their records.
pub const DATABASE_FOR_NEW: u64 = DATABASE / 4 * 3;

/// Bytes of the database beyond which the runs that ended first are deleted.
pub const DATABASE_FOR_ENDED: u64 = DATABASE / 2;

/// Bytes of a file with effects of the tools. A full file replaces the old file, whose effects are forgotten.
pub const EFFECTS: u64 = 16 << 20;

/// Runs on a page of the list.
pub const RUNS_ON_PAGE: usize = 100;

/// How long a GraphQL mutation waits for the run that it started.
pub const MUTATION_TIME: Duration = Duration::from_secs(30);

/// How deep a GraphQL query may be. Introspection by common clients needs 15.
pub const QUERY_DEPTH: usize = 20;

/// How many fields a GraphQL query may have.
pub const QUERY_COMPLEXITY: usize = 500;

/// Bytes of the text of a GraphQL query.
pub const QUERY: usize = 32 << 10;

/// How long the fields of a GraphQL query may take together, without waits.
pub const QUERY_TIME: Duration = Duration::from_secs(5);

/// How many directives a field of a GraphQL query may have.
pub const QUERY_DIRECTIVES: usize = 8;

/// How long calls may go on after the server was told to end.
pub const GRACE: Duration = Duration::from_secs(10);
