//! The check of the values of a plan.

use super::check::Check;
use crate::plan::depth::{DEEPEST_VALUE, is_deep};
use crate::plan::{Bound, Entry, Form, Key, Number, Part, Source, Template, Test};

impl<'p> Check<'p> {
    pub(super) fn template(&mut self, template: &'p Template, depth: usize) -> Result<(), String> {
        self.template_as(Form::Value, template, depth)
    }

    pub(super) fn template_as(
        &mut self,
        form: Form<'_>,
        template: &'p Template,
        depth: usize,
    ) -> Result<(), String> {
        if depth >= DEEPEST_VALUE && !template.is_scalar() {
            return Err(deep_value());
        }
        match template {
            Template::Reference(reference) => {
                if reference.otherwise.is_some() && !reference.can_end() {
                    return Err("has a default for a reference that nothing can end".to_owned());
                }
                self.source(reference.source)?;
                if let Source::Local(local) = reference.source
                    && let local = self.locals[local]
                    && !local.is_computed
                    && let Some(mistake) = Bound::of_data(local.pattern).unnamed(reference.path())
                {
                    return Err(mistake);
                }
                if reference.defaults().any(|value| is_deep(value, 0)) {
                    return Err(deep_value());
                }
            }
            Template::Computed(computed) => {
                let mut reads = computed.reads().iter();
                reads.try_for_each(|&source| self.source(source))?;
                let mistake = computed.mistake(form, self.plan, &self.names.here, &self.locals);
                mistake.map_or(Ok(()), Err)?;
            }
            Template::Object(entries) => self.members_differ(entries)?,
            Template::Test(test) => {
                if let Test::All(operands) | Test::Any(operands) = &**test
                    && operands.len() < 2
                {
                    return Err("has a test that joins fewer than two others".to_owned());
                }
            }
            Template::Number(Number::Float(value)) if !value.is_finite() => {
                return Err(format!(
                    "has the number {value}, which JSON cannot represent"
                ));
            }
            _ => {}
        }
        {
            self.lacks_code |= template.lacks_code();
        }
        if let Template::Text(parts) = template {
            let mut parts = parts.iter();
            return parts.try_for_each(|part| match part {
                Part::Value { value, spec } => {
                    self.template_as(Form::Formatted(spec), value, depth + 1)
                }
                Part::Literal(_) => Ok(()),
            });
        }
        let mut parts = template.parts();
        parts.try_for_each(|part| self.template(part, depth + 1))
    }

    /// Checks that all members of an object have different names.
    fn members_differ(&mut self, entries: &'p [Entry]) -> Result<(), String> {
        self.members.clear();
        let names = entries.iter().filter_map(|entry| match &entry.key {
            Key::Name(name) => Some(&**name),
            Key::Flattened | Key::Inner => None,
        });
        self.members.extend(names);
        self.members.sort_unstable();
        match self.members.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("has an object with two members `{}`", pair[0])),
            None => Ok(()),
        }
    }

    fn source(&mut self, source: Source) -> Result<(), String> {
        match source {
            Source::Step(step) => {
                self.exists(step)?;
                self.steps.push(step);
                Ok(())
            }
            Source::Input(input) => within(input, self.plan.inputs.len(), || {
                format!("reads input number {input}, but the plan has only")
            }),
            Source::Local(local) => within(local, self.locals.len(), || {
                format!("reads local value number {local}, but there are only")
            }),
        }
    }

    pub(super) fn exists(&self, step: usize) -> Result<(), String> {
        within(step, self.plan.steps.len(), || {
            format!("needs step number {step}, but the plan has only")
        })
    }
}

fn within(place: usize, count: usize, mistake: impl Fn() -> String) -> Result<(), String> {
    if place < count {
        return Ok(());
    }
    Err(format!("{} {count}", mistake()))
}

fn deep_value() -> String {
    format!("nests values more than {DEEPEST_VALUE} levels deep")
}
