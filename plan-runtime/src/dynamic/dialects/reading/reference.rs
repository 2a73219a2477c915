//! From a reference as it is written to what it reads.

use super::PlanBuilder;
use crate::dynamic::Profile;
use crate::dynamic::dialects::references::{ScannedReference, Target};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::Text;
use crate::plan::{Input, Reference, Source as From};
use crate::print::short;
use std::ops::Range;

impl PlanBuilder {
    /// Looks through a document for the names of inputs that references have.
    pub(crate) fn expect_inputs(&mut self, json: &str) {
        self.expected_inputs = (self.dialect.rules().inputs_in)(json, self.limits.name);
    }

    pub(crate) fn reference(
        &mut self,
        text: &Text<'_>,
        written: &ScannedReference<'_>,
    ) -> Result<Reference, Unread> {
        let compat = self.profile == Profile::Compat;
        if let Some(scan_error) = &written.compat_only {
            // The deployed resolver of action plans does without `.result` where there is such a step.
            let known =
                matches!(&written.target, Target::Id(id) if self.ids.contains_key(id.as_str()));
            if !(compat && known && !written.path.is_empty()) {
                return if self.malformed(text, scan_error.clone()) {
                    Err(Unread::Stays)
                } else {
                    Err(Unread::Broken)
                };
            }
        }
        let named = text.place(&written.named);
        let from = match &written.target {
            Target::Input(name) => From::Input(self.input(name, named)),
            Target::Index(index) => From::Step(self.indexed(*index, named).ok_or(Unread::Broken)?),
            Target::Id(id) => match self.step_of(id) {
                Some(index) => From::Step(index),
                None if compat && self.dialect.rules().unknown_step_may_be_text => {
                    let place = text.place(&written.range);
                    let message = format!("there is no step `{}`", short(id));
                    self.note(
                        Note::warning(Code::UnknownStep, place, message)
                            .label("it is used as text"),
                    );
                    return Err(Unread::Stays);
                }
                None => {
                    let (mut note, has_similar) = self.unknown_step(id, named);
                    // `$ref:step[0].data` has the index of a step, and no id.
                    let meant = self.meant(text, written.range.start);
                    if let Some(form) = meant {
                        note = note.help(format!("did you mean `{form}`?"));
                    } else if self.dialect.rules().unknown_step_may_be_text && !has_similar {
                        let literal = (self.dialect.rules().literal)(written.text);
                        note = note.help(format!("if this is not a reference, write `{literal}`"));
                    }
                    self.note(note);
                    return Err(Unread::Broken);
                }
            },
        };
        let mut reference = Reference::new(from);
        reference.path.clone_from(&written.path);
        if compat {
            let rules = self.dialect.rules();
            (rules.allow_absence)(&mut reference, written.text);
        }
        let name = match &written.target {
            Target::Input(name) | Target::Id(name) => Some(name.as_str()),
            Target::Index(_) => None,
        };
        Ok(reference.said(written.text, name))
    }

    pub(crate) fn input(&mut self, name: &str, place: Range<usize>) -> usize {
        if let Some(index) = self.input_names.get(name) {
            return *index;
        }
        self.count(VALUES_OF_INPUT, place.clone());
        self.count_input(self.inputs.len(), place.clone());
        self.name_fits(name, "the name of an input", place.clone());
        self.input_names.insert(name.into(), self.inputs.len());
        self.no_step(name, place);
        let optional = self.profile == Profile::Compat;
        self.spans.untyped.push(self.inputs.len());
        self.inputs.push(Input {
            name: name.to_owned(),
            type_name: if optional { "Option<String>" } else { "String" }.into(),
            description: "".into(),
        });
        self.inputs.len() - 1
    }

    /// An input cannot have the name of a step.
    pub(crate) fn no_step(&mut self, input: &str, place: Range<usize>) {
        if let Some(step) = self.step_of(input) {
            let message = format!("the input `{}` has the name of a step", short(input));
            let note = Note::error(Code::DuplicateId, place, message);
            let note = match self.spans.steps.get(step) {
                Some(spans) => note.related(spans.id.range(), "the step is here"),
                None => note,
            };
            self.note(note.help("give one of them another name".to_owned()));
        }
    }

    /// The step of this index, which comes before the one that is being read.
    pub(crate) fn indexed(&mut self, index: usize, place: Range<usize>) -> Option<usize> {
        let current = self.current.as_ref().map(|(current, _)| *current);
        if index >= self.steps {
            let steps = match self.steps {
                1 => "one step, step[0]".to_owned(),
                count => format!("{count} steps, step[0] to step[{}]", count - 1),
            };
            let message = format!("there is no step[{index}]: the plan has {steps}");
            return self.error(Note::error(Code::StepOutOfRange, place, message));
        }
        let message = match current {
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
}

/// How many values an input counts for that a reference makes known.
const VALUES_OF_INPUT: usize = 3;

/// Why there is no reference where one is written.
pub(crate) enum Unread {
    /// The profile leaves it as text.
    Stays,
    /// It is an error, which was said.
    Broken,
}
