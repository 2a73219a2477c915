//! The conversion of references in strings to sources and paths.

use super::plan_reader::ReadKind;
use super::{PlanBuilder, PlanReader};
use crate::dynamic::Profile;
use crate::dynamic::dialects::references::{ScannedReference, Target};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::Text;
use crate::plan::{Block, Input, Reference, Source as From};
use crate::print::short;
use crate::shape::Secrets;
use std::ops::Range;

impl PlanReader<'_> {
    pub(super) fn string_reference(
        &mut self,
        text: &Text<'_>,
        written: &ScannedReference<'_>,
    ) -> Result<Reference, Unread> {
        let compat = self.builder.profile == Profile::Compat;
        if let Some(scan_error) = &written.compat_only {
            // The deployed resolver of action plans accepts a reference to an existing step without `.result`.
            let known = matches!(&written.target, Target::Id(id) if self.knows(id));
            if !(compat && known && !written.path.is_empty()) {
                return if self.malformed(text, scan_error.clone()) {
                    Err(Unread::Stays)
                } else {
                    Err(Unread::Broken)
                };
            }
        }
        let named = text.place(&written.named);
        let found = match &written.target {
            Target::Input(name) => self.plan_input(name, named),
            Target::Index(index) => {
                let step = self.builder.indexed(*index, named.clone());
                step.and_then(|step| self.step_from(text, step, named))
            }
            Target::Id(id) => match self.named(id, named.clone()) {
                Some(found) => found,
                None if compat && self.builder.dialect.rules().compat.unknown_step_may_be_text => {
                    let place = text.place(&written.range);
                    let message = format!("there is no step `{}`", short(id));
                    self.builder.note(
                        Note::warning(Code::UnknownStep, place, message)
                            .label("it is used as text"),
                    );
                    return Err(Unread::Stays);
                }
                None => {
                    self.unknown_name(text, written, id, named);
                    return Err(Unread::Broken);
                }
            },
        };
        let mut reference = found.ok_or(Unread::Broken)?;
        // In the first round, the previous round and all its parts are null.
        let is_last = self.kind_of(reference.source) == ReadKind::Last;
        reference.optional = is_last && !written.path.is_empty();
        // A part that a pattern names exists.
        let part = std::mem::replace(&mut reference.path, written.path.clone());
        if compat {
            let rules = self.builder.dialect.rules();
            (rules.compat.allow_absence)(&mut reference, written);
        }
        let parts = part.len();
        reference.path.splice(..0, part);
        Ok(match &written.target {
            Target::Input(name) | Target::Id(name) => {
                reference.said_of_part(written.text, name, parts)
            }
            Target::Index(_) => reference.said(written.text, None),
        })
    }

    /// Returns the reference to a step by index.
    fn step_from(
        &mut self,
        text: &Text<'_>,
        step: usize,
        place: Range<usize>,
    ) -> Option<Reference> {
        let whole = Reference::new(From::Step(step));
        if self.locals.is_empty() {
            return Some(whole);
        }
        let id = self.id_at(text, step).unwrap_or_default();
        self.seen_from(self.around.len(), whole, &id, place)
    }

    /// Reports a name without a step or another value.
    fn unknown_name(
        &mut self,
        text: &Text<'_>,
        written: &ScannedReference<'_>,
        name: &str,
        place: Range<usize>,
    ) {
        if let Some(meant) = self.similar_value(name) {
            let message = format!("there is no step or value `{}`", short(name));
            let help = format!("a value with a similar name exists: `{}`", short(&meant));
            let note = Note::error(Code::UnknownStep, place, message);
            return self.builder.note(note.help(help));
        }
        let (mut note, has_similar) = self.builder.unknown_step(name, place);
        let rules = self.builder.dialect.rules();
        // `$ref:step[0].data` has the index of a step, and no id.
        if let Some(form) = self.meant(text, written.range.start) {
            note = note.help(format!("did you mean `{form}`?"));
        } else if rules.compat.unknown_step_may_be_text && !has_similar {
            let literal = (rules.literal)(written.text);
            let names = note
                .take_help()
                .map_or_else(String::new, |help| format!("{help}; "));
            note = note.help(format!(
                "{names}if this is not a reference, write `{literal}`"
            ));
        }
        self.builder.note(note);
    }
}

