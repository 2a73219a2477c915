//! Canonical JSON, written.

mod step;

use super::{
    Absent, Computed, Input, Key, Number, Output, Part, Plan, Reference, Segment, Source, Tag,
    Template, agrees, written,
};
use crate::shape::Tagging;
use serde::ser::{Error as _, Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::Value;
use std::borrow::Cow;

/// A part of a plan, to be written as it stands in the plan's JSON, where names stand for places.
///
/// Serialised without its plan, a template writes places (`{"step": 0}`).
///
/// ```
/// use plan_runtime::plan::{InPlan, Plan};
///
/// let json = r#"{"name": "p", "inputs": [{"name": "q"}], "output": {"value": {"reference": {"input": "q", "pointer": "/a"}}}}"#;
/// let plan: Plan = serde_json::from_str(json)?;
/// let output = serde_json::to_string(&InPlan::new(&plan, &plan.output.value))?;
/// assert_eq!(output, r#"{"reference":{"input":"q","pointer":"/a"}}"#);
/// assert_eq!(serde_json::to_string(&plan.output.value)?, r#"{"reference":{"input":0,"pointer":"/a"}}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub struct InPlan<'a, T> {
    plan: Option<&'a Plan>,
    part: T,
    /// Whether it says how references are written.
    says_written: bool,
}

impl<'a, T> InPlan<'a, T> {
    /// A part of `plan`.
    pub fn new(plan: &'a Plan, part: T) -> Self {
        Self {
            plan: Some(plan),
            part,
            says_written: true,
        }
    }

    /// A part that stands alone.
    fn alone(part: T) -> Self {
        Self {
            plan: None,
            part,
            says_written: true,
        }
    }

    fn of<U>(&self, part: U) -> InPlan<'a, U> {
        InPlan {
            plan: self.plan,
            part,
            says_written: self.says_written,
        }
    }
}

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        InPlan::new(self, self).serialize(serializer)
    }
}

impl Serialize for InPlan<'_, &Plan> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let plan = self.part;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &plan.name)?;
        entry_unless_empty(&mut map, "description", &plan.description)?;
        if !plan.inputs.is_empty() {
            map.serialize_entry("inputs", &plan.inputs)?;
        }
        let steps: Vec<_> = plan.steps.iter().map(|step| self.of(step)).collect();
        map.serialize_entry("steps", &steps)?;
        map.serialize_entry("output", &self.of(&plan.output))?;
        map.end()
    }
}

impl PartialEq for Plan {
    fn eq(&self, other: &Self) -> bool {
        same(InPlan::new(self, self), InPlan::new(other, other))
    }
}

impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        same(InPlan::alone(self), InPlan::alone(other))
    }
}

impl PartialEq for Reference {
    fn eq(&self, other: &Self) -> bool {
        same(InPlan::alone(self), InPlan::alone(other))
    }
}

/// Whether both are the same JSON; how references are written is no part of what they mean.
fn same<'a, T>(mut a: InPlan<'a, T>, mut b: InPlan<'a, T>) -> bool
where
    InPlan<'a, T>: Serialize,
{
    (a.says_written, b.says_written) = (false, false);
    match (serde_json::to_string(&a), serde_json::to_string(&b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

fn entry_unless_empty<M: SerializeMap>(map: &mut M, key: &str, text: &str) -> Result<(), M::Error> {
    match text {
        "" => Ok(()),
        text => map.serialize_entry(key, text),
    }
}

impl Serialize for Input {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        entry_unless_empty(&mut map, "type", &self.type_name)?;
        entry_unless_empty(&mut map, "description", &self.description)?;
        map.end()
    }
}

impl Serialize for InPlan<'_, &Output> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        entry_unless_empty(&mut map, "type", &self.part.type_name)?;
        map.serialize_entry("value", &self.of(&self.part.value))?;
        map.end()
    }
}

/// A step or an input, by its name alone; a local value by its depth.
struct Named(Source);

impl Serialize for InPlan<'_, Named> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Named(source) = self.part;
        match (self.plan, source) {
            (_, Source::Local(depth)) => depth.serialize(serializer),
            (Some(plan), source) => match plan.name_of(source) {
                Some(name) => serializer.serialize_str(name),
                None => Err(S::Error::custom(format_args!("the plan has no {source:?}"))),
            },
            (None, Source::Step(place) | Source::Input(place)) => place.serialize(serializer),
        }
    }
}

impl<T> InPlan<'_, T> {
    fn write_source<M: SerializeMap>(&self, map: &mut M, source: Source) -> Result<(), M::Error> {
        let key = match source {
            Source::Step(_) => "step",
            Source::Input(_) => "input",
            Source::Local(_) => "local",
        };
        map.serialize_entry(key, &self.of(Named(source)))
    }
}

impl Serialize for InPlan<'_, Source> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        self.write_source(&mut map, self.part)?;
        map.end()
    }
}

impl Serialize for Reference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        InPlan::alone(self).serialize(serializer)
    }
}

