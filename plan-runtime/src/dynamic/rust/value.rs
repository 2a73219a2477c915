use super::layout::{Json, Jsons, is_expression};
use super::{Source, names};
use crate::plan::{Absent, Entry, Key, Number, Part, Reference, Segment, Source as From, Template};

/// What is known of a place that takes a value.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Takes {
    Anything,
    /// A number that need not be an integer.
    Fraction,
}

impl Source<'_> {
    /// A [plain](Template::plain) template as an expression.
    pub(super) fn value(
        &mut self,
        path: &str,
        template: &Template,
        takes: Takes,
        jsons: &mut Jsons,
    ) -> String {
        match template {
            Template::Null => "None".to_owned(),
            Template::Number(number) => number_text(*number, takes),
            Template::List(items) => {
                let mut written = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    let path = format!("{path}[{index}]");
                    written.push(self.value(&path, item, takes, jsons));
                }
                format!("[{}]", written.join(", "))
            }
            Template::Object(_) => {
                let json = self.json(path, template);
                jsons.add(json)
            }
            other => self.leaf(path, other),
        }
    }

    /// A plain template inside a `json!`.
    pub(super) fn json(&mut self, path: &str, template: &Template) -> Json {
        match template {
            Template::Null => Json::Leaf("null".to_owned()),
            Template::List(items) => {
                let item = |(index, item)| self.json(&format!("{path}[{index}]"), item);
                Json::List(items.iter().enumerate().map(item).collect())
            }
            Template::Object(entries) => {
                let mut members = Vec::with_capacity(entries.len());
                for Entry { key, value } in entries.iter() {
                    let Key::Name(name) = key else {
                        let place = self.at(path);
                        self.lack(place, format!("the members of `{value}` among its own"));
                        continue;
                    };
                    let mut path = path.to_owned();
                    crate::plan::push_key(&mut path, name);
                    members.push((name.clone().into_owned(), self.json(&path, value)));
                }
                Json::Object(members)
            }
            other => Json::Leaf(self.leaf(path, other)),
        }
    }

    fn leaf(&mut self, path: &str, template: &Template) -> String {
        let written = match template {
            Template::Bool(value) => Ok(value.to_string()),
            Template::Number(Number::Float(value)) if !value.is_finite() => {
                Err(format!("the number {value}"))
            }
            Template::Number(number) => Ok(number_text(*number, Takes::Anything)),
            Template::String(text) => Ok(format!("{text:?}")),
            Template::Reference(reference) => self.reference(reference),
            Template::Text(parts) => self.text(parts),
            Template::Computed(computed) => match self.renamed(&computed.reads) {
                Some(name) => Err(format!(
                    "the computed value `{}`, since `{name}` has another name in Rust",
                    computed.written
                )),
                None if is_expression(&computed.written) => Ok(computed.written.to_string()),
                None => Err(format!("the computed value `{}`", computed.written)),
            },
            Template::Null | Template::List(_) | Template::Object(_) | Template::Tagged(..) => {
                Ok("None".to_owned())
            }
        };
        written.unwrap_or_else(|construct| {
            let place = self.at(path);
            self.lack(place, construct);
            "None".to_owned()
        })
    }

    /// One of these that does not go by its own name.
    fn renamed(&self, reads: &[From]) -> Option<&str> {
        let names = reads.iter().filter_map(|read| match *read {
            From::Step(step) => Some((
                self.plan.steps.get(step)?.id.as_ref(),
                self.names.steps.get(step)?,
            )),
            From::Input(input) => Some((
                self.plan.inputs.get(input)?.name.as_ref(),
                self.names.inputs.get(input)?,
            )),
            From::Local(_) => None,
        });
        let mut names =
            names.filter(|(given, name)| given != name && name.trim_start_matches("r#") != *given);
        names.next().map(|(given, _)| given)
    }

    fn text(&mut self, parts: &[Part]) -> Result<String, String> {
        let mut text = String::new();
        let mut arguments = String::new();
        for part in parts {
            let (value, spec) = match part {
                Part::Literal(literal) => {
                    text.push_str(&literal.replace('{', "{{").replace('}', "}}"));
                    continue;
                }
                Part::Value { value, spec, .. } => (value, spec),
            };
            let value = match value {
                Template::Reference(reference) => self.reference(reference)?,
                Template::Computed(_)
                | Template::String(_)
                | Template::Number(_)
                | Template::Bool(_) => self.leaf("", value),
                other => return Err(format!("the value `{other}` in a text")),
            };
            if spec.contains(['{', '}']) {
                return Err(format!("the format `{spec}`"));
            }
            let colon = if spec.is_empty() { "" } else { ":" };
            let is_name = value.chars().all(|c| c.is_alphanumeric() || c == '_');
            if is_name && value.starts_with(|c: char| c.is_alphabetic() || c == '_') {
                text.push_str(&format!("{{{value}{colon}{spec}}}"));
            } else {
                text.push_str(&format!("{{{colon}{spec}}}"));
                arguments.push_str(&format!(", {value}"));
            }
        }
        Ok(format!("format!({text:?}{arguments})"))
    }

    /// A reference: as its author wrote it, if that was Rust, and else with the names that Rust would have.
    fn reference(&self, reference: &Reference) -> Result<String, String> {
        let nothing = || format!("the reference `{reference}`, which leads to nothing");
        let (given, name) = match reference.source {
            From::Step(step) => {
                let given = self.plan.steps.get(step).ok_or_else(nothing)?;
                (given.id.as_ref(), self.names.steps[step].as_str())
            }
            From::Input(input) => {
                let given = self.plan.inputs.get(input).ok_or_else(nothing)?;
                (given.name.as_ref(), self.names.inputs[input].as_str())
            }
            From::Local(depth) => {
                let pattern = self.locals.get(depth).ok_or_else(nothing)?.as_str();
                let derived = crate::plan::written(&crate::plan::local(depth), &reference.path);
                if reference.written != derived && is_expression(&reference.written) {
                    return Ok(reference.written.to_string());
                }
                match names::argument(pattern) {
                    Some(name) if name == pattern => (pattern, pattern),
                    _ => return Err(format!("the part `{reference}` of `{pattern}`")),
                }
            }
        };
        if let Some(rest) = reference.written.strip_prefix(given)
            && reference.written != crate::plan::written(given, &reference.path)
            && rest.starts_with(['.', '[', '?'])
        {
            let written = format!("{name}{rest}");
            if is_expression(&written) {
                return Ok(written);
            }
        }
        way(name, reference)
    }
}

