//! The names of steps, inputs and local values, in a plan and in its blocks. A block reads outer values as its inputs.

use super::counts::VALUES_OF_STEP;
use super::{MOST_NAMES, PlanReader, Scope};
use crate::dynamic::finding::{Code, Help, Note};
use crate::dynamic::json_node::JsonNode;
use crate::plan::{Block, Reference, Source, Template, seen};
use crate::print::short;
use plan_graph::similar;
use std::ops::Range;

/// A member of a step that names another step of the same block.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum OwnStep {
    ToUndo,
    ToWaitFor,
}

impl OwnStep {
    pub(crate) fn words(self, reader: &PlanReader) -> String {
        match self {
            Self::ToUndo => "`undo`".to_owned(),
            Self::ToWaitFor => format!("an element of `{}`", reader.rules.syntax.after().0),
        }
    }
}

/// The help for two things with one name.
pub(crate) const RENAME: &str = "rename one of the two names, because a reference could mean both";

/// A value that a block reads: an input of its plan.
pub(crate) struct BlockRead {
    /// The name that it has inside.
    pub(crate) name: String,
    /// The value outside of the block.
    pub(crate) template: Template,
    /// The position of the declaration, or of the first reference.
    pub(crate) place: Range<usize>,
    pub(crate) kind: ReadKind,
}

/// The whole value that a block reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadKind {
    /// The output of a step.
    Step,
    /// The value of the previous round, which is null in the first round.
    Last,
    /// An input of the plan.
    Input,
    /// Any other value, or a part of it.
    Value,
}

impl Scope {
    /// Returns the kind of a source in this plan or block.
    pub(crate) fn kind_of(&self, source: Source) -> ReadKind {
        match source {
            Source::Step(_) => ReadKind::Step,
            Source::Input(input) => {
                let read = self.reads.get(input);
                read.map_or(ReadKind::Input, |read| read.kind)
            }
            Source::Local(_) => ReadKind::Value,
        }
    }

    /// Returns the step with this ID.
    pub(crate) fn step_of(&self, id: &str) -> Option<usize> {
        self.ids.get(id).copied()
    }

    /// Returns the position of the ID of a step.
    pub(super) fn place_of(&self, id: &str) -> Option<Range<usize>> {
        Some(self.spans.steps.get(self.step_of(id)?)?.id.range())
    }

    /// Returns the IDs of the steps, each with its index, except the current one.
    fn other_ids(&self) -> Vec<(usize, String)> {
        let own = self.current.as_ref().map(|(own, _)| *own);
        let ids = self.ids.iter().filter(|(_, index)| own != Some(**index));
        let mut ids: Vec<_> = ids.map(|(id, index)| (*index, id.to_string())).collect();
        ids.sort_unstable();
        ids
    }

    /// Returns the names of the inputs with their indices, in the order of the indices.
    pub(super) fn all_inputs(&self) -> Vec<(usize, &str)> {
        let names = self.names.iter();
        let mut names: Vec<_> = names.map(|(name, at)| (at.0, name.as_str())).collect();
        names.sort_unstable();
        names
    }

    /// Returns the meaning of a name for a block inside, which must be a step with `of_step`.
    pub(crate) fn meaning(&self, name: &str, of_step: bool) -> Option<Reference> {
        if !of_step
            && let Some(depth) = self.locals.iter().rposition(|it| it.binds(name))
            && let Some(part) = self.locals[depth].part(name)
        {
            return Some(local_part(depth, part));
        }
        if let Some(step) = self.step_of(name) {
            return Some(Reference::new(Source::Step(step)));
        }
        let input = Source::Input(self.names.get(name)?.0);
        (!of_step || self.kind_of(input) == ReadKind::Step).then(|| Reference::new(input))
    }
}

/// Returns the reference to a local value, or to this part of the value.
pub(super) fn local_part(depth: usize, part: Option<usize>) -> Reference {
    let whole = Reference::new(Source::Local(depth));
    match part {
        Some(part) => whole.index(part),
        None => whole,
    }
}

/// Makes a step known under its ID.
pub(super) fn declare(reader: &mut PlanReader, index: usize, id: &str, place: Range<usize>) {
    if id.trim().is_empty() {
        let help = "references and reports name the step by its id";
        let message = "the id of the step is empty";
        return reader.report(Code::EmptyName, place, message, help);
    }
    if reader.here.step_of(id).is_none() {
        reader.here.ids.insert(id.into(), index);
        return;
    }
    let message = format!("two steps have the id `{}`", short(id));
    let note = Note::error(Code::DuplicateId, place, message);
    let note = note.related(reader.here.place_of(id), "the first one is here");
    reader.note(
        note.help("give one of the two steps another id, because a reference could mean both"),
    );
}

/// Returns the declared ID of a step, or an empty string if it cannot be read.
pub(super) fn declared(reader: &PlanReader, given: JsonNode<'_>) -> String {
    let longest = reader.limits.name.min(reader.limits.string);
    let id = given.text().ok().filter(|id| id.value.len() <= longest);
    id.map(|id| id.value.into_owned()).unwrap_or_default()
}

