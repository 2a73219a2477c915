//! Canonical JSON, read.

mod step;

use super::raw::{AbsentJson, PathItem, Raw, RawPart, ReferenceJson, SourceJson};
use super::{
    Absent, Computed, Entry, Input, Key, Output, Part, Plan, Reference, Segment, Source, Step,
    Template,
};
use crate::resolve::describe::similar;
use serde::de::{Deserialize, Deserializer, Error as _};
use std::collections::{HashMap, HashSet};
use step::StepJson;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanJson {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    inputs: Vec<InputJson>,
    #[serde(default)]
    steps: Vec<StepJson>,
    #[serde(default)]
    output: OutputJson,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct InputJson {
    name: String,
    #[serde(default, rename = "type")]
    type_name: String,
    #[serde(default)]
    description: String,
}

#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputJson {
    #[serde(default, rename = "type")]
    type_name: String,
    #[serde(default)]
    value: Given,
}

/// A template that may be left out, which is not the same as null.
#[derive(Default)]
struct Given(Option<Raw>);

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Raw::deserialize(deserializer).map(|raw| Self(Some(raw)))
    }
}

impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(PlanJson::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A template outside of a plan has places for names.
impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let mut reader = Reader::default();
        let template = reader.template(raw);
        reader.finish().map_err(D::Error::custom)?;
        Ok(template)
    }
}

fn read(json: PlanJson) -> Result<Plan, String> {
    let mut reader = Reader {
        named: Some(HashMap::new()),
        ..Reader::default()
    };
    for (place, input) in json.inputs.iter().enumerate() {
        reader.declare("input", &input.name, Source::Input(place));
    }
    for (place, step) in json.steps.iter().enumerate() {
        reader.declare("step", &step.id, Source::Step(place));
    }
    let inputs: Vec<Input> = json
        .inputs
        .into_iter()
        .map(|input| Input {
            name: input.name.into(),
            type_name: input.type_name.into(),
            description: input.description.into(),
        })
        .collect();
    let steps: Vec<Step> = json
        .steps
        .into_iter()
        .map(|step| reader.step(step))
        .collect();
    reader.place = "the output".into();
    let output = Output {
        type_name: json.output.type_name.into(),
        value: json
            .output
            .value
            .0
            .map_or(Template::Null, |raw| reader.template(raw)),
    };
    let plan = Plan {
        name: json.name.into(),
        description: json.description.into(),
        inputs: inputs.into(),
        steps: steps.into(),
        output,
    };
    if let Some(cycle) = plan.cycle() {
        let way: Vec<&str> = cycle
            .iter()
            .chain(cycle.first())
            .map(|&i| plan.steps[i].id.as_ref())
            .collect();
        reader.findings.push(format!(
            "steps wait for one another in a cycle: `{}`",
            way.join("` → `")
        ));
    }
    reader.finish()?;
    Ok(plan)
}

/// Turns what was read into templates, and collects all that is wrong.
#[derive(Default)]
struct Reader {
    /// What has which name; `None` outside of a plan, where places stand for names.
    named: Option<HashMap<String, Source>>,
    /// What is being read.
    place: String,
    findings: Vec<String>,
    /// How many actions were read so far.
    sites: usize,
    /// How many local values there are where it is read.
    locals: usize,
}

impl Reader {
    fn finish(self) -> Result<(), String> {
        match &self.findings[..] {
            [] => Ok(()),
            [one] => Err(one.clone()),
            all => Err(format!("{} mistakes: {}", all.len(), all.join("; "))),
        }
    }

    fn find(&mut self, what: String) {
        self.findings.push(match self.place.as_str() {
            "" => what,
            place => format!("{place}: {what}"),
        });
    }

    fn declare(&mut self, kind: &str, name: &str, source: Source) {
        if name.is_empty() {
            self.findings.push(format!("{source:?} has an empty name"));
        }
        let Some(named) = &mut self.named else { return };
        if let Some(other) = named.get(name) {
            let other = match other {
                Source::Step(_) => "step",
                Source::Input(_) | Source::Local(_) => "input",
            };
            let message = format!("the {kind} `{name}` has the name of another {other}");
            self.findings.push(message);
            return;
        }
        named.insert(name.to_owned(), source);
    }

    /// The step or the input (as `kind` says) of this name.
    fn named(&mut self, name: &str, kind: &'static str) -> Option<Source> {
        let named = self.named.as_ref()?;
        let is_kind = |source: &Source| matches!(source, Source::Step(_)) == (kind == "step");
        let message = match named.get(name) {
            Some(source) if is_kind(source) => return Some(*source),
            Some(Source::Step(_)) => format!("`{name}` is a step, and no input"),
            Some(Source::Input(_) | Source::Local(_)) => {
                format!("`{name}` is an input, and no step")
            }
            None => {
                let names = named
                    .iter()
                    .filter(|(_, source)| is_kind(source))
                    .map(|(name, _)| name.as_str());
                match similar(name, names) {
                    Some(meant) => format!("there is no {kind} `{name}`; `{meant}` is similar"),
                    None => format!("there is no {kind} `{name}`"),
                }
            }
        };
        self.find(message);
        None
    }

