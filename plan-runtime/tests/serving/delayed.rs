//! A journal whose answers come late: no poll waits for an answer, and nothing depends on an answer that comes at once.

use crate::journal::asking::Asking;
use crate::serving::support::{has_ended, rests, summary, until};
use plan_runtime::dynamic::Toolbox;
use plan_runtime::journal::spi::{
    Answer, Claim, Claimed, End, Message, Notified, Record, Rest, Retry, RunInfo, StoredRun,
    Written,
};
use plan_runtime::journal::{Journal, Memory, RunFilter, RunState, RunSummary, Store};
use plan_runtime::serve::Server;
use plan_runtime::{Error, Result, plan, tool};
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A journal in memory with late answers.
#[derive(Clone)]
struct Delayed {
    memory: Memory,
    /// The number of polls before an answer.
    polls: usize,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    /// The claims of runs that are waited for.
    claiming: Mutex<BTreeMap<String, usize>>,
    claims: AtomicUsize,
    /// The times of the rests after refusals.
    refusals: Mutex<Vec<Duration>>,
}

/// Counts an answer that is waited for.
struct Waited<'d>(&'d Counts, String);

impl<'d> Waited<'d> {
    /// Panics if the run is claimed by two at one time.
    fn begin(counts: &'d Counts, id: &str) -> Self {
        let mut claiming = counts.claiming.lock().unwrap();
        let count = claiming.entry(id.to_owned()).or_default();
        *count += 1;
        assert_eq!(*count, 1, "run {id} is claimed while it is being claimed");
        Self(counts, id.to_owned())
    }
}

impl Drop for Waited<'_> {
    fn drop(&mut self) {
        *self.0.claiming.lock().unwrap().get_mut(&self.1).unwrap() -= 1;
    }
}

impl Delayed {
    fn new(polls: usize) -> Self {
        Self {
            memory: Memory::new(),
            polls,
            counts: Arc::default(),
        }
    }

    /// The journal does its work halfway through the polls, as a server at the end of a network does.
    fn late<'a, T: Send + 'a>(&'a self, answer: Answer<'a, T>) -> Answer<'a, T> {
        let polls = self.polls;
        Box::pin(async move {
            pending(polls / 2).await;
            let answer = answer.await;
            pending(polls - polls / 2).await;
            answer
        })
    }

    fn late_write(&self, written: Written) -> Written {
        let polls = self.polls;
        Box::pin(async move {
            pending(polls).await;
            written.await
        })
    }
}

/// Is pending for this number of polls, each after a while.
async fn pending(polls: usize) {
    for _ in 0..polls {
        smol::Timer::after(Duration::from_micros(300)).await;
    }
}

impl Journal for Delayed {
    fn claim<'a>(&'a self, id: &'a str) -> Answer<'a, Claimed> {
        let answer = self.late(self.memory.claim(id));
        Box::pin(async move {
            let _waited = Waited::begin(&self.counts, id);
            self.counts.claims.fetch_add(1, Ordering::Relaxed);
            answer.await
        })
    }

    fn look<'a>(&'a self, id: &'a str) -> Answer<'a, Option<StoredRun>> {
        self.late(self.memory.look(id))
    }

    fn describe<'a>(&'a self, claim: &'a Claim, run: &'a RunInfo) -> Answer<'a, ()> {
        self.late(self.memory.describe(claim, run))
    }

    fn read<'a>(&'a self, id: &'a str, after: u64) -> Answer<'a, Vec<Record>> {
        self.late(self.memory.read(id, after))
    }

    fn append(&self, claim: &Claim, key: String, body: String) -> Written {
        self.late_write(self.memory.append(claim, key, body))
    }

    fn end(&self, claim: &Claim, end: End) -> Written {
        self.late_write(self.memory.end(claim, end))
    }

    fn release(&self, claim: &Claim) {
        self.memory.release(claim);
    }

    fn send<'a>(&'a self, id: &'a str, message: &'a Message) -> Answer<'a, ()> {
        self.late(self.memory.send(id, message))
    }

    fn messages<'a>(&'a self, claim: &'a Claim, after: u64) -> Answer<'a, Vec<(u64, Message)>> {
        self.late(self.memory.messages(claim, after))
    }

    fn watch(&self, claim: &Claim, after: u64) -> Notified {
        let (watch, polls) = (self.memory.watch(claim, after), self.polls);
        Box::pin(async move {
            pending(polls).await;
            watch.await;
        })
    }
}

impl Store for Delayed {
    fn runs<'a>(&'a self, filter: &'a RunFilter) -> Answer<'a, Vec<RunSummary>> {
        self.late(self.memory.runs(filter))
    }

