//! The plan or the block whose parts are being written, with the names in it.

use crate::Plan;
use crate::plan::{Bound, Reference, Source, Template, seen};
use std::collections::{HashMap, HashSet};

/// A plan, or a block of one.
pub(crate) struct Scope<'p> {
    pub(crate) plan: &'p Plan,
    pub(crate) ids: HashMap<&'p str, usize>,
    /// The first input of each name.
    pub(crate) inputs: HashMap<&'p str, usize>,
    /// The inputs with the value of the previous round.
    pub(super) last: HashSet<usize>,
    /// The local values around the part that is being written.
    pub(super) locals: Vec<Bound>,
    /// The step whose parts are being written. `None` for the output, and for the end of the steps.
    pub(super) current: Option<usize>,
}

impl<'p> Scope<'p> {
    pub(super) fn of(plan: &'p Plan) -> Self {
        let ids = plan.steps.iter().enumerate();
        let inputs = plan.inputs.iter().enumerate().rev();
        Self {
            plan,
            ids: ids.map(|(index, step)| (step.id.as_ref(), index)).collect(),
            inputs: inputs
                .map(|(index, input)| (input.name.as_str(), index))
                .collect(),
            last: HashSet::new(),
            locals: Vec::new(),
            current: None,
        }
    }

    /// Returns the local value with this name in a pattern, and the part of the local value that the name means.
    pub(super) fn local(&self, name: &str) -> Option<(usize, Option<usize>)> {
        let locals = self.locals.iter().enumerate().rev();
        let mut named = locals.filter_map(|(depth, bound)| Some((depth, bound.named(name)?)));
        named.next()
    }

    /// Returns `true` if a value is the whole value of the previous round.
    pub(super) fn is_last(&self, value: &Template) -> bool {
        match value {
            Template::Reference(reference) if reference.is_whole() => match reference.source {
                Source::Input(input) => self.last.contains(&input),
                Source::Step(_) | Source::Local(_) => false,
            },
            _ => false,
        }
    }

    /// Returns a reference as its first name and the rest of its path. Returns `None` if a pattern hides the source, or has no name for
    /// it.
    pub(super) fn named(&self, reference: &Reference) -> Option<(String, Reference)> {
        let source = reference.source;
        let own = match source {
            Source::Local(_) => source.name(),
            _ => self.plan.name_of(source)?.to_owned(),
        };
        let (name, path) = seen(source, &own, reference.path(), &self.locals)?;
        if let Source::Local(depth) = source {
            self.locals.get(depth)?.named(name)?;
        }
        let mut rest = Reference::new(source);
        rest.optional = path.optional;
        rest.path = path.segments.to_vec();
        rest.otherwise.clone_from(&reference.otherwise);
        Some((name.to_owned(), rest))
    }
}
