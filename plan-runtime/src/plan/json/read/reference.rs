//! `{"step": "inbox", "pointer": "/data/0"}`

use super::FirstMistakeReader;
use super::template::plain;
use crate::plan::json::JsonType;
use crate::plan::json::value::{ObjectMembers, Result, Value, WithPlace, wrong};
use crate::plan::json::{MOST_PARTS, NOTHING_ENDS, names};
use crate::plan::{self, Absent, Reference, Segment, Selector, Source};
use crate::print::short;
use jsonptr::Pointer;

impl FirstMistakeReader {
    pub(super) fn reference(&mut self, value: Value<'_>) -> Result<Reference> {
        let members = value.object("`reference`", names::reference::ALL)?;
        let (source, name) = self.source(&members)?;
        let mut reference = Reference::new(source);
        reference.optional = optional(&members)?;
        reference.path = path(&members)?;
        if let Some(value) = members.get(names::reference::ELSE) {
            let otherwise = plain(value, 0).at(names::reference::ELSE)?;
            reference.otherwise = Some(Box::new(otherwise));
            if !reference.can_end() {
                return wrong(NOTHING_ENDS);
            }
        }
        let said = members.string(names::reference::WRITTEN)?;
        // A plan prints what it reads, and unambiguously. The member `written` is therefore only compared.
        let Some((name, rest)) = plan::seen(source, &name, reference.path(), &self.locals) else {
            return wrong(format!(
                "this reads `{0}`, but a pattern around it binds `{0}`",
                short(&name)
            ));
        };
        let written = plan::written(name, rest);
        let agrees = said.is_empty()
            || said == written
            || match self.names {
                Some(_) => plan::agrees(name, rest, &said),
                None => plan::path_agrees(rest, &said),
            };
        if !agrees {
            return wrong(format!(
                "this reads `{}`, but `written` says `{}`",
                short(&written),
                short(&said)
            ));
        }
        Ok(reference.written(written))
    }

    /// What a computed value mentions.
    pub(super) fn read(&mut self, value: Value<'_>) -> Result<Source> {
        let members = value.object("what a computed value reads", names::source::ALL)?;
        self.source(&members).map(|(source, _)| source)
    }