impl Serialize for InPlan<'_, &Reference> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let reference = self.part;
        let mut map = serializer.serialize_map(None)?;
        self.write_source(&mut map, reference.source)?;
        let is_plain = |segment| {
            matches!(
                segment,
                &Segment::Key(_, Absent::Error)
                    | &Segment::Index(_, Absent::Error)
                    | &Segment::Same
            )
        };
        if reference.path.iter().all(is_plain) {
            map.serialize_entry("pointer", reference.pointer().as_str())?;
        } else {
            map.serialize_entry("path", &Path(&reference.path))?;
        }
        // A reader derives it, and takes none that does not agree.
        let name = self.plan.and_then(|plan| plan.name_of(reference.source));
        if let Some(name) = name
            && self.says_written
            && !is_derived(name, reference)
            && agrees(name, &reference.path, &reference.written)
        {
            map.serialize_entry("written", &reference.written)?;
        }
        map.end()
    }
}

/// Whether a reference is written as its source and its path are, be it without what they say of values that are not there.
fn is_derived(name: &str, reference: &Reference) -> bool {
    let way: Cow<'_, [Segment]> = reference.path.iter().filter_map(bare).collect();
    [&reference.path, &way].into_iter().any(|path| {
        reference.written == written(name, path)
            // The same, with a name that is not a word.
            || reference.written.strip_prefix(name) == written("x", path).strip_prefix('x')
    })
}

fn bare(segment: &Segment) -> Option<Segment> {
    match segment {
        Segment::Key(key, _) => Some(Segment::Key(key.clone(), Absent::Error)),
        Segment::Index(index, _) => Some(Segment::Index(*index, Absent::Error)),
        Segment::Each => Some(Segment::Each),
        Segment::Optional(_) => Some(Segment::Optional(false)),
        Segment::Same | Segment::Or(_) | Segment::Else(_) => None,
    }
}

struct Path<'a>(&'a [Segment]);

impl Serialize for Path<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let segments: Vec<&Segment> = self
            .0
            .iter()
            .filter(|s| !matches!(s, Segment::Same))
            .collect();
        let mut list = serializer.serialize_seq(None)?;
        let mut segments = segments.into_iter().peekable();
        // Whether it makes a difference if the segment before may lead to nothing.
        let mut asks = false;
        while let Some(segment) = segments.next() {
            let mut written = serde_json::Map::new();
            match segment {
                Segment::Key(_, absent) | Segment::Index(_, absent) => {
                    let token = segment
                        .token()
                        .map(|t| t.decoded().into_owned())
                        .unwrap_or_default();
                    let default = match absent {
                        Absent::Error => {
                            match segments.next_if(|next| matches!(next, Segment::Or(_))) {
                                Some(Segment::Or(value)) => Some(default((**value).clone())),
                                _ => None,
                            }
                        }
                        Absent::Null => Some("null".into()),
                        Absent::Stop => Some("stop".into()),
                        Absent::Default(make) => Some(default(make())),
                    };
                    asks = matches!(absent, Absent::Null)
                        || (matches!(absent, Absent::Error) && default.is_none());
                    let Some(absent) = default else {
                        list.serialize_element(&token)?;
                        continue;
                    };
                    written.insert("token".into(), token.into());
                    written.insert("absent".into(), absent);
                }
                Segment::Each => {
                    asks = false;
                    written.insert("each".into(), "element".into());
                }
                Segment::Optional(missing) => {
                    let what = if *missing && asks { "missing" } else { "null" };
                    asks = false;
                    written.insert("optional".into(), what.into());
                }
                Segment::Else(value) => {
                    written.insert("else".into(), (**value).clone());
                }
                // A default of what is never missing.
                Segment::Or(_) | Segment::Same => continue,
            }
            list.serialize_element(&written)?;
        }
        list.end()
    }
}

fn default(value: Value) -> Value {
    if value.is_null() {
        return "null".into();
    }
    Value::Object(serde_json::Map::from_iter([("default".to_owned(), value)]))
}

impl Serialize for Template {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        InPlan::alone(self).serialize(serializer)
    }
}

static NULL: Template = Template::Null;

