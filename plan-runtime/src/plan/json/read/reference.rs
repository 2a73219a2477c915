//! `{"step": "inbox", "pointer": "/data/0"}`

use super::Reader;
use super::template::plain;
use crate::plan::json::Kind;
use crate::plan::json::value::{At, Members, Result, Value, wrong};
use crate::plan::json::{MOST_PARTS, names};
use crate::plan::{self, Absent, Reference, Segment, Source};
use crate::print::short;
use jsonptr::Pointer;

impl Reader {
    pub(super) fn reference(&mut self, value: Value<'_>) -> Result<Reference> {
        let members = value.object("`reference`", names::reference::ALL)?;
        let (source, name) = self.source(&members)?;
        let path = path(&members)?;
        let said = members.string(names::reference::WRITTEN)?;
        // A plan prints what it reads, and unambiguously. The member `written` is therefore only compared.
        let Some((name, rest)) = plan::seen(source, &name, &path, &self.locals) else {
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
        Ok(Reference {
            source,
            path: path.into(),
            written: written.into(),
        })
    }

    /// What a computed value mentions.
    pub(super) fn read(&mut self, value: Value<'_>) -> Result<Source> {
        let members = value.object("what a computed value reads", names::source::ALL)?;
        self.source(&members).map(|(source, _)| source)
    }

    fn source(&mut self, members: &Members<'_>) -> Result<(Source, String)> {
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
            return Ok((of(place), format!("{kind}{place}")));
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

fn path(members: &Members<'_>) -> Result<Vec<Segment>> {
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
            let tokens = pointer.tokens().map(|token| token.decoded().into_owned());
            Ok(tokens
                .map(|token| Segment::of_token(token, Absent::Error))
                .collect())
        }
        (None, Some(value)) => {
            let items = value
                .items("the path of a reference")
                .at(names::reference::PATH)?;
            path_fits(items.len()).at(names::reference::PATH)?;
            let mut path = Vec::with_capacity(items.len());
            for (index, value) in items.into_iter().enumerate() {
                if matches!(path.last(), Some(Segment::Else(_))) {
                    return wrong("nothing can follow an `else`")
                        .at(index)
                        .at(names::reference::PATH);
                }
                item(value, &mut path)
                    .at(index)
                    .at(names::reference::PATH)?;
            }
            Ok(path)
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
fn item(value: Value<'_>, path: &mut Vec<Segment>) -> Result<()> {
    const WHAT: &str = "a part of a path";
    if value.kind() == Kind::String {
        path.push(Segment::of_token(value.string(WHAT)?, Absent::Error));
        return Ok(());
    }
    let members = value.object(WHAT, names::segment::ALL)?;
    let mut members: Vec<(&str, Value<'_>)> = members
        .0
        .iter()
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    match members[..] {
        [(names::segment::TOKEN, token)]
        | [(names::segment::ABSENT, _), (names::segment::TOKEN, token)] => {
            let token = token.string(WHAT).at(names::segment::TOKEN)?;
            let (absent, default) = match members[0] {
                (names::segment::ABSENT, value) if value.kind() != Kind::Null => {
                    absent(value).at(names::segment::ABSENT)?
                }
                _ => (Absent::Error, None),
            };
            path.push(Segment::of_token(token, absent));
            path.extend(default.map(|value| Segment::Or(Box::new(value))));
        }
        [(names::segment::EACH, value)] => {
            one_of(value, names::element::ALL).at(names::segment::EACH)?;
            path.push(Segment::Each);
        }
        [(names::segment::OPTIONAL, value)] => {
            let what = one_of(value, names::missing::ALL).at(names::segment::OPTIONAL)?;
            path.push(Segment::Optional(what == names::missing::MISSING));
        }
        [(names::segment::ELSE, value)] => path.push(Segment::Else(Box::new(
            plain(value, 0).at(names::segment::ELSE)?,
        ))),
        _ => {
            return wrong("a part of a path is one thing: a `token`, `each`, `optional` or `else`");
        }
    }
    Ok(())
}

/// What a token means that leads to nothing.
fn absent(value: Value<'_>) -> Result<(Absent, Option<serde_json::Value>)> {
    if value.kind() == Kind::Object {
        let members = value.object("`absent`", names::default::ALL)?;
        return match members.get(names::default::DEFAULT) {
            Some(value) => Ok((
                Absent::Error,
                Some(plain(value, 0).at(names::default::DEFAULT)?),
            )),
            None => wrong("`absent` has no `default`"),
        };
    }
    match one_of(value, names::absent::ALL)? {
        names::absent::NULL => Ok((Absent::Null, None)),
        _ => Ok((Absent::Stop, None)),
    }
}

/// One of these strings.
fn one_of(value: Value<'_>, allowed: &[&'static str]) -> Result<&'static str> {
    let text = value.string("it")?;
    let found = allowed.iter().copied().find(|allowed| *allowed == text);
    let expected = || wrong(format!("this is one of `{}`", allowed.join("`, `")));
    found.map_or_else(expected, Ok)
}
