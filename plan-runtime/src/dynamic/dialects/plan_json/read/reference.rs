//! `{"step": "inbox", "pointer": "/data/0"}`

use crate::dynamic::dialects::reading::{self, Found, IdKind, Members, PlanReader, wrong_kind};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::{JsonNode, JsonType};
use crate::plan::json::NOTHING_ENDS;
use crate::plan::json::names::{absent, default, element, reference, segment, source};
use crate::plan::{self, Absent, Reference, Segment, Selector, Source};
use crate::print::short;
use jsonptr::Pointer;
use plan_graph::similar;

impl PlanReader<'_> {
    pub(super) fn reference(&mut self, node: JsonNode<'_>) -> Option<Reference> {
        if !self.builder.count_reference(node.place()) {
            return None;
        }
        let members = self.object(node, "`reference`", reference::ALL)?;
        let source = self.source(&members);
        let optional = self.optional(&members);
        let path = self.path(&members);
        let otherwise = match members.get(reference::ELSE) {
            Some(node) => self.plain(node, 0).map(|value| Some(Box::new(value))),
            None => Some(None),
        };
        let said = self.text(&members, reference::WRITTEN, "the text of a reference");
        let (source, name) = source?;
        let mut reference = Reference::new(Source::Local(0));
        (reference.optional, reference.path) = (optional?, path?);
        reference.otherwise = otherwise?;
        let (source, name) = match source {
            Found::Here(source) => (source, name),
            Found::Around { level, depth } => {
                self.local_around(level, depth, &mut reference, node.place())?
            }
        };
        reference.source = source;
        if let Some(node) = members.get(reference::ELSE)
            && !reference.can_end()
        {
            let note = Note::error(Code::NotAllowed, node.place(), NOTHING_ENDS);
            let help = "say with `\"absent\": \"end\"` or `\"optional\": true` which part may be missing or null, or remove `else`";
            return self.builder.error(note.help(help.to_owned()));
        }
        // The plan derives an unambiguous notation from the sources. The reader only compares the member `written` with this notation.
        let Some((name, rest)) = plan::seen(source, &name, reference.path(), &self.locals) else {
            let name = short(&name);
            let message = format!("this reads `{name}`, but a pattern around it binds `{name}`");
            let note = Note::error(Code::DuplicateId, node.place(), message);
            let help = "a reference could mean either, so rename one of them";
            return self.builder.error(note.help(help.to_owned()));
        };
        if let Source::Local(depth) = source
            && let Some(bound) = self.locals.get(depth)
            && let Some(mistake) = bound.unnamed(reference.path())
        {
            let note = Note::error(Code::UnknownLocal, node.place(), format!("this {mistake}"));
            let help = "the pattern `x` names the whole value, and `(a, b)` the parts of a pair";
            return self.builder.error(note.help(help.to_owned()));
        }
        let written = plan::written(name, rest);
        let agrees = match self.names {
            IdKind::InPlan(_) => plan::agrees(name, rest, &said),
            IdKind::Places => plan::path_agrees(rest, &said),
        };
        if let Some(node) = members.given(reference::WRITTEN)
            && !said.is_empty()
            && said != written
            && !agrees
        {
            let message = format!(
                "this reads `{}`, but `written` says `{}`",
                short(&written),
                short(&said)
            );
            let note = Note::error(Code::MalformedReference, node.place(), message);
            let help = "leave `written` out: it is derived from what the reference reads";
            return self.builder.error(note.help(help.to_owned()));
        }
        let name = name.to_owned();
        Some(reference.said(written, Some(&name)))
    }

    /// Reads a source of a computed value.
    pub(super) fn read(&mut self, node: JsonNode<'_>) -> Option<Source> {
        let members = self.object(node, "what a computed value reads", source::ALL)?;
        match self.source(&members)?.0 {
            Found::Here(source) => Some(source),
            Found::Around { level, depth } => {
                let whole = &mut Reference::new(Source::Local(depth));
                let found = self.local_around(level, depth, whole, node.place())?;
                Some(found.0)
            }
        }
    }

    fn source(&mut self, members: &Members<'_>) -> Option<(Found, String)> {
        let named = source::ALL.iter();
        let named = named.filter_map(|name| Some((*name, members.given(name)?)));
        let named: Vec<(&str, JsonNode<'_>)> = named.collect();
        let (kind, given) = match named[..] {
            [named] => named,
            [] => {
                let message = "the reference does not say what it reads";
                let note = Note::error(Code::MissingMember, members.node.place(), message);
                let help =
                    r#"it is one of `"step": "id"`, `"input": "name"` and `"local": 0`"#.to_owned();
                return self.builder.error(note.help(help));
            }
            [(first, _), (second, place), ..] => {
                let message = format!("the reference has both `{first}` and `{second}`");
                return self.error(Code::WrongKind, place.place(), message);
            }
        };
        if kind == source::LOCAL {
            return self.local(given);
        }
        let what = format!("the {kind} of a reference");
        if matches!(self.names, IdKind::Places) {
            let expected = "its index in the plan, since this is not part of a plan: 0, 1, …";
            let place = self.builder.value(given, &what, expected)?;
            let source = match kind {
                source::STEP => Source::Step(place),
                _ => Source::Input(place),
            };
            return Some((Found::Here(source), source.name()));
        }
        let name = self.builder.text(given, &what)?.value;
        let source = match kind {
            source::STEP => self.step_named(&name, given)?,
            _ => self.input_named(&name, given)?,
        };
        Some((Found::Here(source), name.into_owned()))
    }

    fn local(&mut self, node: JsonNode<'_>) -> Option<(Found, String)> {
        let expected = "its number, from the outermost on: 0, 1, …";
        let what = "the local value of a reference";
        let depth: usize = self.builder.value(node, what, expected)?;
        let name = Source::Local(depth).name();
        let mut locals = self.locals.len();
        if locals == 0 {
            // A block without local values of its own uses the numbers of the enclosing ones.
            let level = self.around.iter().rposition(|it| !it.locals.is_empty());
            if let Some(level) = level {
                locals = self.around[level].locals.len();
                if depth < locals {
                    return Some((Found::Around { level, depth }, name));
                }
            }
        }
        if depth >= locals && matches!(self.names, IdKind::InPlan(_)) {
            let message = format!("there is no local value {depth} here");
            let help = match locals {
                0 => "only a `for` or a `pattern` around the reference has local values".into(),
                1 => "there is one: 0".to_owned(),
                count => format!(
                    "there are {count}: 0 is the outermost, {} the innermost",
                    count - 1
                ),
            };
            let note = Note::error(Code::UnknownLocal, node.place(), message);
            return self.builder.error(note.help(help));
        }
        Some((Found::Here(Source::Local(depth)), name))
    }

    /// Returns the step with this name, or the input of a block for an enclosing one.
    fn step_named(&mut self, name: &str, node: JsonNode<'_>) -> Option<Source> {
        if let Some(index) = self.builder.step_of(name) {
            return Some(Source::Step(index));
        }
        if let IdKind::InPlan(inputs) = &self.names
            && let Some((input, _)) = inputs.get(name)
        {
            let input = Source::Input(*input);
            return if self.is_step(input) {
                Some(input)
            } else {
                self.unknown_step(name, node.place())
            };
        }
        match self.read_around(name, true, node.place()) {
            Some(found) => found,
            None => self.unknown_step(name, node.place()),
        }
    }

    fn input_named(&mut self, name: &str, node: JsonNode<'_>) -> Option<Source> {
        let IdKind::InPlan(inputs) = &self.names else {
            return None;
        };
        if let Some((index, _)) = inputs.get(name) {
            return Some(Source::Input(*index));
        }
        let place = node.place();
        let name_of = short(name);
        if self.builder.step_of(name).is_some() {
            let message = format!("`{name_of}` is a step, not an input");
            return self.error(Code::UnknownInput, place, message);
        }
        let count = inputs.len();
        if let Some(found) = self.read_around(name, false, node.place()) {
            return found;
        }
        let looks = count <= reading::MOST_NAMES || self.builder.looks_for_similar();
        let known = if looks {
            self.input_names()
        } else {
            Vec::new()
        };
        let help = match similar(name, known.iter().copied()) {
            Some(meant) => Some(format!("an input with a similar name exists: `{meant}`")),
            None if looks && known.is_empty() => Some(format!(
                r#"the plan has no inputs: add `{{"name": "{name_of}", "type": "String"}}` to its `inputs`"#
            )),
            None => reading::names("input", known.iter().copied()),
        };
        let message = format!("there is no input `{name_of}`");
        self.builder
            .error(Note::error(Code::UnknownInput, place, message).help(help))
    }

    fn path(&mut self, members: &Members<'_>) -> Option<Vec<Segment>> {
        match (
            members.given(reference::POINTER),
            members.given(reference::PATH),
        ) {
            (Some(pointer), None) => self.pointer(pointer),
            (None, Some(path)) => {
                let what = "the path of a reference";
                let items = self.builder.scalars(path, what, JsonType::String)?;
                self.builder.path_fits(items.len(), path.place())?;
                let mut segments = Vec::with_capacity(items.len());
                let mut sound = true;
                for item in items {
                    match self.segment(item) {
                        Some(segment) => segments.push(segment),
                        None => sound = false,
                    }
                }
                sound.then_some(segments)
            }
            (Some(_), Some(path)) => {
                let message = "the reference has both a `pointer` and a `path`";
                self.error(Code::WrongKind, path.place(), message)
            }
            (None, None) => {
                let message = "the reference has neither a `pointer` nor a `path`";
                let note = Note::error(Code::MissingMember, members.node.place(), message);
                let help = r#"the whole value is `"pointer": ""`"#.to_owned();
                self.builder.error(note.help(help))
            }
        }
    }

    fn pointer(&mut self, node: JsonNode<'_>) -> Option<Vec<Segment>> {
        let text = self.builder.text(node, "the pointer of a reference")?;
        match Pointer::parse(text.value.as_ref()) {
            Ok(pointer) => {
                let place = node.place();
                self.builder.path_fits(pointer.count(), place)?;
                let tokens = pointer.tokens();
                let tokens = tokens.map(|token| Segment::of_token(token.decoded().into_owned()));
                let mut segments = Vec::with_capacity(pointer.count());
                segments.extend(tokens);
                Some(segments)
            }
            Err(_) => {
                let message = format!("`{}` is not a JSON Pointer", short(&text.value));
                let help = if text.value.starts_with('/') {
                    "in a name, `~` is written `~0`, and `/` is `~1`".to_owned()
                } else {
                    format!("a pointer begins with `/`: `/{}`", short(&text.value))
                };
                let note = Note::error(Code::MalformedReference, node.place(), message);
                self.builder.error(note.help(help))
            }
        }
    }

    /// Reads a part of a path: a token, or an object for a part that a pointer cannot express.
    fn segment(&mut self, node: JsonNode<'_>) -> Option<Segment> {
        const WHAT: &str = "a part of a path";
        if node.kind() == JsonType::String {
            let token = self.builder.text(node, WHAT)?;
            return Some(Segment::of_token(token.value.into_owned()));
        }
        if node.kind() != JsonType::Object {
            let note = wrong_kind(node, WHAT, "a string or an object");
            return self.builder.error(note);
        }
        let members = self.object(node, WHAT, segment::ALL)?;
        let given = [segment::TOKEN, segment::EACH, segment::ABSENT];
        let mut part = match given.map(|name| members.get(name)) {
            [Some(token), None, _] => {
                let token = self.builder.text(token, WHAT)?;
                Segment::of_token(token.value.into_owned())
            }
            [None, Some(each), None] => {
                self.one_of(each, "`each`", element::ALL)?;
                Segment::new(Selector::Each)
            }
            _ => {
                // Unknown members have been reported already.
                let mut names = members.list.iter().map(|member| &*member.name);
                if names.all(|name| segment::ALL.contains(&name)) {
                    let message = "a part of a path is a `token` or `each`";
                    let note = Note::error(Code::WrongKind, node.place(), message);
                    let help = "`absent` says what a missing `token` means";
                    self.builder.note(note.help(help.to_owned()));
                }
                return None;
            }
        };
        if let Some(node) = members.given(segment::ABSENT) {
            part.absent = self.absent(node)?;
        }
        part.optional = self.optional(&members)?;
        Some(part)
    }

    /// Reads `optional`, which is `true` if null ends the reference.
    fn optional(&mut self, members: &Members<'_>) -> Option<bool> {
        let Some(node) = members.given(segment::OPTIONAL) else {
            return Some(false);
        };
        let expected = "`true` or `false`";
        self.builder.value(node, "`optional`", expected)
    }

    /// Reads the effect of a missing token.
    fn absent(&mut self, node: JsonNode<'_>) -> Option<Absent> {
        if node.kind() == JsonType::Object {
            let members = self.object(node, "`absent`", default::ALL)?;
            let Some(value) = members.get(default::DEFAULT) else {
                let message = "`absent` has no `default`";
                return self.error(Code::MissingMember, node.place(), message);
            };
            return Some(Absent::Default(Box::new(self.plain(value, 0)?)));
        }
        Some(match self.one_of(node, "`absent`", absent::ALL)? {
            absent::NULL => Absent::Default(Box::default()),
            absent::FAILURE => Absent::Failure,
            _ => Absent::End,
        })
    }
}
