//! Random plans.
#![allow(dead_code, unreachable_pub)]

use plan_runtime::Plan;
use plan_runtime::plan::{
    Absent, Action, Amount, Block, Body, Branch, Catch, Comparison, Computed, Condition, Entry,
    For, Input, Key, Number, Optional, Output, Part, Policy, Question, Reference, Role, Segment,
    Selector, Source, Step, Tag, Template, Test, ToolInfo,
};
use plan_runtime::shape::Tagging;
use proptest::prelude::*;
use serde_json::json;
use std::time::Duration;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,6}",
        prop::sample::select(vec![
            "", "0", "01", "a/b", "m~n", "{{x}}", "\"", "\\", "object"
        ])
        .prop_map(str::to_owned)
    ]
}

fn absent() -> impl Strategy<Value = Absent> {
    let default = |value| Just(Absent::Default(Box::new(value)));
    prop_oneof![
        4 => Just(Absent::Error),
        1 => Just(Absent::End),
        1 => Just(Absent::Failure),
        1 => default(json!(null)),
        1 => default(json!({"a": [1.5, null]})),
    ]
}

fn segment() -> impl Strategy<Value = Segment> {
    let selector = prop_oneof![
        3 => text().prop_map(Selector::Key),
        3 => any::<u16>().prop_map(|index| Selector::Index(index.into())),
        1 => Just(Selector::Each),
    ];
    (selector, absent(), prop::bool::weighted(0.2)).prop_map(|(selector, absent, optional)| {
        let mut segment = Segment::new(selector);
        (segment.absent, segment.optional) = (absent, optional);
        segment
    })
}

fn reference(source: impl Strategy<Value = Source>) -> impl Strategy<Value = Reference> {
    let otherwise = prop::option::weighted(0.1, Just(json!([1])));
    let parts = (
        prop::collection::vec(segment(), 0..4),
        prop::bool::weighted(0.2),
        otherwise,
        prop::option::of(text()),
    );
    (source, parts).prop_map(|(source, (path, optional, otherwise, written))| {
        let mut reference = Reference::new(source);
        (reference.path, reference.optional) = (path.into(), optional);
        // Only a reference that can end has a default.
        let is_each = |segment: &Segment| matches!(segment.selector, Selector::Each);
        let ends = |segment: &Segment| {
            segment.optional || (!is_each(segment) && matches!(segment.absent, Absent::End))
        };
        let can_end = reference.optional || reference.path.iter().any(ends);
        let otherwise = otherwise.filter(|_| can_end);
        reference.otherwise = otherwise.map(Box::new);
        match written {
            Some(written) => reference.written(written),
            None => reference,
        }
    })
}

/// Returns one of 3 inputs, or one of the earlier steps.
fn source(steps: usize) -> impl Strategy<Value = Source> {
    (any::<bool>(), 0..3_usize, 0..steps.max(1)).prop_map(move |(input, i, s)| {
        if input || steps == 0 {
            Source::Input(i)
        } else {
            Source::Step(s)
        }
    })
}

fn template(steps: usize) -> impl Strategy<Value = Template> {
    let leaf = prop_oneof![
        Just(Template::Null),
        any::<bool>().prop_map(Template::Bool),
        any::<u64>().prop_map(|n| Template::Number(Number::Unsigned(n))),
        any::<i64>().prop_map(|n| Template::Number(Number::Signed(n))),
        (prop::num::f64::NORMAL | prop::num::f64::ZERO)
            .prop_map(|n| Template::Number(Number::Float(n))),
        text().prop_map(Template::String),
        reference(source(steps)).prop_map(Template::Reference),
        (prop::collection::btree_set(source(steps), 0..3), text())
            .prop_map(|(reads, written)| { Computed::new(written, reads).into() }),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let tagging = prop::sample::select(vec![
            Tag::None,
            Tag::Variant(Tagging::External, "V"),
            Tag::Variant(Tagging::Internal("\u{1}type"), "V"),
            Tag::Variant(Tagging::Adjacent(&["t", "c"]), "V"),
            Tag::Variant(Tagging::Untagged, "V"),
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Template::List),
            (prop::collection::btree_map(text(), inner.clone(), 0..4)).prop_map(Template::object),
            (source(0), any::<bool>()).prop_map(|(source, both)| {
                let value = Template::Reference(Reference::new(source));
                let mut entries = vec![Entry::new(Key::Flattened, value)];
                if both {
                    entries.push(Entry::new(Key::Name("n".into()), Template::Null));
                }
                Template::Object(entries)
            }),
            inner
                .clone()
                .prop_map(|value| Template::Object(vec![Entry::new(Key::Inner, value)])),
            (tagging, prop::option::of(inner.clone())).prop_map(|(tag, content)| {
                // No type has two tags in one object.
                let internal = |tag: &Tag| matches!(tag, Tag::Variant(Tagging::Internal(_), _));
                let content = content.filter(|content| {
                    !(internal(&tag)
                        && matches!(content, Template::Tagged(inner, _) if internal(inner)))
                });
                Template::Tagged(tag, content.map(Box::new))
            }),
            test(inner.clone()).prop_map(Template::from),
            prop::collection::vec((prop::option::of(inner), text()), 0..4).prop_map(|parts| {
                let part = |(value, text): (Option<Template>, String)| match value {
                    Some(value) => Part::value(value, text),
                    None => Part::Literal(text),
                };
                Template::Text(parts.into_iter().map(part).collect())
            }),
        ]
    })
}