fn way(name: &str, reference: &Reference) -> Result<String, String> {
    let mut text = name.to_owned();
    let mut path = reference.path.iter().peekable();
    while let Some(segment) = path.next() {
        let asked = matches!(path.peek(), Some(Segment::Optional(_)));
        match segment {
            Segment::Key(_, Absent::Stop) | Segment::Index(_, Absent::Stop) if !asked => {
                return Err(format!(
                    "the reference `{reference}`, which is absent where something on its way is"
                ));
            }
            Segment::Key(key, Absent::Stop) => text.push_str(&format!(".get({key:?})")),
            Segment::Key(key, _) => match names::field(key) {
                Some(field) => text.push_str(&format!(".{field}")),
                None => text.push_str(&format!("[{key:?}]")),
            },
            Segment::Index(index, Absent::Null | Absent::Stop) if asked => {
                text.push_str(&format!(".get({index})"));
            }
            Segment::Index(index, _) => text.push_str(&format!("[{index}]")),
            Segment::Each => text.push_str("[..]"),
            Segment::Optional(_) => text.push('?'),
            Segment::Same | Segment::Or(_) => {}
            Segment::Else(_) => {
                return Err(format!(
                    "what stands for the reference `{reference}` where it leads to nothing, which is the compat profile's"
                ));
            }
        }
    }
    Ok(text)
}

fn number_text(number: Number, takes: Takes) -> String {
    let text = match number {
        Number::Unsigned(value) => value.to_string(),
        Number::Signed(value) => value.to_string(),
        Number::Float(value) => return format!("{value:?}"),
    };
    match takes {
        Takes::Fraction => text + ".0",
        Takes::Anything => text,
    }
}
