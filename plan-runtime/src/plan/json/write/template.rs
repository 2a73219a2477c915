//! Templates as JSON: an object contains the kind of its template.

use super::{InPlan, entry_unless_empty};
use crate::plan::json::names::{computed, part, template as kinds};
use crate::plan::json::view::{ObjectMember, TextPart, View};
use crate::plan::{Computed, Number, Template, Test};
use serde::ser::{Error as _, Serialize, SerializeMap, Serializer};

impl Serialize for Template {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        InPlan::alone(self).serialize(serializer)
    }
}

impl Serialize for InPlan<'_, &Template> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.part.view() {
            View::Null => serializer.serialize_unit(),
            View::Bool(value) => serializer.serialize_bool(value),
            View::Number(Number::Unsigned(value)) => serializer.serialize_u64(value),
            View::Number(Number::Signed(value)) => serializer.serialize_i64(value),
            View::Number(Number::Float(value)) if value.is_finite() => {
                serializer.serialize_f64(value)
            }
            View::Number(Number::Float(value)) => Err(S::Error::custom(format_args!(
                "a template has the number {value}, which JSON cannot represent"
            ))),
            View::String(value) => serializer.serialize_str(&value),
            View::List(items) => serializer.collect_seq(items.iter().map(|item| self.of(item))),
            View::Object(members) if View::is_merged(&members) => {
                let parts: Vec<_> = members
                    .chunk_by(|a, b| !a.is_flattened() && !b.is_flattened())
                    .map(|part| self.of(MergePart(part)))
                    .collect();
                one(serializer, kinds::MERGE, &parts)
            }
            View::Object(members) => one(serializer, kinds::OBJECT, &self.of(&members[..])),
            View::Reference(reference) => one(serializer, kinds::REFERENCE, &self.of(reference)),
            View::Text(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| self.of(part)).collect();
                one(serializer, kinds::TEXT, &parts)
            }
            View::Test(test) => self.of(test).serialize(serializer),
            View::Computed(computed) => one(serializer, kinds::COMPUTED, &self.of(computed)),
        }
    }
}

fn one<S: Serializer, T: Serialize>(
    serializer: S,
    key: &str,
    value: &T,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(key, value)?;
    map.end()
}

impl Serialize for InPlan<'_, &[ObjectMember<'_>]> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for member in self.part {
            match member {
                ObjectMember::Template(name, template) => {
                    map.serialize_entry(name, &self.of(*template))?;
                }
                ObjectMember::Text(name, text) => map.serialize_entry(name, text)?,
                ObjectMember::Flattened(_) => {}
            }
        }
        map.end()
    }
}

struct MergePart<'a>(&'a [ObjectMember<'a>]);

impl Serialize for InPlan<'_, MergePart<'_>> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.part.0 {
            [ObjectMember::Flattened(template)] => self.of(*template).serialize(serializer),
            members => one(serializer, kinds::OBJECT, &self.of(members)),
        }
    }
}

impl Serialize for InPlan<'_, &TextPart<'_>> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.part {
            TextPart::Literal(text) => serializer.serialize_str(text),
            TextPart::Value(value, spec) => {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry(part::VALUE, &self.of(*value))?;
                entry_unless_empty(&mut map, part::SPEC, spec)?;
                map.end()
            }
        }
    }
}

impl Serialize for InPlan<'_, &Test> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kind = self.part.kind();
        match self.part {
            Test::All(operands) | Test::Any(operands) => {
                let operands: Vec<_> = operands.iter().map(|operand| self.of(operand)).collect();
                one(serializer, kind, &operands)
            }
            Test::Not(operand) | Test::Ask(_, operand) => one(serializer, kind, &self.of(operand)),
            Test::Compare([left, right], how) => {
                let compared = (self.of(left), how.sign(), self.of(right));
                one(serializer, kind, &compared)
            }
        }
    }
}

impl Serialize for InPlan<'_, &Computed> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = self.part;
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry(computed::WRITTEN, value.written())?;
        let reads: Vec<_> = value
            .reads()
            .iter()
            .map(|&source| self.of(source))
            .collect();
        map.serialize_entry(computed::READS, &reads)?;
        map.end()
    }
}
