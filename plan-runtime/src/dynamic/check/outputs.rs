//! What a plan's steps and inputs give, as far as contracts say.

use super::input;
use super::local::Local;
use super::path::Given;
use crate::dynamic::schema::{Type, Work};
use crate::dynamic::spans::Spans;
use crate::dynamic::{Contracts, Dialect, Profile};
use crate::plan::{
    Block, Body, Catch, Loop, Optional, Plan, Policy, Reference, Role, Source, Step, Template,
};
use crate::resolve::describe::short;
use std::collections::HashMap;
use std::ops::Range;

/// A plan with what is known of its tools. What computed steps give is known once all of them were looked at.
#[derive(Clone, Copy)]
pub(super) struct Outputs<'a, 'c> {
    pub(super) plan: &'a Plan,
    /// The document.
    pub(super) text: &'a str,
    pub(super) spans: &'a Spans,
    pub(super) dialect: Dialect,
    pub(super) profile: Profile,
    pub(super) contracts: &'a Contracts,
    pub(super) work: &'a Work,
    /// What those steps give that compute it from what others give.
    pub(super) computed: &'c Computed<'a>,
    /// What the step is for that reads them: the outputs are not the same for all.
    pub(super) reader: Role,
    /// The inputs of the block, if it is one.
    pub(super) block: Option<&'c [BlockInput<'a>]>,
    /// The innermost local value.
    pub(super) locals: Option<&'c Local<'a, 'c>>,
}

/// An input of a block: a value from around it.
pub(super) struct BlockInput<'a> {
    given: Given<'a>,
    /// What messages call it.
    pub(super) whose: String,
    /// The input of the whole plan that it is, if nobody stated the type of that.
    untyped: Option<usize>,
}

