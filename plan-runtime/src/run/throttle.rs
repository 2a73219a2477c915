//! How often tools may be called, by all runs together.

use super::names::means;
use super::timer::{Sleep, Timer};
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// How often tools may be called, by all runs that have it: how many calls run concurrently, and how many start in a period.
///
/// A clone is the same throttle. An application keeps one and gives it to each run ([`Run::throttle`](super::Run::throttle)); a toolbox
/// gives its own to all runs that it makes ([`Toolbox::throttle`](crate::dynamic::Toolbox::throttle)). A call that has to wait takes none of the run's
/// [concurrency](super::Run::concurrency), and the time until its first attempt does not count toward the time limits of its step. Each attempt counts. Calls are
/// let through in the order in which they came, as far as their limits are the same.
///
/// If a tool's error says [when to try again](crate::Error::retry_after), all calls that share a limit with it wait until then, up to an hour.
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

/// A limit for the tools with a name, or a beginning of names.
struct Rule {
    tools: String,
    limit: Limit,
    state: Mutex<State>,
}

enum Limit {
    Concurrency(usize),
    Rate { calls: usize, period: Duration },
}

#[derive(Default)]
struct State {
    running: usize,
    /// Who waits for a place among those that run, and who is next to come.
    line: VecDeque<(u64, Waker)>,
    next: u64,
    /// When the last calls started, or will start.
    starts: VecDeque<Instant>,
    /// No call starts before.
    closed: Option<Instant>,
}

/// A tool's error may close a throttle for no longer than this.
pub(super) const LONGEST_CLOSED: Duration = Duration::from_secs(60 * 60);

impl Throttle {
    /// No limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets at most `calls` calls to these tools run concurrently; 0 counts as 1. A name that ends in `*` means all tools whose names begin with the
    /// rest, which share the limit.
    #[must_use]
    pub fn concurrency(self, tools: impl Into<String>, calls: usize) -> Self {
        self.with(tools, Limit::Concurrency(calls.max(1)))
    }

    /// Lets at most `calls` calls to these tools start in any time of this length; 0 counts as 1. Of the names, the same is true as for
    /// [`concurrency`](Self::concurrency).
    #[must_use]
    pub fn rate(self, tools: impl Into<String>, calls: usize, period: Duration) -> Self {
        let calls = calls.max(1);
        self.with(tools, Limit::Rate { calls, period })
    }

    fn with(mut self, tools: impl Into<String>, limit: Limit) -> Self {
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

    /// Whether it limits nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether something limits a tool.
    pub(super) fn has(&self, tool: &str) -> bool {
        self.rules_of(tool).next().is_some()
    }

    /// Lets no call start that it limits for this time: before a service that the tools need is restarted, or before this process ends. Calls that run go on. If it is paused
    /// already, the later end counts.
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

    /// The error of a call says that no other is to be made for some time.
    pub(super) fn close(&self, tool: &str, now: Instant, time: Duration) {
        self.rules_of(tool).for_each(|rule| rule.close(now, time));
    }
}

/// A turn for a call: the future of [`Turn::come`] is ready when it may start, and the turn is kept until the call has ended.
pub(super) struct Turn {
    rules: Vec<Arc<Rule>>,
    /// Of how many it has the permission.
    passed: usize,
    /// Its place at the next.
    place: Place,
    /// The start that was noted last.
    start: Option<Instant>,
    sleep: Option<Sleep>,
}

/// Where a call is that wants to run.
enum Place {
    None,
    /// In the line, with this number.
    Waits(u64),
    Runs,
}

impl Turn {
    pub(super) fn new(throttles: &[Throttle], tool: &str) -> Self {
        let mut rules: Vec<Arc<Rule>> = Vec::new();
        for rule in throttles.iter().flat_map(|it| it.rules_of(tool)) {
            // A run inside another may have the same throttle.
            if !rules.iter().any(|other| Arc::ptr_eq(other, rule)) {
                rules.push(Arc::clone(rule));
            }
        }
        // A start is counted when nothing else is in its way.
        rules.sort_by_key(|rule| matches!(rule.limit, Limit::Rate { .. }));
        Self {
            rules,
            passed: 0,
            place: Place::None,
            start: None,
            sleep: None,
        }
    }

    /// Is ready once the call may start.
    pub(super) async fn come(mut self, timer: Arc<dyn Timer>) -> Self {
        poll_fn(|cx| self.poll(cx, &*timer)).await;
        self
    }

