//! Random plans with a marker in all secrets: the marker is in no value that a host can see.

use plan_runtime::dynamic::{Contract, Toolbox};
use plan_runtime::plan::{
    Action, Branch, Comparison, Condition, Executable, For, Input, Optional, Part, Policy,
    Question, Reference, Source, Step, Template, Test, ToolInfo,
};
use plan_runtime::run::{Observer, OnFailure, Status, StepError, StepRef};
use plan_runtime::{Error, Plan, RunError};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MARKER: &str = "Hunter2";

/// A random plan, whose values each refer to earlier ones.
struct Random {
    random: fastrand::Rng,
    is_secret: bool,
    locals: usize,
}

impl Random {
    fn plan(&mut self) -> Plan {
        let mut plan = Plan::new("random");
        let mut input = Input::new("password", "Value");
        if self.is_secret {
            input.secrets = [""].iter().collect();
        }
        plan.inputs = vec![input, Input::new("plain", "Value")];
        for place in 0..self.random.usize(2..7) {
            let mut step = Step::new(format!("s{place}"), Action::value(Template::Null));
            step.body = self.body(place, 2);
            let mut policy = Policy::default();
            if self.random.u8(..4) == 0 {
                policy.optional = Optional::Whole;
            } else if self.random.u8(..3) == 0 {
                policy.fallback = Some(self.template(place, 2));
            }
            step.policy = Arc::new(policy);
            plan.steps.push(step);
        }
        plan.output.value = self.template(plan.steps.len(), 2);
        plan
    }

    fn body(&mut self, before: usize, depth: usize) -> plan_runtime::plan::Body {
        match self.random.u8(..if depth == 0 { 4 } else { 6 }) {
            0 => Action::value(self.template(before, 2)).into(),
            1 => Action::call(
                ToolInfo::new("log_in"),
                Template::object([("password", self.template(before, 1))]),
            )
            .into(),
            2 => Action::call(
                ToolInfo::new("typed"),
                Template::object([("number", self.template(before, 1))]),
            )
            .into(),
            3 => Action::call(
                ToolInfo::new("use"),
                Template::object([("value", self.template(before, 2))]),
            )
            .into(),
            4 => {
                let list = self.template(before, 1);
                self.locals += 1;
                let body = self.body(before, depth - 1);
                self.locals -= 1;
                For::new("x", list, body).into()
            }
            _ => {
                let condition = Condition::Holds(self.template(before, 1));
                let then = Branch::new([condition], self.body(before, depth - 1));
                let other = Branch::new([], self.body(before, depth - 1));
                vec![then, other].into()
            }
        }
    }

    fn template(&mut self, before: usize, depth: usize) -> Template {
        match self.random.u8(..if depth == 0 { 7 } else { 13 }) {
            0 => Template::Bool(true),
            1 => Template::String("text".into()),
            2..7 => Template::Reference(self.reference(before)),
            7 => Template::List(vec![
                self.template(before, depth - 1),
                self.template(before, depth - 1),
            ]),
            8 => Template::object([
                ("a", self.template(before, depth - 1)),
                ("keys", self.template(before, depth - 1)),
            ]),
            9 => Template::Text(vec![
                Part::Literal("<".into()),
                Part::value(Template::Reference(self.reference(before)), ""),
            ]),
            _ => self.test(before, depth - 1).into(),
        }
    }

    fn test(&mut self, before: usize, depth: usize) -> Test {
        let left = self.template(before, depth);
        let pair = |it: &mut Self, left| [left, it.template(before, depth)];
        match self.random.u8(..5) {
            0 => Test::All(pair(self, left).into()),
            1 => Test::Any(pair(self, left).into()),
            2 => Test::Not(left),
            3 => {
                let how = Comparison::ALL[self.random.usize(..Comparison::ALL.len())];
                Test::Compare(pair(self, left), how)
            }
            _ => Test::Ask(
                Question::ALL[self.random.usize(..Question::ALL.len())],
                left,
            ),
        }
    }

    fn reference(&mut self, before: usize) -> Reference {
        let sources = 2 + before + self.locals;
        let source = match self.random.usize(..sources) {
            _ if self.random.u8(..4) == 0 => Source::Input(0),
            input if input < 2 => Source::Input(input),
            step if step < 2 + before => Source::Step(step - 2),
            local => Source::Local(local - 2 - before),
        };
        let mut reference = Reference::new(source);
        for _ in 0..self.random.usize(..4) {
            reference = match self.random.u8(..9) {
                0 => reference.key("token"),
                1 => reference.key("keys"),
                2 => reference.key("value"),
                3 => reference.key("name"),
                4 => reference.key("nothing"),
                5 => reference.index(0),
                6 => reference.index(1),
                _ => reference.each(),
            };
        }
        reference
    }
}

