//! Values that are handed over, compared with values that go through JSON: for values of many types, and random plans of tools that take,
//! return, keep and refuse them.

use super::types::*;
use bytes::Bytes;
use plan_runtime::check::{Request, Started};
use plan_runtime::plan::{
    Action, Block, Body, Input, Policy, Reference, Source, Step, Template, ToolInfo,
};
use plan_runtime::run::Run;
use plan_runtime::{Error, Plan, Result, tool};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The record of the tools.
#[derive(Default)]
struct Lab {
    calls: Mutex<Vec<String>>,
    attempts: Mutex<HashMap<u8, u8>>,
}

impl Lab {
    fn note(&self, tool: &str, arguments: impl Debug) {
        let call = format!("{tool}({arguments:?})");
        self.calls.lock().unwrap().push(call);
    }

    /// Fails as often as this.
    fn fail(&self, step: u8, times: u8) -> Result<()> {
        let mut attempts = self.attempts.lock().unwrap();
        let attempts = attempts.entry(step).or_default();
        *attempts += 1;
        if *attempts <= times {
            return Err(Error::msg("again"));
        }
        Ok(())
    }
}

fn sample<T: Sample + Debug>(seed: u64) -> T {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    T::values().new_tree(&mut runner).unwrap().current()
}

/// The tools of each type.
macro_rules! kinds {
    ($($kind:ident: $ty:ty;)*) => {
        $(mod $kind {
            use super::*;

            /// Gives a value.
            #[tool]
            pub(super) async fn give(lab: &Lab, seed: u64) -> Result<$ty> {
                lab.note("give", seed);
                Ok(sample(seed))
            }

            /// Returns its argument, in the end.
            #[tool]
            pub(super) async fn pass(lab: &Lab, value: $ty, step: u8, fails: u8) -> Result<$ty> {
                lab.note("pass", &value);
                lab.fail(step, fails)?;
                Ok(value)
            }

            /// Returns one of two.
            #[tool]
            pub(super) async fn choose(lab: &Lab, a: $ty, b: $ty, first: bool) -> Result<$ty> {
                lab.note("choose", (&a, &b));
                Ok(if first { a } else { b })
            }

            /// Takes values of several types.
            #[tool]
            pub(super) async fn mix(lab: &Lab, flag: bool, value: $ty, count: u8, name: String) -> Result<$ty> {
                lab.note("mix", (&flag, &value, count, &name));
                Ok(value)
            }

            /// Takes an `Option`.
            #[tool]
            pub(super) async fn unwrap(lab: &Lab, value: Option<$ty>) -> Result<$ty> {
                lab.note("unwrap", &value);
                value.ok_or_else(|| Error::msg("nothing"))
            }

            /// Reads it as JSON.
            #[tool]
            pub(super) async fn read(lab: &Lab, value: Value) -> Result<$ty> {
                lab.note("read", &value);
                Ok(serde_json::from_value(value)?)
            }
        })*

        const KINDS: &[&str] = &[$(stringify!($kind)),*];

        fn start<'x>(_: usize, request: Request<'_>, lab: &'x Lab) -> Started<'x> {
            let tool = request.action().tool.clone();
            match tool.as_ref().map(|tool| &*tool.name) {
                $(
                    Some(concat!(stringify!($kind), ".give")) => request.call::<$kind::Give, Lab>(lab),
                    Some(concat!(stringify!($kind), ".pass")) => request.call::<$kind::Pass, Lab>(lab),
                    Some(concat!(stringify!($kind), ".choose")) => request.call::<$kind::Choose, Lab>(lab),
                    Some(concat!(stringify!($kind), ".mix")) => request.call::<$kind::Mix, Lab>(lab),
                    Some(concat!(stringify!($kind), ".unwrap")) => request.call::<$kind::Unwrap, Lab>(lab),
                    Some(concat!(stringify!($kind), ".read")) => request.call::<$kind::Read, Lab>(lab),
                )*
                _ => request.unknown(),
            }
        }

        /// Runs a plan whose output is of a kind, and tells what it gave, and which calls it made.
        fn outcome(kind: usize, plan: &Plan, as_json: bool) -> (String, Vec<String>) {
            match KINDS[kind] {
                $(stringify!($kind) => told::<$ty>(plan, as_json),)*
                _ => unreachable!(),
            }
        }
    };
}

