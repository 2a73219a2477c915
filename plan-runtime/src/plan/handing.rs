//! The values of a plan that are handed over in Rust, and the values that are needed as JSON.
//!
//! The types decide if a value may be handed over (`check/lossless.rs`), and the plan decides if the effort is worthwhile: a step has to read the
//! whole value. The encoder traverses such an output without building JSON, and so detects values that JSON cannot represent. JSON is built at its
//! first use. The last reader takes the value in its last attempt, and other readers get clones. A call through a toolbox or a gate uses JSON. A run
//! uses JSON if it has a journal or an engine, or if its report stores outputs.

use super::{
    Action, Block, Body, BodyPart, Catch, Key, Optional, Plan, Role, Source, Step, Template,
};
use std::sync::Arc;

/// The stored form of a step's output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Keep {
    /// JSON.
    #[default]
    Json,
    /// The Rust value, and its JSON.
    Both,
    /// The Rust value, whose JSON is built at its first use.
    Whole,
    /// The Rust value for a single reader, which takes it.
    Single,
}

/// `true` if the outputs of a tool always go through JSON, which does not affect the equality of plans.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AsJson(pub(crate) bool);

impl PartialEq for AsJson {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for AsJson {}

/// The route of each value of a plan from its source to its readers.
#[derive(Debug, Default)]
pub(crate) struct Handing {
    /// For each step, the stored form of its output.
    keeps: Vec<Keep>,
    /// For each step, `true` if it reads a whole value.
    takes: Vec<bool>,
    /// For each step with a single call, the values that it reads as one argument and in no other position. Inputs have no other reader.
    alone: Vec<Box<[Source]>>,
}

/// A kind of use of a value.
#[derive(Clone, Copy, PartialEq)]
enum Reading {
    /// The whole value, as an argument, as the output, or by a block.
    Whole,
    /// A use by Rust code.
    Computed,
    /// JSON.
    Json,
}

impl Handing {
    /// Returns the values to hand over in a plan, or `None` without such values. JSON is required for the value of a block, and for the
    /// sources of `again`, the condition of a loop whose round the plan is.
    pub(crate) fn of(plan: &Plan, is_block: bool, again: Option<&Template>) -> Option<Arc<Self>> {
        let mut readings: Vec<Vec<(Source, Reading)>> = plan.steps.iter().map(of_step).collect();
        let mut of_output = Vec::new();
        let output = &plan.output.value;
        match output.whole().filter(|_| !is_block) {
            Some(source) => of_output.push((source, Reading::Whole)),
            None => inside(output, &mut of_output),
        }
        if let Some(again) = again {
            inside(again, &mut of_output);
        }
        readings.push(of_output);
        let all = || readings.iter().flatten();

        let mut handing = Self {
            keeps: keeps(plan, &readings),
            takes: Vec::new(),
            alone: vec![Box::default(); plan.steps.len()],
        };
        let has_inputs =
            all().any(|(source, how)| *how != Reading::Json && matches!(source, Source::Input(_)));
        if !has_inputs && handing.keeps.iter().all(|keep| *keep == Keep::Json) {
            return None;
        }
        // A reader can take only a stored Rust value.
        let takes = |readings: &Vec<(Source, Reading)>| {
            let mut readings = readings.iter();
            readings.any(|(source, how)| *how == Reading::Whole && handing.is_kept(*source))
        };
        handing.takes = readings.iter().map(takes).collect();
        let mut of_inputs = vec![0_usize; plan.inputs.len()];
        for (source, _) in all() {
            if let Source::Input(place) = source
                && let Some(count) = of_inputs.get_mut(*place)
            {
                *count += 1;
            }
        }
        for (place, step) in plan.steps.iter().enumerate() {
            if is_one_call(step) {
                handing.alone[place] = handing.read_once(&readings[place], &of_inputs);
            }
        }
        Some(Arc::new(handing))
    }

    /// Returns the whole values that a step alone reads, and reads once. `of_inputs` has the number of readers of each input.
    fn read_once(&self, readings: &[(Source, Reading)], of_inputs: &[usize]) -> Box<[Source]> {
        let alone = readings.iter().filter(|(source, how)| {
            let once = || readings.iter().filter(|(read, _)| read == source).count() == 1;
            *how == Reading::Whole
                && self.is_kept(*source)
                && match source {
                    Source::Step(_) => once(),
                    Source::Input(input) => of_inputs.get(*input) == Some(&1),
                    Source::Local(_) => false,
                }
        });
        alone.map(|(source, _)| *source).collect()
    }

    fn is_kept(&self, source: Source) -> bool {
        match source {
            Source::Step(step) => self.keep(step) != Keep::Json,
            Source::Input(_) => true,
            Source::Local(_) => false,
        }
    }

