//! An invalid plan built in Rust: the check and each run return the error, and never panic.

use plan_runtime::check::Request;
use plan_runtime::dynamic::Toolbox;
use plan_runtime::plan::{
    Absent, Action, Body, Branch, Computed, Condition, Entry, Executable, For, Input, Key, Number,
    Optional, Output, Part, Policy, Reference, Source, Step, Template,
};
use plan_runtime::run::Run;
use plan_runtime::{Plan, plan};
use serde_json::{Value, json};

fn reference(source: Source) -> Template {
    Reference::new(source).into()
}

/// A plan of the steps `a`, which is legal, and `b`, and an input.
fn with(b: Step) -> Plan {
    let mut plan = Plan::new("test");
    plan.inputs = vec![Input::new("x", "u64")];
    plan.steps = vec![Step::new("a", Action::value(1)), b];
    plan
}

fn computing(value: impl Into<Template>) -> Plan {
    with(Step::new("b", Action::value(value)))
}

fn looping(list: Template, inside: Template) -> Plan {
    with(Step::new("b", For::new("y", list, Action::value(inside))))
}

fn choosing(condition: Option<Condition>, inside: Template) -> Plan {
    let branches = vec![Branch::new(condition, Action::value(inside))];
    with(Step::new("b", branches))
}

#[track_caller]
fn refused(plan: &Plan, mistake: &str) {
    assert_eq!(Executable::new(plan).mistake(), Some(mistake));
    let run: Run<'_, (), Value> =
        Run::new(plan, Ok(Vec::new()), &(), |_, request: Request<'_>, ()| {
            request.unknown()
        });
    let (result, report) = smol::block_on(run.with_report());
    let expected = format!("plan `test` cannot run: {mistake}");
    assert_eq!(result.unwrap_err().to_string(), expected);
    assert_eq!(report.totals().not_started, plan.steps.len());
    #[cfg(feature = "dynamic")]
    {
        let toolbox = plan_runtime::dynamic::Toolbox::<()>::new();
        let run = toolbox.run(plan, serde_json::json!({"x": 1}), &());
        assert_eq!(smol::block_on(run).unwrap_err().to_string(), expected);
    }
    // Printing a plan never fails.
    let _ = (plan.to_string(), plan.levels(), plan.blocked_by("a"));
}

#[test]
fn steps_that_do_not_exist() {
    let none = "step `b` needs step number 2, but the plan has only 2";
    let two = || reference(Source::Step(2));
    refused(&computing(two()), none);
    refused(&computing(vec![two()]), none);
    refused(&computing(Template::object([("k", two())])), none);
    refused(&computing(Computed::new("c", [Source::Step(2)])), none);
    refused(
        &computing(Template::Text(vec![Part::value(two(), "")])),
        none,
    );
    refused(&looping(two(), Template::Null), none);
    refused(&looping(Template::Null, two()), none);
    refused(
        &choosing(Some(Condition::Holds(two())), Template::Null),
        none,
    );
    refused(&choosing(None, two()), none);
    let mut plan = computing(0);
    plan.steps[1].after = vec![0, 2];
    refused(&plan, none);
    let mut plan = computing(0);
    plan.steps[1].policy = Policy::DEFAULT.fallback(two()).into();
    refused(&plan, none);
    plan = computing(0);
    plan.output = Output::new(two());
    refused(
        &plan,
        "the output needs step number 2, but the plan has only 2",
    );
}

#[test]
fn inputs_that_do_not_exist() {
    let input = reference(Source::Input(1));
    refused(
        &computing(input),
        "step `b` reads input number 1, but the plan has only 1",
    );
}

#[test]
fn local_values_that_are_not_around() {
    let local = |number| reference(Source::Local(number));
    let binds = || {
        Some(Condition::Let {
            pattern: "Some(y)".into(),
            value: reference(Source::Step(0)),
        })
    };
    let none = "step `b` reads local value number 0, but there are only 0";
    refused(&computing(local(0)), none);
    refused(&looping(local(0), Template::Null), none);
    refused(
        &choosing(Some(Condition::Holds(local(0))), Template::Null),
        none,
    );
    refused(&choosing(None, local(0)), none);
    let one = "step `b` reads local value number 1, but there are only 1";
    refused(&looping(Template::Null, local(1)), one);
    refused(&choosing(binds(), local(1)), one);
    let mut plan = looping(vec![].into(), local(0));
    assert_eq!(Executable::new(&plan).mistake(), None);
    assert_eq!(
        Executable::new(&choosing(binds(), local(0))).mistake(),
        None
    );
    plan.output = Output::new(local(0));
    refused(
        &plan,
        "the output reads local value number 0, but there are only 0",
    );
    // A condition reads what those before it bind, and not what it binds itself.
    let chain = |first: Option<Condition>, second: usize| {
        let conditions = first.into_iter().chain([Condition::Holds(local(second))]);
        with(Step::new(
            "b",
            vec![Branch::new(conditions, Action::value(local(0)))],
        ))
    };
    assert_eq!(Executable::new(&chain(binds(), 0)).mistake(), None);
    refused(&chain(binds(), 1), one);
    refused(&chain(None, 0), none);
    // A branch after a binding one cannot use its variables.
    let branches = vec![
        Branch::new(binds(), Action::value(local(0))),
        Branch::new(None, Action::value(local(0))),
    ];
    refused(&with(Step::new("b", branches)), none);
}

