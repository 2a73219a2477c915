//! The types of a plan's steps and inputs, from the contracts.

use super::guards::Guards;
use super::input;
use super::local::Local;
use super::path::Given;
use super::replacement::{Replacement, literal};
use crate::dynamic::dialects::Rules;
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::schema::{Type, Work};
use crate::dynamic::spans::Spans;
use crate::dynamic::{Contracts, Profile};
use crate::plan::{
    Block, Body, Catch, Loop, Optional, Plan, Policy, Reference, Role, Source, Step, Template,
};
use crate::resolve::describe::short;
use std::collections::HashMap;
use std::ops::Range;

/// Maximum size of a fallback whose parts are checked separately.
const LARGEST_FALLBACK: usize = 1024;

/// A plan with the contracts of its tools and the types of its computed steps.
#[derive(Clone, Copy)]
pub(super) struct Outputs<'a, 'c> {
    pub(super) plan: &'a Plan,
    /// The document.
    pub(super) text: &'a str,
    pub(super) spans: &'a Spans,
    pub(super) rules: &'static Rules,
    pub(super) profile: Profile,
    pub(super) contracts: &'a Contracts,
    pub(super) work: &'a Work,
    /// The types of the steps that compute their values from other steps.
    pub(super) computed: &'c Computed<'a>,
    /// The role of the reading step, on which the type of an output depends.
    pub(super) reader: Role,
    /// The inputs of the block, if it is one.
    pub(super) block: Option<&'c [BlockInput<'a>]>,
    /// All of the document could be read, so that null is null.
    pub(super) is_whole: bool,
    /// The innermost local value.
    pub(super) locals: Option<&'c Local<'a, 'c>>,
}

/// A reference, with the types of its plan.
#[derive(Clone, Copy)]
pub(super) struct KnownReference<'a, 'r> {
    pub(super) known: &'r Outputs<'a, 'r>,
    pub(super) reference: &'r Reference,
}

/// An input of a block: a value of the enclosing plan.
pub(super) struct BlockInput<'a> {
    given: Given<'a>,
    /// The name of the input in messages.
    pub(super) whose: String,
    /// The untyped input of the whole plan that the block passes on.
    pub(super) untyped: Option<usize>,
    /// The input is the whole output of an outer step with the same name, which references call a step.
    is_step: bool,
}

/// The plan with the types of all its steps.
pub(super) type KnownOutputs<'a> = Outputs<'a, 'a>;

pub(super) type Computed<'a> = HashMap<usize, Given<'a>>;

fn computes(body: &Body) -> bool {
    match body {
        Body::Action(action) => action.tool.is_none(),
        Body::Block(_) | Body::Loop(_) => true,
        Body::Await(_) => false,
        Body::If(branches) => branches.iter().any(|branch| computes(&branch.body)),
        Body::For(each) => computes(&each.body),
    }
}

