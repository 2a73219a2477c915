//! The messages between clients, Restate and workers.

use plan_runtime::journal::spi::RunInfo;
use plan_runtime::run::{CallOutcome, ENGINE_VERSION};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// The default name of a worker's services.
pub(crate) const SERVICE: &str = "Plans";

/// Returns the name of the service that makes the calls of steps. The service that runs plans has the name `service`.
pub(crate) fn steps_of(service: &str) -> String {
    format!("{service}Steps")
}

/// A part of a run's fingerprint. Change this number with any change to the requests of a run's driver, or to their order.
const VERSION: u32 = 2;

/// The most bytes of a message's content. A message of Restate has at most 32 MiB by default, and the difference is for the envelope. Restate would
/// send a larger message again and again, so the size is checked before.
pub(crate) const MOST_BYTES: usize = 31 << 20;

/// Returns an error for a message that is too large.
pub(crate) fn too_large(what: &str, bytes: usize) -> Option<String> {
    (bytes > MOST_BYTES).then(|| {
        format!("{what} has {bytes} bytes as JSON, and a message of Restate has at most 32 MiB: keep it elsewhere, and pass its name")
    })
}

/// Returns the size of a string as JSON, in bytes. Control characters, which JSON does not contain, are not counted as
/// escapes.
pub(crate) fn size_of_text(text: &str) -> usize {
    let escaped = text.bytes().filter(|byte| matches!(byte, b'"' | b'\\'));
    text.len() + escaped.count() + 2
}

/// The decisions of a poll, by their keys.
pub(crate) type Decided = BTreeMap<String, String>;

/// A submitted run.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Submitted {
    pub(crate) plan: String,
    pub(crate) document: String,
    pub(crate) inputs: String,
}

impl From<RunInfo> for Submitted {
    fn from(run: RunInfo) -> Self {
        Self {
            plan: run.plan,
            document: run.document,
            inputs: run.inputs,
        }
    }
}

impl From<Submitted> for RunInfo {
    fn from(run: Submitted) -> Self {
        Self::new(run.plan, run.document, run.inputs)
    }
}

/// The entry in Restate's journal for the start of a run.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Began {
    /// The time of the start, in milliseconds since 1970.
    pub(crate) at: u64,
    /// The fingerprint of the plan that runs.
    pub(crate) fingerprint: String,
}

/// The outcome of a call, with its time.
#[derive(Serialize, Deserialize)]
pub(crate) struct Came {
    pub(crate) outcome: CallOutcome,
    pub(crate) at: u64,
}

/// A value for a step that waits for one.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Signal {
    pub(crate) path: String,
    /// Raw JSON, since the value may already have the deepest nesting that JSON can be read with.
    pub(crate) value: Box<RawValue>,
}

/// A value in the promise that a step waits for.
#[derive(Serialize, Deserialize)]
pub(crate) struct Sent {
    pub(crate) value: Box<RawValue>,
    pub(crate) at: u64,
    /// The ID of the invocation that sent the value.
    pub(crate) by: String,
}

/// The end of a run.
#[derive(Serialize, Deserialize)]
pub(crate) struct Ended {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failed: Option<Failed>,
    pub(crate) report: Box<RawValue>,
}

/// The failure of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Failed {
    /// The message of the run's error, equal to the message of a run in one process.
    pub message: String,
    /// `true` if the run was cancelled.
    pub cancelled: bool,
    /// The paths of the undone steps, in the order of their undoing.
    pub undone: Vec<String>,
    /// The paths of the steps that should have been undone and were not.
    pub not_undone: Vec<String>,
}

/// Returns the current time in milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
}

/// Returns a fingerprint of the requests that a run makes: the versions of the driver and of the engine, and a 64-bit
/// hash of the plan.
pub(crate) fn fingerprint(document: &str) -> String {
    format!("{VERSION}.{ENGINE_VERSION}-{:016x}", hash(document))
}

/// Returns the 64-bit FNV-1a hash (<http://www.isthe.com/chongo/tech/comp/fnv/>) of a text. The hash is stored, so it
/// is equal in every build.
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
