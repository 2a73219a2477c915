//! What travels between clients, Restate and workers.

use plan_runtime::journal::spi::RunInfo;
use plan_runtime::run::{CallOutcome, ENGINE_VERSION};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// The name of the services of a worker that was given none.
pub(crate) const SERVICE: &str = "Plans";

/// The service that makes the calls of steps. The other one, whose name it begins with, runs plans.
pub(crate) fn steps_of(service: &str) -> String {
    format!("{service}Steps")
}

/// A part of the fingerprint of a run. Whoever changes what the driver of a run asks Restate for, or in which order, gives it another number.
const VERSION: u32 = 1;

/// A message of Restate has at most 32 MiB, unless its configuration says otherwise. One that is larger is sent again and again, so it is found before. The rest is for what is around.
pub(crate) const MOST_BYTES: usize = 31 << 20;

/// Why this is not sent.
pub(crate) fn too_large(what: &str, bytes: usize) -> Option<String> {
    (bytes > MOST_BYTES).then(|| {
        format!("{what} has {bytes} bytes as JSON, and a message of Restate has at most 32 MiB: keep it elsewhere, and pass its name")
    })
}

/// How many bytes a text has in JSON. Control characters, of which JSON has none, are not expected.
pub(crate) fn size_of_text(text: &str) -> usize {
    let escaped = text.bytes().filter(|byte| matches!(byte, b'"' | b'\\'));
    text.len() + escaped.count() + 2
}

/// What was decided while a run was polled, by keys.
pub(crate) type Decided = BTreeMap<String, String>;

/// A run, as it was submitted.
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

/// How a run began.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Began {
    /// In milliseconds since 1970.
    pub(crate) at: u64,
    /// Of the plan that runs.
    pub(crate) fingerprint: String,
}

/// What came of a call, and when.
#[derive(Serialize, Deserialize)]
pub(crate) struct Came {
    pub(crate) outcome: CallOutcome,
    pub(crate) at: u64,
}

/// A value for a step that waits for one.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Signal {
    pub(crate) path: String,
    /// As text: it may be nested as deep as JSON that is read may be.
    pub(crate) value: Box<RawValue>,
}

/// The same on its way to the step.
#[derive(Serialize, Deserialize)]
pub(crate) struct Sent {
    pub(crate) value: Box<RawValue>,
    pub(crate) at: u64,
    /// The invocation that has sent it.
    pub(crate) by: String,
}

/// How a run ended.
#[derive(Serialize, Deserialize)]
pub(crate) struct Ended {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failed: Option<Failed>,
    pub(crate) report: Box<RawValue>,
}

/// Why a run has no output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Failed {
    /// What the error says, as that of a run in one process.
    pub message: String,
    /// Whether the run was cancelled.
    pub cancelled: bool,
    /// The paths of the steps that were undone, in the order in which they were.
    pub undone: Vec<String>,
    /// The paths of the steps that should have been undone and were not.
    pub not_undone: Vec<String>,
}

/// What time it is, in milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
}

/// A number that is another for each plan, as far as one of 64 bits can be.
pub(crate) fn fingerprint(document: &str) -> String {
    format!("{VERSION}.{ENGINE_VERSION}-{:016x}", hash(document))
}

/// FNV-1a with 64 bits (<http://www.isthe.com/chongo/tech/comp/fnv/>): the same in each build.
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
