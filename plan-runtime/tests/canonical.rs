//! Plan → canonical JSON → plan.

use plan_runtime::Plan;
use plan_runtime::plan::{
    Absent, Action, Body, Branch, Computed, Condition, Entry, For, Input, Key, Number, Optional,
    Output, Part, Policy, Reference, Segment, Source, Step, Tag, Template, ToolInfo,
};
use plan_runtime::shape::Tagging;
use proptest::prelude::*;
use serde_json::{Value, json};
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
    prop_oneof![
        4 => Just(Absent::Error),
        1 => Just(Absent::Null),
        1 => Just(Absent::Stop),
        1 => Just(Absent::Default(|| json!({"a": [1.5, null]}))),
    ]
}

fn segment() -> impl Strategy<Value = Segment> {
    prop_oneof![
        3 => (text(), absent()).prop_map(|(key, absent)| Segment::Key(key.into(), absent)),
        3 => (any::<u16>(), absent()).prop_map(|(index, absent)| Segment::Index(index.into(), absent)),
        1 => Just(Segment::Each),
        1 => any::<bool>().prop_map(Segment::Optional),
        1 => Just(Segment::Same),
    ]
}

/// Of 3 inputs, and of the steps before the one that refers.
fn source(steps: usize) -> impl Strategy<Value = Source> {
    (any::<bool>(), 0..3_usize, 0..steps.max(1)).prop_map(move |(input, i, s)| {
        match input || steps == 0 {
            true => Source::Input(i),
            false => Source::Step(s),
        }
    })
}

fn template(steps: usize) -> impl Strategy<Value = Template> {
    let reference = (
        source(steps),
        prop::collection::vec(segment(), 0..4),
        text(),
    );
    let leaf = prop_oneof![
        Just(Template::Null),
        any::<bool>().prop_map(Template::Bool),
        any::<u64>().prop_map(|n| Template::Number(Number::Unsigned(n))),
        any::<i64>().prop_map(|n| Template::Number(Number::Signed(n))),
        (prop::num::f64::NORMAL | prop::num::f64::ZERO)
            .prop_map(|n| Template::Number(Number::Float(n))),
        text().prop_map(|text| Template::String(text.into())),
        reference.prop_map(|(source, path, written)| {
            Template::Reference(Reference {
                source,
                path: path.into(),
                written: written.into(),
            })
        }),
        (prop::collection::btree_set(source(steps), 0..3), text()).prop_map(|(reads, written)| {
            Template::Computed(Computed {
                reads: reads.into_iter().collect::<Vec<_>>().into(),
                written: written.into(),
                compute: None,
            })
        }),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let tagging = prop::sample::select(vec![
            Tag::None,
            Tag::Variant(Tagging::External, "V"),
            Tag::Variant(Tagging::Internal("\u{1}type"), "V"),
            Tag::Variant(Tagging::Adjacent("t", "c"), "V"),
            Tag::Variant(Tagging::Untagged, "V"),
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| Template::List(items.into())),
            (prop::collection::btree_map(text(), inner.clone(), 0..4)).prop_map(|members| {
                let entry = |(name, value): (String, Template)| Entry {
                    key: Key::Name(name.into()),
                    value,
                };
                Template::Object(members.into_iter().map(entry).collect::<Vec<_>>().into())
            }),
            (source(0), any::<bool>()).prop_map(|(source, both)| {
                let value = Template::Reference(Reference {
                    source,
                    path: vec![].into(),
                    written: "".into(),
                });
                let mut entries = vec![Entry {
                    key: Key::Flattened,
                    value,
                }];
                if both {
                    entries.push(Entry {
                        key: Key::Name("n".into()),
                        value: Template::Null,
                    });
                }
                Template::Object(entries.into())
            }),
            inner.clone().prop_map(|value| Template::Object(
                vec![Entry {
                    key: Key::Inner,
                    value
                }]
                .into()
            )),
            (tagging, prop::option::of(inner.clone())).prop_map(|(tag, content)| {
                Template::Tagged(tag, content.into_iter().collect::<Vec<_>>().into())
            }),
            prop::collection::vec((prop::option::of(inner), text()), 0..4).prop_map(|parts| {
                let part = |(value, text): (Option<Template>, String)| match value {
                    Some(value) => Part::Value {
                        value,
                        spec: text.into(),
                        show: None,
                    },
                    None => Part::Literal(text.into()),
                };
                Template::Text(parts.into_iter().map(part).collect::<Vec<_>>().into())
            }),
        ]
    })
}

