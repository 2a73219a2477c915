//! What readers share: names, templates, and what is found on the way.

use super::finding::{Code, Note, Notes};
use super::node::{Kind, Node, Source, Text};
use super::spans::{Span, Spans, TemplateSpan};
use super::syntax::{self, Flaw, Piece, Scan, Target, Written};
use super::{Dialect, Limits, Profile};
use crate::plan::{
    Absent, Entry, Input, Key, Number, Part, Reference, Segment, Source as From, Template,
};
use crate::resolve::describe::{short, similar};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// How many names are listed where none is similar to the one that was meant.
pub(super) const MOST_NAMES: usize = 8;

/// For how many unknown names a similar one is looked for, where there are many.
const MOST_SEARCHES: usize = 32;

/// How many members of an object are compared one by one.
const FEW: usize = 16;

/// A plan that is being read.
pub(super) struct Draft {
    pub(super) dialect: Dialect,
    pub(super) profile: Profile,
    pub(super) limits: Limits,
    pub(super) notes: Notes,
    pub(super) spans: Spans,
    pub(super) inputs: Vec<Input>,
    /// The steps that references can name.
    ids: HashMap<String, usize>,
    pub(super) steps: usize,
    /// The step that is being read, with its id.
    pub(super) current: Option<(usize, String)>,
    /// How many names were looked for among all others.
    searches: usize,
    /// Where it shows which dialect the document is in.
    shows: Option<Range<usize>>,
}

/// The members of an object, each there once.
pub(super) struct Members<'a>(pub(super) Vec<Member<'a>>);

pub(super) struct Member<'a> {
    pub(super) name: String,
    pub(super) key: Node<'a>,
    pub(super) value: Node<'a>,
}

impl<'a> Members<'a> {
    pub(super) fn get(&self, name: &str) -> Option<Node<'a>> {
        self.member(name).map(|member| member.value)
    }

    /// The same, but null is as nothing.
    pub(super) fn given(&self, name: &str) -> Option<Node<'a>> {
        self.get(name).filter(|node| node.kind() != Kind::Null)
    }

    pub(super) fn member(&self, name: &str) -> Option<&Member<'a>> {
        self.0.iter().find(|member| member.name == name)
    }
}

impl Draft {
    pub(super) fn new(dialect: Dialect, profile: Profile, limits: Limits) -> Self {
        Self {
            dialect,
            profile,
            limits: Limits {
                depth: limits.depth.min(127),
                ..limits
            },
            notes: Notes::default(),
            spans: Spans::default(),
            inputs: Vec::new(),
            ids: HashMap::new(),
            steps: 0,
            current: None,
            searches: 0,
            shows: None,
        }
    }

    /// Adds a note on the step that is being read.
    pub(super) fn note(&mut self, note: Note) {
        self.notes.push(match &self.current {
            Some((_, id)) => note.step(id),
            None => note,
        });
    }

    /// Adds an error, and says so by `None`.
    pub(super) fn error<T>(&mut self, note: Note) -> Option<T> {
        self.note(note);
        None
    }

    /// Remembers what first shows which dialect the document is in.
    pub(super) fn shown_by(&mut self, place: Range<usize>) {
        self.shows.get_or_insert(place);
    }

    /// Makes a step known under an id.
    pub(super) fn declare(&mut self, index: usize, id: &str, place: Range<usize>) {
        if id.trim().is_empty() {
            let help = "references and reports name the step by its id".to_owned();
            self.note(
                Note::error(Code::EmptyName, place, "the id of the step is empty").help(help),
            );
            return;
        }
        if let Some(&other) = self.ids.get(id) {
            let first = self.spans.steps.get(other).map(|step| step.id.range());
            let note = Note::error(
                Code::DuplicateId,
                place,
                format!("two steps have the id `{id}`"),
            );
            let note = match first {
                Some(first) => note.related(first, "the first one is here"),
                None => note,
            };
            self.note(
                note.help("a reference could mean either: give one of them another id".to_owned()),
            );
            return;
        }
        self.ids.insert(id.to_owned(), index);
    }

