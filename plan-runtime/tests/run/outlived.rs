//! The ends of scopes and runs: contexts that a tool keeps, bytes of always steps, and a cancellation that the code of a value swallows.

use super::support::Driven;
use plan_runtime::dynamic::Toolbox;
use plan_runtime::plan::{Action, Input, Reference, Source, Step, Template};
use plan_runtime::run::{CallContext, Limits, RunErrorKind};
use plan_runtime::shape::TypeShape;
use plan_runtime::{Call, Plan, Result, Shape, Tool, plan, tool};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::future::pending;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(Default)]
struct Office {
    kept: Mutex<Vec<CallContext>>,
    is_stuck: bool,
}

/// Keeps the context of the block around its call.
#[tool]
async fn keep(office: &Office, #[context] context: CallContext) -> Result<u64> {
    let outer = context.outer().unwrap().clone();
    Three {}.run(&()).inside(&outer).await?;
    office.kept.lock().unwrap().push(outer);
    if office.is_stuck {
        pending::<()>().await;
    }
    Ok(1)
}

plan! {
    Three() -> u64 {
        step three: u64 = 3;
        three
    }
}

plan! {
    Kept() -> u64 {
        step kept = Keep {};
        kept
    }
}

plan! {
    Around() -> u64 {
        step block = {
            step kept = Keep {};
            kept
        };
        step called = Kept {};
        #[at_most(2)]
        step rounds = loop {
            step kept = Keep {};
            kept
        } while kept > 1;
        block + called + rounds
    }
}

#[test]
fn no_plan_runs_in_a_block_after_the_end_of_the_run() {
    let office = Office::default();
    assert_eq!(smol::block_on(Around {}.run(&office)).unwrap(), 3);
    let kept = office.kept.lock().unwrap();
    assert_eq!(kept.len(), 3);
    for outer in &*kept {
        assert!(!outer.is_cancelled(), "{outer}");
        let error = smol::block_on(Three {}.run(&()).inside(outer)).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("the enclosing call is over"), "{error}");
    }
}

#[test]
fn a_dropped_run_cancels_the_contexts_of_its_blocks() {
    let office = Office {
        is_stuck: true,
        ..Office::default()
    };
    let mut run = Driven::new(Around {}.run(&office));
    assert!(run.poll().is_pending());
    let kept = std::mem::take(&mut *office.kept.lock().unwrap());
    assert_eq!(kept.len(), 3);
    assert!(kept.iter().all(|outer| !outer.is_cancelled()));
    drop(run);
    for outer in kept {
        assert!(outer.is_cancelled(), "{outer}");
        smol::block_on(outer.cancelled());
    }
}

static IS_CANCELLED: AtomicBool = AtomicBool::new(false);

/// A list that swallows each error, and whose code cancels the run.
#[derive(Serialize)]
struct Swallowed(Vec<u64>);

impl<'de> Deserialize<'de> for Swallowed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IS_CANCELLED.store(true, Ordering::SeqCst);
        let numbers = Vec::deserialize(deserializer);
        Ok(Self(numbers.unwrap_or_default()))
    }
}

impl Shape for Swallowed {
    const SHAPE: TypeShape = TypeShape::Opaque;
}

#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = usize)]
struct Count {
    numbers: Swallowed,
}

impl Call<()> for Count {
    async fn call(self, (): &()) -> Result<usize> {
        Ok(self.numbers.0.len())
    }
}

/// Returns the plan that counts its input. The input of a `plan!` has the type of the argument.
fn counted() -> Plan {
    let given = |source| Template::Reference(Reference::new(source));
    let mut plan = Plan::new("counted");
    plan.inputs = vec![Input::new("numbers", "Vec<u64>")];
    let numbers = Template::object([("numbers", given(Source::Input(0)))]);
    plan.steps = vec![Step::new("count", Action::call("count", numbers))];
    plan.output.value = given(Source::Step(0));
    plan
}

#[test]
fn a_swallowed_cancellation_still_cancels_the_run() {
    let cancel = async {
        while !IS_CANCELLED.load(Ordering::SeqCst) {
            smol::future::yield_now().await;
        }
    };
    let (plan, toolbox) = (counted(), Toolbox::new().with::<Count>());
    let numbers = BTreeMap::from([("numbers", vec![7; 1_000_000])]);
    let run = toolbox.run(&plan, numbers, &()).cancel_on(cancel);
    let run = run.grace_period(Duration::from_secs(60));
    let error = smol::block_on(run).unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Cancelled, "{error}");
}

/// Returns a string of this length.
#[tool]
async fn fill(length: usize) -> Result<String> {
    Ok("x".repeat(length))
}

/// Takes note of a success.
#[tool]
async fn note(is_ok: bool) -> Result<bool> {
    Ok(is_ok)
}

plan! {
    Noted(numbers: Vec<usize>) -> Vec<usize> {
        step all = for number in numbers {
            step filled = Fill { length: 100_000 };
            #[always]
            step noted = Note { is_ok: filled.is_ok() };
            step length: usize = filled.len() + number;
            length
        };
        all
    }
}

#[test]
fn the_results_for_always_steps_count_until_the_end_of_their_block() {
    let run = |count, bytes| {
        let numbers = (0..count).collect();
        let run = Noted { numbers }.run(&()).concurrency(1);
        smol::block_on(run.limits(Limits::DEFAULT.total(bytes)))
    };
    assert_eq!(run(40, 1_500_000).unwrap().len(), 40);
    // Room for the output, and not for the `Result` of the output.
    let error = run(1, 150_000).unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `noted` was ended: step `all[0].noted` (note): with this value, the run would hold more than 150000 bytes, its limit; run fewer calls concurrently, read less, or raise `run::Limits::total`"
    );
}