pub fn test(
    operand: impl Strategy<Value = Template> + Clone + 'static,
) -> impl Strategy<Value = Test> {
    let several = prop::collection::vec(operand.clone(), 2..4);
    let signs = prop::sample::select(Comparison::ALL.to_vec());
    let questions = prop::sample::select(Question::ALL.to_vec());
    prop_oneof![
        several.clone().prop_map(Test::All),
        several.prop_map(Test::Any),
        operand.clone().prop_map(Test::Not),
        ([operand.clone(), operand.clone()], signs)
            .prop_map(|(operands, sign)| Test::Compare(operands, sign)),
        (questions, operand).prop_map(|(question, operand)| Test::Ask(question, operand)),
    ]
}

/// A body in which there are two local values: those of the two `for`s around it.
fn body(place: usize) -> impl Strategy<Value = Body> {
    // A part of a local value that all patterns but `_` have a name for, or what has one only in a pattern that is a name.
    let action = |inside: bool, of_pair: bool| {
        let local = reference((0..2_usize).prop_map(Source::Local));
        let local = local.prop_map(move |mut local| {
            if of_pair {
                let mut part = Segment::new(Selector::Index(1));
                part.optional = std::mem::take(&mut local.optional);
                local.path = [part].into_iter().chain(local.path).collect();
            }
            Template::Reference(local)
        });
        let args = if inside {
            prop_oneof![template(place), local].boxed()
        } else {
            template(place).boxed()
        };
        (args, prop::option::of(text())).prop_map(|(args, tool)| {
            let mut action = Action::value(args);
            action.tool = tool.map(|description| {
                let mut tool = ToolInfo::new("t");
                tool.description = description;
                tool.into()
            });
            Body::Action(action)
        })
    };
    let branches = |of_pair| {
        let branches = (
            template(place),
            template(place),
            prop::sample::select(vec!["each", "_", "(key, value)", "(_, value)"]),
            prop::collection::vec(action(true, of_pair), 4),
        );
        branches.prop_map(|(holds, value, pattern, mut bodies)| {
            let pattern = format!("Some({pattern})");
            let bind = |value| Condition::Let {
                pattern: pattern.clone().into(),
                value,
            };
            let computed = Computed::new("true || false", [Source::Local(2)]).into();
            let conditions = [
                vec![Condition::Holds(holds.clone())],
                vec![bind(value.clone())],
                vec![bind(value), Condition::Holds(computed), bind(holds)],
                Vec::new(),
            ];
            let branches = conditions.into_iter().zip(bodies.drain(..));
            let branches = branches.map(|(conditions, body)| Branch::new(conditions, body));
            Body::If(branches.collect())
        })
    };
    let inside = move |of_pair| prop_oneof![branches(of_pair), action(true, of_pair)];
    let pairs = prop::sample::select(vec!["each", "(key, value)", "(_, value)"]);
    let lists = prop_oneof![
        (template(place), template(place), pairs, inside(true)),
        (
            template(place),
            template(place),
            Just("each"),
            inside(false)
        ),
    ];
    let lists = lists.prop_map(|(list, inner, pattern, body)| {
        let each = |list, body| Body::from(For::new(pattern, list, body));
        each(list, each(inner, body))
    });
    // The inputs of a block: steps and inputs by their names, and the local value of a `for`.
    let alone = block(place, false).boxed();
    let round = block(place, true).boxed();
    let blocks = (alone, round, template(place).boxed()).prop_map(move |(alone, round, list)| {
        let each = Body::from(For::new("each", list, round));
        [Body::from(alone), each]
    });
    let blocks = (blocks, 0..2_usize).prop_map(|([alone, each], which)| match which {
        0 => alone,
        _ => each,
    });
    prop_oneof![4 => action(false, false), 2 => lists, 1 => blocks.boxed()]
}

