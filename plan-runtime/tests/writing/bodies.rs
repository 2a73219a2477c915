//! Random plans with conditions, loops, blocks, roles and policies: what is written of them reads back as an equal plan.

use super::{DIALECTS, read};
use fastrand::Rng;
use plan_runtime::Plan;
use plan_runtime::dynamic::Dialect;
use plan_runtime::plan::{
    Action, Amount, Await, Block, Body, Branch, Catch, Condition, Entry, For, Input, Key, Loop,
    Optional, Output, Part, Policy, Reference, Role, Segment, Selector, Source, Step, Template,
};
use std::time::Duration;

const TEXTS: &[&str] = &[
    "",
    "a",
    "$ref:x",
    "$ref:s0.x",
    "${step[0].data}",
    "${x.data}",
    "${x",
    "{{x.result}}",
    "{{s0.result.y}}",
    "{{PLACEHOLDER_x}}",
    "{x.result}",
    "}}",
    "10s",
    "\"",
    "\\",
    "é\n",
];

const KEYS: &[&str] = &["x", "odd key", "0", "é", "a-b", "result", "data", ""];

/// The names in scope.
#[derive(Clone, Default)]
struct Place {
    /// The steps that come before and are work.
    steps: Vec<usize>,
    inputs: usize,
    /// `true` if inputs are those of a block, so that they have a path.
    in_block: bool,
    /// The inputs that are the value of the round before.
    last: Vec<usize>,
    /// For each local value, the indices of its parts with names; `None` if the whole has a name.
    locals: Vec<Option<Vec<usize>>>,
    depth: usize,
}

struct Maker {
    random: Rng,
    names: usize,
    texts: bool,
}