    fn source(&mut self, json: &SourceJson) -> Source {
        let (given, kind) = match (&json.step, &json.input, json.local) {
            (Some(step), None, None) => (step, "step"),
            (None, Some(input), None) => (input, "input"),
            (None, None, Some(depth)) => {
                if self.named.is_some() && depth >= self.locals {
                    self.find(format!(
                        "there is no local value {depth} here, of which there are {}",
                        self.locals
                    ));
                }
                return Source::Local(depth);
            }
            _ => {
                self.find("a reference is to one `step`, one `input` or one `local` value".into());
                return Source::Input(0);
            }
        };
        let place = match (given.name.as_deref(), given.place, self.named.is_some()) {
            (Some(name), _, true) => return self.named(name, kind).unwrap_or(Source::Input(0)),
            (_, Some(place), false) => place,
            (_, _, true) => {
                self.find(format!("the {kind} of a reference is given by its name"));
                return Source::Input(0);
            }
            (_, _, false) => {
                self.find(format!(
                    "outside of a plan, the {kind} of a reference is given by its place"
                ));
                0
            }
        };
        match kind {
            "step" => Source::Step(place),
            _ => Source::Input(place),
        }
    }

    fn template(&mut self, raw: Raw) -> Template {
        match raw {
            Raw::Null => Template::Null,
            Raw::Bool(value) => Template::Bool(value),
            Raw::Number(value) => Template::Number(value),
            Raw::String(value) => Template::String(value.into()),
            Raw::List(items) => {
                let items: Vec<Template> =
                    items.into_iter().map(|item| self.template(item)).collect();
                Template::List(items.into())
            }
            raw @ (Raw::Object(_) | Raw::Merge(_)) => {
                let mut entries = Vec::new();
                self.members(raw, &mut entries, &mut HashSet::new());
                Template::Object(entries.into())
            }
            Raw::Reference(json) => Template::Reference(self.reference(*json)),
            Raw::Text(parts) => {
                let parts: Vec<Part> = parts.into_iter().map(|part| self.part(part)).collect();
                Template::Text(parts.into())
            }
            Raw::Computed(json) => {
                let mut reads: Vec<Source> = json
                    .reads
                    .iter()
                    .map(|source| self.source(source))
                    .collect();
                reads.sort_unstable();
                reads.dedup();
                Template::Computed(Computed {
                    reads: reads.into(),
                    written: json.written.into(),
                    compute: None,
                })
            }
        }
    }

    fn members(&mut self, raw: Raw, entries: &mut Vec<Entry>, seen: &mut HashSet<String>) {
        match raw {
            Raw::Object(members) => {
                for (name, value) in members {
                    if !seen.insert(name.clone()) {
                        self.find(format!("the member `{name}` is given twice"));
                    }
                    let value = self.template(value);
                    entries.push(Entry {
                        key: Key::Name(name.into()),
                        value,
                    });
                }
            }
            Raw::Merge(parts) => {
                for part in parts {
                    self.members(part, entries, seen);
                }
            }
            Raw::Null => {}
            other => {
                let value = self.template(other);
                entries.push(Entry {
                    key: Key::Flattened,
                    value,
                });
            }
        }
    }

    fn part(&mut self, part: RawPart) -> Part {
        match part {
            RawPart::Literal(text) => Part::Literal(text.into()),
            RawPart::Value(value, spec) => Part::Value {
                value: self.template(value),
                spec: spec.into(),
                show: None,
            },
        }
    }

    fn reference(&mut self, json: ReferenceJson) -> Reference {
        let ReferenceJson {
            step,
            input,
            local,
            pointer,
            path,
            written,
        } = json;
        let json = SourceJson { step, input, local };
        let source = self.source(&json);
        let path: Vec<Segment> = match (pointer, path) {
            (Some(pointer), None) => pointer
                .tokens()
                .map(|token| Segment::of_token(token.decoded().into_owned(), Absent::Error))
                .collect(),
            (None, Some(path)) => path.into_iter().flat_map(segments).collect(),
            _ => {
                self.find("a reference has a `pointer`, or else a `path`".into());
                Vec::new()
            }
        };
        let name = match source {
            Source::Local(depth) => super::reference::local(depth),
            Source::Step(_) | Source::Input(_) => [json.step, json.input]
                .into_iter()
                .flatten()
                .find_map(|given| given.name)
                .unwrap_or_default(),
        };
        let written = written.unwrap_or_else(|| super::reference::written(&name, &path));
        Reference {
            source,
            path: path.into(),
            written: written.into(),
        }
    }
}

fn segments(item: PathItem) -> Vec<Segment> {
    match item {
        PathItem::Token(token, None) => vec![Segment::of_token(token, Absent::Error)],
        PathItem::Token(token, Some(AbsentJson::Null)) => {
            vec![Segment::of_token(token, Absent::Null)]
        }
        PathItem::Token(token, Some(AbsentJson::Stop)) => {
            vec![Segment::of_token(token, Absent::Stop)]
        }
        PathItem::Token(token, Some(AbsentJson::Default(value))) => {
            vec![
                Segment::of_token(token, Absent::Error),
                Segment::Or(Box::new(value)),
            ]
        }
        PathItem::Else(value) => vec![Segment::Else(Box::new(value))],
        PathItem::Each => vec![Segment::Each],
        PathItem::Optional(missing) => vec![Segment::Optional(missing)],
    }
}