kinds! {
    text: String;
    blob: Vec<u8>;
    shared: Bytes;
    option: Option<String>;
    pair: (String, Option<u8>);
    map: BTreeMap<i32, Vec<bool>>;
    json: Value;
    email: Email;
    kind: Kind;
    tree: Tree;
    wrapped: Wrapper<Vec<Kind>>;
    unique: Unique;
    left_out: LeftOut;
    number: f64;
    skips: Skips;
    inner: Wrapper<Skips>;
    one_sided: OneSided;
    with: With;
    option_with: OptionWith;
    short: ShortLeftOut;
    untagged: Untagged;
    tagged: Tagged;
    flat: Flat;
    converted: Converted;
    unknown: Unknown;
}

fn told<O>(plan: &Plan, as_json: bool) -> (String, Vec<String>)
where
    O: serde::de::DeserializeOwned + Debug + 'static,
{
    let lab = Lab::default();
    let run = Run::<Lab, O>::new(plan, Ok(Vec::new()), &lab, start).concurrency(1);
    // Reports have the outputs as JSON, so that nothing is handed over.
    let output = if as_json {
        smol::block_on(run.capture_outputs(true).with_report()).0
    } else {
        smol::block_on(run)
    };
    let output = match output {
        Ok(output) => format!("{output:?}"),
        Err(error) => error.to_string(),
    };
    (output, lab.calls.into_inner().unwrap())
}

/// The kind of a step.
#[derive(Clone, Debug)]
struct Drawn {
    kind: usize,
    tool: usize,
    from: [usize; 2],
    seed: u64,
    fails: u8,
    attempts: u32,
    in_block: bool,
}

fn drawn() -> impl Strategy<Value = (usize, Vec<Drawn>)> {
    let kinds = proptest::sample::subsequence((0..KINDS.len()).collect::<Vec<_>>(), 1..3);
    kinds.prop_flat_map(|kinds| {
        let step = (
            proptest::sample::select(kinds.clone()),
            0..10_usize,
            any::<[usize; 2]>(),
            any::<u64>(),
            0..3_u8,
            1..4_u32,
            proptest::bool::weighted(0.2),
        );
        let step = step.prop_map(
            |(kind, tool, from, seed, fails, attempts, in_block)| Drawn {
                kind,
                tool,
                from,
                seed,
                fails,
                attempts,
                in_block,
            },
        );
        (Just(kinds[0]), proptest::collection::vec(step, 1..9))
    })
}

/// Returns arguments with some undecodable ones.
fn mixed(seed: u64) -> Vec<(&'static str, Template)> {
    let bit = |bit: u32| seed >> bit & 1 == 1;
    let or = |is: bool, right: Template, wrong: Template| if is { right } else { wrong };
    vec![
        ("flag", or(bit(8), Template::Bool(true), number(1))),
        ("count", or(bit(9), number(7), number(700))),
        ("name", or(bit(10), Template::String("a".into()), number(2))),
    ]
}

fn number(number: u64) -> Template {
    Template::Number(plan_runtime::plan::Number::Unsigned(number))
}