    /// Returns the stored form of a step's output.
    pub(crate) fn keep(&self, step: usize) -> Keep {
        self.keeps.get(step).copied().unwrap_or_default()
    }

    /// Returns `true` if a step reads a whole value.
    pub(crate) fn takes(&self, step: usize) -> bool {
        self.takes.get(step).is_some_and(|takes| *takes)
    }

    /// Returns the values that only this step still has to read.
    pub(crate) fn alone(&self, step: usize) -> &[Source] {
        self.alone.get(step).map_or(&[], |alone| alone)
    }
}

/// Returns the stored form of the output of each step, from the readings of each step and of the plan's output.
fn keeps(plan: &Plan, readings: &[Vec<(Source, Reading)>]) -> Vec<Keep> {
    let mut of_steps = vec![ReadBy::default(); plan.steps.len()];
    for (place, here) in readings.iter().enumerate() {
        let step = plan.steps.get(place);
        // The last entry is the plan's own output, which takes values like a call.
        let takes = step.is_none_or(is_one_call);
        for (source, how) in here {
            if let Source::Step(place) = source
                && let Some(read) = of_steps.get_mut(*place)
            {
                read.count += 1;
                read.whole |= *how != Reading::Json;
                read.json |= *how == Reading::Json;
                read.taken |= takes && *how == Reading::Whole;
            }
        }
    }
    let keep = |(step, read): (&Step, &ReadBy)| match read {
        ReadBy { whole: false, .. } => Keep::Json,
        ReadBy { whole: true, .. } if !gives_whole(step) => Keep::Json,
        ReadBy { json: true, .. } => Keep::Both,
        ReadBy {
            taken: true,
            count: 1,
            ..
        } => Keep::Single,
        ReadBy { .. } => Keep::Whole,
    };
    plan.steps.iter().zip(&of_steps).map(keep).collect()
}

/// The readers of a step's output.
#[derive(Clone, Copy, Default)]
struct ReadBy {
    /// The number of reads.
    count: usize,
    /// `true` if a reader uses the Rust value.
    whole: bool,
    /// `true` if a reader uses JSON.
    json: bool,
    /// `true` if a reader takes the whole value.
    taken: bool,
}

/// Returns `true` if a step is one call or one computed value, in the plan's work.
fn is_one_call(step: &Step) -> bool {
    step.role == Role::Work && matches!(step.body, Body::Action(_))
}

/// Returns `true` if the output of a step is always the output of a call.
fn gives_whole(step: &Step) -> bool {
    let is_action = match &step.body {
        Body::Action(action) => action.tool.as_ref().is_none_or(|tool| !tool.as_json.0),
        _ => false,
    };
    is_action && step.policy.optional == Optional::No && step.policy.catch == Catch::No
}

/// Returns the sources of a step, with the kinds of use.
fn of_step(step: &Step) -> Vec<(Source, Reading)> {
    let mut readings = Vec::new();
    step.body.visit(&mut |part| match part {
        BodyPart::Action(Action {
            tool: Some(_),
            args,
        })
        | BodyPart::Block(Block { inputs: args, .. }) => match args {
            Template::Object(entries) => {
                for entry in entries {
                    match entry
                        .value
                        .whole()
                        .filter(|_| matches!(entry.key, Key::Name(_)))
                    {
                        Some(source) => readings.push((source, Reading::Whole)),
                        None => inside(&entry.value, &mut readings),
                    }
                }
            }
            other => inside(other, &mut readings),
        },
        BodyPart::Action(Action { args, .. }) => match args.whole() {
            Some(source) => readings.push((source, Reading::Whole)),
            None => inside(args, &mut readings),
        },
        BodyPart::Condition(_) | BodyPart::List(_) => inside(part.template(), &mut readings),
    });
    let given = step.policy.given.iter().map(|(_, template)| template);
    for template in given.chain(&step.policy.fallback) {
        inside(template, &mut readings);
    }
    if step.role == Role::Always {
        // An always step reads results in place of outputs.
        for (source, how) in &mut readings {
            if let Source::Step(_) = source {
                *how = Reading::Json;
            }
        }
    }
    readings
}

/// Adds the sources inside a template.
fn inside(template: &Template, readings: &mut Vec<(Source, Reading)>) {
    template.each(&mut |template| match template {
        Template::Reference(reference) => readings.push((reference.source, Reading::Json)),
        Template::Computed(computed) => {
            let reads = computed.reads().iter();
            readings.extend(reads.map(|source| (*source, Reading::Computed)));
        }
        _ => {}
    });
}
