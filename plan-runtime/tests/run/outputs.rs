use super::support::{Driven, action, plan, reference};
use plan_runtime::check::{Constant, Hand, HandOver, Known, Lossless, Request, Started, decode};
use plan_runtime::plan::{Entry, Input, Key, Reference, Source, Template};
use plan_runtime::resolve::{Compute, ResolveError, Scope, StoredValue};
use plan_runtime::run::{OnFailure, Run};
use plan_runtime::shape::TypeShape;
use plan_runtime::{Call, Error, Plan, Result, Shape, Tool};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::task::Poll;

thread_local! {
    static ALIVE: Cell<usize> = const { Cell::new(0) };
}

/// An output that is counted until its drop.
#[derive(Serialize)]
#[serde(transparent)]
struct Counted(u64);

impl Counted {
    fn new(value: u64) -> Self {
        ALIVE.set(ALIVE.get() + 1);
        Self(value)
    }
}

impl<'de> Deserialize<'de> for Counted {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        u64::deserialize(from).map(Self::new)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.set(ALIVE.get() - 1);
    }
}

#[derive(Serialize, Deserialize)]
struct Make {
    name: String,
    #[serde(flatten)]
    from: BTreeMap<String, u64>,
}

impl Shape for Make {
    const SHAPE: TypeShape = TypeShape::Opaque;
}

impl Tool for Make {
    type Output = Counted;
    const NAME: &'static str = "make";

    fn hand_over() -> Option<HandOver<Counted>> {
        static KNOWN: Known = Known::new();
        Hand::<Counted>::NEW.over(&KNOWN, None)
    }
}

impl Lossless for Counted {}

/// The number of live outputs at each call.
#[derive(Default)]
struct Seen(Mutex<Vec<String>>);

impl Call<Seen> for Make {
    async fn call(self, seen: &Seen) -> Result<Counted> {
        let line = format!("{}:{}", self.name, ALIVE.get());
        seen.0.lock().unwrap().push(line);
        if self.name.starts_with("bad") {
            return Err(Error::msg("bad"));
        }
        Ok(Counted::new(1 + self.from.values().sum::<u64>()))
    }
}

/// Has each step read all of the outputs that it reads, and not a list of them.
fn reading_all(mut plan: Plan) -> Plan {
    for step in &mut plan.steps {
        let Template::Object(entries) = &mut action(step).args else {
            continue;
        };
        let Some(from) = entries.pop() else { continue };
        if let Template::List(all) = from.value {
            let named = all.into_iter().enumerate();
            entries.extend(
                named.map(|(place, value)| Entry::new(Key::Name(place.to_string()), value)),
            );
        }
    }
    plan
}

fn seen(plan: &Plan) -> String {
    let plan = &reading_all(plan.clone());
    fn start<'x>(_: usize, request: Request<'_>, seen: &'x Seen) -> Started<'x> {
        request.call::<Make, Seen>(seen)
    }
    let seen = Seen::default();
    let run = Run::<Seen, Value>::new(plan, Ok(vec![]), &seen, start);
    let run = run.concurrency(1).on_failure(OnFailure::Continue);
    assert!(Driven::new(run).settle().is_ready());
    assert_eq!(ALIVE.get(), 0, "nothing outlives the run");
    seen.0.into_inner().unwrap().join(" ")
}

#[test]
fn an_output_is_held_until_its_last_reader_has_run() {
    // Each has one reader, the next.
    assert_eq!(seen(&plan("a, b < a, c < b, d < c")), "a:0 b:1 c:1 d:1");
    // `a` is read until `c` has run, `b` by none.
    assert_eq!(seen(&plan("a, b < a, c < a, d < c")), "a:0 b:1 c:1 d:1");
    // `a` is read until `d` has run.
    assert_eq!(
        seen(&plan("a, b < a, c < b, d < a, e < d")),
        "a:0 b:1 c:2 d:1 e:1"
    );
}

#[test]
fn what_order_alone_needs_is_not_held() {
    let mut plan = plan("a, b, c");
    plan.steps[1].after = vec![0];
    assert_eq!(seen(&plan), "a:0 b:0 c:0");
}

#[test]
fn the_plans_output_reads_too() {
    let mut plan = plan("a, b, c < b");
    plan.output.value = reference(0);
    assert_eq!(seen(&plan), "a:0 b:1 c:2");
}

#[test]
fn a_reader_that_never_will_run_holds_nothing() {
    assert_eq!(seen(&plan("a, bad, c < a bad, d, e")), "a:0 bad:1 d:0 e:0");
}