/// A body in which there are two local values: those of the two `for`s around it.
fn body(place: usize) -> impl Strategy<Value = Body> {
    let action = |inside: bool| {
        let local = (0..2_usize, prop::collection::vec(segment(), 0..3), text());
        let local = local.prop_map(|(depth, path, written)| {
            Template::Reference(Reference {
                source: Source::Local(depth),
                path: path.into(),
                written: written.into(),
            })
        });
        let args = match inside {
            true => prop_oneof![template(place), local].boxed(),
            false => template(place).boxed(),
        };
        (args, prop::option::of(text())).prop_map(|(args, tool)| {
            Body::Action(Action {
                site: 0,
                tool: tool.map(|description| ToolInfo {
                    name: "t".into(),
                    description: description.into(),
                }),
                args,
            })
        })
    };
    let branches = (
        template(place),
        template(place),
        text(),
        prop::collection::vec(action(true), 3),
    );
    let branches = branches.prop_map(|(holds, value, pattern, mut bodies)| {
        let pattern = pattern.into();
        let conditions = [
            Condition::Holds(holds),
            Condition::Binds { pattern, value },
            Condition::Always,
        ];
        let branches = conditions.into_iter().zip(bodies.drain(..));
        let branches = branches.map(|(condition, body)| Branch { condition, body });
        Body::If(branches.collect::<Vec<_>>().into())
    });
    let inside = prop_oneof![branches, action(true)];
    let lists = (template(place), template(place), text(), inside);
    let lists = lists.prop_map(|(list, inner, pattern, body)| {
        let each = |list, body| {
            let pattern = pattern.clone().into();
            let each = For {
                pattern,
                list,
                body,
            };
            Body::For(vec![each].into())
        };
        each(list, each(inner, body))
    });
    prop_oneof![2 => action(false), 1 => lists]
}

fn policy(place: usize) -> impl Strategy<Value = Policy> {
    let time =
        || (any::<u32>(), 0..1_000_000_000_u32).prop_map(|(s, ns)| Duration::new(s.into(), ns));
    let optional = prop::sample::select(vec![Optional::No, Optional::Whole, Optional::Each]);
    let limits = (prop::option::of(time()), prop::option::of(time()));
    let rest = (any::<bool>(), optional, prop::option::of(1..9_usize));
    let policy = (
        0..9_u32,
        time(),
        time(),
        limits,
        prop::option::of(template(place)),
        rest,
    );
    let policy = policy.prop_map(|(attempts, backoff, max, limits, fallback, rest)| Policy {
        attempts,
        backoff,
        max,
        jitter: rest.0,
        timeout: limits.0,
        deadline: limits.1,
        optional: rest.1,
        fallback,
        concurrency: rest.2,
    });
    prop_oneof![Just(Policy::DEFAULT), policy]
}

fn step(place: usize) -> impl Strategy<Value = Step> {
    let after = prop::collection::btree_set(0..place.max(1), 0..3);
    (body(place), after, text(), policy(place)).prop_map(move |(body, after, intent, policy)| {
        let after: Vec<usize> = after.into_iter().filter(|&p| p < place).collect();
        let mut step = Step {
            id: format!("s {place}").into(),
            intent: intent.clone().into(),
            body,
            after: after.into(),
            needs: vec![].into(),
            policy,
        };
        step.needs = step.needed().into();
        step
    })
}

fn plan() -> impl Strategy<Value = Plan> {
    ((step(0), step(1), step(2)), template(3), text(), text()).prop_map(
        |((a, b, c), value, name, type_name)| Plan {
            name: name.into(),
            description: type_name.clone().into(),
            inputs: ["x", "y-z", "0"]
                .map(|name| Input {
                    name: name.into(),
                    type_name: type_name.clone().into(),
                    description: "".into(),
                })
                .to_vec()
                .into(),
            steps: vec![a, b, c].into(),
            output: Output {
                type_name: type_name.into(),
                value,
            },
        },
    )
}