#[test]
fn names_that_are_there_twice() {
    refused(
        &with(Step::new("a", Action::value(2))),
        "two steps have the id `a`",
    );
    let mut plan = computing(0);
    plan.inputs.push(plan.inputs[0].clone());
    refused(&plan, "two inputs have the name `x`");
    refused(
        &with(Step::new("x", Action::value(2))),
        "the step `x` has the name of an input",
    );
}

#[test]
fn steps_that_wait_for_each_other() {
    let own = computing(reference(Source::Step(1)));
    refused(&own, "steps wait for each other: `b` → `b`");
    let mut both = computing(reference(Source::Step(0)));
    both.steps[0].after = vec![1, 1];
    refused(&both, "steps wait for each other: `a` → `b` → `a`");
}

#[test]
fn numbers_that_json_cannot_hold() {
    for (number, text) in [(f64::NAN, "NaN"), (f64::NEG_INFINITY, "-inf")] {
        let plan = computing(Template::Number(Number::Float(number)));
        refused(
            &plan,
            &format!("step `b` has the number {text}, which JSON cannot represent"),
        );
    }
}

#[test]
fn values_and_bodies_that_are_nested_too_deep() {
    let mut value = Template::Null;
    let mut body = Body::from(Action::value(1));
    for _ in 0..600 {
        value = vec![value].into();
        body = vec![Branch::new(None, body)].into();
    }
    let deep = "step `b` nests values more than 127 levels deep";
    assert_eq!(Executable::new(&computing(value)).mistake(), Some(deep));
    let deep = "step `b` nests conditions, loops and blocks more than 64 levels deep";
    assert_eq!(
        Executable::new(&with(Step::new("b", body))).mistake(),
        Some(deep)
    );
}

/// A value or a body around another one.
type Around<T> = fn(T) -> T;

#[test]
fn what_may_run_can_be_stored_however_deep_it_is() {
    let values: [Around<Template>; 4] = [
        |inner| vec![inner].into(),
        |inner| Template::Object(vec![Entry::new(Key::Name("a".into()), inner)]),
        |inner| Template::Object(vec![Entry::new(Key::Flattened, inner)]),
        |inner| Template::Text(vec![Part::value(inner, ""), Part::Literal(String::new())]),
    ];
    let ends = [
        Template::Number(Number::Unsigned(1)),
        reference(Source::Input(0)),
    ];
    let bodies: [Around<Body>; 2] = [
        |inner| vec![Branch::new(None, inner)].into(),
        |inner| For::new("_", Vec::<Template>::new(), inner).into(),
    ];
    let mut legal = Vec::new();
    for (around, body_around) in values
        .iter()
        .flat_map(|value| bodies.map(|body| (value, body)))
    {
        for levels in [1, 63, 64, 126, 127, 128, 300] {
            for (end, bodies) in ends
                .iter()
                .flat_map(|end| [0, 1, 64, 65].map(|bodies| (end, bodies)))
            {
                let value = (0..levels).fold(end.clone(), |inner, _| around(inner));
                let inside = Body::from(Action::value(value));
                let body = (0..bodies).fold(inside, |inner, _| body_around(inner));
                let plan = with(Step::new("b", body));
                legal.extend(Some(plan).filter(|plan| Executable::new(plan).mistake().is_none()));
            }
        }
    }
    assert!(legal.len() > 100, "{}", legal.len());
    for plan in &legal {
        let json = serde_json::to_value(plan).unwrap();
        let read: Plan = serde_json::from_value(json).unwrap_or_else(|error| panic!("{error}"));
        assert!(read == *plan);
    }
}