impl PlanBuilder {
    /// Looks through a document for the names of inputs that references have.
    pub(crate) fn expect_inputs(&mut self, json: &str) {
        let names = (self.dialect.rules().inputs_in)(json, self.limits.name);
        self.input_names = names.into_iter().map(|name| (name, None)).collect();
    }

    pub(crate) fn input(&mut self, name: &str, place: Range<usize>) -> usize {
        if let Some(Some(index)) = self.input_names.get(name) {
            return *index;
        }
        self.count(VALUES_OF_INPUT, place.clone());
        self.count_input(self.inputs.len(), place.clone());
        self.name_fits(name, "the name of an input", place.clone());
        self.input_names
            .insert(name.into(), Some(self.inputs.len()));
        self.no_step(name, place);
        let optional = self.profile == Profile::Compat;
        let input = self.inputs.len();
        self.spans_of_plan().untyped.push(input);
        self.inputs.push(Input {
            name: name.to_owned(),
            type_name: if optional { "Option<String>" } else { "String" }.into(),
            description: "".into(),
            secrets: Secrets::default(),
            is_guessed: true,
        });
        self.inputs.len() - 1
    }

    /// Reports an input with the name of a step.
    pub(crate) fn no_step(&mut self, input: &str, place: Range<usize>) {
        if let Some(step) = self.step_at(0, input) {
            let message = format!("the input `{}` has the name of a step", short(input));
            let note = Note::error(Code::DuplicateId, place, message);
            let note = match self.spans_of_plan().steps.get(step) {
                Some(spans) => note.related(spans.id.range(), "the step is here"),
                None => note,
            };
            self.note(note.help("give one of them another name".to_owned()));
        }
    }

    /// Returns the step with this index, which must come before the current one.
    pub(crate) fn indexed(&mut self, index: usize, place: Range<usize>) -> Option<usize> {
        let current = self.current.as_ref().map(|(current, _)| *current);
        if index >= self.steps {
            let steps = match self.steps {
                0 => "no steps".to_owned(),
                1 => "one step, step[0]".to_owned(),
                count => format!("{count} steps, step[0] to step[{}]", count - 1),
            };
            let is_block = self.around_id().is_some();
            let whole = if is_block { "block" } else { "plan" };
            let message = format!("there is no step[{index}]: the {whole} has {steps}");
            let help = if is_block {
                self.read_by_block(index)
            } else {
                "steps are counted from 0, in the order of the list".to_owned()
            };
            let note = Note::error(Code::StepOutOfRange, place, message);
            return self.error(note.help(help));
        }
        let is_tail = |id: &str| id == Block::TAIL;
        let in_tail = self.current.as_ref().is_some_and(|(_, id)| is_tail(id));
        let message = match current {
            Some(current) if current == index && in_tail => {
                let steps = match index {
                    0 => "the block has no steps before it".to_owned(),
                    1 => "the block has one step before it, step[0]".to_owned(),
                    count => format!(
                        "the block has {count} steps before it, step[0] to step[{}]",
                        count - 1
                    ),
                };
                let message = format!("step[{index}] is this `tail` itself: {steps}");
                let help = self.read_by_block(index);
                return self.error(Note::error(Code::LaterStep, place, message).help(help));
            }
            Some(current) if current == index => {
                format!("step[{index}] refers to itself")
            }
            Some(current) if current < index => {
                format!("step[{current}] refers to step[{index}], which comes after it")
            }
            _ => return Some(index),
        };
        let help =
            "the steps of a blueprint run in order: a step can use only earlier steps".to_owned();
        self.error(Note::error(Code::LaterStep, place, message).help(help))
    }

    /// Returns the notation by which a block reads an outer step: the step with this index, if it comes before the
    /// block.
    fn read_by_block(&self, index: usize) -> String {
        let before = self.before_block().unwrap_or_default();
        let index = if index < before { index } else { 0 };
        format!(
            "a block counts its own steps; name what it reads of others in its `inputs`: `\"inputs\": {{\"x\": \"${{step[{index}].data}}\"}}`, and write `${{x.data}}` in it"
        )
    }
}

/// The number of values that a newly discovered input counts as.
const VALUES_OF_INPUT: usize = 3;

/// The reason why a reference is not read.
pub(crate) enum Unread {
    /// The profile leaves it literal.
    Stays,
    /// The reference has an error, which has been reported.
    Broken,
}
