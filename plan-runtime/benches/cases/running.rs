//! Plans of steps that do nothing, run in several ways.

use super::shapes::{self, Needs};
use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use plan_runtime::dynamic::{Contract, Document, DocumentLimits, Reader, Toolbox};
use plan_runtime::{Call, Result, tool};
use serde::Deserialize;
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Gives 1.
#[tool]
pub async fn zero() -> Result<u64> {
    Ok(1)
}

/// Returns its argument.
#[tool]
pub async fn one(a: u64) -> Result<u64> {
    Ok(a)
}

/// Returns a part of its argument.
#[tool]
pub async fn two(a: u64, b: u64) -> Result<u64> {
    Ok(a & b)
}

/// Returns a part of its argument.
#[tool]
pub async fn three(a: u64, b: u64, c: u64) -> Result<u64> {
    Ok(a & b & c)
}

/// Returns a part of its argument.
#[tool]
pub async fn join(all: Vec<u64>) -> Result<u64> {
    Ok(all.into_iter().fold(1, |a, b| a & b))
}

/// The tools as types.
pub fn typed() -> Toolbox<()> {
    Toolbox::new()
        .with::<Zero>()
        .with::<One>()
        .with::<Two>()
        .with::<Three>()
        .with::<Join>()
}

/// The tools as closures over JSON.
pub fn closures() -> Toolbox<()> {
    async fn take(mut arguments: Value) -> Result<Value> {
        Ok(arguments["a"].take())
    }
    Toolbox::new()
        .with_fn(Contract::new("zero"), |_| async { Ok(Value::from(1)) })
        .with_fn(Contract::new("one"), take)
        .with_fn(Contract::new("two"), take)
        .with_fn(Contract::new("three"), take)
        .with_fn(Contract::new("join"), |mut arguments| async move {
            Ok(arguments["all"][0].take())
        })
}

pub const UNLIMITED: DocumentLimits = DocumentLimits::DEFAULT
    .bytes(usize::MAX)
    .steps(usize::MAX)
    .depth(64)
    .string(usize::MAX)
    .name(usize::MAX)
    .values(usize::MAX)
    .inputs(usize::MAX)
    .references(usize::MAX);

/// The graph as a plan that is read at run time.
pub fn plan(needs: &Needs) -> Document<'static> {
    let text = shapes::json(needs).leak();
    Reader::new().limits(UNLIMITED).read(text).unwrap()
}

/// Runs a plan that was read.
pub fn dynamic(toolbox: &Toolbox<()>, plan: &Document<'_>) {
    let output = block_on(toolbox.run(plan, (), &())).unwrap();
    assert_eq!(output.as_object().map(|output| output.len()), Some(1));
}

/// Runs a plan that was read, with a report.
pub fn reported(toolbox: &Toolbox<()>, plan: &Document<'_>) {
    let (output, report) = block_on(toolbox.run(plan, (), &()).with_report());
    assert_eq!(
        output.unwrap().as_object().map(|output| output.len()),
        Some(1)
    );
    assert_eq!(report.totals().completed, plan.plan().steps.len());
}

/// A graph as someone would have it who runs it without a library.
pub struct ByHand {
    pub needs: Needs,
    readers: Vec<Vec<usize>>,
    waits: Vec<usize>,
}

pub enum Arguments {
    Zero(Zero),
    One(One),
    Two(Two),
    Three(Three),
    Join(Join),
}

impl ByHand {
    pub fn new(needs: Needs) -> Self {
        let mut readers = vec![Vec::new(); needs.len()];
        for (step, needs) in needs.iter().enumerate() {
            for need in needs {
                readers[*need].push(step);
            }
        }
        let waits = needs.iter().map(Vec::len).collect();
        Self {
            needs,
            readers,
            waits,
        }
    }

    /// Reads the arguments of a step out of the outputs.
    fn arguments(&self, step: usize, outputs: &[Value]) -> Arguments {
        let read = |need: &usize| u64::deserialize(&outputs[*need]).unwrap();
        match &*self.needs[step] {
            [] => Arguments::Zero(Zero {}),
            [a] => Arguments::One(One { a: read(a) }),
            [a, b] => Arguments::Two(Two {
                a: read(a),
                b: read(b),
            }),
            [a, b, c] => Arguments::Three(Three {
                a: read(a),
                b: read(b),
                c: read(c),
            }),
            all => Arguments::Join(Join {
                all: all.iter().map(read).collect(),
            }),
        }
    }