    fn source(&mut self, members: &ObjectMembers<'_>) -> Result<(Source, String)> {
        let named = names::source::ALL.iter();
        let named = named.filter_map(|kind| Some((*kind, members.given(kind)?)));
        let named: Vec<(&str, Value<'_>)> = named.collect();
        let &[(kind, value)] = &named[..] else {
            return wrong("a reference reads one of `step`, `input` and `local`");
        };
        let of = |place| match kind {
            names::source::STEP => Source::Step(place),
            names::source::INPUT => Source::Input(place),
            _ => Source::Local(place),
        };
        if kind == names::source::LOCAL || self.names.is_none() {
            let what = format!("the {kind} of a reference");
            let place: usize = value.read(&what, "its place: 0, 1, …").at(kind)?;
            if self.names.is_some() && place >= self.locals.len() {
                return wrong(format!("there is no local value {place} here")).at(kind);
            }
            return Ok((of(place), of(place).name()));
        }
        let name = value
            .string(&format!("the {kind} of a reference"))
            .at(kind)?;
        let place = match kind {
            names::source::STEP => self.step_named(&name).at(kind)?,
            _ => self.input_named(&name).at(kind)?,
        };
        Ok((of(place), name))
    }

    pub(super) fn step_named(&self, name: &str) -> Result<usize> {
        let known = self.names.as_ref();
        let place = known.and_then(|known| known.steps.get(name).copied());
        place.map_or_else(|| wrong(format!("there is no step `{}`", short(name))), Ok)
    }

    fn input_named(&self, name: &str) -> Result<usize> {
        let known = self.names.as_ref();
        let place = known.and_then(|known| known.inputs.get(name).copied());
        place.map_or_else(|| wrong(format!("there is no input `{}`", short(name))), Ok)
    }
}

fn path(members: &ObjectMembers<'_>) -> Result<Vec<Segment>> {
    match (
        members.given(names::reference::POINTER),
        members.given(names::reference::PATH),
    ) {
        (Some(value), None) => {
            let text = value
                .string("the pointer of a reference")
                .at(names::reference::POINTER)?;
            let Ok(pointer) = Pointer::parse(text.as_str()) else {
                return wrong(format!("`{}` is not a JSON Pointer", short(&text)))
                    .at(names::reference::POINTER);
            };
            path_fits(pointer.count()).at(names::reference::POINTER)?;
            let tokens = pointer.tokens();
            let tokens = tokens.map(|token| Segment::of_token(token.decoded().into_owned()));
            Ok(tokens.collect())
        }
        (None, Some(value)) => {
            let items = value
                .items("the path of a reference")
                .at(names::reference::PATH)?;
            path_fits(items.len()).at(names::reference::PATH)?;
            let items = items.into_iter().enumerate();
            let path = items.map(|(index, value)| segment(value).at(index));
            path.collect::<Result<_>>().at(names::reference::PATH)
        }
        (Some(_), Some(_)) => wrong("the reference has both a `pointer` and a `path`"),
        (None, None) => wrong("the reference has neither a `pointer` nor a `path`"),
    }
}

fn path_fits(parts: usize) -> Result<()> {
    if parts <= MOST_PARTS {
        return Ok(());
    }
    wrong(format!(
        "the reference has {parts} parts, and at most {MOST_PARTS} are read"
    ))
}

/// Reads a part of a path: a token, or an object for what a pointer cannot express.
fn segment(value: Value<'_>) -> Result<Segment> {
    const WHAT: &str = "a part of a path";
    if value.kind() == JsonType::String {
        return value.string(WHAT).map(Segment::of_token);
    }
    let members = value.object(WHAT, names::segment::ALL)?;
    let given = [
        names::segment::TOKEN,
        names::segment::EACH,
        names::segment::ABSENT,
    ];
    let mut segment = match given.map(|name| members.get(name)) {
        [Some(token), None, _] => Segment::of_token(token.string(WHAT).at(names::segment::TOKEN)?),
        [None, Some(each), None] => {
            one_of(each, names::element::ALL).at(names::segment::EACH)?;
            Segment::new(Selector::Each)
        }
        _ => return wrong("a part of a path is a `token` or `each`"),
    };
    if let Some(value) = members.given(names::segment::ABSENT) {
        segment.absent = absent(value).at(names::segment::ABSENT)?;
    }
    segment.optional = optional(&members)?;
    Ok(segment)
}

/// Whether null ends the reference.
fn optional(members: &ObjectMembers<'_>) -> Result<bool> {
    let given = members.given(names::segment::OPTIONAL);
    given.map_or(Ok(false), |value| {
        let read = value.read("`optional`", "`true` or `false`");
        read.at(names::segment::OPTIONAL)
    })
}

/// What a token means that leads to nothing.
fn absent(value: Value<'_>) -> Result<Absent> {
    if value.kind() == JsonType::Object {
        let members = value.object("`absent`", names::default::ALL)?;
        return match members.get(names::default::DEFAULT) {
            Some(value) => {
                let value = plain(value, 0).at(names::default::DEFAULT)?;
                Ok(Absent::Default(Box::new(value)))
            }
            None => wrong("`absent` has no `default`"),
        };
    }
    Ok(match one_of(value, names::absent::ALL)? {
        names::absent::NULL => Absent::Default(Box::default()),
        _ => Absent::End,
    })
}

/// One of these strings.
fn one_of(value: Value<'_>, allowed: &[&'static str]) -> Result<&'static str> {
    let text = value.string("it")?;
    let found = allowed.iter().copied().find(|allowed| *allowed == text);
    let expected = || wrong(format!("this is one of `{}`", allowed.join("`, `")));
    found.map_or_else(expected, Ok)
}
