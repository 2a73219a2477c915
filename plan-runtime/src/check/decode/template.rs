//! Values, and the references in them.

use super::scalar::{scalar, source};
use super::{Constant, Decoder, QuestionMark, Text, bug, test};
use crate::check::segment;
use crate::plan::{
    Absent, Compiled, Computed, Entry, Form, FormatSpec, Key, Part, Reference, RustText, Template,
    root_name,
};
use crate::shape::{FieldPlace, TypeShape};
use plan_graph::notation::{
    AbsenceData, PartData, ReferenceData, SegmentData, ShownData, TemplateData,
};
use serde_json::Value;
use std::sync::Arc;

impl Decoder {
    /// Creates a value that a pattern destructures, which is a local value from here on.
    pub(super) fn bound(
        &mut self,
        value: TemplateData<Text>,
        form: Form<'static>,
        pattern: Text,
    ) -> Template {
        let value = self.template_as(value, form);
        self.locals.push(value.bound_by(pattern));
        value
    }

    pub(super) fn template(&mut self, template: TemplateData<Text>) -> Template {
        self.template_as(template, Form::Value)
    }

    pub(super) fn template_as(
        &mut self,
        template: TemplateData<Text>,
        form: Form<'static>,
    ) -> Template {
        match template {
            TemplateData::Scalar(scalar) => self::scalar(scalar),
            TemplateData::List(elements) => {
                let elements = elements.into_iter().map(|element| self.template(element));
                Template::List(elements.collect())
            }
            TemplateData::Object(members) => self.object(members, |key| Key::Name(key.into())),
            TemplateData::Fields(shape, variant, fields) => {
                let shape = self.shape(shape);
                self.object(fields, |name| {
                    segment::key(segment::argument(shape, variant, name, true))
                })
            }
            TemplateData::Literal(shape, variant, content) => {
                let tag = segment::tag(self.shape(shape), variant);
                Template::Tagged(tag, Some(Box::new(self.template(*content))))
            }
            TemplateData::Reference(reference) => Template::Reference(self.reference(reference)),
            TemplateData::Format(parts) => {
                let parts = parts.into_iter().map(|part| self.part(part));
                Template::Text(parts.collect())
            }
            TemplateData::Test(answers, test, computed) => {
                let Constant::Test(answers) = self.constant(answers) else {
                    bug()
                };
                let test = test::test(test, &mut answers.all().into_iter());
                let computed = self.template_as(*computed, form);
                test.unwrap_or(computed)
            }
            TemplateData::Computed(reads, written, code) => {
                let Constant::Compute(code) = self.constant(code) else {
                    bug()
                };
                let compiled = Compiled {
                    code,
                    form,
                    names: Arc::clone(&self.names),
                    locals: self.locals.clone(),
                };
                let reads: Vec<_> = reads.into_iter().map(source).collect();
                let computed = Computed::new(RustText::of_program(written), reads);
                Template::Computed(computed.compiled(compiled))
            }
        }
    }

    fn object(
        &mut self,
        members: Vec<(Text, TemplateData<Text>)>,
        key: impl Fn(Text) -> Key,
    ) -> Template {
        let members = members.into_iter().map(|(name, value)| Entry {
            key: key(name),
            value: self.template(value),
        });
        Template::Object(members.collect())
    }

    fn part(&mut self, part: PartData<Text>) -> Part {
        match part {
            PartData::Text(text) => Part::Literal(text.into()),
            PartData::Placeholder(spec, ShownData::Text(value)) => {
                Part::value(self.template_as(value, Form::Formatted(spec)), spec)
            }
            PartData::Placeholder(spec, ShownData::By(value, show)) => {
                let Constant::Show(show) = self.constant(show) else {
                    bug()
                };
                Part::value(self.template(value), FormatSpec::compiled(spec, show))
            }
        }
    }

    fn shape(&self, place: usize) -> TypeShape {
        match self.constant(place) {
            Constant::Tool(_, shape, _) | Constant::Shape(shape, _) => shape,
            _ => bug(),
        }
    }

    fn reference(&self, data: ReferenceData<Text>) -> Reference {
        let mut reference = Reference::new(source(data.source));
        // A flattened field adds no part to the path. These variables contain the path's length at the field, and the indices of the first parts after its `?`.
        let (mut flattened, mut asked_flattened) = (None, Vec::new());
        for part in data.path.0 {
            let length = reference.path.len();
            reference = match part {
                SegmentData::Field(shape, name) => {
                    let field = segment::output(self.shape(shape), name);
                    if field.output == FieldPlace::Flattened {
                        flattened = Some(length);
                    }
                    segment::field(reference, field)
                }
                SegmentData::Index(index, absence) => {
                    reference.index(index).absent(absent(absence))
                }
                SegmentData::Key(key, absence) => reference.key(key).absent(absent(absence)),
                SegmentData::Each => reference.each(),
                SegmentData::Asked(mark) => match self.constant(mark) {
                    Constant::Asked(QuestionMark::Result) => reference.ok(),
                    Constant::Asked(_) if flattened == Some(length) => {
                        asked_flattened.push(length);
                        reference
                    }
                    Constant::Asked(mark) => asked(reference, mark == QuestionMark::Json),
                    _ => bug(),
                },
            };
        }
        for place in asked_flattened {
            if let Some(part) = reference.path.get_mut(place)
                && matches!(part.absent, Absent::Error)
            {
                part.absent = Absent::End;
            }
        }
        reference.said(data.written, Some(root_name(data.written)))
    }
}

fn absent(absence: AbsenceData) -> Absent {
    match absence {
        AbsenceData::Error => Absent::Error,
        AbsenceData::Null => Absent::Default(Box::new(Value::Null)),
        AbsenceData::Whole => Absent::End,
    }
}

/// Returns the reference with a `?`. Without a type (`untyped`), no part of the JSON is always present.
fn asked(mut reference: Reference, untyped: bool) -> Reference {
    if let Some(last) = reference.path.last_mut()
        && untyped
        && !last.optional
        && match &last.absent {
            Absent::Error => true,
            Absent::Default(default) => default.is_null(),
            Absent::End | Absent::Failure => false,
        }
    {
        last.absent = Absent::End;
    }
    reference.optional()
}
