//! Records of the answers of gates.

use super::context::Decision;
use super::durable;
use super::durable::Found;
use crate::error::StepError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// The answer of the gates about a call, as a record has it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum GateAnswer {
    Allow,
    AllowStep,
    AllowWith(Value),
    Refuse(String),
}

impl From<GateAnswer> for Decision {
    fn from(answer: GateAnswer) -> Self {
        match answer {
            GateAnswer::Allow => Self::Allow,
            GateAnswer::AllowStep => Self::AllowStep,
            GateAnswer::AllowWith(arguments) => Self::AllowWith(arguments),
            GateAnswer::Refuse(reason) => Self::Refuse(reason),
        }
    }
}

/// The record of an answer.
pub(super) struct RecordedAnswer {
    pub(super) answer: Decision,
    pub(super) number: u64,
    /// The earliest start of the call's wait, counted from the start of the outermost run.
    pub(super) since: Duration,
    pub(super) time: Duration,
}

/// Reads the record of an answer. Records of earlier versions contain no time.
pub(super) fn read(found: &Found) -> Result<RecordedAnswer, serde_json::Error> {
    let (answer, since, time): (GateAnswer, _, _) = match serde_json::from_str(&found.body) {
        Ok(answer) => (answer, Duration::ZERO, Duration::ZERO),
        Err(_) => {
            let recorded = durable::decode(&found.body)?;
            let answer = match recorded.result {
                Ok(answer) => serde_json::from_value(answer)?,
                Err(StepError::Refused(reason)) => GateAnswer::Refuse(reason.to_string()),
                Err(error) => GateAnswer::Refuse(error.to_string()),
            };
            // The gates have answered at once.
            let is_immediate = recorded.started == recorded.ended;
            let since = if is_immediate {
                Duration::MAX
            } else {
                recorded.started
            };
            (answer, since, recorded.ended)
        }
    };
    Ok(RecordedAnswer {
        answer: answer.into(),
        number: found.number,
        since,
        time,
    })
}

/// Returns the body of the record of an answer at this time, with the earliest start of the wait. A refusal has the record of a call that failed.
pub(super) fn body(
    answer: &Decision,
    (since, now): (Duration, Duration),
) -> Result<String, serde_json::Error> {
    let times = (since.min(now), now);
    let answer = match answer {
        Decision::Allow => GateAnswer::Allow,
        Decision::AllowStep => GateAnswer::AllowStep,
        Decision::AllowWith(arguments) => GateAnswer::AllowWith(arguments.clone()),
        Decision::Refuse(reason) => {
            let refused = StepError::Refused(reason.clone().into());
            return durable::encode(times, Err(&refused));
        }
    };
    let answer = serde_json::to_value(&answer)?;
    durable::encode(times, Ok(&answer))
}