/// Returns a block with two steps, which reads an input and a step, or the variable of an enclosing loop. Its last step may be its
/// tail, and its second step may be a block.
fn block(place: usize, in_loop: bool) -> impl Strategy<Value = Block> {
    let action = action_over(1).boxed();
    let second = (action.clone(), action.clone(), any::<bool>());
    let ends = (0..4_usize, any::<bool>(), text());
    (action, second, ends.boxed(), policy(0).boxed()).prop_map(
        move |(first, (second, inner, nested), (end, part, intent), mut policy)| {
            let mut reads = vec![("x", Source::Input(0))];
            if place > 0 {
                reads.push(("s 0", Source::Step(0)));
            }
            if in_loop {
                reads.push(("each", Source::Local(0)));
            }
            let mut plan = Plan::new("");
            plan.inputs = reads
                .iter()
                .map(|(name, _)| Input::new(*name, ""))
                .collect();
            let whole = |source| Template::Reference(Reference::new(source));
            let entries = reads.into_iter().enumerate().map(|(at, (name, source))| {
                let mut reference = Reference::new(source);
                // A source with another name outside.
                if part && at == 0 {
                    reference = reference.key("k");
                }
                (name, Template::Reference(reference))
            });
            let inputs = Template::object(entries);
            let last = plan.inputs.len() - 1;
            let mut step = Step::new("t 0", first);
            step.intent = intent.into();
            policy.concurrency = None;
            policy.optional = Optional::No;
            policy.catch = Catch::No;
            policy.given.clear();
            policy.fallback = None;
            step.policy = policy.into();
            let mut other = Step::new(if end == 0 { "_" } else { "t 1" }, second);
            if nested {
                let mut within = Plan::new("");
                within.inputs = vec![Input::new("t 0", ""), Input::new("far", "")];
                within.steps = vec![Step::new("u 0", inner)];
                within.output = Output::new(whole(Source::Step(0)));
                let inputs = [
                    ("t 0", whole(Source::Step(0))),
                    ("far", whole(Source::Input(last))),
                ];
                other.body = Block::new(Template::object(inputs), within).into();
            }
            plan.steps = vec![step, other];
            plan.output = Output::new(match end {
                0 | 1 => whole(Source::Step(1)),
                2 => Template::Null,
                _ => vec![whole(Source::Step(0)), whole(Source::Input(last))].into(),
            });
            Block::new(inputs, plan)
        },
    )
}

/// A call or a value over one of the first `inputs` inputs.
fn action_over(inputs: usize) -> impl Strategy<Value = Action> {
    let source = (0..inputs).prop_map(Source::Input);
    let args = (reference(source), text()).prop_map(|(reference, text)| {
        let reference = Template::Reference(reference);
        let computed = Computed::new(text.clone(), [Source::Input(0)]).into();
        vec![reference, computed, Template::String(text)]
    });
    (args, any::<bool>()).prop_map(|(args, calls)| {
        if calls {
            Action::call("t", Template::List(args))
        } else {
            Action::value(args)
        }
    })
}

fn policy(place: usize) -> impl Strategy<Value = Policy> {
    let time =
        || (any::<u32>(), 0..1_000_000_000_u32).prop_map(|(s, ns)| Duration::new(s.into(), ns));
    let optional = prop::sample::select(vec![Optional::No, Optional::Whole, Optional::Each]);
    let limits = (prop::option::of(time()), prop::option::of(time()));
    let catch = prop::sample::select(vec![Catch::No, Catch::Whole, Catch::Each]);
    let given = prop::option::weighted(
        0.2,
        (
            prop::sample::select(vec![
                Amount::Attempts,
                Amount::Backoff,
                Amount::Max,
                Amount::Timeout,
                Amount::Deadline,
            ]),
            reference((0..3_usize).prop_map(Source::Input)),
        ),
    );
    let most = prop::option::of(1..9_usize);
    let rest = (any::<bool>(), optional, most, catch, given);
    let policy = (
        1..9_u32,
        time(),
        time(),
        limits,
        prop::option::of(template(place)),
        rest,
    );
    let policy = policy.prop_map(|(attempts, backoff, max, limits, fallback, rest)| {
        let mut policy = Policy::DEFAULT
            .attempts(attempts)
            .backoff(backoff)
            .max(max)
            .jitter(rest.0)
            .optional(rest.1)
            .catch(rest.3);
        (policy.timeout, policy.deadline) = limits;
        (policy.fallback, policy.concurrency) = (fallback, rest.2);
        match rest.4 {
            Some((amount, reference)) => policy.given(amount, reference),
            None => policy,
        }
    });
    prop_oneof![Just(Policy::DEFAULT), policy]
}