    pub(super) fn step_of(&self, id: &str) -> Option<usize> {
        self.ids.get(id).copied()
    }

    /// The step of this id; where there is none, it is an error at `place`.
    pub(super) fn known_step(&mut self, id: &str, place: Range<usize>) -> Option<usize> {
        if let Some(index) = self.step_of(id) {
            return Some(index);
        }
        let note = self.unknown_step(id, place);
        self.error(note)
    }

    fn unknown_step(&mut self, id: &str, place: Range<usize>) -> Note {
        let message = format!("there is no step `{}`", short(id));
        let few = self.ids.len() <= MOST_NAMES;
        let mut names: Vec<(usize, String)> = Vec::new();
        if few || self.looks_for_similar() {
            let ids = self.ids.iter();
            names = ids.map(|(name, index)| (*index, name.clone())).collect();
            names.sort_unstable();
        }
        let help = match similar(id, names.iter().map(|(_, name)| name.as_str())) {
            Some(meant) => Some(format!("a step with a similar name exists: `{meant}`")),
            None => self::names("step", names.iter().map(|(_, name)| name.as_str())),
        };
        Note::error(Code::UnknownStep, place, message).help(help)
    }

    /// Whether it is still worth while to look through all names for a similar one: a document may be nothing but mistakes.
    pub(super) fn looks_for_similar(&mut self) -> bool {
        self.searches += 1;
        self.searches <= MOST_SEARCHES
    }

