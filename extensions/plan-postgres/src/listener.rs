//! The tasks next to the writer: they renew the lease, release runs, and read new messages.

use super::asks::Asks;
use super::line::{Line, Session};
use super::numbers::millis;
use super::owned::Owned;
use super::watching::Watching;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};
use tokio_postgres::Error;

/// The pause between two checks for messages, which find the messages whose notification was lost.
const EVERY: Duration = Duration::from_secs(1);

/// Renews this owner's lease three times in the duration of a lease.
pub(crate) async fn renew(line: Rc<Line>, owner: Arc<str>) {
    let mut ticks = interval(line.settings.lease / 3);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        // The next tick repeats a failed renewal.
        let _ = line
            .run("cannot renew the lease", async |session: &Session| {
                renew_once(session, &line, &owner).await
            })
            .await;
    }
}

/// Releases the runs whose claim or release has failed. An attempt may take longer than the lease, so this task is separate from the renewal.
pub(crate) async fn abandon(asks: Rc<Asks>, owned: Rc<RefCell<Owned>>) {
    let mut ticks = interval(asks.line.settings.lease / 3);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let doubtful = owned.borrow_mut().take_doubtful();
        if doubtful.is_empty() {
            continue;
        }
        let abandoned = asks.abandon(&doubtful).await;
        let is_left = |id: &Arc<str>| match &abandoned {
            Ok(left) => left.contains(id.as_bytes()),
            Err(_) => true,
        };
        let mut owned = owned.borrow_mut();
        for id in doubtful {
            owned.busy.remove(&id);
            if is_left(&id) {
                owned.doubtful.insert(id);
            }
        }
    }
}

pub(crate) async fn renew_once(session: &Session, line: &Line, owner: &str) -> Result<(), Error> {
    let words = format!("process {}", std::process::id());
    let sql = &line.sql.renew;
    let lease = millis(line.settings.lease);
    session.query(sql, &[&owner, &words, &lease]).await?;
    Ok(())
}

/// Checks for messages of waiting runs, since a notification may be lost.
pub(crate) async fn poll(line: Rc<Line>, owner: Arc<str>, watching: Arc<Watching>) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let [runs, epochs, afters] = watching.all();
        if runs.is_empty() {
            continue;
        }
        let look = async |session: &Session| {
            let owner = &*owner;
            let rows = session
                .query(
                    &line.sql.messages.waiting,
                    &[&runs, &epochs, &owner, &afters],
                )
                .await?;
            let run = |row: &tokio_postgres::Row| row.try_get(0);
            rows.iter().map(run).collect::<Result<Vec<i64>, Error>>()
        };
        if let Ok(runs) = line.run("cannot look for messages", look).await {
            runs.into_iter().for_each(|run| watching.wake(run));
        }
    }
}