impl Maker {
    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.random.usize(..of.len())]
    }

    fn rarely(&mut self) -> bool {
        self.random.u8(..40) == 0
    }

    fn name(&mut self) -> String {
        self.names += 1;
        let kind = self.one(&["s", "x", "step", "odd name ", "é", "a-"]);
        format!("{kind}{}", self.names)
    }

    fn path(&mut self) -> Vec<Segment> {
        let length = self.random.usize(..3);
        let mut path = Vec::new();
        for _ in 0..length {
            path.push(Segment::new(match self.random.u8(..6) {
                0 => Selector::Each,
                1 | 2 => Selector::Index(self.random.usize(..12)),
                _ => Selector::Key(self.one(KEYS).to_owned()),
            }));
        }
        path
    }

    fn reference(&mut self, at: &Place) -> Option<Reference> {
        let count = at.steps.len() + at.inputs + at.locals.len();
        let mut chosen = self.random.usize(..count.max(1));
        if count == 0 {
            return None;
        }
        let mut path = self.path();
        if let Some(&step) = at.steps.get(chosen) {
            let mut reference = Reference::new(Source::Step(step));
            reference.path = path;
            return Some(reference);
        }
        chosen -= at.steps.len();
        if chosen < at.inputs {
            let mut reference = Reference::new(Source::Input(chosen));
            if !at.in_block {
                path.clear();
            }
            reference.optional = at.last.contains(&chosen) && !path.is_empty();
            reference.path = path;
            return Some(reference);
        }
        let depth = chosen - at.inputs;
        let mut reference = Reference::new(Source::Local(depth));
        match &at.locals[depth] {
            None => {}
            Some(parts) if parts.is_empty() => return None,
            Some(parts) => reference = reference.index(self.one(parts)),
        }
        reference.path.extend(path);
        Some(reference)
    }

    fn template(&mut self, at: &Place, depth: usize) -> Template {
        let most = if depth > 1 { 6 } else { 8 };
        match self.random.u8(..most) {
            0 => Template::Null,
            1 => self.random.bool().into(),
            2 => self.random.u64(..9).into(),
            3 => self.one(TEXTS).into(),
            4 | 5 => self.reference(at).map_or(Template::Null, Into::into),
            6 if self.texts && self.random.bool() => {
                let reference = self.reference(at);
                let text = Part::Literal(self.one(TEXTS).to_owned());
                let value = reference.map(|reference| Part::value(reference, ""));
                Template::Text([Some(text), value].into_iter().flatten().collect())
            }
            6 => vec![self.template(at, depth + 1), self.template(at, depth + 1)].into(),
            _ => self.object(at, depth + 1),
        }
    }

    fn object(&mut self, at: &Place, depth: usize) -> Template {
        let mut entries = Vec::new();
        for key in &KEYS[..self.random.usize(..3)] {
            let value = self.template(at, depth);
            entries.push(Entry::new(Key::Name((*key).to_owned()), value));
        }
        Template::Object(entries)
    }

    fn call(&mut self, at: &Place) -> Action {
        Action::call(self.one(&["t", "send"]), self.object(at, 0))
    }

    /// A pattern, and which parts of the value have names.
    fn pattern(&mut self, at: &mut Place) -> String {
        let (one, two) = (self.names + 1, self.names + 2);
        self.names += 2;
        let (pattern, parts) = match self.random.u8(..5) {
            0 => ("_".to_owned(), Some(Vec::new())),
            1 => (format!("(v{one}, v{two})"), Some(vec![0, 1])),
            2 => (format!("(_, r#v{two})"), Some(vec![1])),
            // It hides another.
            3 if self.rarely() => ("s1".to_owned(), None),
            _ => (format!("v{one}"), None),
        };
        at.locals.push(parts);
        pattern
    }

    fn condition(&mut self, at: &mut Place) -> Condition {
        if self.random.bool() {
            return Condition::Holds(match self.reference(at) {
                Some(reference) => reference.into(),
                None => true.into(),
            });
        }
        let value = self.template(at, 1);
        let pattern = format!("Some({})", self.pattern(at)).into();
        Condition::Let { pattern, value }
    }

    fn body(&mut self, at: &Place) -> Body {
        let mut inner = at.clone();
        inner.depth += 1;
        match self.random.u8(..if at.depth > 2 { 3 } else { 7 }) {
            0..3 => self.call(at).into(),
            3 => Action::value(self.template(at, 0)).into(),
            4 => {
                let count = self.random.usize(..3);
                let branches = (0..count).map(|_| {
                    let mut at = inner.clone();
                    let most = self.random.usize(..3);
                    let conditions: Vec<_> = (0..most).map(|_| self.condition(&mut at)).collect();
                    Branch::new(conditions, self.body(&at))
                });
                Body::If(branches.collect())
            }
            5 => {
                let list = self.template(at, 1);
                let pattern = self.pattern(&mut inner);
                let body = self.body(&inner);
                For::new(pattern, list, body).into()
            }
            _ => self.block(at, None).0.into(),
        }
    }

    /// Returns a block, and the names in scope at its end. The name of the previous round is its first input.
    fn block(&mut self, at: &Place, last: Option<&str>) -> (Block, Place) {
        let mut plan = Plan::new("");
        let mut inside = Place {
            in_block: true,
            depth: at.depth + 1,
            ..Place::default()
        };
        let mut entries = Vec::new();
        if let Some(last) = last {
            plan.inputs.push(Input::new(last, ""));
            entries.push(Entry::new(Key::Name(last.to_owned()), Template::Null));
            inside.last.push(0);
        }
        for _ in 0..self.random.usize(..3) {
            let name = self.name();
            let value = self.template(at, 1);
            if let Template::Reference(reference) = &value
                && reference.path.is_empty()
                && matches!(reference.source, Source::Input(input) if at.last.contains(&input))
            {
                inside.last.push(plan.inputs.len());
            }
            plan.inputs.push(Input::new(name.as_str(), ""));
            entries.push(Entry::new(Key::Name(name), value));
        }
        inside.inputs = plan.inputs.len();
        plan.steps = self.steps(&mut inside);
        plan.output = Output::new(match self.random.u8(..3) {
            0 => {
                let body = match self.body(&inside) {
                    Body::Action(action) if action.tool.is_none() => self.call(&inside).into(),
                    body => body,
                };
                plan.steps.push(Step::new("_", body));
                let tail = plan.steps.len() - 1;
                inside.steps.push(tail);
                Reference::new(Source::Step(tail)).into()
            }
            1 => Template::Null,
            _ => self.template(&inside, 0),
        });
        (Block::new(Template::Object(entries), plan), inside)
    }

    fn steps(&mut self, at: &mut Place) -> Vec<Step> {
        let count = 1 + self.random.usize(..3);
        let mut steps: Vec<Step> = Vec::new();
        for index in 0..count {
            let undoable = index
                .checked_sub(1)
                .filter(|&before| matches!(&steps[before].body, Body::Action(action) if action.tool.is_some()))
                .filter(|&before| steps[before].role == Role::Work);
            let role = match self.random.u8(..8) {
                0 if undoable.is_some() => Role::Undo(index - 1),
                1 => Role::Always,
                _ => Role::Work,
            };
            let body = match (role, self.random.u8(..8)) {
                (Role::Work, 0) => Await::new("String").into(),
                (Role::Work, 1) if at.depth < 3 => {
                    let last = self.random.bool().then(|| self.name());
                    let (round, end) = self.block(at, last.as_deref());
                    let again = self.reference(&end);
                    let again: Template = again.map_or(false.into(), Into::into);
                    let mut repeat = Loop::new(round, again);
                    repeat.last = last.is_some();
                    Body::Loop(Box::new(repeat))
                }
                (Role::Work, _) => self.body(at),
                _ => self.call(&Place::default()).into(),
            };
            let id = match self.random.u8(..10) {
                0 => format!("step{index}"),
                1 if self.rarely() => "s1".to_owned(),
                _ => self.name(),
            };
            let mut step = Step::new(id, body);
            step.role = role;
            if role == Role::Work && self.random.bool() {
                step.after = at.steps.iter().copied().take(1).collect();
            }
            step.policy = self.policy(at, &step).into();
            if role == Role::Work {
                at.steps.push(index);
            }
            steps.push(step);
        }
        steps
    }

    fn policy(&mut self, at: &Place, step: &Step) -> Policy {
        let mut policy = Policy::DEFAULT;
        let time = |random: &mut Rng| Duration::from_millis(random.u64(1..90_000));
        if self.random.bool() {
            if !matches!(step.body, Body::Await(_)) {
                policy.attempts = self.random.u32(1..4);
            }
            if self.random.bool() {
                policy.timeout = Some(time(&mut self.random));
            }
            if self.random.bool() {
                policy.deadline = Some(time(&mut self.random) + Duration::from_nanos(1));
                policy.backoff = time(&mut self.random);
                policy.jitter = self.random.bool();
            }
        }
        if step.role == Role::Work {
            let is_list = matches!(step.body, Body::For(_));
            match self.random.u8(..6) {
                0 => policy.optional = Optional::Whole,
                1 => policy.catch = Catch::Whole,
                2 => policy.fallback = Some(self.template(at, 1)),
                3 if is_list => policy.catch = Catch::Each,
                4 if is_list => policy.concurrency = Some(self.random.usize(1..9)),
                _ => {}
            }
        }
        if matches!(step.body, Body::Loop(_)) {
            policy.at_most = Some(self.random.u32(1..9));
            policy.collect = self.random.bool();
            if self.random.bool() {
                policy.every = Some(time(&mut self.random));
            }
        }
        let inputs = Place {
            inputs: at.inputs,
            in_block: at.in_block,
            last: at.last.clone(),
            ..Place::default()
        };
        if self.random.u8(..5) == 0
            && let Some(reference) = self.reference(&inputs)
        {
            policy = policy.given(Amount::Timeout, reference);
        }
        policy
    }

    fn plan(&mut self, inputs: usize) -> Plan {
        let mut plan = Plan::new("plan");
        plan.inputs = (0..inputs)
            .map(|at| Input::new(format!("in{at}"), "String"))
            .collect();
        let mut at = Place {
            inputs,
            ..Place::default()
        };
        plan.steps = self.steps(&mut at);
        plan.output = Output::new(self.template(&at, 0));
        plan
    }
}