impl Serialize for InPlan<'_, &Template> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.part {
            Template::Null => serializer.serialize_unit(),
            Template::Bool(value) => serializer.serialize_bool(*value),
            Template::Number(Number::Unsigned(value)) => serializer.serialize_u64(*value),
            Template::Number(Number::Signed(value)) => serializer.serialize_i64(*value),
            Template::Number(Number::Float(value)) if value.is_finite() => {
                serializer.serialize_f64(*value)
            }
            Template::Number(Number::Float(value)) => Err(S::Error::custom(format_args!(
                "a template has the number {value}, which JSON cannot hold"
            ))),
            Template::String(value) => serializer.serialize_str(value),
            Template::List(items) => serializer.collect_seq(items.iter().map(|item| self.of(item))),
            Template::Object(entries) => match &entries[..] {
                [entry] if entry.key == Key::Inner => self.of(&entry.value).serialize(serializer),
                _ => self.write_members(serializer),
            },
            Template::Tagged(Tag::None | Tag::Variant(Tagging::Untagged, _), content) => self
                .of(content.first().unwrap_or(&NULL))
                .serialize(serializer),
            Template::Tagged(Tag::Variant(Tagging::External, name), content)
                if content.is_empty() =>
            {
                serializer.serialize_str(name)
            }
            Template::Tagged(..) => self.write_members(serializer),
            Template::Reference(reference) => one(serializer, "reference", &self.of(reference)),
            Template::Text(parts) => match &joined(parts)[..] {
                [] => serializer.serialize_str(""),
                [Joined::Text(text)] => serializer.serialize_str(text),
                parts => {
                    let parts: Vec<_> = parts.iter().map(|part| self.of(part)).collect();
                    one(serializer, "text", &parts)
                }
            },
            Template::Computed(computed) => one(serializer, "computed", &self.of(computed)),
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

impl<'a> InPlan<'a, &'a Template> {
    fn write_members<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut found = Vec::new();
        members(self.part, &mut found);
        let is_flat = |member: &Member<'_>| matches!(member, Member::Flat(_));
        if !found.iter().any(is_flat) {
            return one(serializer, "object", &self.of(&found[..]));
        }
        let parts: Vec<_> = found
            .chunk_by(|a, b| !is_flat(a) && !is_flat(b))
            .map(|part| self.of(MergePart(part)))
            .collect();
        one(serializer, "merge", &parts)
    }
}

/// A member of an object, as it is written.
pub(super) enum Member<'a> {
    Template(&'a str, &'a Template),
    Name(&'a str, &'a str),
    Flat(&'a Template),
}

/// The members of an object template, with those of the objects flattened into it, as far as they are known.
pub(super) fn members<'a>(template: &'a Template, out: &mut Vec<Member<'a>>) {
    match template {
        Template::Null => {}
        Template::Object(entries) => {
            for entry in entries.iter() {
                match &entry.key {
                    Key::Name(name) => out.push(Member::Template(name, &entry.value)),
                    Key::Flattened | Key::Inner => members(&entry.value, out),
                }
            }
        }
        Template::Tagged(tag, content) => match tag {
            Tag::None | Tag::Variant(Tagging::Untagged, _) => {
                members(content.first().unwrap_or(&NULL), out);
            }
            Tag::Variant(Tagging::External, name) => {
                out.push(Member::Template(name, content.first().unwrap_or(&NULL)));
            }
            Tag::Variant(Tagging::Internal(tag), name) => {
                out.push(Member::Name(tag, name));
                members(content.first().unwrap_or(&NULL), out);
            }
            Tag::Variant(Tagging::Adjacent(tag, key), name) => {
                out.push(Member::Name(tag, name));
                out.extend(
                    content
                        .first()
                        .map(|content| Member::Template(key, content)),
                );
            }
        },
        other => out.push(Member::Flat(other)),
    }
}

impl Serialize for InPlan<'_, &[Member<'_>]> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for member in self.part {
            match member {
                Member::Template(name, template) => {
                    map.serialize_entry(name, &self.of(*template))?;
                }
                Member::Name(name, text) => map.serialize_entry(name, text)?,
                Member::Flat(_) => {}
            }
        }
        map.end()
    }
}

struct MergePart<'a>(&'a [Member<'a>]);

impl Serialize for InPlan<'_, MergePart<'_>> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.part.0 {
            [Member::Flat(template)] => self.of(*template).serialize(serializer),
            members => one(serializer, "object", &self.of(members)),
        }
    }
}

/// A part of a text, where no text stands beside another.
pub(super) enum Joined<'a> {
    Text(Cow<'a, str>),
    Value(&'a Template, &'a str),
}

pub(super) fn joined(parts: &[Part]) -> Vec<Joined<'_>> {
    let mut joined = Vec::with_capacity(parts.len());
    for part in parts {
        match (part, joined.last_mut()) {
            (Part::Literal(text), Some(Joined::Text(before))) => before.to_mut().push_str(text),
            (Part::Literal(text), _) if text.is_empty() => {}
            (Part::Literal(text), _) => joined.push(Joined::Text(Cow::Borrowed(text))),
            (Part::Value { value, spec, .. }, _) => joined.push(Joined::Value(value, spec)),
        }
    }
    joined
}

impl Serialize for InPlan<'_, &Joined<'_>> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.part {
            Joined::Text(text) => serializer.serialize_str(text),
            Joined::Value(value, spec) => {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("value", &self.of(*value))?;
                entry_unless_empty(&mut map, "spec", spec)?;
                map.end()
            }
        }
    }
}

impl Serialize for InPlan<'_, &Computed> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let computed = self.part;
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("written", &computed.written)?;
        let reads: Vec<_> = computed
            .reads
            .iter()
            .map(|&source| self.of(source))
            .collect();
        map.serialize_entry("reads", &reads)?;
        map.end()
    }
}