/// A plan of these steps, whose output is all of the last step of a kind.
fn plan(kind: usize, drawn: &[Drawn]) -> Option<Plan> {
    let mut plan = Plan::new("random");
    for (place, step) in drawn.iter().enumerate() {
        let same = drawn[..place].iter().enumerate();
        let same: Vec<usize> = same
            .filter(|(_, other)| other.kind == step.kind)
            .map(|(place, _)| place)
            .collect();
        let sources = step.from.map(|from| {
            let place = from.checked_rem(same.len());
            place.map(|place| same[place])
        });
        let tool = |tool: &str| ToolInfo::new(format!("{}.{tool}", KINDS[step.kind]));
        let id = u64::try_from(place).unwrap();
        let (fails, first) = (
            number(step.fails.into()),
            Template::Bool(step.seed % 2 == 0),
        );
        // The tool, the sources of its arguments, and the other arguments.
        type Call = (
            &'static str,
            Vec<(&'static str, usize)>,
            Vec<(&'static str, Template)>,
        );
        let (name, read, more): Call = match (sources, step.tool) {
            ([Some(a), _], 0..=2) => (
                "pass",
                vec![("value", a)],
                vec![("step", number(id)), ("fails", fails)],
            ),
            ([Some(a), Some(b)], 3 | 4) => {
                ("choose", vec![("a", a), ("b", b)], vec![("first", first)])
            }
            ([Some(a), _], 5) => ("unwrap", vec![("value", a)], Vec::new()),
            ([Some(a), _], 7 | 8) => ("mix", vec![("value", a)], mixed(step.seed)),
            ([Some(a), _], 6) => ("read", vec![("value", a)], Vec::new()),
            _ => ("give", Vec::new(), vec![("seed", number(step.seed))]),
        };
        let call = |source: &dyn Fn(usize) -> Source| {
            let read = read
                .iter()
                .map(|(name, from)| (*name, Template::from(Reference::new(source(*from)))));
            let mut given: Vec<(&str, Template)> = read.chain(more.clone()).collect();
            // Arguments are written in any order.
            let places = given.len();
            given.rotate_left(usize::try_from(step.seed >> 32).unwrap() % places);
            if step.seed >> 31 & 1 == 1 {
                given.reverse();
            }
            Action::call(tool(name), Template::object(given))
        };
        let body: Body = if step.in_block {
            let mut inside = Plan::new("random");
            let mut names: Vec<usize> = read.iter().map(|(_, from)| *from).collect();
            names.dedup();
            for from in &names {
                inside.inputs.push(Input::new(format!("s{from}"), "?"));
            }
            let place = |from: usize| names.iter().position(|name| *name == from).unwrap();
            inside.steps = vec![Step::new(
                format!("inner{place}", place = plan.steps.len()),
                call(&|from| Source::Input(place(from))),
            )];
            inside.output.value = Reference::new(Source::Step(0)).into();
            let inputs = names.iter().map(|from| {
                (
                    format!("s{from}"),
                    Template::from(Reference::new(Source::Step(*from))),
                )
            });
            Block::new(Template::object(inputs), inside).into()
        } else {
            call(&Source::Step).into()
        };
        let mut made = Step::new(format!("s{place}"), body);
        let mut policy = Policy::DEFAULT;
        policy.attempts = step.attempts;
        policy.backoff = Duration::ZERO;
        made.policy = Arc::new(policy);
        plan.steps.push(made);
    }
    let last = drawn.iter().rposition(|step| step.kind == kind)?;
    plan.output.value = Reference::new(Source::Step(last)).into();
    Some(plan)
}

fn cases() -> u32 {
    crate::common::cases(200, 600)
}

static COMPLETED: AtomicUsize = AtomicUsize::new(0);
static FAILED: AtomicUsize = AtomicUsize::new(0);

#[test]
fn a_value_is_the_same_whichever_way_it_goes() {
    each_value_is_the_same_whichever_way_it_goes();
    let counts = [&COMPLETED, &FAILED].map(|it| it.load(Ordering::Relaxed));
    let least = usize::try_from(cases()).unwrap() / 10;
    assert!(counts.iter().all(|count| *count > least), "{counts:?}");
}

proptest! {
    #![proptest_config(Config { cases: cases(), failure_persistence: None, ..Config::default() })]

    fn each_value_is_the_same_whichever_way_it_goes((kind, drawn) in drawn()) {
        let Some(plan) = plan(kind, &drawn) else { return Ok(()) };
        let handed = outcome(kind, &plan, false);
        let counter = if handed.0.starts_with("plan `random`") { &FAILED } else { &COMPLETED };
        counter.fetch_add(1, Ordering::Relaxed);
        let as_json = outcome(kind, &plan, true);
        prop_assert_eq!(handed, as_json, "{}", plan);
    }
}