fn step(place: usize) -> impl Strategy<Value = Step> {
    let after = prop::collection::btree_set(0..place.max(1), 0..3);
    (body(place), after, text(), policy(place)).prop_map(
        move |(body, after, intent, mut policy)| {
            if !matches!(body, Body::For(_)) {
                policy.concurrency = None;
                if policy.optional == Optional::Each {
                    policy.optional = Optional::Whole;
                }
                if policy.catch == Catch::Each {
                    policy.catch = Catch::No;
                }
            }
            // Parts without an effect are refused.
            match policy.catch {
                Catch::Whole => {
                    policy.fallback = None;
                    if policy.optional == Optional::Whole {
                        policy.optional = Optional::No;
                    }
                }
                Catch::Each if policy.optional == Optional::Each => policy.optional = Optional::No,
                Catch::No | Catch::Each => {}
            }
            let after: Vec<usize> = after.into_iter().filter(|&p| p < place).collect();
            let mut step = Step::new(format!("s {place}"), body);
            step.intent = intent.clone().into();
            step.after = after;
            step.policy = policy.into();
            step
        },
    )
}

/// Returns a step for the end of the work.
fn last(place: usize) -> impl Strategy<Value = Step> {
    step(place).prop_map(|mut step| {
        let mut policy = (*step.policy).clone();
        (policy.optional, policy.catch) = (Optional::No, Catch::No);
        policy.fallback = None;
        step.policy = policy.into();
        step
    })
}

/// A step that undoes the first one, if that can be undone.
fn undo() -> impl Strategy<Value = Step> {
    (last(0), reference(Just(Source::Step(0)))).prop_map(|(mut step, given)| {
        let args = Template::object([("given", Template::Reference(given))]);
        step.body = Action::call("undo", args).into();
        let mut policy = (*step.policy).clone();
        policy.concurrency = None;
        step.policy = policy.into();
        step.role = Role::Undo(0);
        step
    })
}

fn can_be_undone(step: &Step) -> bool {
    fn repeats(body: &Body) -> bool {
        match body {
            Body::If(branches) => branches.iter().any(|branch| repeats(&branch.body)),
            body => matches!(body, Body::For(_)),
        }
    }
    let calls = step.actions().iter().any(|action| action.tool.is_some());
    calls && !repeats(&step.body)
}

/// Plans of calls with plain arguments, which other forms than plan JSON can express more often than those of `plan`.
pub fn plain() -> impl Strategy<Value = Plan> {
    plan().prop_map(|plan| {
        let value = match plan.output.value {
            value @ (Template::Null | Template::Bool(_) | Template::String(_)) => value,
            value @ Template::Number(Number::Unsigned(_) | Number::Signed(_)) => value,
            _ => Template::String("x".into()),
        };
        let mut plain = Plan::new("p");
        for (place, step) in plan.steps.into_iter().take(3).enumerate() {
            let args = Template::object([("x", value.clone())]);
            let mut made = Step::new(format!("s{place}"), Action::call("t", args));
            made.after = step.after;
            let has_policy = step.policy.fallback.is_none() && step.policy.given.is_empty();
            if has_policy && matches!(step.body, Body::Action(_)) {
                made.policy = step.policy;
            }
            plain.steps.push(made);
        }
        plain
    })
}

pub fn plan() -> impl Strategy<Value = Plan> {
    let lasts = (
        prop::option::of(undo().boxed()),
        prop::option::of(last(3).boxed()),
    );
    // A test's stack is small.
    let steps = (step(0).boxed(), step(1).boxed(), step(2).boxed(), lasts);
    (steps, template(3), text(), text()).prop_map(
        |((a, b, c, (undo, always)), value, name, type_name)| {
            let mut plan = Plan::new(name);
            plan.description = type_name.clone().into();
            plan.inputs = ["x", "y-z", "0"]
                .map(|name| Input::new(name, type_name.clone()))
                .to_vec();
            plan.steps = vec![a, b, c];
            if let Some(mut undo) = undo.filter(|_| can_be_undone(&plan.steps[0])) {
                undo.id = "undo".into();
                plan.steps.push(undo);
            }
            if let Some(mut always) = always {
                always.role = Role::Always;
                always.after.clear();
                plan.steps.push(always);
            }
            plan.output = Output::new(value);
            plan.output.type_name = type_name.into();
            plan
        },
    )
}
