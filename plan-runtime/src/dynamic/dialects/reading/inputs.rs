//! Inputs that references declare, and steps that references name by their index.

use super::PlanReader;
use super::body;
use super::counts::{VALUES_OF_STEP, count_input};
use super::names::{OwnStep, RENAME};
use crate::dynamic::Profile;
use crate::dynamic::dialects::references::{ReferenceTarget, quote};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::JsonNode;
use crate::plan::json::names::input;
use crate::plan::{Block, Input};
use crate::print::short;
use crate::shape::Secrets;
use std::collections::HashMap;
use std::ops::Range;

const COUNTED: &str = "steps are counted from 0, in the order of the list";

/// The number of values that a newly discovered input counts as.
const VALUES_OF_INPUT: usize = 3;

/// Looks through a document for the names of inputs that references have.
pub(crate) fn expect(reader: &mut PlanReader, document: JsonNode<'_>) {
    let names = (reader.rules.inputs_in)(document, reader.limits.name);
    reader.input_names = names.into_iter().map(|name| (name, None)).collect();
}

/// Reads the declared inputs, whose objects may have these members.
pub(crate) fn declared(reader: &mut PlanReader, nodes: Vec<JsonNode<'_>>, known: &[&'static str]) {
    const WHAT: &str = "the name of an input";
    let mut seen: HashMap<String, Range<usize>> = HashMap::new();
    for node in nodes {
        let index = reader.inputs.len();
        if !reader.count(VALUES_OF_STEP, node.place()) {
            break;
        }
        count_input(reader, index, node.place());
        if reader.is_over() {
            break;
        }
        let Some(members) = reader.object(node, "an input", known) else {
            continue;
        };
        let name = reader.required_name(&members, "the input", WHAT);
        let name = name.unwrap_or_default();
        reader.name_fits(&name, WHAT, node.place());
        if let Some(given) = members.given(input::NAME) {
            let place = given.place();
            if let Some(first) = seen.get(&name) {
                let message = format!("two inputs have the name `{}`", short(&name));
                let note = Note::error(Code::DuplicateId, place, message);
                let note = note.related(first.clone(), "the first one is here");
                reader.note(note.help(RENAME));
            } else {
                no_step(reader, &name, place.clone());
                // In strings, the inputs of the plan have names of another form.
                if reader.rules.wraps() {
                    let names = &mut reader.here.names;
                    names.insert(name.clone(), (index, place.clone()));
                }
                reader.input_names.insert(name.as_str().into(), Some(index));
                seen.insert(name.clone(), place);
            }
        }
        let input = Input {
            secrets: body::secrets(reader, &members, input::SECRETS),
            ..reader.input(&members, name)
        };
        if input.type_name.is_empty() {
            reader.here.spans.untyped.push(index);
        }
        reader.inputs.push(input);
    }
}

/// Returns the input of the plan with this name. The first reference declares the input.
pub(super) fn input(reader: &mut PlanReader, name: &str, place: Range<usize>) -> usize {
    if let Some(Some(index)) = reader.input_names.get(name) {
        return *index;
    }
    let input = reader.inputs.len();
    reader.count(VALUES_OF_INPUT, place.clone());
    count_input(reader, input, place.clone());
    reader.name_fits(name, "the name of an input", place.clone());
    reader.input_names.insert(name.into(), Some(input));
    no_step(reader, name, place);
    let optional = reader.profile == Profile::Compat;
    reader.at_mut(0).spans.untyped.push(input);
    reader.inputs.push(Input {
        name: name.to_owned(),
        type_name: if optional { "Option<String>" } else { "String" }.into(),
        description: "".into(),
        secrets: Secrets::default(),
        is_guessed: true,
    });
    input
}

/// Reports an input with the name of a step.
fn no_step(reader: &mut PlanReader, input: &str, place: Range<usize>) {
    if let Some(step) = reader.at(0).step_of(input) {
        let message = format!("the input `{}` has the name of a step", short(input));
        let first = reader.at(0).spans.steps.get(step);
        let first = first.map(|spans| spans.id.range());
        let note = Note::error(Code::DuplicateId, place, message);
        let note = note.related(first, "the step is here");
        reader.note(note.help("give one of them another name"));
    }
}

/// Returns the step with this index, which must come before the current one.
pub(crate) fn indexed(
    reader: &mut PlanReader,
    index: usize,
    own: Option<OwnStep>,
    place: Range<usize>,
) -> Option<usize> {
    let rules = reader.rules;
    let name = |index| (rules.step)(index, "");
    let form = |to| rules.form(to, &[]).unwrap_or_default();
    let counted = |count: usize, before: &str| match count {
        0 => format!("no steps{before}"),
        1 => format!("one step{before}, {}", name(0)),
        _ => format!("{count} steps{before}, {} to {}", name(0), name(count - 1)),
    };
    let before_block = reader
        .around
        .last()
        .and_then(|it| Some(it.current.as_ref()?.0));
    let (after, _) = rules.syntax.after();
    // The notation by which a block reads an outer step, which comes before the block.
    let read_by_block = |before: usize| {
        match own {
            Some(OwnStep::ToWaitFor) => {
                return format!("write `{after}` on the step that contains the block");
            }
            _ if index >= before => return COUNTED.to_owned(),
            _ => {}
        }
        let outer = quote(&form(ReferenceTarget::Step(index, "")));
        let inner = form(ReferenceTarget::Value("x"));
        format!(
            "a block counts only its own steps; list the values of other steps in its `inputs`: `\"inputs\": {{\"x\": {outer}}}`, and write `{inner}` in the block"
        )
    };
    if index >= reader.here.steps {
        let (whole, help) = match before_block {
            Some(before) => ("block", read_by_block(before)),
            None => ("plan", COUNTED.to_owned()),
        };
        let steps = counted(reader.here.steps, "");
        let message = format!("there is no {}: the {whole} has {steps}", name(index));
        return reader.fail(Code::StepOutOfRange, place, message, help);
    }
    let (message, help) = match &reader.here.current {
        Some((current, id)) if *current == index && &**id == Block::TAIL => {
            let steps = counted(index, " before it");
            let message = format!("{} is this `tail` itself, which has {steps}", name(index));
            (message, read_by_block(before_block.unwrap_or_default()))
        }
        Some((current, _)) if *current <= index => {
            let message = if *current == index {
                format!("{} refers to itself", name(index))
            } else {
                format!(
                    "{} refers to {}, which comes after it",
                    name(*current),
                    name(index)
                )
            };
            let name = rules.name;
            let help =
                format!("the steps of a {name} run in order: a step can use only earlier steps");
            (message, help)
        }
        _ => return Some(index),
    };
    reader.fail(Code::LaterStep, place, message, help)
}
