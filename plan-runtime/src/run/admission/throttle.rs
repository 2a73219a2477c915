//! Limits on the rate and the concurrency of calls, which several runs can share.

use super::super::catch::locked;
use super::super::timer::{Timer, TimerFuture};
use super::means;
use crate::print::MessageName;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// Limits on the calls of all runs that share the throttle: on the number of concurrent calls, and on the number of calls that start
/// in a period.
///
/// A clone shares the limits of the original. An application stores one throttle and passes it to each run ([`Run::throttle`](crate::run::Run::throttle)).
/// A toolbox passes its throttle to all its runs ([`Toolbox::throttle`](crate::dynamic::Toolbox::throttle)).
///
/// A waiting call does not count toward the run's [concurrency](crate::run::Run::concurrency), and the time until its first attempt does not count toward
/// the time limits of its step. Each attempt counts as a call. Waiting calls with equal limits start in the order of their arrival. A call arrives
/// when its run could start it.
///
/// If a tool's error has a [time until a retry](crate::Error::retry_after), all calls that share a limit with the tool wait for this time, up to an
/// hour.
///
/// ```
/// use plan_runtime::run::{ManualTimer, Throttle};
/// use plan_runtime::{Result, plan, tool};
/// use std::time::Duration;
///
/// /// Looks up a page.
/// #[tool(name = "wiki.page")]
/// async fn page(title: String) -> Result<usize> {
///     Ok(title.len())
/// }
///
/// plan! {
///     Pages(titles: Vec<String>) -> Vec<usize> {
///         step pages = for title in titles { Page { title } };
///         pages
///     }
/// }
///
/// let throttle = Throttle::new()
///     .concurrency("wiki.*", 4)
///     .rate("wiki.*", 10, Duration::from_secs(1));
///
/// let timer = ManualTimer::new();
/// let titles: Vec<String> = (0..31).map(|page| format!("page {page}")).collect();
/// let run = Pages { titles }.run(&()).throttle(&throttle).timer(timer.clone());
/// assert_eq!(smol::block_on(timer.skip_waits(run))?.len(), 31);
/// assert_eq!(timer.elapsed(), Duration::from_secs(3));
/// # Ok::<(), plan_runtime::RunError>(())
/// ```
#[derive(Clone, Default)]
pub struct Throttle {
    rules: Vec<Arc<Rule>>,
}

/// A limit for tools whose names match a pattern.
struct Rule {
    tools: String,
    limit: ThrottleLimit,
    state: Mutex<ThrottleState>,
}

enum ThrottleLimit {
    Concurrency(usize),
    Rate { calls: usize, period: Duration },
}

#[derive(Default)]
struct ThrottleState {
    running: usize,
    /// The waiting calls, in the order of their arrival.
    line: BTreeMap<u64, Waker>,
    /// The starts in the last period.
    starts: VecDeque<Instant>,
    /// No call starts before this time.
    closed: Option<Instant>,
}

/// The longest pause of a throttle after a tool's error.
pub(in crate::run) const LONGEST_CLOSED: Duration = Duration::from_secs(60 * 60);

impl Throttle {
    /// Creates a throttle without limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits the number of concurrent calls to these tools; 0 counts as 1. A trailing `*` matches any suffix, and all matching tools
    /// share the limit.
    #[must_use]
    pub fn concurrency(self, tools: impl Into<String>, calls: usize) -> Self {
        self.with(tools, ThrottleLimit::Concurrency(calls.max(1)))
    }

    /// Allows at most `calls` calls to these tools to start in any period of this length; 0 counts as 1. Names match tools as in
    /// [`concurrency`](Self::concurrency).
    #[must_use]
    pub fn rate(self, tools: impl Into<String>, calls: usize, period: Duration) -> Self {
        let calls = calls.max(1);
        self.with(tools, ThrottleLimit::Rate { calls, period })
    }

    fn with(mut self, tools: impl Into<String>, limit: ThrottleLimit) -> Self {
        let rule = Arc::new(Rule {
            tools: tools.into(),
            limit,
            state: Mutex::default(),
        });
        self.rules.push(rule);
        self
    }

    fn rules_of(&self, tool: &str) -> impl Iterator<Item = &Arc<Rule>> {
        self.rules
            .iter()
            .filter(move |rule| means(&rule.tools, tool))
    }