struct Formula(fn(&Scope<'_>) -> std::result::Result<Value, ResolveError>);

impl Compute for Formula {
    fn compute(&self, scope: &Scope<'_>) -> std::result::Result<Value, ResolveError> {
        (self.0)(scope)
    }
}

static SUM: Formula = Formula(|scope| {
    let number = scope.value_of::<u64>(Source::Step(0))?;
    Ok(Value::from(number + 1))
});

static BURST: Formula = Formula(|_| panic!("index out of bounds"));

fn computed(compute: &'static Formula) -> Template {
    let constants = [Constant::Compute(compute)];
    decode("1 p0 0 1 1 a0 0 Vn;0 c1 s0 5 a + 10 ", &[&constants])
        .output
        .value
}

fn compute<'x>(_: usize, request: Request<'_>, (): &'x ()) -> Started<'x> {
    request.compute::<u64>(None)
}

fn run_computed(plan: &Plan) -> Poll<std::result::Result<u64, plan_runtime::RunError>> {
    Driven::new(Run::<(), u64>::new(plan, Ok(vec![]), &(), compute)).settle()
}

#[test]
fn a_plan_of_computed_steps_ends_at_its_first_poll() {
    let mut plan = plan("a, b < a");
    for step in &mut plan.steps {
        action(step).tool = None;
    }
    action(&mut plan.steps[0]).args = Template::Number(plan_runtime::plan::Number::Unsigned(41));
    action(&mut plan.steps[1]).args = computed(&SUM);
    let Poll::Ready(output) = run_computed(&plan) else {
        panic!()
    };
    assert_eq!(output.unwrap(), 42);

    action(&mut plan.steps[1]).args = computed(&BURST);
    let Poll::Ready(output) = run_computed(&plan) else {
        panic!()
    };
    assert_eq!(
        output.unwrap_err().to_string(),
        "plan `test` failed: step `b`: panicked: index out of bounds"
    );

    action(&mut plan.steps[1]).args = computed(&SUM);
    plan.output.value = computed(&BURST);
    let Poll::Ready(output) = run_computed(&plan) else {
        panic!()
    };
    assert_eq!(
        output.unwrap_err().to_string(),
        "plan `test` failed: its output: panicked: index out of bounds"
    );
}

#[test]
fn a_long_chain_of_computed_steps_does_not_recurse() {
    let chain = |step: usize| {
        (
            format!("s{step}"),
            step.checked_sub(1).into_iter().collect(),
        )
    };
    let mut plan = super::support::graph((0..20_000).map(chain).collect());
    for (place, step) in plan.steps.iter_mut().enumerate() {
        action(step).tool = None;
        action(step).args = match place {
            0 => Template::Number(plan_runtime::plan::Number::Unsigned(7)),
            _ => reference(place - 1),
        };
    }
    let Poll::Ready(output) = run_computed(&plan) else {
        panic!()
    };
    assert_eq!(output.unwrap(), 7);
}

#[test]
fn outputs_that_are_no_json_and_references_that_lead_nowhere() {
    #[derive(Serialize, Deserialize)]
    struct Odd {
        from: Vec<u64>,
    }
    impl Shape for Odd {
        const SHAPE: TypeShape = TypeShape::Opaque;
    }
    impl Tool for Odd {
        type Output = std::collections::BTreeMap<Vec<u8>, u8>;
        const NAME: &'static str = "odd";
    }
    impl Call<()> for Odd {
        async fn call(self, (): &()) -> Result<Self::Output> {
            Ok([(vec![1], 2)].into())
        }
    }
    fn start<'x>(step: usize, request: Request<'_>, app: &'x ()) -> Started<'x> {
        match step {
            0 => request.call::<Odd, ()>(app),
            1 => request.compute::<u64>(None),
            _ => request.unknown(),
        }
    }
    let mut plan = plan("a, b, c");
    plan.inputs = vec![Input::new("x", "u64")];
    action(&mut plan.steps[1]).args = Reference::new(Source::Input(0)).into();
    let run = Run::<(), u64>::new(&plan, Ok(vec![]), &(), start);
    let run = run.on_failure(OnFailure::Continue);
    let Poll::Ready(result) = Driven::new(run).settle() else {
        panic!()
    };
    let error = result.unwrap_err();
    let failures: Vec<_> = error.failures().iter().map(|it| it.to_string()).collect();
    assert!(error.is_permanent());
    assert_eq!(failures.len(), 3);
    assert!(failures[1].starts_with("step `b` (work): "), "{failures:?}");
    assert_eq!(
        failures[2],
        "step `c` (work): the program has no code that runs this step"
    );
    assert!(
        failures[0].starts_with("step `a` (work): its output is invalid: "),
        "{failures:?}"
    );
}

#[test]
fn inputs_and_output_that_cannot_be() {
    let mut plan = plan("a");
    action(&mut plan.steps[0]).args = Template::Null;
    let odd = StoredValue::of(&std::collections::BTreeMap::from([(vec![1], 2)])).err();
    let run = Run::<(), u64>::new(&plan, Err(odd.unwrap()), &(), compute);
    let (result, report) = match Driven::new(run.with_report()).settle() {
        Poll::Ready(ended) => ended,
        Poll::Pending => panic!(),
    };
    let error = result.unwrap_err();
    assert!(
        error.to_string().starts_with("plan `test` cannot start: "),
        "{error}"
    );
    assert_eq!(report.totals().not_started, 1);
    assert!(error.is_permanent());
    assert!(std::error::Error::source(&error).is_some());

    let run = Run::<(), u64>::new(&plan, Ok(vec![]), &(), |_, request, _| {
        request.compute::<()>(None)
    });
    let Poll::Ready(Err(error)) = Driven::new(run).settle() else {
        panic!()
    };
    assert!(
        error
            .to_string()
            .starts_with("plan `test` failed: its output: "),
        "{error}"
    );
    assert!(error.failures().is_empty());
}