    /// The members of an object that has to be one.
    pub(super) fn members<'a>(
        &mut self,
        source: &Source<'_>,
        node: Node<'a>,
        what: &str,
    ) -> Option<Members<'a>> {
        if node.kind() != Kind::Object {
            let note = wrong_kind(source, node, what, "an object");
            return self.error(note);
        }
        let mut members: Vec<Member<'a>> = Vec::new();
        let mut seen = HashMap::new();
        for (key, value) in node.members() {
            let name = match key.text() {
                Ok(text) => text.value.into_owned(),
                Err(_) => {
                    self.note(no_text(source, key));
                    continue;
                }
            };
            let first = match members.len() {
                ..FEW => members.iter().find(|it| it.name == name).map(|it| it.key),
                _ => seen.get(&name).copied(),
            };
            if let Some(first) = first {
                self.note(duplicate(source, &name, key, first));
                continue;
            }
            members.push(Member { name, key, value });
            if members.len() >= FEW {
                let new = &members[seen.len()..];
                seen.extend(new.iter().map(|it| (it.name.clone(), it.key)));
            }
        }
        Some(Members(members))
    }

    /// Says which members nothing reads: an error in canonical JSON, which nobody writes by heart.
    pub(super) fn only(
        &mut self,
        source: &Source<'_>,
        members: &Members<'_>,
        what: &str,
        known: &[&str],
    ) {
        for member in &members.0 {
            let name = member.name.as_str();
            // That it goes by the name of another dialect is an error of its own.
            let strict = self.dialect == Dialect::Canonical;
            let moved = !strict && matches!(name, "arguments" | "params") && what == "a step";
            if known.contains(&name) || moved {
                continue;
            }
            let meant = similar(&member.name, known.iter().copied());
            let help = match meant {
                Some(meant) if members.member(meant).is_none() => {
                    format!("did you mean `{meant}`?")
                }
                _ => format!("{what} has `{}`", known.join("`, `")),
            };
            let message = format!(
                "nothing reads the member `{}` of {what}",
                short(&member.name)
            );
            let place = source.place(member.key.slice());
            let note = match strict {
                true => Note::error(Code::UnknownMember, place, message),
                false => Note::warning(Code::UnknownMember, place, message),
            };
            self.note(note.help(help));
        }
    }

    /// The elements of a list that has to be one.
    pub(super) fn items<'a>(
        &mut self,
        source: &Source<'_>,
        node: Node<'a>,
        what: &str,
    ) -> Option<Vec<Node<'a>>> {
        match node.kind() {
            Kind::List => Some(node.items()),
            _ => {
                let note = wrong_kind(source, node, what, "a list");
                self.error(note)
            }
        }
    }

    /// The text of a string that has to be one.
    pub(super) fn text<'a>(
        &mut self,
        source: &Source<'_>,
        node: Node<'a>,
        what: &str,
    ) -> Option<Text<'a>> {
        if node.kind() != Kind::String {
            let note = wrong_kind(source, node, what, "a string");
            return self.error(note);
        }
        match node.text() {
            Ok(text) if text.value.len() > self.limits.string => {
                let message = format!(
                    "the string has {} bytes, and at most {} are read",
                    text.value.len(),
                    self.limits.string
                );
                let place = source.place(node.slice());
                self.error(Note::error(Code::LimitPassed, place, message))
            }
            Ok(text) => Some(text),
            Err(_) => self.error(no_text(source, node)),
        }
    }

    /// A value as serde reads it, which says itself what it expects.
    pub(super) fn value<T: serde::de::DeserializeOwned>(
        &mut self,
        source: &Source<'_>,
        node: Node<'_>,
        what: &str,
        expected: &str,
    ) -> Option<T> {
        match node.read() {
            Ok(value) => Some(value),
            Err(_) => {
                let note = wrong_kind(source, node, what, expected);
                self.error(note)
            }
        }
    }

    /// Whether what is in so many lists and objects may be one itself; where not, it is an error.
    pub(super) fn fits(&mut self, depth: usize, place: Range<usize>) -> bool {
        if depth < self.limits.depth {
            return true;
        }
        let message = format!(
            "lists and objects are nested more than {} levels deep",
            self.limits.depth
        );
        self.note(Note::error(Code::LimitPassed, place, message));
        false
    }

    /// A number, whose template is the one at `at`.
    pub(super) fn number(&mut self, source: &Source<'_>, node: Node<'_>, at: usize) -> Template {
        if let Some(number) = number(node.slice()) {
            return Template::Number(number);
        }
        let message = format!("the number {} cannot be held exactly", short(node.slice()));
        let help = "write it as a string, if the tool takes one".to_owned();
        let place = source.place(node.slice());
        self.note(Note::error(Code::InexactNumber, place, message).help(help));
        self.broken(at)
    }

    /// A value with references in it, as the dialect writes them.
    pub(super) fn template(
        &mut self,
        source: &Source<'_>,
        node: Node<'_>,
        key: Option<Node<'_>>,
        depth: usize,
    ) -> Template {
        let place = source.place(node.slice());
        let at = self.place(place.clone(), key.map(|key| source.place(key.slice())));
        if matches!(node.kind(), Kind::List | Kind::Object) && !self.fits(depth, place) {
            return self.broken(at);
        }
        match node.kind() {
            Kind::Null => Template::Null,
            Kind::Bool => Template::Bool(node.slice() == "true"),
            Kind::Number => self.number(source, node, at),
            Kind::String => match self.text(source, node, "a value") {
                Some(text) => self.string(source, &text, at),
                None => self.broken(at),
            },
            Kind::List => {
                let items = node.items();
                let items: Vec<Template> = items
                    .into_iter()
                    .map(|item| self.template(source, item, None, depth + 1))
                    .collect();
                Template::List(items.into())
            }
            Kind::Object => Template::Object(self.entries(source, node, depth).into()),
        }
    }

    fn entries(&mut self, source: &Source<'_>, node: Node<'_>, depth: usize) -> Vec<Entry> {
        let mut entries = Vec::new();
        let Some(members) = self.members(source, node, "a value") else {
            return entries;
        };
        for member in members.0 {
            self.no_reference(source, member.key, &member.name);
            let value = self.template(source, member.value, Some(member.key), depth + 1);
            entries.push(Entry {
                key: Key::Name(member.name.into()),
                value,
            });
        }
        entries
    }

    /// Names of members are no place for references.
    fn no_reference(&mut self, source: &Source<'_>, key: Node<'_>, name: &str) {
        let scan = syntax::scan(self.dialect, name, &|id| self.ids.contains_key(id));
        if scan
            .pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Reference(_)))
        {
            let place = source.place(key.slice());
            let message = "a reference cannot be the name of a member";
            let note = match self.profile {
                Profile::Strict => Note::error(Code::MalformedReference, place, message),
                Profile::Compat => Note::warning(Code::MalformedReference, place, message)
                    .label("it stays as it is"),
            };
            self.note(
                note.help("let a tool build the object, or write a name that is known".to_owned()),
            );
        }
    }

    /// A string, whose template is the one at `at`.
    fn string(&mut self, source: &Source<'_>, text: &Text<'_>, at: usize) -> Template {
        let mut scan = syntax::scan(self.dialect, &text.value, &|id| self.ids.contains_key(id));
        let mut sound = true;
        for flaw in std::mem::take(&mut scan.flaws) {
            sound &= self.flawed(source, text, flaw);
        }
        if let Some(place) = self.foreign(source, text, &scan) {
            self.note(place);
            sound = false;
        }
        let whole = scan.is_whole();
        let mut parts = Vec::new();
        for piece in scan.pieces {
            let written = match piece {
                Piece::Text(text) => {
                    push_text(&mut parts, text.into_owned());
                    continue;
                }
                Piece::Reference(written) => written,
            };
            let place = source.place_in(text, &written.range);
            let part = if whole { at } else { self.place(place, None) };
            let value = match self.reference(source, text, &written) {
                Ok(reference) => Template::Reference(reference),
                Err(Unread::Stays) => {
                    if !whole {
                        self.spans.templates.truncate(part);
                    }
                    push_text(&mut parts, written.text.to_owned());
                    continue;
                }
                Err(Unread::Broken) => {
                    sound = false;
                    self.broken(part)
                }
            };
            if whole {
                return value;
            }
            parts.push(Part::Value {
                value,
                spec: "".into(),
                show: None,
            });
        }
        if !sound {
            return self.broken(at);
        }
        match &mut parts[..] {
            [] => Template::String("".into()),
            [Part::Literal(text)] => Template::String(std::mem::take(text)),
            _ => Template::Text(parts.into()),
        }
    }

    /// Says what is flawed, and whether it can stay as text.
    fn flawed(&mut self, source: &Source<'_>, text: &Text<'_>, flaw: Flaw) -> bool {
        let place = source.place_in(text, &flaw.range);
        let stays = self.profile == Profile::Compat && !flaw.in_reference;
        let note = match stays {
            true => Note::warning(Code::MalformedReference, place, flaw.message)
                .label("it stays as it is"),
            false => Note::error(Code::MalformedReference, place, flaw.message),
        };
        self.note(note.help(flaw.help));
        stays
    }

    fn foreign(&self, source: &Source<'_>, text: &Text<'_>, scan: &Scan<'_>) -> Option<Note> {
        let known = |target: &Target| match target {
            Target::Id(id) => self.ids.contains_key(id),
            Target::Index(index) => *index < self.steps,
            Target::Input(_) => false,
        };
        let (other, range) = syntax::foreign(self.dialect, &text.value, scan, &known)?;
        let message = format!(
            "this reference is one of {}, but the document is {}",
            other.named(),
            self.dialect.named()
        );
        let place = source.place_in(text, &range);
        let note = Note::error(Code::MixedDialects, place, message);
        Some(match &self.shows {
            Some(shows) => note.related(shows.clone(), format!("this is {}", self.dialect.named())),
            None => note,
        })
    }

    fn reference(
        &mut self,
        source: &Source<'_>,
        text: &Text<'_>,
        written: &Written<'_>,
    ) -> Result<Reference, Unread> {
        let compat = self.profile == Profile::Compat;
        if let Some(flaw) = &written.lacks {
            // The deployed resolver of action plans does without `.result` where there is such a step.
            let known = matches!(&written.target, Target::Id(id) if self.ids.contains_key(id));
            if !(compat && known && !written.path.is_empty()) {
                return match self.flawed(source, text, flaw.clone()) {
                    true => Err(Unread::Stays),
                    false => Err(Unread::Broken),
                };
            }
        }
        let named = source.place_in(text, &written.named);
        let from = match &written.target {
            Target::Input(name) => From::Input(self.input(name, named)),
            Target::Index(index) => From::Step(self.indexed(*index, named).ok_or(Unread::Broken)?),
            Target::Id(id) => match self.step_of(id) {
                Some(index) => From::Step(index),
                None if compat && self.dialect == Dialect::ActionPlan => {
                    let place = source.place_in(text, &written.range);
                    let message = format!("there is no step `{}`", short(id));
                    self.note(
                        Note::warning(Code::UnknownStep, place, message).label("it stays as it is"),
                    );
                    return Err(Unread::Stays);
                }
                None => {
                    let mut note = self.unknown_step(id, named);
                    if self.dialect == Dialect::ActionPlan && !note.names_similar() {
                        let literal = syntax::quote(written.text);
                        note = note.help(format!(
                            "if this is no reference, write `{{{{{literal}}}}}`"
                        ));
                    }
                    self.note(note);
                    return Err(Unread::Broken);
                }
            },
        };
        Ok(Reference {
            source: from,
            path: self.path(from, written).into(),
            written: written.text.to_owned().into(),
        })
    }

    /// The path with what the profile says of values that are not there.
    fn path(&self, from: From, written: &Written<'_>) -> Vec<Segment> {
        let mut path = written.path.clone();
        if self.profile == Profile::Strict || self.dialect == Dialect::Blueprint {
            return path;
        }
        for segment in &mut path {
            if let Segment::Key(_, absent) | Segment::Index(_, absent) = segment {
                *absent = Absent::Stop;
            }
        }
        if self.dialect == Dialect::ActionPlan {
            if matches!(from, From::Input(_)) {
                path.push(Segment::Optional(true));
            }
            path.push(Segment::Else(Box::new(Value::from(written.text))));
        }
        path
    }

    fn input(&mut self, name: &str, place: Range<usize>) -> usize {
        if let Some(index) = self.inputs.iter().position(|input| input.name == name) {
            return index;
        }
        self.no_step(name, place);
        let optional = self.profile == Profile::Compat;
        self.spans.untyped.push(self.inputs.len());
        self.inputs.push(Input {
            name: name.to_owned().into(),
            type_name: if optional { "Option<String>" } else { "String" }.into(),
            description: "".into(),
        });
        self.inputs.len() - 1
    }

    /// An input cannot have the name of a step.
    pub(super) fn no_step(&mut self, input: &str, place: Range<usize>) {
        if let Some(step) = self.step_of(input) {
            let message = format!("the input `{input}` has the name of a step");
            let note = Note::error(Code::DuplicateId, place, message);
            let note = match self.spans.steps.get(step) {
                Some(spans) => note.related(spans.id.range(), "the step is here"),
                None => note,
            };
            self.note(note.help("give one of them another name".to_owned()));
        }
    }

    /// The step of this index, which comes before the one that is being read.
    pub(super) fn indexed(&mut self, index: usize, place: Range<usize>) -> Option<usize> {
        let current = self.current.as_ref().map(|(current, _)| *current);
        if index >= self.steps {
            let steps = match self.steps {
                1 => "one step, step[0]".to_owned(),
                count => format!("{count} steps, step[0] to step[{}]", count - 1),
            };
            let message = format!("there is no step[{index}]: the plan has {steps}");
            return self.error(Note::error(Code::StepOutOfRange, place, message));
        }
        let message = match current {
            Some(current) if current == index => {
                format!("step[{index}] refers to itself")
            }
            Some(current) if current < index => {
                format!("step[{current}] refers to step[{index}], which comes after it")
            }
            _ => return Some(index),
        };
        let help = "the steps of a blueprint run in their order: a step can use those before it"
            .to_owned();
        self.error(Note::error(Code::LaterStep, place, message).help(help))
    }

    /// Remembers where the next template stands.
    pub(super) fn place(&mut self, value: Range<usize>, key: Option<Range<usize>>) -> usize {
        self.spans.templates.push(TemplateSpan {
            value: Span::from(value),
            key: key.map(Span::from),
            broken: false,
        });
        self.spans.templates.len() - 1
    }

    /// Null in place of the template whose parts would come next.
    pub(super) fn broken(&mut self, at: usize) -> Template {
        self.spans.templates.truncate(at + 1);
        if let Some(span) = self.spans.templates.last_mut() {
            span.broken = true;
        }
        Template::Null
    }
}

