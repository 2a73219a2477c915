//! Tests that the positions in random plans of every dialect match their templates.

use crate::plans;

use crate::dynamic::finding::Notes;
use crate::dynamic::spans::{Spans, Templates};
use crate::dynamic::{Dialect, Profile, Reader};
use crate::plan::{Block, Part, Plan, Source, Template};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Returns the content of a reference to the source.
fn name(plan: &Plan, dialect: Dialect, source: Source) -> String {
    match (dialect, source) {
        (_, Source::Local(depth)) => format!(r#""local":{depth}"#),
        (Dialect::Blueprint, Source::Step(index)) => format!("step[{index}]"),
        (_, source) => {
            let name = Value::from(plan.name_of(source).unwrap_or_default()).to_string();
            name.trim_matches('"').to_owned()
        }
    }
}

/// Asserts that the positions form a tree with the structure of the template.
fn is_tree(template: &Template, at: usize, spans: &Templates, text: &str) {
    let parts: Vec<&Template> = match template {
        Template::List(parts) => parts.iter().collect(),
        Template::Tagged(_, content) => content.as_deref().into_iter().collect(),
        Template::Object(entries) => entries.iter().map(|entry| &entry.value).collect(),
        Template::Text(parts) => {
            let values = parts.iter().filter_map(|part| match part {
                Part::Value { value, .. } => Some(value),
                Part::Literal(_) => None,
            });
            values.collect()
        }
        Template::Test(test) => test.operands().iter().collect(),
        _ => Vec::new(),
    };
    let places: Vec<usize> = spans.parts(at).collect();
    assert_eq!(parts.len(), places.len(), "{template}\n{text}");
    for (part, at) in parts.into_iter().zip(places) {
        is_tree(part, at, spans, text);
    }
}

/// Asserts that the templates of the plan and the recorded positions match one by one.
fn agree(text: &str, dialect: Dialect, spans: &Spans, plan: &Plan) {
    let mut at = 0;
    let mut check = |template: &Template| {
        is_tree(template, at, &spans.templates, text);
        template.visit(&mut String::new(), &mut |place, part| {
            let span = spans.templates.get(at);
            let span = span.unwrap_or_else(|| panic!("no place {at}, of {place}\n{text}"));
            at += 1;
            let written = &text[span.value.range()];
            let first = written.as_bytes().first();
            let sources = match part {
                Template::Reference(reference) => std::slice::from_ref(&reference.source),
                Template::Computed(computed) => computed.reads(),
                Template::Bool(value) => {
                    assert_eq!(written, value.to_string(), "{text}");
                    &[]
                }
                Template::List(_) => {
                    assert_eq!(first, Some(&b'['), "{text}");
                    &[]
                }
                _ => &[],
            };
            for source in sources {
                let name = name(plan, dialect, *source);
                assert!(written.contains(&name), "no {name} in {written}\n{text}");
            }
            if let Some(key) = span.key {
                let key = &text[key.range()];
                let last = place.rsplit(['.', '[']).next().unwrap_or_default();
                let is_key = !crate::plan::is_word(last) || key.contains(last);
                assert!(is_key, "{key} at {place}\n{text}");
            }
        });
    };
    assert_eq!(spans.steps.len(), plan.steps.len(), "{text}");
    let mut starts = Vec::new();
    for step in &plan.steps {
        starts.push(0);
        step.templates(&mut |_, template| {
            check(template);
            template.visit(&mut String::new(), &mut |_, _| {
                if let Some(count) = starts.last_mut() {
                    *count += 1;
                }
            });
        });
    }
    let mut sum = 0;
    for (step, (spans, count)) in plan.steps.iter().zip(spans.steps.iter().zip(starts)) {
        assert_eq!(spans.templates(), sum, "of step {}\n{text}", step.id);
        sum += count;
        let id: Option<&str> = serde_json::from_str(&text[spans.id.range()]).ok();
        // The tail of a block has no ID.
        let says_none = dialect == Dialect::Blueprint || (step.id == Block::TAIL && id.is_none());
        assert!(says_none || id == Some(&*step.id), "{text}");
        for (after, place) in &spans.after {
            let name = name(plan, dialect, Source::Step(*after));
            let written = &text[place.range()];
            assert!(
                written.contains(&name) || written == after.to_string(),
                "{text}"
            );
        }
    }
    if let Some(output) = spans.output {
        assert_eq!(output, sum, "{text}");
        // So its value is not written either.
        let place = spans.templates.get(output).map(|output| output.value);
        let last = spans.steps.last().map(|step| step.whole);
        let has_tail = last.is_some() && last == place;
        if has_tail {
            at += 1;
        } else {
            check(&plan.output.value);
        }
    }
    assert_eq!(at, spans.templates.len(), "places of nothing\n{text}");
    let mut blocks = 0;
    spans.each_block(plan, &mut |_, block, spans| {
        blocks += 1;
        agree(text, dialect, spans, &block.plan);
    });
    assert_eq!(blocks, spans.blocks.len(), "{text}");
}

fn read(text: &str, dialect: Dialect, profile: Profile) {
    let reader = Reader::new().dialect(dialect).profile(profile);
    let mut notes = Notes::default();
    let Some((dialect, read, Some(plan))) = reader.plan_reader(text, &mut notes) else {
        panic!("it is not read at all: {text}");
    };
    // A broken part has a position as well, since a cycle may lead through the rest.
    agree(text, dialect, &read.here.spans, &plan);
}

/// Strings with references of a dialect, and some that are wrong or not references.
fn text(dialect: Dialect) -> BoxedStrategy<String> {
    let pieces = match dialect {
        Dialect::ToolPlan => vec![
            "$ref:s0",
            "$ref:s1.a[0].*",
            "$ref:[\"s0\"].x",
            "$ref: s0",
            "$ref:s9",
            "é",
        ],
        Dialect::Blueprint => vec![
            "${step[0].data}",
            "${step[0].data[*].a}",
            "${step[9].data}",
            "${step}",
            " é\n",
            "\"x\\",
        ],
        _ => vec![
            "{{s0.result}}",
            "{{s1.result.a[0]}}",
            "{{PLACEHOLDER_q}}",
            "{{s0.x}}",
            "{{s9.result}}",
            " é\n",
            "\"x\\",
        ],
    };
    let most = if dialect == Dialect::ToolPlan { 2 } else { 4 };
    prop::collection::vec(prop::sample::select(pieces), 0..most)
        .prop_map(|pieces| pieces.concat())
        .boxed()
}

fn value(dialect: Dialect) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => text(dialect).prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,2}|a b", inner, 0..3)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

