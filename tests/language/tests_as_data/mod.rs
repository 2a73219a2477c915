//! Conditions that are data.

mod closed;
#[rustfmt::skip]
#[allow(
    clippy::all,
    clippy::pedantic,
    unused_parens,
    unused_comparisons,
    reason = "the expressions are random"
)]
mod expressions;
mod generate;
mod random;

use crate::support::done;
use plan_runtime::plan::{Body, Template};
use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, Shape)]
enum State {
    #[default]
    Running,
    #[serde(rename = "all-done")]
    Done,
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
#[serde(rename_all = "camelCase")]
struct Job {
    state: State,
    file_size: u64,
    ratio: f64,
    name: String,
    next: Option<String>,
    tags: Vec<String>,
    scores: HashMap<String, i64>,
    ready: bool,
}

const LIMIT: u64 = 10;

/// Gives a job.
#[tool]
async fn find_job(size: u64) -> Result<Job> {
    Ok(Job {
        state: State::Done,
        file_size: size,
        ratio: 0.5,
        name: "x".into(),
        next: None,
        tags: vec!["a".into()],
        scores: HashMap::from([("a".into(), 3)]),
        ready: true,
    })
}

#[test]
fn they_are_data() {
    let plan = plan! {
        step job = FindJob { size: 5 };
        step is_over: bool = job.file_size > 3 && job.state == State::Done || !job.ready;
        step has_tag: bool = job.next.is_none() && job.tags.len() >= 1 && job.tags[0] == "a";
        step is_small: bool = job.file_size < LIMIT && job.scores["a"] == 3 && job.ratio <= 0.5;
        step length: usize = job.name.len();
        step other = if job.file_size != 5 { FindJob { size: 1 } } else if let Some(x) = &job.next { FindJob { size: x.len() as u64 } };
        (is_over, has_tag, is_small, length, other.is_none())
    };
    for step in &plan.plan().steps[1..5] {
        let Body::Action(action) = &step.body else {
            panic!("{step:?}")
        };
        assert!(matches!(action.args, Template::Test(_)), "{step:?}");
    }
    assert_eq!(done(plan.run(&())), (true, true, true, 1, true));
}