proptest! {
    #[test]
    fn reads_back(plan in plan()) {
        let text = serde_json::to_string(&plan).unwrap();
        match serde_json::from_str::<Plan>(&text) {
            Ok(read) => {
                prop_assert_eq!(serde_json::to_string(&read).unwrap(), text);
                for (a, b) in read.steps.iter().zip(plan.steps.iter()) {
                    prop_assert_eq!(&a.needs, &b.needs);
                    prop_assert_eq!(a.references().len(), b.references().len());
                    prop_assert_eq!(a.reads(), b.reads());
                }
                let sites = read.steps.iter().flat_map(|step| step.actions());
                let sites: Vec<usize> = sites.map(|action| action.site).collect();
                prop_assert_eq!(&sites, &(0..sites.len()).collect::<Vec<_>>());
                let _ = read.to_string();
                prop_assert_eq!(&read, &plan);
            }
            // Only what no plan of an author has: a name twice in what tagging makes one object.
            Err(e) => prop_assert!(e.to_string().contains("is given twice"), "{e}\n{text}"),
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in r#"[{}\[\]",:a-z0-9 ]{0,60}"#) {
        let _ = serde_json::from_str::<Plan>(&text);
        let _ = serde_json::from_str::<Template>(&text);
    }
}

fn refused(json: Value) -> String {
    // Through text, for the errors that a reader sees.
    serde_json::from_str::<Plan>(&json.to_string())
        .unwrap_err()
        .to_string()
        .split(" at line")
        .next()
        .unwrap()
        .to_owned()
}

#[test]
fn what_is_wrong_is_said() {
    let reference = |step: &str| json!({"reference": {"step": step, "pointer": ""}});
    let step = |id: &str, to: &str| json!({"id": id, "tool": {"name": "t"}, "arguments": {"object": {"x": reference(to)}}});
    let plan = |steps: Vec<Value>| json!({"name": "p", "inputs": [{"name": "q"}], "steps": steps});
    assert_eq!(
        refused(plan(vec![step("inbox", "inbx"), step("inbox", "q")])),
        "3 mistakes: the step `inbox` has the name of another step; step `inbox`: there is no step `inbx`; `inbox` is similar; step `inbox`: `q` is an input, and no step"
    );
    assert_eq!(
        refused(plan(vec![step("q", "a"), step("a", "a")])),
        "3 mistakes: the step `q` has the name of another input; steps wait for one another in a cycle: `a` → `a`"
            .replace("3 mistakes", "2 mistakes")
    );
    assert_eq!(
        refused(plan(vec![step("a", "c"), step("b", "a"), step("c", "b")])),
        "steps wait for one another in a cycle: `a` → `c` → `b` → `a`"
    );
    assert_eq!(
        refused(plan(vec![json!({"id": "a"})])),
        "step `a`: without a `tool` it must be a `value`, and have no `arguments`"
    );
    assert_eq!(
        refused(plan(vec![
            json!({"id": "a", "value": {"reference": {"step": 0, "pointer": ""}}})
        ])),
        "step `a`: the step of a reference is given by its name"
    );
    assert_eq!(
        refused(plan(vec![json!({"id": "a", "value": {"objekt": {}}})])),
        "unknown field `objekt`, expected one of `object`, `merge`, `reference`, `text`, `computed`"
    );
    assert_eq!(
        refused(plan(vec![
            json!({"id": "a", "value": {"object": {}, "text": []}})
        ])),
        "a template object has one member, such as {\"object\": …}"
    );
    assert_eq!(
        serde_json::from_str::<Plan>(
            r#"{"name": "p", "output": {"value": {"object": {"a": 1, "a": 2}}}}"#
        )
        .unwrap_err()
        .to_string(),
        "the output: the member `a` is given twice"
    );
    let deep = (0..1000).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(
        serde_json::from_value::<Template>(deep)
            .unwrap_err()
            .to_string(),
        "a template is nested more than 128 levels deep"
    );
}
