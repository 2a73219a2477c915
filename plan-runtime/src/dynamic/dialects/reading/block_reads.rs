//! The outer values that a block reads.

use super::plan_reader::{Around, BlockRead, ReadKind};
use super::{IdKind, PlanReader, VALUES_OF_STEP};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::spans::Spans;
use crate::plan::{Block, Bound, Reference, Source, Template, seen};
use crate::print::short;
use std::collections::HashMap;
use std::mem::{replace, take};
use std::ops::Range;

/// The source of a reference in plan JSON.
pub(crate) enum Found {
    /// A source in the plan or block of the reference.
    Here(Source),
    /// The local value of this number in one of the plans and blocks around the block.
    Around { level: usize, depth: usize },
}

impl PlanReader<'_> {
    /// Begins a block inside this number of bodies, with these declared inputs.
    pub(crate) fn enter(&mut self, depth: usize, reads: Vec<BlockRead>) {
        let names = reads.iter().enumerate();
        let names = names.map(|(index, read)| (read.name.clone(), (index, read.place.clone())));
        let names = IdKind::InPlan(names.collect());
        self.around.push(Around {
            names: match replace(&mut self.names, names) {
                IdKind::InPlan(names) => names,
                IdKind::Places => HashMap::new(),
            },
            locals: take(&mut self.locals),
            reads: replace(&mut self.reads, reads),
            depth: replace(&mut self.depth, depth),
        });
        self.builder.enter();
    }

    /// Ends a block, and returns all its inputs and its positions.
    pub(crate) fn leave(&mut self) -> (Vec<BlockRead>, Spans) {
        let spans = self.builder.leave();
        let Some(around) = self.around.pop() else {
            return (Vec::new(), spans);
        };
        self.names = IdKind::InPlan(around.names);
        self.locals = around.locals;
        self.depth = around.depth;
        (replace(&mut self.reads, around.reads), spans)
    }

    /// Returns `true` if the source is the output of a step, inside or outside of the block.
    pub(crate) fn is_step(&self, source: Source) -> bool {
        match source {
            Source::Step(_) => true,
            Source::Input(_) => self.kind_of(source) == ReadKind::Step,
            Source::Local(_) => false,
        }
    }

    /// Returns the kind of a source here.
    pub(crate) fn kind_of(&self, source: Source) -> ReadKind {
        self.kind_at(self.around.len(), source)
    }

    /// Returns the kind of a source at a level.
    pub(super) fn kind_at(&self, level: usize, source: Source) -> ReadKind {
        let reads = self.around.get(level).map_or(&self.reads, |it| &it.reads);
        match source {
            Source::Step(_) => ReadKind::Step,
            Source::Input(input) => reads.get(input).map_or(ReadKind::Input, |read| read.kind),
            Source::Local(_) => ReadKind::Value,
        }
    }

    /// Returns the inputs of a level by their names.
    pub(super) fn names_at(&self, level: usize) -> Option<&HashMap<String, (usize, Range<usize>)>> {
        match (self.around.get(level), &self.names) {
            (Some(around), _) => Some(&around.names),
            (None, IdKind::InPlan(names)) => Some(names),
            (None, IdKind::Places) => None,
        }
    }

    fn reads_at(&mut self, level: usize) -> &mut Vec<BlockRead> {
        match self.around.get_mut(level) {
            Some(around) => &mut around.reads,
            None => &mut self.reads,
        }
    }

    /// Returns the input of the block for the enclosing value with this name, which must be a step with `of_step`. Returns
    /// `None` for an unknown name.
    pub(crate) fn read_around(
        &mut self,
        name: &str,
        of_step: bool,
        place: Range<usize>,
    ) -> Option<Option<Source>> {
        let mut levels = (0..self.around.len()).rev();
        let named = |level| Some((level, self.named_at(level, name, of_step)?));
        let (level, reference) = levels.find_map(named)?;
        Some(self.bring_in(level, reference, name, place))
    }

    /// Returns the meaning of a name at one level.
    fn named_at(&self, level: usize, name: &str, of_step: bool) -> Option<Reference> {
        let around = &self.around[level];
        if !of_step && let Some(local) = local_named(&around.locals, name) {
            return Some(local);
        }
        if let Some(step) = self.builder.step_at(level, name) {
            return Some(Reference::new(Source::Step(step)));
        }
        let (input, _) = around.names.get(name)?;
        let is_step = self.kind_at(level, Source::Input(*input)) == ReadKind::Step;
        (is_step || !of_step).then(|| Reference::new(Source::Input(*input)))
    }

    /// Returns the step with this name in the block itself, or in the plan.
    pub(crate) fn own_step_named(&mut self, name: &str, place: Range<usize>) -> Option<usize> {
        if let Some(index) = self.builder.step_of(name) {
            return Some(index);
        }
        if self.builder.id_around(name).is_some() {
            let message = format!("`{}` is a step outside of this block", short(name));
            let note = Note::error(Code::UnknownStep, place, message);
            let help = "`after` can name only steps of the same block; to wait for a step outside, put `after` on the step that contains the block";
            return self.builder.error(note.help(help.to_owned()));
        }
        self.unknown_step(name, place)
    }

    pub(crate) fn unknown_step<T>(&mut self, name: &str, place: Range<usize>) -> Option<T> {
        if self.is_input(name) {
            let message = format!("`{}` is an input, not a step", short(name));
            return self.error(Code::UnknownStep, place, message);
        }
        self.builder.known_step(name, place);
        None
    }

    /// Returns `true` if the name belongs to an input, here or at an enclosing level.
    pub(crate) fn is_input(&self, name: &str) -> bool {
        let levels = 0..=self.around.len();
        let mut names = levels.filter_map(|level| self.names_at(level));
        names.any(|names| names.contains_key(name))
    }

    /// Returns all names of inputs that a block can use, including those of enclosing levels.
    pub(crate) fn input_names(&self) -> Vec<&str> {
        let mut all = Vec::new();
        for level in (0..=self.around.len()).rev() {
            let names = self.names_at(level).into_iter().flatten();
            let mut names: Vec<_> = names.map(|(name, at)| (at.0, name.as_str())).collect();
            names.sort_unstable();
            all.extend(names.into_iter().map(|(_, name)| name));
        }
        let mut seen = std::collections::HashSet::new();
        all.retain(|name| seen.insert(*name));
        all
    }

    /// Converts a reference to an enclosing local value: its first part becomes an input of the block, and the path continues from
    /// that input.
    pub(crate) fn local_around(
        &mut self,
        level: usize,
        depth: usize,
        reference: &mut Reference,
        place: Range<usize>,
    ) -> Option<(Source, String)> {
        let source = Source::Local(depth);
        let own = source.name();
        let locals = &self.around[level].locals;
        if let Some(mistake) = locals[depth].unnamed(reference.path()) {
            let note = Note::error(Code::UnknownLocal, place, format!("this {mistake}"));
            let help = "the pattern `x` names the whole value, and `(a, b)` the parts of a pair";
            return self.builder.error(note.help(help.to_owned()));
        }
        let Some((name, rest)) = seen(source, &own, reference.path(), locals) else {
            let message = format!("this reads `{own}`, but a pattern around it binds `{own}`");
            let note = Note::error(Code::DuplicateId, place, message);
            let help = "a reference could mean either, so rename one of them";
            return self.builder.error(note.help(help.to_owned()));
        };
        let (name, optional) = (name.to_owned(), rest.optional);
        let rest = rest.segments.len();
        let mut outside = Reference::new(source);
        let first = reference.path.len() - rest;
        outside.path = reference.path.drain(..first).collect();
        for segment in &mut outside.path {
            segment.optional = false;
        }
        reference.optional = optional;
        reference.source = self.bring_in(level, outside, &name, place)?;
        Some((reference.source, name))
    }

    /// Adds a value of a level as an input of all blocks from that level to this one.
    pub(super) fn bring_in(
        &mut self,
        level: usize,
        reference: Reference,
        name: &str,
        place: Range<usize>,
    ) -> Option<Source> {
        let kind = if reference.is_whole() {
            self.kind_at(level, reference.source)
        } else {
            ReadKind::Value
        };
        let mut template = Template::from(reference.said(name, Some(name)));
        let mut found = None;
        for level in level + 1..=self.around.len() {
            let index = match self.names_at(level).and_then(|names| names.get(name)) {
                Some((index, _)) => {
                    let index = *index;
                    if self.reads_at(level)[index].template != template {
                        return self.taken("an input of the block", name, place);
                    }
                    index
                }
                None if self.builder.step_at(level, name).is_some() => {
                    return self.taken("a step of the block", name, place);
                }
                None => {
                    let place = place.clone();
                    self.builder.count(VALUES_OF_STEP, place.clone());
                    let reads = self.reads_at(level);
                    let index = reads.len();
                    reads.push(BlockRead {
                        name: name.to_owned(),
                        template,
                        place: place.clone(),
                        kind,
                    });
                    self.name_at(level, name, index, place);
                    index
                }
            };
            let inside = Reference::new(Source::Input(index));
            template = inside.said(name, Some(name)).into();
            found = Some(Source::Input(index));
        }
        found
    }

    fn name_at(&mut self, level: usize, name: &str, index: usize, place: Range<usize>) {
        let names = match (self.around.get_mut(level), &mut self.names) {
            (Some(around), _) => &mut around.names,
            (None, IdKind::InPlan(names)) => names,
            (None, IdKind::Places) => return,
        };
        names.insert(name.to_owned(), (index, place));
    }

    fn taken<T>(&mut self, what: &str, name: &str, place: Range<usize>) -> Option<T> {
        let name = short(name);
        let message = format!("this reads `{name}` around the block, but {what} has that name");
        let note = Note::error(Code::DuplicateId, place, message);
        let help = "a reference could mean either, so rename one of them";
        self.builder.error(note.help(help.to_owned()))
    }

    /// Reports the ID of a step that is the name of an input, and returns `false` for it.
    pub(crate) fn is_no_input(&mut self, id: &str, place: Range<usize>) -> bool {
        let IdKind::InPlan(inputs) = &self.names else {
            return true;
        };
        let Some((_, input)) = inputs.get(id) else {
            return true;
        };
        let message = format!("the step `{}` has the name of an input", short(id));
        let note = Note::error(Code::DuplicateId, place, message);
        let note = note.related(input.clone(), "the input is here");
        let help = "steps and inputs need different names: rename one of them".to_owned();
        self.builder.note(note.help(help));
        false
    }

    /// Refuses the ID of a step in a block that also names an enclosing step or value.
    pub(crate) fn is_new(&mut self, id: &str, place: Range<usize>) {
        if self.around.is_empty() || id == Block::TAIL {
            return;
        }
        let mut around = self.around.iter().rev();
        let input = around.find_map(|around| Some(around.names.get(id)?.1.clone()));
        let Some(first) = self.builder.id_around(id).or(input) else {
            return;
        };
        let id = short(id);
        let message = format!("the step `{id}` has the name of something around its block");
        let note = Note::error(Code::DuplicateId, place, message);
        let note = note.related(first, format!("the other `{id}` is here"));
        let help = "a reference could mean either, so rename one of them".to_owned();
        self.builder.note(note.help(help));
    }
}

/// Returns the local value with this name in a pattern, or the part of a local value.
fn local_named(locals: &[Bound], name: &str) -> Option<Reference> {
    let depth = locals.iter().rposition(|bound| bound.binds(name))?;
    let whole = Reference::new(Source::Local(depth));
    Some(match locals[depth].part(name)? {
        Some(part) => whole.index(part),
        None => whole,
    })
}
