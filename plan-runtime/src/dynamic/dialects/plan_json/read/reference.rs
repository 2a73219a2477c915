//! `{"step": "inbox", "pointer": "/data/0"}`

use super::plain::plain;
use crate::dynamic::dialects::reading::{
    MOST_NAMES, Members, PlanReader, counts, names, wrong_kind,
};
use crate::dynamic::dialects::references::ReferenceTarget;
use crate::dynamic::finding::Code;
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::plan::json::NOTHING_ENDS;
use crate::plan::json::names::{absent, default, element, reference, segment, source};
use crate::plan::{self, Absent, Reference, Segment, Selector, Source};
use crate::print::short;
use jsonptr::Pointer;
use plan_graph::similar;

/// A source and its name. A local value around a block has the level of its plan or block.
type Found = (Option<usize>, Source, String);

pub(super) fn reference(reader: &mut PlanReader, node: JsonNode<'_>) -> Option<Reference> {
    if !counts::count_reference(reader, node.place()) {
        return None;
    }
    let members = reader.object(node, "`reference`", reference::ALL)?;
    let source = source(reader, &members);
    let optional = optional(reader, &members);
    let path = path(reader, &members);
    let otherwise = match members.get(reference::ELSE) {
        Some(node) => plain(reader, node, 0).map(|value| Some(Box::new(value))),
        None => Some(None),
    };
    let said = reader.optional_text(&members, reference::WRITTEN, "the text of a reference");
    let mut found = source?;
    let mut reference = Reference::new(found.1);
    (reference.optional, reference.path) = (optional?, path?.into());
    reference.otherwise = otherwise?;
    here(reader, &mut found, &mut reference, node)?;
    let name = found.2;
    if let Some(node) = members.get(reference::ELSE)
        && !reference.can_end()
    {
        let help = "add `\"absent\": \"end\"` or `\"optional\": true` to the part that may be missing or null, or remove `else`";
        return reader.fail(Code::NotAllowed, node.place(), NOTHING_ENDS, help);
    }
    // The plan derives an unambiguous notation from the sources. The reader only compares the member `written` with this notation.
    let (path, locals) = (reference.path(), &reader.here.locals);
    let Some((name, rest)) = plan::seen(reference.source, &name, path, locals) else {
        return names::hidden(reader, &name, node.place());
    };
    let written = plan::written(name, rest);
    let agrees = if reader.in_plan {
        plan::agrees(name, rest, &said)
    } else {
        plan::path_agrees(rest, &said)
    };
    let name = name.to_owned();
    if let Source::Local(depth) = reference.source {
        let bound = reader.here.locals.get(depth);
        let mistake = bound.and_then(|it| it.unnamed(reference.path()));
        names::is_named(reader, mistake, node.place())?;
    }
    if let Some(node) = members.given(reference::WRITTEN)
        && !said.is_empty()
        && said != written
        && !agrees
    {
        let (written, said) = (short(&written), short(&said));
        let message =
            format!("the reference reads `{written}`, but its `written` contains `{said}`");
        let help = "remove `written`: the reader derives it from the reference";
        return reader.fail(Code::MalformedReference, node.place(), message, help);
    }
    Some(reference.said(written, Some(&name)))
}

/// Makes a local value around a block an input of the block.
fn here(
    reader: &mut PlanReader,
    (level, source, name): &mut Found,
    reference: &mut Reference,
    node: JsonNode<'_>,
) -> Option<()> {
    if let (Some(level), Source::Local(depth)) = (*level, *source) {
        (*source, *name) = names::local_around(reader, level, depth, reference, node.place())?;
    }
    Some(())
}

/// Reads a source of a computed value.
pub(super) fn read(reader: &mut PlanReader, node: JsonNode<'_>) -> Option<Source> {
    let members = reader.object(node, "the source of a computed value", source::ALL)?;
    let mut found = source(reader, &members)?;
    let whole = &mut Reference::new(found.1);
    here(reader, &mut found, whole, node)?;
    Some(found.1)
}

