//! Records of the answers of gates.

use super::context::Decision;
use super::durable;
use super::durable::Found;
use crate::error::StepError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// A [`Decision`] in a record.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", remote = "Decision")]
enum GateAnswer {
    Allow,
    AllowStep,
    AllowWith(Value),
    Refuse(String),
}

/// The record of an answer.
pub(super) struct RecordedAnswer {
    pub(super) answer: Decision,
    pub(super) number: u64,
    /// The earliest start of the call's wait, counted from the start of the outermost run.
    pub(super) since: Duration,
    pub(super) time: Duration,
}

/// Reads the record of an answer.
pub(super) fn read(found: &Found) -> Result<RecordedAnswer, serde_json::Error> {
    let recorded = durable::decode(&found.body)?;
    let answer = match recorded.result {
        Ok(answer) => GateAnswer::deserialize(answer)?,
        Err(StepError::Refused(reason)) => Decision::Refuse(reason.to_string()),
        Err(error) => Decision::Refuse(error.to_string()),
    };
    // The gates have answered at once.
    let is_immediate = recorded.started == recorded.ended;
    Ok(RecordedAnswer {
        answer,
        number: found.number,
        since: if is_immediate {
            Duration::MAX
        } else {
            recorded.started
        },
        time: recorded.ended,
    })
}

/// Returns the body of the record of an answer at this time, with the earliest start of the wait. A refusal has the record of a call that failed.
pub(super) fn body(
    answer: &Decision,
    (since, now): (Duration, Duration),
) -> Result<String, serde_json::Error> {
    let times = (since.min(now), now);
    if let Decision::Refuse(reason) = answer {
        let refused = StepError::Refused(reason.clone().into());
        return durable::encode(times, Err(&refused));
    }
    let answer = GateAnswer::serialize(answer, serde_json::value::Serializer)?;
    durable::encode(times, Ok(&answer))
}