    /// Returns `true` if the throttle has no limits.
    pub(in crate::run) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns `true` if a limit applies to a tool.
    pub(in crate::run) fn has(&self, tool: &str) -> bool {
        self.rules_of(tool).next().is_some()
    }

    /// Prevents new calls to the limited tools for this time. Use this method before a restart of a service that the tools need, or before the end
    /// of this process. Running calls continue. If the throttle is already paused, the later end applies.
    ///
    /// ```
    /// use plan_runtime::run::Throttle;
    /// use plan_runtime::{Result, plan, tool};
    /// use std::time::{Duration, Instant};
    ///
    /// #[tool]
    /// async fn pay(cents: u32) -> Result<u32> {
    ///     Ok(cents)
    /// }
    ///
    /// let throttle = Throttle::new().concurrency("*", 100);
    /// let plan = plan! { step paid = Pay { cents: 5 }; paid };
    /// let before = Instant::now();
    /// throttle.pause(Duration::from_millis(20));
    /// assert_eq!(smol::block_on(plan.run(&()).throttle(&throttle))?, 5);
    /// assert!(before.elapsed() >= Duration::from_millis(20));
    /// # Ok::<(), plan_runtime::RunError>(())
    /// ```
    pub fn pause(&self, time: Duration) {
        let now = Instant::now();
        self.rules.iter().for_each(|rule| rule.close(now, time));
    }

    /// Pauses the limits of a tool, as an error of a call to it requests.
    pub(in crate::run) fn close(&self, tool: &str, now: Instant, time: Duration) {
        self.rules_of(tool).for_each(|rule| rule.close(now, time));
    }
}

/// The turn of a call, which occupies room in the limits from the start to the end of the call.
pub(in crate::run) struct Turn {
    rules: Vec<Arc<Rule>>,
    /// The number of rules whose room is taken: all, or none.
    taken: usize,
    /// The rule that had no room.
    full: usize,
    /// The number of the call, in the order of arrival.
    number: u64,
}