#[test]
fn defaults_that_are_nested_too_deep() {
    let mut deep = Value::Null;
    for _ in 0..1_000 {
        deep = Value::Array(vec![deep]);
    }
    let reference = || Reference::new(Source::Input(0)).key("a");
    let missing = reference().absent(Absent::Default(Box::new(deep.clone())));
    let ended = reference().absent(Absent::End).unwrap_or(deep);
    for reference in [missing, ended] {
        let plan = computing(reference);
        assert_eq!(
            Executable::new(&plan).mistake(),
            Some("step `b` nests values more than 127 levels deep")
        );
    }
}

#[test]
fn names_and_policies_that_no_reader_takes() {
    let step = |policy: Policy| {
        let mut step = Step::new("b", Action::call("t", Template::Null));
        step.policy = policy.into();
        step
    };
    let mistake = |plan: &Plan| Executable::new(plan).mistake().map(str::to_owned);
    let policy = |policy| mistake(&with(step(policy))).unwrap();
    let means_nothing = "step `b` has a policy that means nothing: ";
    assert_eq!(
        policy(Policy::DEFAULT.attempts(0)),
        format!("{means_nothing}a step is tried at least once")
    );
    assert_eq!(
        policy(Policy::DEFAULT.concurrency(0)),
        format!("{means_nothing}at least one element must run at a time")
    );
    assert_eq!(
        policy(Policy::DEFAULT.concurrency(3)),
        format!("{means_nothing}`concurrency` is for the elements of a `for`")
    );
    assert_eq!(
        policy(Policy::DEFAULT.optional(Optional::Each)),
        format!("{means_nothing}`optional` is `each`, which is for the elements of a `for`")
    );
    assert_eq!(mistake(&with(step(Policy::DEFAULT.attempts(3)))), None);
    let nameless = with(Step::new("b", Action::call("", Template::Null)));
    assert_eq!(
        mistake(&nameless).unwrap(),
        "step `b` calls a tool without a name"
    );
    let nameless = with(Step::new("", Action::call("t", Template::Null)));
    assert_eq!(mistake(&nameless).unwrap(), "a step has no id");
    let mut nameless = Plan::new("test");
    nameless.inputs = vec![Input::new("", "")];
    assert_eq!(mistake(&nameless).unwrap(), "an input has no name");
}

#[test]
fn the_plan_of_a_program_is_checked_once() {
    plan! {
        Next(number: u64) -> u64 { number + 1 }
    }
    let first = Executable::from(Next::PLAN);
    assert_eq!((first.mistake(), &first.plan().name[..]), (None, "next"));
    let again = allocation_counter::measure(|| {
        let _ = std::hint::black_box(Executable::from(Next::PLAN));
    });
    assert_eq!(again.count_total, 0);
}

#[test]
fn all_reports_of_an_executable_share_its_plan() {
    const LENGTH: usize = 1 << 20;
    let mut plan = Plan::new("test");
    plan.description = "x".repeat(LENGTH).into();
    let executable = Executable::new(&plan);
    let report = || {
        let run: Run<'_, (), Value> =
            Run::new(&executable, Ok(Vec::new()), &(), |_, request, ()| {
                request.unknown()
            });
        let (result, report) = smol::block_on(run.with_report());
        assert_eq!((result.unwrap(), report.plan()), (Value::Null, "test"));
        drop(report);
    };
    let (first, second) = (
        allocation_counter::measure(report),
        allocation_counter::measure(report),
    );
    assert!(first.bytes_total > LENGTH as u64, "{first:?}");
    assert!(second.bytes_total < LENGTH as u64, "{second:?}");
}

#[test]
fn defaults_that_nothing_leads_to() {
    let first = || Reference::new(Source::Step(0)).key("a");
    refused(
        &computing(first().unwrap_or(1)),
        "step `b` has a default for a reference that nothing can end",
    );
    let ends = computing(first().optional().unwrap_or(1));
    assert_eq!(Executable::new(&ends).mistake(), None);
}

#[test]
fn objects_with_a_member_twice() {
    let twice = || Template::object([("b", 1.into()), ("a", 2.into()), ("b", 3.into())]);
    let mistake = "step `b` has an object with two members `b`";
    refused(&computing(twice()), mistake);
    refused(&computing(vec![twice()]), mistake);
    // Members of another object, or of a flattened one, may repeat a name: the last one counts.
    let inner = Template::object([("a", Template::Null), ("b", Template::Null)]);
    let flattened = Entry::new(Key::Flattened, inner.clone());
    let named = Entry::new(Key::Name("a".into()), inner);
    let both = computing(Template::Object(vec![named, flattened]));
    assert_eq!(Executable::new(&both).mistake(), None);
    let text = serde_json::to_string(&both).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), both, "{text}");
}

