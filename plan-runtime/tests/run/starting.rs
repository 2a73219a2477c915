use super::support::{Driven, Lab, graph, plan, run};
use plan_runtime::run::{DEFAULT_CONCURRENCY, Limits, Run};
use plan_runtime::shape::TypeShape;
use plan_runtime::{Call, Plan, Result, Shape, Tool};
use serde::{Deserialize, Serialize};

#[test]
fn a_step_starts_when_the_last_that_it_needs_ends() {
    let plan = plan("a, b, c < a, d < b c, e < c");
    let lab = Lab::default();
    let mut driven = Driven::new(run(&plan, &lab));
    driven.pending();
    assert_eq!(lab.started(), "a b");

    // `b` still runs: there are no levels.
    lab.let_through("a");
    driven.pending();
    assert_eq!(lab.started(), "a b c");
    lab.let_through("c");
    driven.pending();
    assert_eq!(lab.started(), "a b c e");

    lab.let_through("b");
    driven.pending();
    assert_eq!(lab.started(), "a b c e d");
    lab.let_through("d e");
    assert_eq!(driven.ended().unwrap(), 3);
}

#[test]
fn steps_are_written_in_any_order() {
    let plan = plan("last < b, b < a, a, out < last");
    assert_eq!(Driven::new(run(&plan, &Lab::open())).ended().unwrap(), 4);
}

#[test]
fn steps_start_in_the_order_of_the_plan() {
    let plan = plan("z < a, y, x < a, a, w");
    let lab = Lab::default();
    let mut driven = Driven::new(run(&plan, &lab).concurrency(1));
    for (running, started) in [
        ("y", "y"),
        ("a", "y a"),
        ("z", "y a z"),
        ("x", "y a z x"),
        ("w", "y a z x w"),
    ] {
        driven.pending();
        assert_eq!(lab.started(), started);
        lab.let_through(running);
    }
    driven.ended().unwrap();
    assert_eq!(lab.most(), 1);
}

#[test]
fn the_bound_is_reached_and_not_exceeded() {
    let steps: Vec<_> = (0..100).map(|step| (format!("s{step}"), vec![])).collect();
    let plan = graph(steps);
    for (bound, most) in [(0, 1), (1, 1), (3, 3), (64, 64), (1000, 100)] {
        let lab = Lab::default();
        let mut driven = Driven::new(run(&plan, &lab).concurrency(bound));
        for ended in 0..100 {
            driven.pending();
            let running = lab.running();
            assert_eq!(running.len(), most.min(100 - ended));
            lab.let_through(&running[ended * 7 % running.len()]);
        }
        driven.ended().unwrap();
        assert_eq!(lab.most(), most);
    }
    let lab = Lab::default();
    Driven::new(run(&plan, &lab)).pending();
    assert_eq!(lab.most(), DEFAULT_CONCURRENCY);
}

#[test]
fn an_empty_plan_gives_its_output() {
    let plan = graph(vec![]);
    assert_eq!(Driven::new(run(&plan, &Lab::open())).ended().unwrap(), 0);
    let lab = Lab::open();
    let (_, report) = Driven::new(run(&plan, &lab).with_report()).ended();
    let text = report.to_string();
    assert!(text.starts_with("plan `test`: 0 steps in "), "{text}");
    assert!(text.ends_with("s: nothing to do"), "{text}");
}

#[test]
fn long_chains_and_wide_plans_do_not_recurse() {
    const STEPS: usize = 20_000;
    let chain = |step: usize| {
        (
            format!("s{step}"),
            step.checked_sub(1).into_iter().collect(),
        )
    };
    let chain = graph((0..STEPS).map(chain).collect());
    let fan = |step: usize| {
        let needs = if step == STEPS - 1 {
            (0..step).collect()
        } else {
            vec![]
        };
        (format!("s{step}"), needs)
    };
    let fan = graph((0..STEPS).map(fan).collect());
    for plan in [chain, fan] {
        assert_eq!(Driven::new(count(&plan)).ended().unwrap(), STEPS as u64);
    }
}

fn count(plan: &Plan) -> Run<'_, (), u64> {
    Run::new(plan, Ok(vec![]), &(), |_, request, app| {
        request.call::<Count, ()>(app)
    })
    .limits(Limits::DEFAULT)
}

#[derive(Serialize, Deserialize)]
struct Count {
    from: Vec<u64>,
}

impl Shape for Count {
    const SHAPE: TypeShape = TypeShape::Opaque;
}

impl Tool for Count {
    type Output = u64;
    const NAME: &'static str = "count";
}

impl Call<()> for Count {
    async fn call(self, (): &()) -> Result<u64> {
        Ok(1 + self.from.iter().sum::<u64>())
    }
}

#[test]
fn nothing_wakes_a_run_in_vain() {
    let plan = plan("a, b < a, c < b");
    let lab = Lab::default();
    let mut driven = Driven::new(run(&plan, &lab));
    for step in ["a", "b", "c"] {
        driven.pending();
        let polls = driven.polls;
        driven.pending();
        assert_eq!(driven.polls, polls, "a run that waits is not polled");
        lab.let_through(step);
    }
    driven.ended().unwrap();
    // The set of futures has itself polled once more after each that was not ready.
    assert!(driven.polls <= 7);
}

#[test]
fn steps_that_never_wait_let_others_have_a_turn() {
    let plan = graph((0..2000).map(|step| (format!("s{step}"), vec![])).collect());
    let mut driven = Driven::new(count(&plan));
    assert!(driven.poll().is_pending());
    driven.ended().unwrap();
    assert!(driven.polls > 3);
}