fn arguments(dialect: Dialect) -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-z]{1,2}", value(dialect), 0..3)
        .prop_map(|members| members.into_iter().collect())
}

fn document(dialect: Dialect) -> impl Strategy<Value = String> {
    let step = (arguments(dialect), any::<bool>(), 0..4_usize);
    let steps = prop::collection::vec(step, 1..4);
    let rest = (
        prop::option::of(value(dialect)),
        prop::option::of(0..3_usize),
        any::<bool>(),
    );
    (steps, rest).prop_map(move |(steps, (output, chosen, pretty))| {
        let steps: Vec<Value> = steps
            .into_iter()
            .enumerate()
            .map(|(index, (arguments, inside, after))| {
                let id = format!("s{index}");
                match dialect {
                    Dialect::ToolPlan if inside => {
                        json!({"id": id, "tool": "t", "arguments": arguments.to_string()})
                    }
                    Dialect::ToolPlan if after == 0 => json!({"id": id, "tool": "t"}),
                    Dialect::Blueprint => {
                        json!({"tool": "t", "params": arguments, "dependsOn": [after]})
                    }
                    _ => json!({"id": id, "tool": "t", "arguments": arguments}),
                }
            })
            .collect();
        let count = steps.len();
        let mut plan = match dialect {
            Dialect::ActionPlan => json!({"plan": steps}),
            _ => json!({"steps": steps}),
        };
        if let Some(output) = output {
            plan["output"] = output;
        }
        if let (Some(chosen), Dialect::ToolPlan) = (chosen, dialect) {
            plan["output_steps"] = (0..chosen.min(count)).map(|it| format!("s{it}")).collect();
        }
        if pretty {
            serde_json::to_string_pretty(&plan)
        } else {
            serde_json::to_string(&plan)
        }
        .unwrap_or_default()
    })
}

proptest! {
    #[test]
    fn of_plan_json(plan in plans::plan()) {
        let text = serde_json::to_string(&plan).unwrap_or_default();
        read(&text, Dialect::PlanJson, Profile::Strict);
    }

    #[test]
    fn of_tool_plans(text in document(Dialect::ToolPlan)) {
        for profile in [Profile::Strict, Profile::Compat] {
            read(&text, Dialect::ToolPlan, profile);
        }
    }

    #[test]
    fn of_blueprints(text in document(Dialect::Blueprint)) {
        for profile in [Profile::Strict, Profile::Compat] {
            read(&text, Dialect::Blueprint, profile);
        }
    }

    #[test]
    fn of_action_plans(text in document(Dialect::ActionPlan)) {
        for profile in [Profile::Strict, Profile::Compat] {
            read(&text, Dialect::ActionPlan, profile);
        }
    }
}