/// The last of several members with one name counts in a run, and alone is stored.
#[test]
fn members_that_replace_others_are_stored_as_they_run() {
    let one = |name: &str, value: u64| Template::object([(name, value.into())]);
    let named = |name: &str, value: u64| Entry::new(Key::Name(name.into()), Template::from(value));
    let part = |key: Key, value: Template| Entry::new(key, value);
    let unknown = || Template::from(Reference::new(Source::Step(0)));
    for (entries, outcome) in [
        (
            vec![named("n", 1), part(Key::Flattened, one("n", 2))],
            json!({"n": 2}),
        ),
        (
            vec![part(Key::Inner, one("n", 1)), named("n", 2)],
            json!({"n": 2}),
        ),
        (
            vec![
                part(Key::Inner, one("n", 1)),
                part(Key::Flattened, one("n", 2)),
            ],
            json!({"n": 2}),
        ),
        (
            vec![
                part(Key::Inner, one("n", 1)),
                named("m", 3),
                part(Key::Inner, one("m", 4)),
            ],
            json!({"n": 1, "m": 4}),
        ),
        (
            vec![
                named("n", 1),
                part(Key::Flattened, unknown()),
                part(Key::Inner, one("m", 3)),
            ],
            json!({"n": 1, "m": 3, "a": 0}),
        ),
        (
            vec![
                named("a", 1),
                part(Key::Flattened, unknown()),
                part(Key::Inner, one("n", 3)),
            ],
            json!({"n": 3, "a": 0}),
        ),
        (
            vec![part(Key::Flattened, unknown()), named("a", 1)],
            json!({"a": 1}),
        ),
    ] {
        let mut plan = computing(Template::Object(entries));
        plan.steps[0].body = Action::value(one("a", 0)).into();
        plan.output = Output::new(Reference::new(Source::Step(1)));
        assert_eq!(Executable::new(&plan).mistake(), None, "{plan}");
        let text = serde_json::to_string(&plan).unwrap();
        let again: Plan = serde_json::from_str(&text).unwrap();
        assert_eq!(again, plan, "{text}");
        for plan in [plan, again] {
            let ran =
                smol::block_on(Toolbox::<()>::new().run(&plan, json!({"x": 1}), &())).unwrap();
            assert_eq!(ran, outcome, "{plan}");
        }
    }
}

#[test]
fn patterns_that_are_compared_with_data() {
    let binds = |pattern: &'static str, value: Template| {
        let pattern = pattern.into();
        choosing(Some(Condition::Let { pattern, value }), Template::Null)
    };
    let data = || reference(Source::Step(0));
    refused(
        &binds("Some(5)", data()),
        "step `b` says something else than a run does: an `if` cannot have the pattern `Some(5)`",
    );
    refused(
        &binds("y", data()),
        "step `b` says something else than a run does: an `if` cannot have the pattern `y`",
    );
    let mut plan = looping(data(), Template::Null);
    let Body::For(each) = &mut plan.steps[1].body else {
        unreachable!()
    };
    each.pattern = "Some(y)".into();
    refused(
        &plan,
        "step `b` says something else than a run does: a `for` cannot have the pattern `Some(y)`",
    );
    // A computed value is matched by its own code.
    let computed = Computed::new("a", [Source::Step(0)]);
    let legal = [binds("Some(y)", data()), binds("Some(5)", computed.into())];
    for plan in legal {
        assert_eq!(Executable::new(&plan).mistake(), None);
    }
}

/// The limit on local values equals that of documents, so that a plan that may run can be stored.
#[test]
fn local_values_in_each_other() {
    let chain = |count: usize| {
        let bind = |_| Condition::Let {
            pattern: "Some(y)".into(),
            value: reference(Source::Step(0)),
        };
        let conditions: Vec<_> = (0..count).map(bind).collect();
        let branch = Branch::new(conditions, Action::value(Template::Null));
        with(Step::new("b", Body::If(vec![branch])))
    };
    let most = chain(64);
    assert_eq!(Executable::new(&most).mistake(), None);
    let text = serde_json::to_string(&most).unwrap();
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), most);
    let more = chain(65);
    refused(
        &more,
        "step `b` has more than 64 local values in each other",
    );
    let text = serde_json::to_string(&more).unwrap();
    serde_json::from_str::<Plan>(&text).unwrap_err();
}