/// The parts that such a plan may lack.
const LACKS: &[&str] = &[
    "of a loop or a condition",
    "whose name a pattern around it has",
    "with the name of something around it",
    "the id of another step",
    "a name that looks like a reference",
    "a text with values in it",
];

#[test]
fn bodies_read_back() {
    let cases: u64 = crate::common::cases(500, 4_000);
    for dialect in DIALECTS {
        let (mut written, mut names) = (0, [0; 6]);
        let inputs = usize::from(dialect == Dialect::ActionPlan) * 2;
        for seed in 0..cases {
            let mut maker = Maker {
                random: Rng::with_seed(seed),
                names: 0,
                texts: dialect != Dialect::ToolPlan,
            };
            let plan = maker.plan(inputs);
            match dialect.write(&plan) {
                Ok(text) => {
                    assert_eq!(&read(&text, dialect), &plan, "{seed}: {text}");
                    written += 1;
                    let kinds = [
                        "\"if\"",
                        "\"for\"",
                        "\"block\"",
                        "\"loop\"",
                        "\"last\"",
                        "\"undo\"",
                    ];
                    for (count, kind) in names.iter_mut().zip(kinds) {
                        *count += usize::from(text.contains(kind));
                    }
                }
                Err(unsupported) => {
                    let is_known =
                        |construct: &str| LACKS.iter().any(|known| construct.contains(known));
                    let mut all = unsupported.all().iter();
                    let others = all.clone().filter(|lack| !is_known(&lack.construct));
                    // Two things of one name make a reference that could mean either.
                    assert!(
                        all.any(|lack| is_known(&lack.construct)),
                        "{seed}: {unsupported}"
                    );
                    for lack in others {
                        assert!(lack.construct.starts_with("the text"), "{seed}: {lack}");
                    }
                }
            }
        }
        assert!(
            written > cases / 2,
            "{dialect}: only {written} were written"
        );
        assert!(
            names.iter().all(|count| *count as u64 > cases / 40),
            "{dialect}: {names:?}"
        );
    }
}