    fn due(&self, limit: usize) -> Answer<'_, Vec<RunSummary>> {
        self.late(self.memory.due(limit))
    }

    fn arrival(&self) -> Notified {
        self.memory.arrival()
    }

    fn rest(&self, claim: &Claim, rest: Rest) {
        self.memory.rest(claim, rest);
    }

    fn refuse<'a>(&'a self, id: &'a str, time: Duration, reason: &'a str) -> Answer<'a, ()> {
        self.counts.refusals.lock().unwrap().push(time);
        self.late(self.memory.refuse(id, time, reason))
    }

    fn forgive(&self) -> Answer<'_, ()> {
        self.late(self.memory.forgive())
    }

    fn retry<'a>(&'a self, claim: &'a Claim, retry: Retry) -> Answer<'a, ()> {
        self.late(self.memory.retry(claim, retry))
    }

    fn delete(&self, age: Duration) -> Answer<'_, u64> {
        self.late(self.memory.delete(age))
    }
}

/// The calls, and the number of calls that fail from now on.
#[derive(Default)]
struct Shop {
    calls: AtomicUsize,
    fails: AtomicUsize,
}

/// Charges a card.
#[tool]
async fn charge(shop: &Shop, cents: u64) -> Result<u64> {
    shop.calls.fetch_add(1, Ordering::Relaxed);
    let less = |left: usize| left.checked_sub(1);
    let (order, shop) = (Ordering::Relaxed, &shop.fails);
    match shop.fetch_update(order, order, less) {
        Ok(_) => Err(Error::permanent("the bank is closed")),
        Err(_) => Ok(cents),
    }
}

plan! {
    Buy(cents: u64) -> u64 {
        step sure: u64 = await;
        step first = Charge { cents: sure };
        step second = Charge { cents: first + cents };
        first + second
    }
}

const DELAYS: [usize; 4] = [0, 1, 2, 7];

fn server(journal: &Delayed) -> (Server<Delayed, Shop>, Arc<Shop>) {
    let shop = Arc::new(Shop::default());
    let toolbox = Toolbox::new().with::<Buy>();
    (Server::new(journal, toolbox, Arc::clone(&shop)), shop)
}

/// Each future of the server is awaited in one task, which no answer blocks.
#[test]
fn a_server_waits_for_no_answer_in_a_poll() {
    for polls in DELAYS {
        let journal = Delayed::new(polls);
        let (server, shop) = server(&journal);
        let ids: Vec<String> = (0..12).map(|n| format!("run {n}")).collect();
        let user = async {
            for id in &ids {
                Buy { cents: 1 }.submit(&journal, id).await.unwrap();
            }
            for id in &ids {
                // Some values come before their runs wait.
                let n: u64 = id[4..].parse().unwrap();
                if !n.is_multiple_of(3) {
                    assert!(server.wait(id).await.unwrap().waits);
                }
                server.signal(id, "sure", n).await.unwrap();
            }
            for id in &ids {
                assert_eq!(server.wait(id).await.unwrap().state, RunState::Done);
                assert_eq!(server.report(id).await.unwrap().totals().completed, 3);
            }
        };
        smol::block_on(server.serve().concurrency(5).cancel_on(user)).unwrap();
        assert_eq!(shop.calls.load(Ordering::Relaxed), 24);
        assert_eq!(journal.output_now("run 3").unwrap(), Some(7.into()));
        // A run is loaded to begin, and once more for its value.
        let claims = journal.counts.claims.load(Ordering::Relaxed);
        assert!((24..=12 + 3 * 12).contains(&claims), "{polls}: {claims}");
    }
}

/// A run must not rest, and be loaded again and again, before it has taken its messages.
#[test]
fn a_run_takes_its_messages_before_it_rests() {
    for polls in DELAYS {
        let journal = Delayed::new(polls);
        let (server, _) = server(&journal);
        smol::block_on(Buy { cents: 1 }.submit(&journal, "a")).unwrap();
        smol::block_on(server.signal("a", "sure", 1)).unwrap();
        let ends = server.wait("a");
        smol::block_on(server.serve().cancel_on(ends)).unwrap();
        assert!(has_ended(&journal, "a"));
        // One claim for the description, and one for the run.
        assert_eq!(journal.counts.claims.load(Ordering::Relaxed), 2);
    }
}

plan! {
    Pay(cents: u64) -> u64 {
        step paid = Charge { cents };
        paid
    }
}

/// The cancellation came before the first call, and the answer of the journal comes later.
#[test]
fn a_run_that_was_cancelled_before_makes_no_call() {
    for polls in DELAYS {
        let journal = Delayed::new(polls);
        let shop = Arc::new(Shop::default());
        let toolbox = Toolbox::<Shop>::new().with::<Pay>();
        let server = Server::new(&journal, toolbox, Arc::clone(&shop));
        smol::block_on(Pay { cents: 1 }.submit(&journal, "a")).unwrap();
        smol::block_on(server.cancel("a")).unwrap();
        let ends = server.wait("a");
        smol::block_on(server.serve().cancel_on(ends)).unwrap();
        assert_eq!(summary(&journal, "a").state, RunState::Cancelled);
        assert_eq!(shop.calls.load(Ordering::Relaxed), 0, "{polls}");
    }
}