/// Adds text, as part of the text before it.
fn push_text(parts: &mut Vec<Part>, text: String) {
    match parts.last_mut() {
        Some(Part::Literal(before)) => before.to_mut().push_str(&text),
        _ => parts.push(Part::Literal(text.into())),
    }
}

/// Why there is no reference where one is written.
enum Unread {
    /// The profile leaves it as text.
    Stays,
    /// It is an error, which was said.
    Broken,
}

/// A number that is exactly as written, or a decimal as close as floating point comes.
pub(super) fn number(written: &str) -> Option<Number> {
    if let Ok(value) = written.parse() {
        return Some(Number::Unsigned(value));
    }
    match written.parse::<i64>() {
        Ok(0) | Err(_) => {}
        Ok(value) => return Some(Number::Signed(value)),
    }
    let value: f64 = written.parse().ok()?;
    let is_integer = !written.contains(['.', 'e', 'E']);
    let is_exact = !is_integer || format!("{value:.0}") == written;
    (value.is_finite() && is_exact).then_some(Number::Float(value))
}

/// `what` is not what it has to be.
pub(super) fn wrong_kind(source: &Source<'_>, node: Node<'_>, what: &str, expected: &str) -> Note {
    let found = match node.kind() {
        Kind::Null => "null".to_owned(),
        Kind::Bool | Kind::Number => format!("`{}`", short(node.slice())),
        Kind::String => "a string".to_owned(),
        Kind::List => "a list".to_owned(),
        Kind::Object => "an object".to_owned(),
    };
    Note::error(
        Code::WrongKind,
        source.place(node.slice()),
        format!("{what} is {found}, and has to be {expected}"),
    )
}

