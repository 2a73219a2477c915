//! Plans are equal exactly where their JSON is, however their references are written.

use crate::support::plans;
use plan_runtime::Plan;
use plan_runtime::plan::{
    Absent, Body, Computed, Condition, Entry, For, Key, Number, Part, Reference, Selector, Source,
    Tag, Template,
};
use proptest::prelude::*;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Hands over each template of a plan, to be changed, before its parts.
fn each(plan: &mut Plan, f: &mut dyn FnMut(&mut Template)) {
    for step in &mut plan.steps {
        each_of_body(&mut step.body, f);
        if step.policy.fallback.is_some()
            && let Some(fallback) = &mut Arc::make_mut(&mut step.policy).fallback
        {
            each_of(fallback, f);
        }
    }
    each_of(&mut plan.output.value, f);
}

fn each_of_body(body: &mut Body, f: &mut dyn FnMut(&mut Template)) {
    match body {
        Body::Action(action) => each_of(&mut action.args, f),
        Body::If(branches) => {
            for branch in branches {
                for condition in &mut branch.conditions {
                    match condition {
                        Condition::Holds(value) | Condition::Let { value, .. } => each_of(value, f),
                        other => panic!("{other:?}"),
                    }
                }
                each_of_body(&mut branch.body, f);
            }
        }
        Body::For(round) => {
            each_of(&mut round.list, f);
            each_of_body(&mut round.body, f);
        }
        Body::Block(block) => {
            if let Template::Object(entries) = &mut block.inputs {
                let values = entries.iter_mut().map(|entry| &mut entry.value);
                values.for_each(|value| each_of(value, f));
            }
            each(&mut block.plan, f);
        }
        other => panic!("{other:?}"),
    }
}

fn each_of(template: &mut Template, f: &mut dyn FnMut(&mut Template)) {
    f(template);
    match template {
        Template::List(items) => items.iter_mut().for_each(|item| each_of(item, f)),
        Template::Tagged(_, content) => content.iter_mut().for_each(|item| each_of(item, f)),
        Template::Object(entries) => {
            let entries = entries.iter_mut();
            entries.for_each(|entry| each_of(&mut entry.value, f));
        }
        Template::Text(parts) => {
            for part in parts {
                if let Part::Value { value, .. } = part {
                    each_of(value, f);
                }
            }
        }
        _ => {}
    }
}

fn unwritten(reference: &Reference) -> Reference {
    let mut bare = Reference::new(reference.source);
    bare.optional = reference.optional;
    bare.path.clone_from(&reference.path);
    bare.otherwise.clone_from(&reference.otherwise);
    bare
}

/// Returns the JSON that defines equality, if the plan has JSON.
fn json(mut plan: Plan) -> Option<String> {
    each(&mut plan, &mut |template| {
        if let Template::Reference(reference) = template {
            *reference = unwritten(reference);
        }
    });
    serde_json::to_string(&plan).ok()
}

/// The number of changes to a part of a plan. Some of them change its JSON.
const CHANGES: usize = 23;

/// Changes a template; `false` where it cannot be changed so.
fn change(template: &mut Template, kind: usize) -> bool {
    match (kind, &mut *template) {
        (0, Template::Text(parts)) => {
            // Adjacent strings are one string.
            parts.push(Part::Literal("".into()));
            parts.push(Part::Literal("a".into()));
            parts.push(Part::Literal("b".into()));
        }
        (1, Template::String(text)) => {
            let part = Part::Literal(std::mem::take(text));
            *template = Template::Text(vec![part]);
        }
        (2, Template::Number(Number::Unsigned(value))) => match i64::try_from(*value) {
            Ok(value) => *template = Template::Number(Number::Signed(value)),
            Err(_) => return false,
        },
        (3, Template::Number(_)) => *template = Template::Number(Number::Float(-0.0)),
        (4, Template::Number(_)) => *template = Template::Number(Number::Float(f64::NAN)),
        (5, Template::Reference(reference)) => {
            *reference = unwritten(reference).written("something else");
        }
        (6, Template::Reference(reference)) => {
            // The effect of a missing element of `[..]`.
            let mut each = reference.path.iter_mut();
            match each.find(|segment| segment.selector == Selector::Each) {
                Some(each) => each.absent = Absent::End,
                None => return false,
            }
        }
        (7, Template::Reference(reference)) => reference.optional = !reference.optional,
        (8, Template::Reference(reference)) => {
            reference.otherwise = Some(Box::new(json!({"a": -0.0})));
        }
        (9, Template::Reference(reference)) => {
            for segment in &mut reference.path {
                if let Selector::Index(index) = segment.selector {
                    segment.selector = Selector::Key(index.to_string());
                }
            }
        }
        (10, Template::Reference(reference)) => reference.source = Source::Step(0),
        (11, Template::Reference(reference)) => reference.source = Source::Step(9),
        (12, Template::Reference(reference)) => {
            let default = Absent::Default(Box::default());
            *reference = reference.clone().key("k").absent(default);
        }
        (13, Template::Reference(reference)) => {
            let Some(last) = reference.path.last_mut() else {
                return false;
            };
            last.optional = !last.optional;
        }
        (14, Template::Reference(reference)) => reference.path = Box::default(),
        (15, Template::Object(entries)) => entries.reverse(),
        (16, Template::Object(entries)) => {
            entries.push(Entry::new(Key::Flattened, Template::Null));
        }
        (17, Template::Tagged(tag, _)) => *tag = Tag::None,
        (18, Template::Computed(computed)) => {
            let written = format!("{}x", computed.written());
            *computed = Computed::new(written, computed.reads().to_vec());
        }
        (19, Template::Computed(computed)) => {
            let reads = [computed.reads(), &[Source::Input(0)]].concat();
            *computed = Computed::new(computed.written().clone(), reads);
        }
        (20, _) => {
            *template = Template::Tagged(Tag::None, Some(Box::new(template.clone())));
        }
        (21, _) => *template = Template::Null,
        (22, Template::Bool(value)) => *value = !*value,
        _ => return false,
    }
    true
}