#[test]
fn failed_and_refused_runs_do_not_block() {
    for polls in DELAYS {
        let journal = Delayed::new(polls);
        let (server, shop) = server(&journal);
        for id in ["fails", "cancelled"] {
            smol::block_on(Buy { cents: 1 }.submit(&journal, id)).unwrap();
        }
        shop.fails.store(1, Ordering::Relaxed);
        let user = async {
            server.signal("fails", "sure", 1).await.unwrap();
            server.cancel("cancelled").await.unwrap();
            assert_eq!(server.wait("fails").await.unwrap().state, RunState::Failed);
            let cancelled = server.wait("cancelled").await.unwrap().state;
            assert_eq!(cancelled, RunState::Cancelled);
            let error = server.error("fails").await.unwrap().unwrap();
            assert!(error.contains("the bank is closed"), "{error}");
            server.retry_failed("fails").await.unwrap();
            assert_eq!(server.wait("fails").await.unwrap().state, RunState::Done);
            assert!(server.check().await.unwrap().is_empty());
            assert_eq!(server.delete(Duration::ZERO).await.unwrap(), 2);
            let error = server.wait("fails").await.unwrap_err();
            assert_eq!(error.to_string(), "there is no run `fails`");
        };
        smol::block_on(server.serve().cancel_on(user)).unwrap();

        // A server that cannot run it, and a server whose configuration panics.
        smol::block_on(Buy { cents: 1 }.submit(&journal, "a")).unwrap();
        let other = Server::new(&journal, Toolbox::<()>::new(), ());
        let is_refused = || summary(&journal, "a").refusal.is_some();
        smol::block_on(other.serve().cancel_on(until(is_refused))).unwrap();
        let refusal = || summary(&journal, "a").refusal.unwrap();
        assert!(
            refusal().contains("the toolbox has no plan"),
            "{}",
            refusal()
        );
        let serve = server.serve().configure(|_, _| panic!("no"));
        let has_panicked = until(|| refusal().contains("panicked"));
        smol::block_on(serve.cancel_on(has_panicked)).unwrap();
        assert!(rests(&journal, "a"));
    }
}

/// A run whose failure stays, such as a record that the journal cannot write, is not repeated each minute for ever.
#[test]
fn a_run_that_is_refused_again_rests_twice_as_long() {
    let journal = Delayed::new(1);
    smol::block_on(Buy { cents: 1 }.submit(&journal, "a")).unwrap();
    let server = Server::new(&journal, Toolbox::<()>::new(), ());
    let count = || journal.counts.refusals.lock().unwrap().len();
    let user = async {
        for refused in 1..=8 {
            until(|| count() == refused && summary(&journal, "a").refusal.is_some()).await;
            // A message ends the rest.
            server.cancel("a").await.unwrap();
        }
    };
    smol::block_on(server.serve().cancel_on(user)).unwrap();
    let refusals = journal.counts.refusals.lock().unwrap().clone();
    let minutes: Vec<u64> = refusals.iter().map(|it| it.as_secs() / 60).collect();
    assert_eq!(minutes, [1, 2, 4, 8, 16, 32, 60, 60]);

    // A server that starts counts anew.
    let again = Server::new(&journal, Toolbox::<()>::new(), ());
    let user = until(|| count() == 9);
    smol::block_on(again.serve().cancel_on(user)).unwrap();
    let refusals = journal.counts.refusals.lock().unwrap().clone();
    assert_eq!(refusals.last(), Some(&Duration::from_secs(60)));
}

/// The futures of a server can be awaited on another thread, also for an application that is a trait object.
#[test]
fn all_futures_can_be_sent() {
    fn send<F: Future + Send>(future: F) -> F {
        future
    }

    fn check<App: ?Sized + Send + Sync>(server: &Server<Delayed, App>) {
        drop(send(server.serve().cancel_on(server.wait("a"))));
        drop(send(server.runs(&RunFilter::new())));
        drop(send(server.run("a")));
        drop(send(server.report("a")));
        drop(send(
            server.report_with("a", |run| run.capture_outputs(true)),
        ));
        drop(send(server.output("a")));
        drop(send(server.error("a")));
        drop(send(server.signal("a", "sure", 1)));
        drop(send(server.cancel("a")));
        drop(send(server.retry_failed("a")));
        drop(send(server.delete(Duration::ZERO)));
        drop(send(server.check()));
        drop(server.clone());
    }

    let journal = Delayed::new(3);
    check(&server(&journal).0);
    let shared: Arc<dyn Store> = Arc::new(journal.clone());
    drop(Server::new(&shared, Toolbox::<()>::new(), ()).serve());
    let app: Arc<dyn Send + Sync> = Arc::new(());
    check(&Server::new(
        &journal,
        Toolbox::<dyn Send + Sync>::new(),
        app,
    ));
}