pub(super) fn not_json(place: Range<usize>, error: &serde_json::Error) -> Note {
    let message = error.to_string();
    // The place is said in its own way.
    let message = match message.rfind(" at line ") {
        Some(end) => &message[..end],
        None => &message,
    };
    let message = match message {
        "expected value" => "a value has to stand here",
        "expected ident" => "its words are `true`, `false` and `null`",
        "trailing characters" => "nothing can follow behind the value",
        _ if error.is_eof() => "it ends too early",
        other => other,
    };
    Note::error(
        Code::InvalidJson,
        place,
        format!("this is no JSON: {message}"),
    )
}

/// What names there are, where they are few.
pub(super) fn names<'n>(what: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
    let names: Vec<&str> = names.take(MOST_NAMES + 1).collect();
    match names[..] {
        [] => None,
        [one] => Some(format!("the only {what} is `{one}`")),
        _ if names.len() > MOST_NAMES => None,
        _ => Some(format!("the {what}s are `{}`", names.join("`, `"))),
    }
}

fn no_text(source: &Source<'_>, node: Node<'_>) -> Note {
    let message = "the string has half of a surrogate pair in it, which is no text";
    Note::error(Code::InvalidJson, source.place(node.slice()), message)
        .help(r"a sign beyond U+FFFF is two escapes: `\ud83d\ude00`".to_owned())
}

pub(super) fn duplicate(source: &Source<'_>, name: &str, key: Node<'_>, first: Node<'_>) -> Note {
    let message = format!("the member `{}` is there twice", short(name));
    Note::error(Code::DuplicateMember, source.place(key.slice()), message)
        .related(source.place(first.slice()), "the first one is here")
        .help("only one of them could be used: take one out".to_owned())
}

/// The names that occur more than once, each once.
pub(super) fn repeated<'n>(names: impl Iterator<Item = &'n str>) -> HashSet<&'n str> {
    let mut seen = HashSet::new();
    names.filter(|name| !seen.insert(*name)).collect()
}
