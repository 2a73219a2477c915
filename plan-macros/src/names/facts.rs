//! The results of name resolution for each node of a plan. Name resolution does not change the tree.

use super::Names;
use crate::ast::{
    Block, Body, Computed, Condition, Field, List, Loop, Reference, Step, Test, Value,
};
use proc_macro2::Span;
use std::collections::HashMap;
use std::marker::PhantomData;
use syn::{Expr, Ident, Member};

/// The meaning of a name in a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Source {
    /// The step of this number.
    Step(usize),
    /// The input with this index.
    Input(usize),
}

/// A use of a step or an input.
#[derive(Clone)]
pub(crate) struct Mention {
    pub(crate) name: Ident,
    pub(crate) source: Source,
    /// `true` if Rust code or a whole reference uses the complete value.
    pub(crate) whole: bool,
}

/// A name from outside a block that the block mentions.
pub(crate) struct Capture {
    pub(crate) name: Ident,
    pub(crate) of: Captured,
}

/// A value that a block takes from outside.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Captured {
    Source(Source),
    Local(Local),
}

/// The failures among the values of a reference.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Outcome {
    #[default]
    None,
    /// The reference leads to the `Result` of a step, and not into the `Result`.
    One,
    /// The reference leads to the list of the `Result`s of a step with `#[catch(each)]`.
    Each,
}

/// A name that a `for` or an `if let` binds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Local {
    /// The number of bindings around its own.
    pub(crate) frame: usize,
    /// The index of the name in its pattern; `None` if the name is bound to the whole element.
    pub(crate) part: Option<usize>,
}

/// The names in a Rust expression.
#[derive(Default)]
pub(crate) struct ComputedNames {
    /// The steps and inputs that the expression mentions, in order of first mention.
    pub(crate) sources: Vec<Ident>,
    /// The fields of these steps and inputs.
    pub(crate) fields: Vec<(Ident, Member)>,
    /// The names that a `for` or an `if let` around the expression binds and that the expression mentions.
    pub(crate) locals: Vec<(Ident, Local)>,
    /// `true` if a `?` in the expression may fail the step.
    pub(crate) asks: bool,
}

/// A resolved Rust expression.
pub(super) struct ComputedFacts {
    /// The expression with its uses of steps and inputs dereferenced.
    pub(super) expr: Expr,
    pub(super) names: ComputedNames,
    /// `true` if the plan has all names of the expression's test.
    pub(super) is_test: bool,
}

/// The names that a block takes from outside, and the uses of its own steps after them.
#[derive(Default)]
pub(super) struct BlockFacts {
    pub(super) captures: Vec<Capture>,
    /// The mentions in a value at the end of the block, and in the condition of a loop.
    pub(super) mentions: Vec<Mention>,
}

/// Facts about nodes of one type. The key is the address of a node, which cannot change: the table borrows the tree.
pub(super) struct FactTable<'t, N, F> {
    facts: HashMap<*const N, F>,
    tree: PhantomData<&'t N>,
}

impl<N, F> Default for FactTable<'_, N, F> {
    fn default() -> Self {
        Self {
            facts: HashMap::new(),
            tree: PhantomData,
        }
    }
}

impl<'t, N, F> FactTable<'t, N, F> {
    pub(super) fn insert(&mut self, node: &'t N, fact: F) {
        self.facts.insert(node, fact);
    }

    pub(super) fn get(&self, node: &N) -> Option<&F> {
        self.facts.get(&std::ptr::from_ref(node))
    }

    /// Returns the fact about a node, or the default.
    pub(super) fn of(&self, node: &N) -> F
    where
        F: Copy + Default,
    {
        self.get(node).copied().unwrap_or_default()
    }

    pub(super) fn get_mut(&mut self, node: &N) -> Option<&mut F> {
        self.facts.get_mut(&std::ptr::from_ref(node))
    }
}

/// The facts about the values of a plan.
#[derive(Default)]
pub(crate) struct Facts<'t> {
    /// The mentions of each step, by its number. They include mentions in its blocks of names from outside the blocks.
    pub(super) mentions: Vec<Vec<Mention>>,
    /// The mentions in the output of the plan.
    pub(crate) output: Vec<Mention>,
    pub(super) blocks: FactTable<'t, Block, BlockFacts>,
    pub(super) locals: FactTable<'t, Reference, Local>,
    pub(super) outcomes: FactTable<'t, Reference, Outcome>,
    pub(super) computed: FactTable<'t, Computed, ComputedFacts>,
    /// The calls of the plan itself, each with the body that replaces the call.
    pub(super) calls_of_plan: FactTable<'t, Body, Body>,
    /// The values, lists and conditions with an error, which is reported.
    pub(super) broken: FactTable<'t, Value, ()>,
    pub(super) broken_lists: FactTable<'t, List, ()>,
    pub(super) broken_conditions: FactTable<'t, Condition, ()>,
    /// The names that `for` and `if let` bind, without the names of fields.
    pub(crate) bound: Vec<Ident>,
    /// The names that `for` and `if let` bind and that nothing mentions, with `true` for the name of a field.
    pub(crate) unused: Vec<(Ident, bool)>,
    /// The strings with names in braces, each with the call of `format!` that is probably meant.
    pub(crate) braces: Vec<(Span, String)>,
}