impl<'a> Outputs<'a, '_> {
    /// Returns the types of the computed steps, in the order of their dependencies.
    pub(super) fn compute(self) -> Computed<'a> {
        let mut computed = Computed::new();
        let steps = &self.plan.steps;
        let mut computing: Vec<usize> = (0..steps.len())
            .filter(|&step| computes(&steps[step].body))
            .collect();
        if computing.is_empty() {
            return computed;
        }
        // Steps in a cycle have no level, and have an error.
        let levels = self.plan.needs().levels();
        computing.sort_by_key(|&step| levels.get(step).copied().flatten());
        for index in computing {
            let known = Outputs {
                computed: &computed,
                reader: steps[index].role,
                ..self
            };
            let given = known.of_step(index, &steps[index]);
            computed.insert(index, given);
        }
        computed
    }

    pub(super) fn reference<'r>(&'r self, reference: &'r Reference) -> KnownReference<'a, 'r> {
        let known = self;
        KnownReference { known, reference }
    }

    /// Returns the note for a value that no schema describes.
    pub(super) fn unchecked(&self, place: Range<usize>, message: String) -> Note {
        Note::error(Code::Unchecked, place, message).warn_if(self.profile != Profile::Typed)
    }

    pub(super) fn is_broken(&self, at: usize) -> bool {
        self.spans.templates.is_broken(at)
    }

    fn is_broken_step(&self, index: usize) -> bool {
        let spans = self.spans.steps.get(index);
        spans.is_some_and(|spans| spans.broken)
    }

    /// Returns the place of a template in the document.
    pub(super) fn place(&self, at: usize) -> Range<usize> {
        let template = self.spans.templates.get(at);
        template.map_or(0..0, |template| template.value.range())
    }

    /// Returns `true` if an input has no stated type.
    pub(super) fn has_untyped(&self) -> bool {
        match self.block {
            Some(reads) => reads.iter().any(|read| read.untyped.is_some()),
            None => !self.spans.untyped.is_empty(),
        }
    }

    /// Returns `true` if the enclosing plan has a finding for the unknown type of a source.
    pub(super) fn is_unknown_around(&self, source: Source) -> bool {
        let given = match source {
            Source::Step(_) => None,
            Source::Input(index) => {
                let read = self.block.and_then(|reads| reads.get(index));
                read.map(|read| read.given.clone())
            }
            Source::Local(depth) => self.of_local(depth),
        };
        given.is_some_and(|given| given.ty.beyond().is_some())
    }

    /// Returns the inputs of a block. The first input of a round may be the previous round's value.
    pub(super) fn block_inputs(
        &self,
        block: &'a Block,
        last: Option<Given<'a>>,
    ) -> Vec<BlockInput<'a>> {
        let reads = block.reads().unwrap_or_default().into_iter();
        let mut last = last;
        let reads = reads.map(|(name, template)| {
            let last = last.take();
            let (whose, untyped) = match template {
                Template::Reference(reference)
                    if reference.is_whole() || matches!(reference.source, Source::Local(_)) =>
                {
                    let read = self.reference(reference);
                    (read.whose(), read.untyped_input())
                }
                _ if last.is_some() => (variable(name), None),
                _ => (format!("the input `{}`", short(name)), None),
            };
            let is_step = match template {
                Template::Reference(it) => {
                    it.is_whole()
                        && self.plan.name_of(it.source) == Some(name)
                        && self.is_step(it.source)
                }
                _ => false,
            };
            BlockInput {
                is_step,
                given: last.unwrap_or_else(|| self.of_template(template)),
                whose,
                untyped,
            }
        });
        reads.collect()
    }

    /// Returns `true` for a step of the plan, or of an enclosing plan by the same name.
    pub(super) fn is_step(&self, source: Source) -> bool {
        match source {
            Source::Step(_) => true,
            Source::Input(index) => {
                let read = self.block.and_then(|reads| reads.get(index));
                read.is_some_and(|read| read.is_step)
            }
            Source::Local(_) => false,
        }
    }

    /// Returns the values that a round reads.
    pub(super) fn round_inputs(&self, repeat: &'a Loop) -> Vec<BlockInput<'a>> {
        let mut reads = self.block_inputs(&repeat.round, self.last(repeat));
        if let (true, Some(last), Template::Reference(value)) = (
            repeat.last,
            reads.first_mut(),
            &repeat.round.plan.output.value,
        ) {
            let mut guards = Guards::default();
            guards.add(&repeat.again, true);
            last.given.present = guards.inside(value);
        }
        reads
    }

    /// Returns the previous round's value, if the loop reads it.
    pub(super) fn last(&self, repeat: &'a Loop) -> Option<Given<'a>> {
        let name = &repeat
            .round
            .plan
            .inputs
            .first()
            .filter(|_| repeat.last)?
            .name;
        let mut last = self.of_round(repeat);
        last.nullable(format!("in the first round, `{}` is null", short(name)));
        Some(last)
    }

    /// Returns the value of a round. Its type is unknown if the type follows from the previous round's value.
    fn of_round(&self, repeat: &'a Loop) -> Given<'a> {
        let mut given = self.of_block(&repeat.round, repeat.last.then(Given::trusted));
        if repeat.last && given.ty.has_trusted() {
            given.ty = Type::any();
        }
        given
    }

    /// Returns the value of a block.
    fn of_block(&self, block: &'a Block, last: Option<Given<'a>>) -> Given<'a> {
        let (reads, nothing) = (self.block_inputs(block, last), Computed::new());
        let inside = self.inside(block, Spans::NONE, &reads, &nothing);
        let computed = inside.compute();
        let inside = Outputs {
            computed: &computed,
            ..inside
        };
        inside.of_template(&block.plan.output.value)
    }

    /// Returns the plan of a block, whose computed steps have no types yet.
    pub(super) fn inside<'d>(
        self,
        block: &'a Block,
        spans: &'a Spans,
        reads: &'d [BlockInput<'a>],
        computed: &'d Computed<'a>,
    ) -> Outputs<'a, 'd>
    where
        Self: 'd,
    {
        Outputs {
            plan: &block.plan,
            spans,
            computed,
            reader: Role::Work,
            block: Some(reads),
            locals: None,
            ..self
        }
    }

    /// Returns `true` if the input has no stated type.
    pub(super) fn is_untyped(&self, input: usize) -> bool {
        self.spans.untyped.binary_search(&input).is_ok()
    }

    /// Returns the value of a source for the reading step.
    pub(super) fn given(&self, source: Source) -> Given<'a> {
        if let Source::Step(index) = source
            && let Some(step) = self.plan.steps.get(index)
        {
            match self.reader {
                Role::Undo(undone) if undone == index => {
                    return self.of_body(&step.body, &Policy::DEFAULT, false);
                }
                _ if self.is_caught(source) => return self.of_source(source).caught(self.work),
                _ => {}
            }
        }
        self.of_source(source)
    }

    /// Returns `true` for a step that passes a `Result` only to always steps, such as the reading step.
    pub(super) fn is_caught(&self, source: Source) -> bool {
        let step = match source {
            Source::Step(index) => self.plan.steps.get(index),
            Source::Input(_) | Source::Local(_) => None,
        };
        self.reader == Role::Always && step.is_some_and(|it| it.policy.catch != Catch::Whole)
    }

    /// Returns the value of a source for a step without a role.
    fn of_source(&self, source: Source) -> Given<'a> {
        match source {
            // A broken step has a finding, and its intended output is unknown.
            Source::Step(index) if self.is_broken_step(index) => None,
            Source::Step(index) => match self.plan.steps.get(index) {
                Some(step) if computes(&step.body) => self.computed.get(&index).cloned(),
                step => step.map(|step| self.of_step(index, step)),
            },
            Source::Input(index) if self.block.is_some() => {
                let read = self.block.and_then(|reads| reads.get(index));
                read.map(|read| read.given.clone())
            }
            Source::Input(index) => {
                let input = self.plan.inputs.get(index);
                input.map(|input| match &*input.type_name {
                    _ if self.is_untyped(index) => Given::typed(Type::any()),
                    stated => Given::typed(input::stated(stated)),
                })
            }
            Source::Local(depth) => self.of_local(depth),
        }
        .unwrap_or_else(Given::trusted)
    }

    fn of_step(&self, index: usize, step: &'a Step) -> Given<'a> {
        let policy = &step.policy;
        let mut given = self.of_body(&step.body, policy, true);
        let id = (self.rules.step)(index, &step.id);
        if policy.catch == Catch::Whole {
            return given.caught(self.work);
        }
        if let Some(fallback) = &policy.fallback {
            let replacement = Replacement {
                value: serde_json::Value::Null,
                lists: 0,
                when: format!("{id} fails"),
                place: self.last_template(index, step),
            };
            self.fall_back(&mut given, fallback, &replacement);
        }
        if policy.optional == Optional::Whole && policy.fallback.is_none() {
            given.nullable(format!("the optional {id} may fail"));
        }
        if matches!(step.body, Body::If(_)) && given.absent.is_some() {
            given.absent = Some(format!("if {id} is skipped, its output is null"));
        }
        given
    }

    /// Returns the position of the last template of a step, such as the fallback.
    fn last_template(&self, index: usize, step: &Step) -> Option<Range<usize>> {
        let templates = &self.spans.templates;
        let mut next = self.spans.steps.get(index)?.templates();
        let mut last = next;
        step.templates(&mut |_, _| (last, next) = (next, templates.after(next)));
        Some(templates.get(last)?.value.range())
    }

    /// Adds the value that the plan has for a failure.
    fn fall_back(&self, given: &mut Given<'a>, fallback: &'a Template, when: &Replacement) {
        if let Template::Null = fallback {
            return given.nullable(format!("if {}, its output is null", when.when));
        }
        given.present.clear();
        let mut room = LARGEST_FALLBACK;
        match literal(fallback, &mut room) {
            Some(value) => given.replaced.push(when.with(value)),
            None => {
                let other = self.of_template(fallback).in_value();
                let ty = std::mem::replace(&mut given.ty, Type::none());
                given.ty = ty.or(other);
            }
        }
    }

    /// Returns the value of a body under this policy. An undone step was not skipped.
    fn of_body(&self, body: &'a Body, policy: &Policy, may_skip: bool) -> Given<'a> {
        match body {
            Body::Action(action) => match (&action.tool, &action.args) {
                (Some(tool), _) => {
                    // An unknown tool has a finding.
                    let Some(contract) = self.contracts.get(&tool.name) else {
                        return Given::trusted();
                    };
                    let schema = contract.output.as_ref();
                    Given::typed(schema.map_or_else(Type::any, |it| Type::of(it, self.work)))
                }
                (None, value) => self.of_template(value),
            },
            Body::Block(block) => self.of_block(block, None),
            Body::Loop(repeat) => {
                let given = self.of_round(repeat);
                if !policy.collect {
                    return given;
                }
                Given::typed(Type::list(given.in_value()))
            }
            Body::Await(wait) => Given::typed(input::stated(&wait.type_name)),
            Body::If(branches) => {
                let mut all = Given::typed(Type::none());
                for branch in branches {
                    let mut of_body =
                        |it: Outputs<'a, '_>| it.of_body(&branch.body, policy, may_skip);
                    let given = self.within(&branch.conditions, &mut of_body);
                    all.ty = all.ty.or(given.ty);
                    all.absent = all.absent.or(given.absent);
                    all.replaced.extend(given.replaced);
                }
                let last = branches.last();
                if may_skip && !last.is_some_and(|branch| branch.conditions.is_empty()) {
                    all.nullable(String::new());
                }
                all
            }
            Body::For(each) => {
                let mut element = if self.may_bind() {
                    let local = self.element(each, None);
                    self.with(&local).of_body(&each.body, policy, true)
                } else {
                    self.of_body(&each.body, policy, true)
                };
                // A list that fails ends the step.
                if !matches!(each.body, Body::For(_)) {
                    if policy.optional == Optional::Each {
                        element.nullable(String::new());
                    }
                    if policy.catch == Catch::Each {
                        element = element.caught(self.work);
                    }
                }
                Given::typed(Type::list(element.in_value()))
            }
        }
    }
}

/// Returns the name of a variable in messages.
pub(super) fn variable(name: &str) -> String {
    format!("the variable `{}`", short(name))
}