    /// Starts what is ready, keeps each output, counts down what waits for it.
    pub async fn run(&self) -> Value {
        let mut outputs = vec![Value::Null; self.needs.len()];
        let mut waits = self.waits.clone();
        let mut running = FuturesUnordered::new();
        for step in (0..self.needs.len()).filter(|step| waits[*step] == 0) {
            running.push(call(step, self.arguments(step, &outputs)));
        }
        while let Some((step, output)) = running.next().await {
            outputs[step] = output.unwrap();
            for reader in &self.readers[step] {
                waits[*reader] -= 1;
                if waits[*reader] == 0 {
                    running.push(call(*reader, self.arguments(*reader, &outputs)));
                }
            }
        }
        outputs.pop().unwrap()
    }

    /// Runs the graph with the additional work of a run: boxed calls, at most 64 concurrently and in the order of the graph, caught
    /// panics, outputs that are dropped after their last reader, and a report of each step's start and end.
    pub async fn run_guarded(&self) -> (Value, Vec<(Duration, Duration)>) {
        let begin = Instant::now();
        let mut times = vec![(Duration::ZERO, Duration::ZERO); self.needs.len()];
        let mut outputs = vec![Value::Null; self.needs.len()];
        let mut waits = self.waits.clone();
        let mut left: Vec<usize> = self.readers.iter().map(Vec::len).collect();
        let mut ready: BinaryHeap<Reverse<usize>> = (0..self.needs.len())
            .filter(|step| waits[*step] == 0)
            .map(Reverse)
            .collect();
        let mut running = FuturesUnordered::new();
        loop {
            while running.len() < 64
                && let Some(Reverse(step)) = ready.pop()
            {
                times[step].0 = begin.elapsed();
                let arguments = catch_unwind(AssertUnwindSafe(|| self.arguments(step, &outputs)));
                running
                    .push(AssertUnwindSafe(call(step, arguments.unwrap()).boxed()).catch_unwind());
            }
            let Some(ended) = running.next().await else {
                break;
            };
            let (step, output) = ended.unwrap();
            times[step].1 = begin.elapsed();
            outputs[step] = output.unwrap();
            for need in &self.needs[step] {
                left[*need] -= 1;
                if left[*need] == 0 {
                    outputs[*need] = Value::Null;
                }
            }
            for reader in &self.readers[step] {
                waits[*reader] -= 1;
                if waits[*reader] == 0 {
                    ready.push(Reverse(*reader));
                }
            }
        }
        (outputs.pop().unwrap(), times)
    }

    /// The first on `tokio::spawn`.
    pub async fn spawn(&self) -> Value {
        let mut outputs = vec![Value::Null; self.needs.len()];
        let mut waits = self.waits.clone();
        let mut running = tokio::task::JoinSet::new();
        for step in (0..self.needs.len()).filter(|step| waits[*step] == 0) {
            running.spawn(call(step, self.arguments(step, &outputs)));
        }
        while let Some(ended) = running.join_next().await {
            let (step, output) = ended.unwrap();
            outputs[step] = output.unwrap();
            for reader in &self.readers[step] {
                waits[*reader] -= 1;
                if waits[*reader] == 0 {
                    running.spawn(call(*reader, self.arguments(*reader, &outputs)));
                }
            }
        }
        outputs.pop().unwrap()
    }
}

/// Calls a tool, and serializes its output.
async fn call(step: usize, arguments: Arguments) -> (usize, Result<Value>) {
    let output = match arguments {
        Arguments::Zero(call) => call.call(&()).await,
        Arguments::One(call) => call.call(&()).await,
        Arguments::Two(call) => call.call(&()).await,
        Arguments::Three(call) => call.call(&()).await,
        Arguments::Join(call) => call.call(&()).await,
    };
    (
        step,
        output.and_then(|output| Ok(serde_json::to_value(output)?)),
    )
}

/// The smallest executor there is, the same for all.
pub fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
