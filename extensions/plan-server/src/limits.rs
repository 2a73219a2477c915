//! What no client and no plan can exceed.

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

/// Connections that are open at one time. Others are refused for now.
pub const CONNECTIONS: usize = 1_024;

/// Clients that watch runs at one time.
pub const SUBSCRIBERS: usize = 512;

/// Clients that watch one run at one time.
pub const SUBSCRIBERS_OF_RUN: usize = 128;

/// Events that a client may be late by. One that is later gets the state of its run again.
pub const EVENTS: usize = 256;

/// Plans that are read, and runs that are looked at, at one time. Each may take a second of a processor.
pub const READERS: usize = 4;

/// Requests that may wait for their turn as one of these.
pub const WAITING_READERS: usize = 256;

/// Runs that are loaded at one time. Those that only wait for a value or a time are not; those that wait for an approval are.
pub const LOADED_RUNS: usize = 4_096;

/// Runs that have not ended. Further ones are refused.
pub const OPEN_RUNS: usize = 20_000;

/// Calls that are made at one time, by all runs together.
pub const CALLS: usize = 256;

/// Calls that one run makes at one time.
pub const CALLS_OF_RUN: usize = 16;

/// How long a run may take, with all its waits.
pub const RUN_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// Bytes of all values that a run holds at one time.
pub const RUN_BYTES: usize = 64 << 20;

/// Runs on a page of the list.
pub const RUNS_ON_PAGE: usize = 100;

/// How long a GraphQL mutation waits for the run that it started.
pub const MUTATION_TIME: Duration = Duration::from_secs(30);

/// How deep a GraphQL query may be. Introspection by common clients needs 15.
pub const QUERY_DEPTH: usize = 20;

/// How many fields a GraphQL query may have.
pub const QUERY_COMPLEXITY: usize = 500;

/// How many directives a field of a GraphQL query may have.
pub const QUERY_DIRECTIVES: usize = 8;

/// How long calls may go on after the server was told to end.
pub const GRACE: Duration = Duration::from_secs(10);