/// The same, when all is known.
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
    /// What the steps give that compute it, each after those that it is computed from.
    pub(super) fn compute(self) -> Computed<'a> {
        let mut computed = Computed::new();
        let steps = &self.plan.steps;
        let mut computing: Vec<usize> = (0..steps.len())
            .filter(|&step| computes(&steps[step].body))
            .collect();
        if computing.is_empty() {
            return computed;
        }
        // Steps that wait for one another have no level, and are an error of their own.
        let levels = self.plan.needs().levels();
        computing.sort_by_key(|&step| levels.get(step).copied().flatten());
        for index in computing {
            let known = Outputs {
                computed: &computed,
                reader: steps[index].role,
                ..self
            };
            let given = known.of_step(&steps[index]);
            computed.insert(index, given);
        }
        computed
    }

    pub(super) fn is_broken(&self, at: usize) -> bool {
        self.spans.templates.is_broken(at)
    }

    fn is_broken_step(&self, index: usize) -> bool {
        let spans = self.spans.steps.get(index);
        spans.is_some_and(|spans| spans.broken)
    }

    /// Where a template is in the document.
    pub(super) fn place(&self, at: usize) -> Range<usize> {
        let template = self.spans.templates.get(at);
        template.map_or(0..0, |template| template.value.range())
    }

    /// The input whose type nobody stated, where a reference is to the whole of it.
    pub(super) fn untyped_input(&self, reference: &Reference) -> Option<usize> {
        match reference.source {
            Source::Input(index) if reference.path.is_empty() => match self.block {
                Some(reads) => reads.get(index)?.untyped,
                None => self.is_untyped(index).then_some(index),
            },
            _ => None,
        }
    }

    /// Whether nobody said what types some inputs have.
    pub(super) fn has_untyped(&self) -> bool {
        match self.block {
            Some(reads) => reads.iter().any(|read| read.untyped.is_some()),
            None => !self.spans.untyped.is_empty(),
        }
    }

    /// Whether it was said already why it is not known what a source gives.
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

    /// What a block reads. The first input of a round is the value of the round before, if it has this.
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
                    (self.whose(reference), self.untyped_input(reference))
                }
                _ if last.is_some() => (variable(name), None),
                _ => (format!("the input `{}`", short(name)), None),
            };
            BlockInput {
                given: last.unwrap_or_else(|| self.of_template(template)),
                whose,
                untyped,
            }
        });
        reads.collect()
    }

    /// What the rounds of a loop have of the round before, if they read it.
    pub(super) fn last(&self, repeat: &'a Loop) -> Option<Given<'a>> {
        let name = &repeat
            .round
            .plan
            .inputs
            .first()
            .filter(|_| repeat.last)?
            .name;
        let mut last = self.of_block(&repeat.round, Some(Given::any()));
        last.nullable(format!("in the first round, `{}` is null", short(name)));
        Some(last)
    }

    /// What a block gives.
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

    /// The same for what is in a block, whose computed steps are not known yet.
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
            text: self.text,
            spans,
            dialect: self.dialect,
            profile: self.profile,
            contracts: self.contracts,
            work: self.work,
            computed,
            reader: Role::Work,
            block: Some(reads),
            locals: None,
        }
    }

    /// Whether nobody said what type an input has.
    fn is_untyped(&self, input: usize) -> bool {
        self.spans.untyped.binary_search(&input).is_ok()
    }

    /// What a source gives to the step that reads it.
    pub(super) fn given(&self, source: Source) -> Given<'a> {
        if let Source::Step(index) = source
            && let Some(step) = self.plan.steps.get(index)
        {
            match self.reader {
                Role::Undo(undone) if undone == index => return self.of_call(&step.body),
                Role::Always if step.policy.catch != Catch::Whole => {
                    return self.of_source(source).caught(self.work);
                }
                _ => {}
            }
        }
        self.of_source(source)
    }

    /// What a body gives if a call in it succeeds.
    fn of_call(&self, body: &'a Body) -> Given<'a> {
        match body {
            Body::If(branches) => {
                let mut all = Given::typed(Type::none());
                for branch in branches {
                    let mut of_body = |it: Outputs<'a, '_>| it.of_call(&branch.body);
                    let given = self.within(&branch.conditions, &mut of_body);
                    all.ty = all.ty.or(given.ty);
                    all.replaced.extend(given.replaced);
                }
                all
            }
            body => self.of_body(body, &Policy::DEFAULT),
        }
    }

    /// What a source gives to the plan's work.
    fn of_source(&self, source: Source) -> Given<'a> {
        match source {
            // What is wrong with it was said already, and what it was meant to give is not known.
            Source::Step(index) if self.is_broken_step(index) => None,
            Source::Step(index) => match self.plan.steps.get(index) {
                Some(step) if computes(&step.body) => self.computed.get(&index).cloned(),
                step => step.map(|step| self.of_step(step)),
            },
            Source::Input(index) if self.block.is_some() => {
                let read = self.block.and_then(|reads| reads.get(index));
                read.map(|read| read.given.clone())
            }
            Source::Input(index) => {
                let input = self.plan.inputs.get(index);
                let input = input.filter(|_| !self.is_untyped(index));
                input.map(|input| Given::typed(input::stated(&input.type_name)))
            }
            Source::Local(depth) => self.of_local(depth),
        }
        .unwrap_or_else(Given::any)
    }

    fn of_step(&self, step: &'a Step) -> Given<'a> {
        let policy = &step.policy;
        let mut given = self.of_body(&step.body, policy);
        let id = short(&step.id);
        if policy.catch == Catch::Whole {
            return given.caught(self.work);
        }
        if let Some(Template::Null) = policy.fallback {
            given.nullable(format!("if step `{id}` fails, its output is null"));
        }
        if policy.optional == Optional::Whole && policy.fallback.is_none() {
            given.nullable(format!(
                "step `{id}` is optional: if it fails, its output is null"
            ));
        }
        if matches!(step.body, Body::If(_)) && given.absent.is_some() {
            given.absent = Some(format!("if step `{id}` is skipped, its output is null"));
        }
        given
    }

    /// What the body of a step with this policy gives.
    fn of_body(&self, body: &'a Body, policy: &Policy) -> Given<'a> {
        match body {
            Body::Action(action) => match (&action.tool, &action.args) {
                (Some(tool), _) => {
                    let contract = self.contracts.get(&tool.name);
                    let schema = contract.and_then(|contract| contract.output.as_ref());
                    Given::typed(schema.map_or_else(Type::any, |it| Type::of(it, self.work)))
                }
                (None, value) => self.of_template(value),
            },
            Body::Block(block) => self.of_block(block, None),
            Body::Loop(repeat) => {
                let last = repeat.last.then(Given::any);
                let given = self.of_block(&repeat.round, last);
                if !policy.collect {
                    return given;
                }
                let Given { ty, replaced, .. } = given;
                Given::typed(Type::list(ty)).with_elements(replaced)
            }
            Body::Await(wait) => Given::typed(input::stated(&wait.type_name)),
            Body::If(branches) => {
                let mut all = Given::typed(Type::none());
                for branch in branches {
                    let mut of_body = |it: Outputs<'a, '_>| it.of_body(&branch.body, policy);
                    let given = self.within(&branch.conditions, &mut of_body);
                    all.ty = all.ty.or(given.ty);
                    all.absent = all.absent.or(given.absent);
                    all.replaced.extend(given.replaced);
                }
                let last = branches.last();
                if !last.is_some_and(|branch| branch.conditions.is_empty()) {
                    all.nullable(String::new());
                }
                all
            }
            Body::For(each) => {
                let mut element = if self.may_bind() {
                    let local = self.element(each, None);
                    self.with(&local).of_body(&each.body, policy)
                } else {
                    self.of_body(&each.body, policy)
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
                let Given { ty, replaced, .. } = element;
                Given::typed(Type::list(ty)).with_elements(replaced)
            }
        }
    }
}

/// What messages call a variable.
pub(super) fn variable(name: &str) -> String {
    format!("the variable `{}`", short(name))
}