/// Reports the ID of a step that also names an input, or in a block an enclosing step or value.
pub(super) fn is_new(reader: &mut PlanReader, id: &str, place: Range<usize>) {
    let name = short(id);
    let (first, message, label, help) = if let Some((_, input)) = reader.here.names.get(id) {
        let message = format!("the step `{name}` has the name of an input");
        let help = "steps and inputs need different names: rename one of them";
        (input.clone(), message, "the input is here".to_owned(), help)
    } else {
        let mut around = reader.around.iter().rev();
        let input = around.find_map(|around| Some(around.names.get(id)?.1.clone()));
        let Some(first) = id_around(reader, id)
            .or(input)
            .filter(|_| id != Block::TAIL)
        else {
            return;
        };
        let message =
            format!("the step `{name}` has the name of a step or a value outside its block");
        (
            first,
            message,
            format!("the other `{name}` is here"),
            RENAME,
        )
    };
    let note = Note::error(Code::DuplicateId, place, message).related(first, label);
    reader.note(note.help(help));
}

/// Returns the position of the ID of a step that a block can refer to.
pub(super) fn id_around(reader: &PlanReader, id: &str) -> Option<Range<usize>> {
    let mut around = reader.around.iter().rev();
    around.find_map(|around| around.place_of(id))
}

/// Returns the step with this ID. Reports an unknown ID at `place`.
pub(crate) fn known_step(reader: &mut PlanReader, id: &str, place: Range<usize>) -> Option<usize> {
    let step = reader.here.step_of(id);
    step.or_else(|| {
        let (note, _) = unknown_id(reader, id, place);
        reader.error(note)
    })
}

/// Returns the finding for a missing step, and `true` if a step has a similar ID.
pub(super) fn unknown_id(reader: &mut PlanReader, id: &str, place: Range<usize>) -> (Note, bool) {
    let message = format!("there is no step `{}`", short(id));
    let names = steps_to_compare(reader);
    let names = || names.iter().map(|(_, name)| name.as_str());
    let meant = similar(id, names());
    let help = match meant {
        Some(meant) => Some(format!("did you mean `{}`?", short(meant))),
        None if names().next().is_none() && reader.here.ids.len() <= MOST_NAMES => {
            Some("the plan has no other steps".to_owned())
        }
        None => listed("step", names()),
    };
    let note = Note::error(Code::UnknownStep, place, message).help(help);
    (note, meant.is_some())
}

/// Returns the steps that a reference may name, with their indices, unless the document has too many errors to compare all names. A step
/// cannot refer to itself, or to a step that contains it.
pub(super) fn steps_to_compare(reader: &mut PlanReader) -> Vec<(usize, String)> {
    if reader.here.ids.len() > MOST_NAMES && !reader.looks_for_similar() {
        return Vec::new();
    }
    let scopes = [&reader.here].into_iter().chain(reader.around.iter().rev());
    scopes.flat_map(Scope::other_ids).collect()
}

/// Returns the list of names, if it is short.
pub(crate) fn listed<'n>(what: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
    let names: Vec<&str> = names.take(MOST_NAMES + 1).collect();
    match names[..] {
        [] => None,
        [one] => Some(format!("the only {what} is `{}`", short(one))),
        _ if names.len() > MOST_NAMES => None,
        _ => {
            let names: Vec<String> = names.into_iter().map(short).collect();
            Some(format!("the {what}s are `{}`", names.join("`, `")))
        }
    }
}

/// Returns the step with this name in the block itself, or in the plan.
pub(crate) fn own_step(
    reader: &mut PlanReader,
    (name, of): (&str, OwnStep),
    place: Range<usize>,
) -> Option<usize> {
    let step = reader.here.step_of(name);
    if step.is_none() && id_around(reader, name).is_some() {
        let (after, _) = reader.rules.syntax.after();
        let mut around = reader.around.iter().filter_map(|it| it.current.as_ref());
        let contains = around.any(|(_, id)| **id == *name);
        let is = if contains {
            "contains this step"
        } else {
            "is a step outside of this block"
        };
        let message = format!("`{}` {is}", short(name));
        let help = match of {
            OwnStep::ToUndo => {
                "write the undo step outside of the block, beside the step to undo".to_owned()
            }
            OwnStep::ToWaitFor if contains => format!("remove {:?} from `{after}`", short(name)),
            OwnStep::ToWaitFor => format!(
                "`{after}` can name only steps of the same block; to wait for a step outside, put `{after}` on the step that contains the block"
            ),
        };
        return reader.fail(Code::UnknownStep, place, message, help);
    }
    step.or_else(|| no_step(reader, name, place, ()))
}

/// Reports the name of a step that is missing. The help is for an input with this name.
pub(crate) fn no_step<T>(
    reader: &mut PlanReader,
    name: &str,
    place: Range<usize>,
    help: impl Help,
) -> Option<T> {
    let mut levels = 0..=reader.around.len();
    if levels.any(|level| reader.at(level).names.contains_key(name)) {
        let message = format!("`{}` is an input, not a step", short(name));
        return reader.fail(Code::UnknownStep, place, message, help);
    }
    known_step(reader, name, place);
    None
}

