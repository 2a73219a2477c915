//! The limits of one GraphQL request, over all fields of the request.

use crate::answer::{Room, Text, too_large, weight};
use crate::error::Problem;
use crate::limits;
use crate::state::State;
use axum::http::StatusCode;
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::OwnedSemaphorePermit;

/// The work that one request has used so far, with its limits.
pub(crate) struct Budget {
    /// The lock for the work of fields. One field of a request works at a time, so that each request uses at most one thread.
    turn: tokio::sync::Mutex<()>,
    room: Room,
    left: Mutex<Left>,
}

#[derive(Default)]
struct Left {
    /// The bytes of all plans that the fields have read.
    plans: usize,
    /// The approximate bytes of the answer so far.
    answer: usize,
    time: Duration,
    held: Vec<OwnedSemaphorePermit>,
}

impl Budget {
    pub(crate) fn new(state: &State) -> Arc<Self> {
        Arc::new(Self {
            turn: tokio::sync::Mutex::default(),
            room: state.answers.clone(),
            left: Mutex::default(),
        })
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts the bytes of a plan that a field reads.
    pub(crate) fn plan(&self, bytes: usize) -> Result<(), Problem> {
        let mut left = self.left();
        left.plans += bytes;
        if left.plans <= limits::PLAN {
            return Ok(());
        }
        let message = format!(
            "the plans of the request have more than {} KiB together",
            limits::PLAN >> 10
        );
        Err(exceeded(message))
    }

    /// Counts values that become part of the answer, and reserves room for the values.
    pub(crate) fn answer<'v>(
        &self,
        values: impl IntoIterator<Item = &'v Value>,
    ) -> Result<(), Problem> {
        const FIELD: usize = 512;
        let bytes = FIELD + values.into_iter().map(weight).sum::<usize>();
        let mut left = self.left();
        left.answer += bytes;
        if left.answer > limits::ANSWER {
            return Err(too_large());
        }
        left.held.push(self.room.take(bytes)?);
        Ok(())
    }

    /// Does the work of a field with [`State::blocking`]. Returns an error if the request has used up its time.
    pub(crate) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        state: &Arc<State>,
        work: impl FnOnce(&Arc<State>, &Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let _turn = self.turn.lock().await;
        if self.left().time > limits::QUERY_TIME {
            let message = format!(
                "the request took more than {:?} of work",
                limits::QUERY_TIME
            );
            return Err(exceeded(message));
        }
        let this = Arc::clone(self);
        let done = state.blocking(move |state| {
            let began = Instant::now();
            let done = work(state, &this);
            this.left().time += began.elapsed();
            done
        });
        done.await
    }

    /// Encodes the answer. The memory stays reserved until the server has sent the answer.
    pub(crate) fn text(&self, answer: &async_graphql::Response) -> Result<Text, Problem> {
        let held = std::mem::take(&mut self.left().held);
        Text::new(&self.room, "", answer, "").map(|text| text.holding_also(held))
    }
}

fn exceeded(message: String) -> Problem {
    Problem::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "TOO_COMPLEX",
        message,
        "Request less data, or split the request.",
    )
}