impl Turn {
    pub(in crate::run) fn new(throttles: &[Throttle], tool: &str) -> Self {
        static COME: AtomicU64 = AtomicU64::new(0);
        let mut rules: Vec<Arc<Rule>> = Vec::new();
        for rule in throttles.iter().flat_map(|it| it.rules_of(tool)) {
            // A run inside another one may have a throttle in common with it.
            if !rules.iter().any(|other| Arc::ptr_eq(other, rule)) {
                rules.push(Arc::clone(rule));
            }
        }
        Self {
            rules,
            taken: 0,
            full: 0,
            number: COME.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Takes the turn if every rule has room for the call, which starts now. Otherwise the turn occupies no room, so that no other call waits for a
    /// waiting call.
    pub(in crate::run) fn take(&mut self, now: Instant) -> bool {
        while let Some(rule) = self.rules.get(self.taken) {
            if !locked(&rule.state).enter(&rule.limit, self.number, now) {
                self.full = self.taken;
                self.give_back(Some(now));
                return false;
            }
            self.taken += 1;
        }
        true
    }

    pub(in crate::run) fn is_taken(&self) -> bool {
        self.taken == self.rules.len()
    }

    /// Returns a wait in the queue of the rule that had no room. After the wait, the call may try again.
    pub(in crate::run) fn wait(&self, timer: &Arc<dyn Timer>) -> TimerFuture {
        let Some(rule) = self.rules.get(self.full) else {
            return Box::pin(ready(()));
        };
        let waker = Waker::noop().clone();
        locked(&rule.state).line.insert(self.number, waker);
        Box::pin(InLine {
            rule: Arc::clone(rule),
            number: self.number,
            timer: Arc::clone(timer),
            sleep: None,
        })
    }

    /// Waits for the call's turn.
    pub(in crate::run) async fn come(mut self, timer: Arc<dyn Timer>) -> Self {
        while !self.take(timer.now()) {
            self.wait(&timer).await;
        }
        self
    }

    /// Frees the occupied room. With `start`, also forgets the start at this time, since the call did not start.
    fn give_back(&mut self, start: Option<Instant>) {
        for rule in self.rules.iter().take(std::mem::take(&mut self.taken)) {
            let mut state = locked(&rule.state);
            match rule.limit {
                ThrottleLimit::Concurrency(_) => state.running -= 1,
                ThrottleLimit::Rate { .. } => state.cancel(start),
            }
            let next = state.next();
            drop(state);
            next.into_iter().for_each(Waker::wake);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.give_back(None);
    }
}

/// A call in the queue of a rule. Is ready when the call is first, and the rule has room.
struct InLine {
    rule: Arc<Rule>,
    number: u64,
    timer: Arc<dyn Timer>,
    /// The wait until the rule has room.
    sleep: Option<(Instant, TimerFuture)>,
}

impl Future for InLine {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        loop {
            let now = this.timer.now();
            let mut state = locked(&this.rule.state);
            let is_first = state.is_first(this.number);
            let room = state.room(&this.rule.limit, now).filter(|_| is_first);
            if room.is_some_and(|room| room <= now) {
                drop(state);
                this.leave();
                return Poll::Ready(());
            }
            let before = state.line.insert(this.number, cx.waker().clone());
            drop(state);
            drop(before);
            let Some(room) = room else {
                this.sleep = None;
                return Poll::Pending;
            };
            let sleep = this.sleep.take().filter(|(until, _)| *until == room);
            let (_, sleep) = this.sleep.insert(sleep.unwrap_or_else(|| {
                let wait = room.saturating_duration_since(now);
                (room, this.timer.sleep(wait))
            }));
            if sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            this.sleep = None;
        }
    }
}

impl InLine {
    /// Leaves the queue, so that the next call may start while this call waits for another event.
    fn leave(&self) {
        let mut state = locked(&self.rule.state);
        let gone = state.line.remove(&self.number);
        let next = state.next().filter(|_| gone.is_some());
        drop(state);
        drop(gone);
        next.into_iter().for_each(Waker::wake);
    }
}

impl Drop for InLine {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Rule {
    fn close(&self, now: Instant, time: Duration) {
        let until = now.checked_add(time);
        let mut state = locked(&self.state);
        state.closed = state.closed.max(until);
    }
}

impl ThrottleState {
    /// Takes room for a call that starts now, unless an earlier call waits.
    fn enter(&mut self, limit: &ThrottleLimit, number: u64, now: Instant) -> bool {
        let has_room = self.room(limit, now).is_some_and(|room| room <= now);
        if !has_room || !self.is_first(number) {
            return false;
        }
        match limit {
            ThrottleLimit::Concurrency(_) => self.running += 1,
            ThrottleLimit::Rate { .. } => self.starts.push_back(now),
        }
        true
    }

    /// Returns `true` if no earlier call waits.
    fn is_first(&self, number: u64) -> bool {
        let first = self.line.first_key_value();
        first.is_none_or(|(first, _)| number <= *first)
    }

    /// Returns the earliest start of one more call, or `None` if another call must end first.
    fn room(&mut self, limit: &ThrottleLimit, now: Instant) -> Option<Instant> {
        let room = match limit {
            ThrottleLimit::Concurrency(most) if self.running < *most => now,
            ThrottleLimit::Concurrency(_) => return None,
            ThrottleLimit::Rate { calls, period } => {
                let end = |start: &Instant| start.checked_add(*period);
                let is_over = |start: &Instant| end(start).is_some_and(|end| end <= now);
                while self.starts.front().is_some_and(is_over) {
                    self.starts.pop_front();
                }
                match self.starts.len().checked_sub(*calls) {
                    Some(place) => end(&self.starts[place])?,
                    None => now,
                }
            }
        };
        Some(self.closed.map_or(room, |closed| closed.max(room)))
    }

    /// Returns the waker of the first call in the queue.
    fn next(&self) -> Option<Waker> {
        self.line.first_key_value().map(|(_, waker)| waker.clone())
    }

    /// Removes the start of a call that will not start at this time.
    fn cancel(&mut self, start: Option<Instant>) {
        if let Some(place) = self.starts.iter().rposition(|it| Some(*it) == start) {
            self.starts.remove(place);
        }
    }
}

impl fmt::Debug for Throttle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        for rule in &self.rules {
            let tools = MessageName(&rule.tools);
            match rule.limit {
                ThrottleLimit::Concurrency(calls) => {
                    list.entry(&format_args!("`{tools}`: {calls} concurrently"));
                }
                ThrottleLimit::Rate { calls, period } => {
                    list.entry(&format_args!("`{tools}`: {calls} in {period:?}"));
                }
            }
        }
        list.finish()
    }
}
