//! A job of another service, which a plan starts and polls for a limited time.

mod support;

use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use support::{TokioTimer, World, show};

#[derive(Serialize, Deserialize, Shape)]
struct Started {
    id: u32,
}

#[derive(Serialize, Deserialize, Shape)]
struct Job {
    state: State,
    url: Option<String>,
}

#[derive(PartialEq, Serialize, Deserialize, Shape)]
enum State {
    Running,
    Done,
}

/// Starts to transcode a video.
#[tool]
async fn start_job(world: &World, video: String) -> Result<Started> {
    world.call(format!("start {video}")).await?;
    Ok(Started { id: 3 })
}

/// Returns the state of a job. The job ends after four questions, or never.
#[tool]
async fn poll_job(world: &World, id: u32) -> Result<Job> {
    world.call(format!("poll job {id}")).await?;
    let calls = world.calls();
    let is = |kind: &str| calls[0].contains(kind);
    if calls.len() < 5 || is("endless") {
        let state = State::Running;
        return Ok(Job { state, url: None });
    }
    Ok(Job {
        state: State::Done,
        url: (!is("silent")).then(|| "https://example.org/3".into()),
    })
}

plan! {
    /// Transcodes a video, and returns the address of the result.
    Transcode(video: String) -> String {
        step started = StartJob { video };
        #[at_most(200, every = "3s")] #[retry(3)] #[deadline("10m")]
        step job = loop { PollJob { id: started.id } } while job.state == State::Running;
        job.url.clone().ok_or("no result")?
    }
}

mod by_hand {
    use super::support::by_hand::attempts;
    use super::*;
    use backon::Retryable;
    use plan_runtime::Error;
    use std::time::Duration;
    use tokio::time::{MissedTickBehavior, interval, timeout};

    pub(crate) async fn transcode(world: &World, video: String) -> Result<String> {
        let started = start_job(world, video).await?;
        let limit = Duration::from_secs(600);
        let job = timeout(limit, ended(world, started.id))
            .await
            .map_err(|_| Error::permanent("it took too long").with_code("DEADLINE"))??;
        job.url.ok_or_else(|| Error::permanent("no result"))
    }

    async fn ended(world: &World, id: u32) -> Result<Job> {
        let mut ticks = interval(Duration::from_secs(3));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for _ in 0..200 {
            ticks.tick().await;
            let job = (|| poll_job(world, id))
                .retry(attempts(3))
                .when(Error::is_transient)
                .await?;
            if job.state != State::Running {
                return Ok(job);
            }
        }
        Err(Error::permanent("it still runs").with_code("TOO_MANY_ROUNDS"))
    }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    println!("{}", Transcode::PLAN);
    let scenarios = [
        ("all is well", "holiday.mov"),
        ("the job has no result", "silent.mov"),
        ("the job does not end", "endless.mov"),
    ];
    for (title, video) in scenarios {
        let world = World::default();
        let transcode = Transcode {
            video: video.into(),
        };
        let run = transcode.run(&world).timer(TokioTimer).with_report().await;
        let by_hand = by_hand::transcode(&World::default(), video.into()).await;
        show(title, run, by_hand);
    }
}

#[cfg(test)]
mod tests {
    use super::support::{Done, both};
    use super::*;

    async fn outcome(world: impl Fn() -> World, video: &str) -> Done<String> {
        both(
            world,
            async |world| {
                let transcode = Transcode {
                    video: video.into(),
                };
                Ok(transcode.run(world).timer(TokioTimer).await?)
            },
            async |world| by_hand::transcode(world, video.into()).await,
        )
        .await
    }

    #[tokio::test(start_paused = true)]
    async fn a_job_is_asked_every_three_seconds_until_it_is_done() {
        let done = outcome(World::default, "holiday.mov").await;
        assert_eq!(done.output, Ok("https://example.org/3".into()));
        assert_eq!(done.calls.len(), 5);
        assert_eq!(done.took.as_secs(), 1 + 3 * 3 + 1);
    }

    #[tokio::test(start_paused = true)]
    async fn slow_answers_put_the_next_question_off() {
        let done = outcome(|| World::default().takes("poll", 5), "holiday.mov").await;
        assert_eq!(done.took.as_secs(), 1 + 4 * 5);
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_that_is_not_answered_is_asked_again() {
        let done = outcome(|| World::default().busy("poll", 2), "holiday.mov").await;
        assert_eq!(done.calls.len(), 5);
        let done = outcome(|| World::default().busy("poll", 3), "holiday.mov").await;
        assert_eq!(done.output, Err("busy".into()));
    }

    #[tokio::test(start_paused = true)]
    async fn there_is_a_time_limit() {
        let done = outcome(|| World::default().takes("poll", 7), "endless.mov").await;
        assert_eq!(done.output, Err("DEADLINE".into()));
        assert_eq!(done.took.as_secs(), 601);

        let done = outcome(World::default, "endless.mov").await;
        assert_eq!(done.output, Err("TOO_MANY_ROUNDS".into()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_job_may_end_without_a_result() {
        let done = outcome(World::default, "silent.mov").await;
        assert_eq!(done.output, Err("no result".into()));
    }
}