/// Returns the input of the block for the enclosing value with this name, which must be a step with `of_step`. Returns
/// `None` for an unknown name.
pub(crate) fn read_around(
    reader: &mut PlanReader,
    name: &str,
    of_step: bool,
    place: Range<usize>,
) -> Option<Option<Source>> {
    let mut around = reader.around.iter().enumerate().rev();
    let named = |(level, scope): (usize, &Scope)| Some((level, scope.meaning(name, of_step)?));
    let (level, reference) = around.find_map(named)?;
    Some(bring_in(reader, level, reference, name, place))
}

/// Returns all names of inputs that a block can use, including those of enclosing levels.
pub(crate) fn input_names(reader: &PlanReader) -> Vec<&str> {
    let scopes = [&reader.here].into_iter().chain(reader.around.iter().rev());
    let mut seen = std::collections::HashSet::new();
    let names = scopes.flat_map(Scope::all_inputs).map(|(_, name)| name);
    names.filter(|name| seen.insert(*name)).collect()
}

/// Reports a reference to a value whose name a pattern around the reference binds to another value.
pub(crate) fn hidden<T>(reader: &mut PlanReader, name: &str, place: Range<usize>) -> Option<T> {
    let name = short(name);
    let message =
        format!("the reference reads `{name}`, but an enclosing pattern defines another `{name}`");
    reader.fail(Code::DuplicateId, place, message, RENAME)
}

/// Reports the error of a reference to a part of a local value for which its pattern has no name.
pub(crate) fn is_named(
    reader: &mut PlanReader,
    mistake: Option<String>,
    place: Range<usize>,
) -> Option<()> {
    let Some(mistake) = mistake else {
        return Some(());
    };
    let help = "write the pattern `x` for the whole value; a part has a pointer, such as `/0`";
    let message = format!("the reference {mistake}");
    reader.fail(Code::UnknownLocal, place, message, help)
}

/// Converts a reference to an enclosing local value: its first part becomes an input of the block, and the path continues from
/// that input.
pub(crate) fn local_around(
    reader: &mut PlanReader,
    level: usize,
    depth: usize,
    reference: &mut Reference,
    place: Range<usize>,
) -> Option<(Source, String)> {
    let source = Source::Local(depth);
    let own = source.name();
    let locals = &reader.around[level].locals;
    let mistake = locals[depth].unnamed(reference.path());
    let found = seen(source, &own, reference.path(), locals);
    let found = found.map(|(name, rest)| (name.to_owned(), rest.optional, rest.segments.len()));
    is_named(reader, mistake, place.clone())?;
    let Some((name, optional, rest)) = found else {
        return hidden(reader, &own, place);
    };
    let mut outside = Reference::new(source);
    let first = reference.path.len() - rest;
    let mut path = std::mem::take(&mut reference.path).into_vec();
    reference.path = path.drain(first..).collect();
    outside.path = path.into();
    for segment in &mut outside.path {
        segment.optional = false;
    }
    reference.optional = optional;
    reference.source = bring_in(reader, level, outside, &name, place)?;
    Some((reference.source, name))
}

/// Adds a value of a level as an input of all blocks from that level to this one.
pub(super) fn bring_in(
    reader: &mut PlanReader,
    level: usize,
    reference: Reference,
    name: &str,
    place: Range<usize>,
) -> Option<Source> {
    let current = reader.at(level).current.as_ref();
    if current.is_some_and(|(current, _)| reference.source == Source::Step(*current)) {
        let name = short(name);
        let message = format!("the reference reads step `{name}`, which contains it");
        let help = "remove the dependency, or use a value that does not depend on the step";
        return reader.fail(Code::Cycle, place, message, help);
    }
    let kind = if reference.is_whole() {
        reader.at(level).kind_of(reference.source)
    } else {
        ReadKind::Value
    };
    let mut template = Template::from(reference.said(name, Some(name)));
    let mut found = None;
    for level in level + 1..=reader.around.len() {
        let scope = reader.at(level);
        let index = match scope.names.get(name) {
            Some(&(index, _)) if scope.reads[index].template == template => index,
            Some(_) => return taken(reader, "an input of the block", name, place),
            None if scope.step_of(name).is_some() => {
                return taken(reader, "a step of the block", name, place);
            }
            None => {
                reader.count(VALUES_OF_STEP, place.clone());
                let scope = reader.at_mut(level);
                let index = scope.reads.len();
                scope.names.insert(name.to_owned(), (index, place.clone()));
                scope.reads.push(BlockRead {
                    name: name.to_owned(),
                    template,
                    place: place.clone(),
                    kind,
                });
                index
            }
        };
        let inside = Reference::new(Source::Input(index));
        template = inside.said(name, Some(name)).into();
        found = Some(Source::Input(index));
    }
    found
}

fn taken<T>(reader: &mut PlanReader, what: &str, name: &str, place: Range<usize>) -> Option<T> {
    let name = short(name);
    let message =
        format!("the reference reads `{name}` from outside the block, but {what} has this name");
    reader.fail(Code::DuplicateId, place, message, RENAME)
}