impl Names<'_> {
    /// Returns the number of a step among all steps. The steps of the plan itself come first, then the steps of each
    /// block.
    pub(crate) fn number(&self, step: &Step) -> usize {
        self.numbers.of(step)
    }

    pub(crate) fn source(&self, step: &Step) -> Source {
        Source::Step(self.number(step))
    }

    /// Returns the step of a source.
    pub(super) fn step(&self, source: Source) -> Option<&Step> {
        match source {
            Source::Step(number) => self.steps.get(number).copied(),
            Source::Input(_) => None,
        }
    }

    /// Returns the number of a block among all blocks, counted from 1.
    pub(crate) fn scope(&self, block: &Block) -> usize {
        self.numbers_of_blocks.of(block)
    }

    /// Returns the scope of the names in the condition of a loop.
    pub(crate) fn scope_of_condition(&self, repeat: &Loop) -> usize {
        self.numbers_of_loops.of(repeat)
    }

    /// Returns the steps that the `#[after(…)]` of a step names.
    pub(crate) fn after<'s>(&self, step: &'s Step) -> impl Iterator<Item = &'s Ident> + Clone {
        let scope = self.scope_of(self.source(step));
        let is_step = move |name: &&Ident| matches!(self.own(scope, name), Some(Source::Step(_)));
        step.after.iter().filter(is_step)
    }

    /// Returns the mentions of a step, in order. They include mentions in its blocks of names from outside the blocks.
    pub(crate) fn mentions(&self, step: &Step) -> &[Mention] {
        let mentions = self.facts.mentions.get(self.number(step));
        mentions.map_or(&[], Vec::as_slice)
    }

    /// Returns the mentions in a value at the end of a block, and in the condition of a loop.
    pub(crate) fn mentions_after(&self, block: &Block) -> &[Mention] {
        let block = self.facts.blocks.get(block);
        block.map_or(&[], |block| &block.mentions)
    }

    /// Returns all mentions in the plan and its blocks.
    pub(crate) fn all_mentions(&self) -> impl Iterator<Item = &Mention> {
        let steps = self.steps.iter().flat_map(|step| {
            let mut mentions: Vec<_> = self.mentions(step).iter().collect();
            let mut after = |block| mentions.extend(self.mentions_after(block));
            step.body.blocks(&mut after);
            mentions
        });
        steps.chain(&self.facts.output)
    }

    /// Returns the names from outside that a block mentions, in order.
    pub(crate) fn captures(&self, block: &Block) -> &[Capture] {
        let block = self.facts.blocks.get(block);
        block.map_or(&[], |block| &block.captures)
    }

    /// Returns the binding of a reference's first name, if a `for` or an `if let` binds the name.
    pub(crate) fn local(&self, reference: &Reference) -> Option<Local> {
        self.facts.locals.get(reference).copied()
    }

    pub(crate) fn outcome(&self, reference: &Reference) -> Outcome {
        self.facts.outcomes.of(reference)
    }

    /// Returns an expression with its uses of steps and inputs dereferenced.
    pub(crate) fn expr<'c>(&'c self, computed: &'c Computed) -> &'c Expr {
        let facts = self.facts.computed.get(computed);
        facts.map_or(&computed.expr, |facts| &facts.expr)
    }

    pub(crate) fn names_in(&self, computed: &Computed) -> &ComputedNames {
        let facts = self.facts.computed.get(computed);
        facts.map_or(&self.no_names, |facts| &facts.names)
    }

    /// Returns an expression as data, if it has the form of a test.
    pub(crate) fn test<'c>(&self, computed: &'c Computed) -> Option<&'c Test> {
        let facts = self.facts.computed.get(computed)?;
        computed.test.as_deref().filter(|_| facts.is_test)
    }

    pub(crate) fn body<'b>(&'b self, body: &'b Body) -> &'b Body {
        self.facts.calls_of_plan.get(body).unwrap_or(body)
    }

    /// Returns a value, or [`Value::Broken`] for a value with an error.
    pub(crate) fn value<'v>(&self, value: &'v Value) -> &'v Value {
        match self.facts.broken.get(value) {
            Some(()) => &Value::Broken,
            None => value,
        }
    }

    /// Returns a condition, or [`Condition::Broken`] for a condition with an error.
    pub(crate) fn condition<'c>(&self, condition: &'c Condition) -> &'c Condition {
        match self.facts.broken_conditions.get(condition) {
            Some(()) => const { &Condition::Broken(Vec::new()) },
            None => condition,
        }
    }

    pub(crate) fn list<'l>(&self, list: &'l List) -> &'l List {
        match self.facts.broken_lists.get(list) {
            Some(()) => &List::Broken,
            None => list,
        }
    }

    /// Returns `true` for a field that is left out because its name is unknown: a name alone that may mean the field or the value.
    pub(crate) fn is_unknown(&self, field: &Field) -> bool {
        field.shorthand && matches!(self.value(&field.value), Value::Broken)
    }
}