fn source(reader: &mut PlanReader, members: &Members<'_>) -> Option<Found> {
    let named = source::ALL.iter();
    let named = named.filter_map(|name| Some((*name, members.given(name)?)));
    let named: Vec<(&str, JsonNode<'_>)> = named.collect();
    let (kind, given) = match named[..] {
        [named] => named,
        [] => {
            let message = "the reference has no source";
            let help = r#"write one of `"step": "id"`, `"input": "name"` and `"local": 0`"#;
            return reader.fail(Code::MissingMember, members.node.place(), message, help);
        }
        [(first, _), (second, node), ..] => {
            let message = format!("the reference has both `{first}` and `{second}`");
            return reader.fail(Code::WrongKind, node.place(), message, "remove one of them");
        }
    };
    if kind == source::LOCAL {
        return local(reader, given);
    }
    let what = format!("the {kind} of a reference");
    if !reader.in_plan {
        let expected = "its index in the plan, since this is not part of a plan: 0, 1, …";
        let index = reader.value(given, &what, expected)?;
        let source = match kind {
            source::STEP => Source::Step(index),
            _ => Source::Input(index),
        };
        return Some((None, source, source.name()));
    }
    let name = reader.text(given, &what)?.value;
    let source = match kind {
        source::STEP => step_named(reader, &name, given)?,
        _ => input_named(reader, &name, given)?,
    };
    Some((None, source, name.into_owned()))
}

fn local(reader: &mut PlanReader, node: JsonNode<'_>) -> Option<Found> {
    let expected = "its number, from the outermost on: 0, 1, …";
    let depth: usize = reader.value(node, "`local`", expected)?;
    // A block without local values of its own uses the numbers of the enclosing ones.
    let has_locals = |level: &usize| !reader.at(*level).locals.is_empty();
    let level = (0..=reader.around.len()).rev().find(has_locals);
    let locals = level.map_or(0, |level| reader.at(level).locals.len());
    if depth >= locals && reader.in_plan {
        let message = format!("there is no local value {depth} here");
        let help = match locals {
            0 => "only a `for` or a `pattern` around the reference has local values".to_owned(),
            1 => "there is one: 0".to_owned(),
            count => {
                let last = count - 1;
                format!("there are {count}: 0 is the outermost, {last} the innermost")
            }
        };
        return reader.fail(Code::UnknownLocal, node.place(), message, help);
    }
    let around = level.filter(|level| *level < reader.around.len());
    let source = Source::Local(depth);
    Some((around, source, source.name()))
}

/// Returns the step with this name, or the input of a block for an enclosing one.
fn step_named(reader: &mut PlanReader, name: &str, node: JsonNode<'_>) -> Option<Source> {
    if let Some(found) = reader.here.meaning(name, true) {
        return Some(found.source);
    }
    if !reader.here.names.contains_key(name)
        && let Some(found) = names::read_around(reader, name, true, node.place())
    {
        return found;
    }
    if let Some(part) = reader.here.meaning(name, false)
        && let Source::Local(depth) = part.source
    {
        let message = format!("`{}` is a local value, not a step", short(name));
        let form = reader
            .rules
            .form(ReferenceTarget::Local(depth, name), &part.path);
        let help = form.map(|form| format!("write `{form}`"));
        return reader.fail(Code::UnknownStep, node.place(), message, help);
    }
    let help = format!(r#"write `"input": "{}"`"#, short(name));
    names::no_step(reader, name, node.place(), help)
}

fn input_named(reader: &mut PlanReader, name: &str, node: JsonNode<'_>) -> Option<Source> {
    if let Some((index, _)) = reader.here.names.get(name) {
        return Some(Source::Input(*index));
    }
    let place = node.place();
    let name_of = short(name);
    if reader.here.step_of(name).is_some() {
        let message = format!("`{name_of}` is a step, not an input");
        let help = format!(r#"write `"step": "{name_of}"`"#);
        return reader.fail(Code::UnknownInput, place, message, help);
    }
    if let Some(found) = names::read_around(reader, name, false, node.place()) {
        return found;
    }
    let looks = reader.here.names.len() <= MOST_NAMES || reader.looks_for_similar();
    let known = if looks {
        names::input_names(reader)
    } else {
        Vec::new()
    };
    let help = match similar(name, known.iter().copied()) {
        Some(meant) => Some(format!("did you mean `{meant}`?")),
        None if looks && known.is_empty() => Some(format!(
            r#"the plan has no inputs: add `{{"name": "{name_of}", "type": "String"}}` to its `inputs`"#
        )),
        None => names::listed("input", known.iter().copied()),
    };
    let message = format!("there is no input `{name_of}`");
    reader.fail(Code::UnknownInput, place, message, help)
}

fn path(reader: &mut PlanReader, members: &Members<'_>) -> Option<Vec<Segment>> {
    let given = [reference::POINTER, reference::PATH].map(|name| members.given(name));
    match given {
        [Some(node), None] => pointer(reader, node),
        [None, Some(path)] => {
            let what = "the path of a reference";
            let items = reader.scalars(path, what, JsonType::String)?;
            counts::path_fits(reader, items.len(), path.place())?;
            let count = items.len();
            let parts = items.into_iter().filter_map(|item| segment(reader, item));
            let parts: Vec<Segment> = parts.collect();
            (parts.len() == count).then_some(parts)
        }
        [Some(_), Some(path)] => {
            let message = "the reference has both a `pointer` and a `path`";
            reader.fail(Code::WrongKind, path.place(), message, "remove one of them")
        }
        [None, None] => {
            let message = "the reference has neither a `pointer` nor a `path`";
            let help = r#"the whole value is `"pointer": ""`"#;
            reader.fail(Code::MissingMember, members.node.place(), message, help)
        }
    }
}

fn pointer(reader: &mut PlanReader, node: JsonNode<'_>) -> Option<Vec<Segment>> {
    let text = reader.text(node, "the pointer of a reference")?.value;
    let Ok(pointer) = Pointer::parse(text.as_ref()) else {
        let text = short(&text);
        let message = format!("`{text}` is not a JSON Pointer");
        let help = if text.starts_with('/') {
            "in a name, `~` is written `~0`, and `/` is `~1`".to_owned()
        } else {
            format!("a pointer begins with `/`: `/{text}`")
        };
        return reader.fail(Code::MalformedReference, node.place(), message, help);
    };
    counts::path_fits(reader, pointer.count(), node.place())?;
    let mut segments = Vec::with_capacity(pointer.count());
    let tokens = pointer.tokens();
    segments.extend(tokens.map(|token| Segment::of_token(token.decoded().into_owned())));
    Some(segments)
}

/// Reads a part of a path: a token, or an object for a part that a pointer cannot express.
fn segment(reader: &mut PlanReader, node: JsonNode<'_>) -> Option<Segment> {
    const WHAT: &str = "a part of a path";
    if node.kind() == JsonType::String {
        let token = reader.text(node, WHAT)?;
        return Some(Segment::of_token(token.value.into_owned()));
    }
    if node.kind() != JsonType::Object {
        return reader.error(wrong_kind(node, WHAT, "a string or an object"));
    }
    let members = reader.object(node, WHAT, segment::ALL)?;
    let given = [segment::TOKEN, segment::EACH, segment::ABSENT];
    let mut part = match given.map(|name| members.get(name)) {
        [Some(token), None, _] => {
            let token = reader.text(token, WHAT)?;
            Segment::of_token(token.value.into_owned())
        }
        [None, Some(each), None] => {
            reader.one_of(each, "`each`", element::ALL)?;
            Segment::new(Selector::Each)
        }
        _ => {
            // Unknown members have been reported already.
            let mut names = members.list.iter().map(|member| &*member.name);
            if names.all(|name| segment::ALL.contains(&name)) {
                let message = "a part of a path is a `token` or `each`";
                let help = "write `token` or `each`; `absent` is allowed only beside `token`";
                reader.report(Code::WrongKind, node.place(), message, help);
            }
            return None;
        }
    };
    if let Some(node) = members.given(segment::ABSENT) {
        part.absent = absent(reader, node)?;
    }
    part.optional = optional(reader, &members)?;
    Some(part)
}

/// Reads `optional`, which is `true` if null ends the reference.
fn optional(reader: &mut PlanReader, members: &Members<'_>) -> Option<bool> {
    let Some(node) = members.given(segment::OPTIONAL) else {
        return Some(false);
    };
    reader.value(node, "`optional`", "`true` or `false`")
}

/// Reads the effect of a missing token.
fn absent(reader: &mut PlanReader, node: JsonNode<'_>) -> Option<Absent> {
    if node.kind() == JsonType::Object {
        let members = reader.object(node, "`absent`", default::ALL)?;
        let Some(value) = members.get(default::DEFAULT) else {
            let message = "`absent` has no `default`";
            return reader.fail(Code::MissingMember, node.place(), message, ());
        };
        return Some(Absent::Default(Box::new(plain(reader, value, 0)?)));
    }
    Some(match reader.one_of(node, "`absent`", absent::ALL)? {
        absent::NULL => Absent::Default(Box::default()),
        absent::FAILURE => Absent::Failure,
        _ => Absent::End,
    })
}
