//! What one GraphQL request may do and ask for, over all its fields.

use crate::answer::{Room, Text, too_large, weight};
use crate::error::Problem;
use crate::limits;
use crate::state::State;
use axum::http::StatusCode;
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::OwnedSemaphorePermit;

/// What is left of the work of a request.
pub(crate) struct Budget {
    /// Its fields take turns, so that a request never does more at one time than another.
    turn: tokio::sync::Mutex<()>,
    room: Room,
    left: Mutex<Left>,
}

#[derive(Default)]
struct Left {
    /// Bytes of the plans that were read.
    plans: usize,
    /// Bytes of the answer so far, about.
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

    /// A field reads a plan of this many bytes.
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

    /// A value becomes a part of the answer.
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

    /// Does the work of a field, as [`State::blocking`], if there is time left.
    pub(crate) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        state: &Arc<State>,
        work: impl FnOnce(&Arc<State>, &Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let _turn = self.turn.lock().await;
        if self.left().time > limits::QUERY_TIME {
            let message = format!("the request has taken {:?} of work", limits::QUERY_TIME);
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

    /// The answer as it is sent. It takes its room until it is sent.
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
        "Ask for less, or in several requests.",
    )
}