    fn poll(&mut self, cx: &mut Context<'_>, timer: &dyn Timer) -> Poll<()> {
        while let Some(rule) = self.rules.get(self.passed) {
            let mut state = rule.state();
            let until = match rule.limit {
                Limit::Concurrency(most) => {
                    if !state.enter(most, &mut self.place, cx.waker()) {
                        return Poll::Pending;
                    }
                    state.closed
                }
                Limit::Rate { calls, period } => {
                    let reserve = || state.reserve(timer.now(), calls, period);
                    let start = *self.start.get_or_insert_with(reserve);
                    state.closed.max(Some(start))
                }
            };
            // There may be room for more.
            let next = state.first(rule);
            drop(state);
            next.into_iter().for_each(Waker::wake);
            let wait = until.map(|until| until.saturating_duration_since(timer.now()));
            if let Some(wait) = wait.filter(|wait| !wait.is_zero()) {
                let sleep = self.sleep.get_or_insert_with(|| timer.sleep(wait));
                if sleep.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                // It may have been closed again meanwhile.
                self.sleep = None;
                continue;
            }
            self.sleep = None;
            self.start = None;
            self.place = Place::None;
            self.passed += 1;
        }
        Poll::Ready(())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        for (place, rule) in self.rules.iter().enumerate().take(self.passed + 1) {
            let mut state = rule.state();
            let is_passed = place < self.passed;
            match rule.limit {
                Limit::Concurrency(_) if is_passed => state.running -= 1,
                Limit::Concurrency(_) => state.leave(&self.place),
                // It has started.
                Limit::Rate { .. } if is_passed => {}
                Limit::Rate { .. } => state.cancel(self.start),
            }
            let next = state.first(rule);
            drop(state);
            next.into_iter().for_each(Waker::wake);
        }
    }
}

impl Rule {
    fn close(&self, now: Instant, time: Duration) {
        let until = now.checked_add(time);
        let mut state = self.state();
        state.closed = state.closed.max(until);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether it is the turn of who has this place, or asks for one.
    fn enter(&mut self, most: usize, place: &mut Place, waker: &Waker) -> bool {
        let is_first = match (&*place, self.line.front()) {
            (Place::Runs, _) => return true,
            (Place::None, first) => first.is_none(),
            (Place::Waits(number), first) => first.is_some_and(|(first, _)| first == number),
        };
        if is_first && self.running < most {
            if let Place::Waits(_) = place {
                self.line.pop_front();
            }
            *place = Place::Runs;
            self.running += 1;
            return true;
        }
        if let Place::Waits(number) = place {
            let mut line = self.line.iter_mut();
            if let Some((_, kept)) = line.find(|(other, _)| other == number) {
                kept.clone_from(waker);
            }
        } else {
            *place = Place::Waits(self.next);
            self.line.push_back((self.next, waker.clone()));
            self.next += 1;
        }
        false
    }

    fn leave(&mut self, place: &Place) {
        match place {
            Place::None => {}
            Place::Waits(number) => self.line.retain(|(other, _)| other != number),
            Place::Runs => self.running -= 1,
        }
    }

    /// Who may enter next.
    fn first(&self, rule: &Rule) -> Option<Waker> {
        let Limit::Concurrency(most) = rule.limit else {
            return None;
        };
        let (_, waker) = self.line.front().filter(|_| self.running < most)?;
        Some(waker.clone())
    }

    /// Notes when one more call is to start.
    fn reserve(&mut self, now: Instant, calls: usize, period: Duration) -> Instant {
        let is_over = |start: &Instant| {
            let end = start.checked_add(period);
            end.is_some_and(|end| end <= now)
        };
        while self.starts.front().is_some_and(is_over) {
            self.starts.pop_front();
        }
        let before = self.starts.len().checked_sub(calls);
        let before = before.and_then(|place| self.starts[place].checked_add(period));
        let start = before.max(self.closed).map_or(now, |start| start.max(now));
        self.starts.push_back(start);
        start
    }

    /// A call that was to start will not.
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
            match rule.limit {
                Limit::Concurrency(calls) => {
                    list.entry(&format_args!("`{}`: {calls} concurrently", rule.tools));
                }
                Limit::Rate { calls, period } => {
                    list.entry(&format_args!("`{}`: {calls} in {period:?}", rule.tools));
                }
            }
        }
        list.finish()
    }
}