/// Changes a part of the plan outside of templates.
fn change_around(plan: &mut Plan, kind: usize) {
    let steps = &mut plan.steps;
    match kind {
        0 => plan.name = "other".into(),
        1 => plan.description = "other".into(),
        2 => plan.inputs[1].name = "other".into(),
        3 => plan.inputs[1].type_name = "other".into(),
        4 => plan.output.type_name = "other".into(),
        5 => steps[1].id = "other".into(),
        6 => steps[1].id = steps[0].id.clone(),
        7 => steps[1].intent = "other".into(),
        8 => steps[2].after.reverse(),
        9 => steps[2].after = vec![1, 0, 1],
        10 => steps[2].after.clear(),
        11 => Arc::make_mut(&mut steps[0].policy).attempts = 2,
        12 => Arc::make_mut(&mut steps[0].policy).jitter = false,
        13 => Arc::make_mut(&mut steps[0].policy).fallback = Some(Template::Null),
        14 => {
            Arc::make_mut(&mut steps[0].policy).timeout = Some(std::time::Duration::from_nanos(1));
        }
        15 => steps[0].body = Body::If(Vec::new()),
        16 => steps[0].body = For::new("x", vec![], steps[0].body.clone()).into(),
        17 => {
            let body = &mut steps[0].body;
            if let Body::Action(action) = body {
                action.tool = None;
            }
        }
        _ => {}
    }
}

fn agree(a: &Plan, b: &Plan) -> Result<(), TestCaseError> {
    let (one, other) = (json(a.clone()), json(b.clone()));
    let same = one.is_some() && one == other;
    prop_assert_eq!(a == b, same, "{:?}\n{:?}", one, other);
    prop_assert_eq!(b == a, same, "the other way round");
    Ok(())
}

/// Pairs that are equal, and pairs that are not.
struct Pairs(AtomicUsize, AtomicUsize);

static CHANGED: Pairs = Pairs::NONE;
static AROUND: Pairs = Pairs::NONE;
static ALONE: Pairs = Pairs::NONE;

impl Pairs {
    #[allow(
        clippy::declare_interior_mutable_const,
        reason = "each static is one of its own"
    )]
    const NONE: Self = Self(AtomicUsize::new(0), AtomicUsize::new(0));

    fn add(&self, are_equal: bool) {
        let counter = if are_equal { &self.0 } else { &self.1 };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Asserts that there were enough of both kinds.
    fn check(&self) {
        let counts = [&self.0, &self.1].map(|it| it.load(Ordering::Relaxed));
        assert!(counts.iter().all(|count| *count > 10), "{counts:?}");
    }
}

#[test]
fn one_change() {
    each_change();
    CHANGED.check();
}

#[test]
fn one_change_around() {
    each_change_around();
    AROUND.check();
}

#[test]
fn of_templates_alone() {
    each_template_alone();
    ALONE.check();
}

proptest! {
    fn each_change(plan in plans::plan(), kind in 0..CHANGES, at in any::<prop::sample::Index>()) {
        agree(&plan, &plan)?;
        let mut count = 0;
        let mut counted = plan.clone();
        each(&mut counted, &mut |template| count += usize::from(change(&mut template.clone(), kind)));
        prop_assume!(count > 0);
        let (chosen, mut seen) = (at.index(count), 0);
        let mut changed = plan.clone();
        // The inside of a wrapped part is not wrapped again.
        let mut done = false;
        each(&mut changed, &mut |template| {
            if !done && change(&mut template.clone(), kind) {
                if seen == chosen {
                    done = true;
                    change(template, kind);
                }
                seen += 1;
            }
        });
        agree(&plan, &changed)?;
        agree(&changed, &changed)?;
        CHANGED.add(plan == changed);
    }

    fn each_change_around(plan in plans::plan(), kind in 0..18_usize) {
        let mut changed = plan.clone();
        change_around(&mut changed, kind);
        agree(&plan, &changed)?;
        agree(&changed, &changed)?;
        AROUND.add(plan == changed);
    }

    fn each_template_alone(plan in plans::plan(), kind in 0..CHANGES) {
        let mut plan = plan;
        let mut pairs = Vec::new();
        each(&mut plan, &mut |template| {
            let mut changed = template.clone();
            change(&mut changed, kind);
            pairs.push((template.clone(), changed));
        });
        for (a, b) in pairs {
            let (one, other) = (serde_json::to_string(&a).ok(), serde_json::to_string(&b).ok());
            prop_assert_eq!(a == b, one.is_some() && one == other, "{:?}\n{:?}", one, other);
            ALONE.add(a == b);
        }
    }
}

#[test]
fn what_is_no_part_of_the_json_makes_no_difference() {
    let text = r#"{"name": "p", "steps": [
        {"id": "a", "tool": {"name": "t"}, "arguments": {"object": {"x": "y", "n": 1}}},
        {"id": "b", "tool": {"name": "t"}, "after": ["a"], "arguments": {"object":
            {"x": {"reference": {"step": "a", "pointer": "/0"}}}}}
    ]}"#;
    let plan: Plan = serde_json::from_str(text).unwrap();
    let mut other = plan.clone();
    each(&mut other, &mut |template| {
        for kind in [1, 2, 5, 6, 9] {
            change(template, kind);
        }
    });
    let steps = &mut other.steps;
    // The step reads it as well.
    steps[1].after = vec![];
    assert_eq!(plan, other);
    assert_eq!(json(plan), json(other));
}