fn toolbox(is_secret: bool) -> Toolbox<()> {
    let mark = |schema: Value| match (is_secret, schema) {
        (true, Value::Object(mut schema)) => {
            schema.insert("writeOnly".into(), true.into());
            Value::Object(schema)
        }
        (_, schema) => schema,
    };
    let log_in = Contract::new("log_in")
        .arguments(json!({"properties": {"password": mark(json!({}))}}))
        .output(json!({"properties": {
            "token": mark(json!({"type": "string"})),
            "keys": {"items": {"$ref": "#/$defs/key"}},
        }, "$defs": {"key": {"properties": {"value": mark(json!({}))}}}}));
    let typed = Contract::new("typed")
        .arguments(json!({"properties": {"number": {"type": "number"}}, "required": ["number"]}));
    let failures = Mutex::new(0_u32);
    Toolbox::new()
        .with_fn(log_in, |_| async {
            let key = |name: &str| json!({"name": name, "value": format!("{MARKER} of {name}")});
            Ok(json!({
                "user": "sarah",
                "token": format!("token {MARKER}"),
                "keys": [key("a"), key("b")],
            }))
        })
        .with_fn(typed, |_| async { Ok(json!(true)) })
        .with_fn(Contract::new("use"), move |_| {
            let mut failures = failures.lock().unwrap();
            *failures += 1;
            let fails = failures.is_multiple_of(3);
            async move {
                if fails {
                    Err(Error::msg("it was in vain"))
                } else {
                    Ok(json!([{"name": "a"}, {"name": "b"}]))
                }
            }
        })
}

#[derive(Default)]
struct Log(Mutex<String>);

impl Observer for Log {
    fn plan_started(&self, plan: &Plan) {
        let _ = write!(self.0.lock().unwrap(), "{plan}");
    }

    fn attempt_failed(&self, step: &StepRef<'_>, _: u32, error: &StepError, _: Duration) {
        let _ = writeln!(self.0.lock().unwrap(), "{step} {error} {error:?}");
    }

    fn step_finished(&self, step: &StepRef<'_>, status: &Status, _: Duration) {
        let _ = writeln!(self.0.lock().unwrap(), "{step} {status} {status:?}");
    }
}

/// Returns everything visible of a run except its output.
fn seen(plan: &Plan, toolbox: &Toolbox<()>) -> String {
    let log = Arc::new(Log::default());
    let events = super::events::Events::default();
    let inputs = json!({
        "password": {"value": MARKER, "keys": [MARKER, {MARKER: 1}]},
        "plain": {"name": "n", "keys": [1, "two"]},
    });
    let run = toolbox
        .run(plan, &inputs, &())
        .capture_arguments(true)
        .capture_outputs(true)
        .on_failure(OnFailure::Continue)
        .observe(log.clone());
    let (output, report) =
        tracing::subscriber::with_default(events.clone(), || smol::block_on(run.with_report()));
    let mut seen = log.0.lock().unwrap().clone();
    let error: Option<RunError> = output.err();
    let json = serde_json::to_string(&report).unwrap();
    let page = report.to_html();
    let _ = write!(
        seen,
        "{} {error:?} {report} {report:?} {json} {page}",
        events.text()
    );
    if let Some(error) = &error {
        let _ = write!(seen, "{error} {error:#}");
    }
    seen
}

fn runs(is_secret: bool) -> Vec<(Plan, String)> {
    let toolbox = toolbox(is_secret);
    let runs = (0..300).map(|seed| {
        let mut random = Random {
            random: fastrand::Rng::with_seed(seed),
            is_secret,
            locals: 0,
        };
        let plan = random.plan();
        assert_eq!(Executable::new(&plan).mistake(), None);
        let seen = seen(&plan, &toolbox);
        (plan, seen)
    });
    runs.collect()
}

#[test]
fn nothing_shows_what_is_secret() {
    for (plan, seen) in runs(true) {
        if let Some(place) = seen.find(MARKER) {
            let around: String = seen[..place].chars().rev().take(300).collect();
            let around: String = around.chars().rev().collect();
            panic!("{plan}\n{around}{MARKER}");
        }
    }
}

#[test]
fn without_secrets_all_is_shown() {
    let runs = runs(false);
    let shown = runs.iter().filter(|(_, seen)| seen.contains(MARKER));
    let shown = shown.count();
    assert!(shown > runs.len() / 3, "{shown} of {}", runs.len());
}
