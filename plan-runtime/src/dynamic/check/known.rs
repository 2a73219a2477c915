//! What a plan's steps and inputs give, as far as contracts say.

use super::input;
use super::path::{Resolved, Unresolved, follow};
use crate::dynamic::schema::{TooMuchWork, Type, Types, Work};
use crate::dynamic::spans::Spans;
use crate::dynamic::{Contracts, Dialect};
use crate::plan::{Body, Optional, Plan, Reference, Source, Step, Template};
use crate::resolve::describe::short;
use std::collections::HashMap;

/// What is known before values are compared.
#[derive(Clone, Copy)]
pub(super) struct KnownOutputs<'a> {
    pub(super) plan: &'a Plan,
    pub(super) spans: &'a Spans,
    pub(super) dialect: Dialect,
    pub(super) contracts: &'a Contracts,
    /// What those steps give that compute it from what others give.
    pub(super) computed: &'a Computed<'a>,
    pub(super) work: &'a Work,
}

pub(super) type Computed<'a> = HashMap<usize, GivenInput<'a>>;

/// What a step or an input gives.
#[derive(Clone)]
pub(super) struct GivenInput<'a> {
    pub(super) ty: Type<'a>,
    pub(super) absent: Option<String>,
}

/// Why it is not known where a reference leads.
pub(super) enum UnknownSchema<'a> {
    Lost(Box<(Unresolved<'a>, Type<'a>)>),
    Beyond(TooMuchWork),
}

impl From<TooMuchWork> for UnknownSchema<'_> {
    fn from(why: TooMuchWork) -> Self {
        Self::Beyond(why)
    }
}

/// What the steps give that compute it, each after those that it is computed from.
pub(super) fn computed<'a>(
    plan: &'a Plan,
    spans: &'a Spans,
    contracts: &'a Contracts,
    work: &'a Work,
) -> Computed<'a> {
    let mut computed = Computed::new();
    let mut steps: Vec<usize> = (0..plan.steps.len())
        .filter(|&step| computes(&plan.steps[step].body))
        .collect();
    if steps.is_empty() {
        return computed;
    }
    // Steps that wait for one another have no level, and are an error of their own.
    let levels = plan.needs().levels();
    steps.sort_by_key(|&step| levels.get(step).copied().flatten());
    for index in steps {
        let given = Gives {
            plan,
            spans,
            contracts,
            computed: &computed,
            work,
        }
        .given_by(&plan.steps[index]);
        computed.insert(index, given);
    }
    computed
}

fn computes(body: &Body) -> bool {
    match body {
        Body::Action(action) => action.tool.is_none(),
        Body::If(branches) => branches.iter().any(|branch| computes(&branch.body)),
        Body::For(each) => computes(&each.body),
    }
}

impl<'a> KnownOutputs<'a> {
    pub(super) fn is_broken(&self, at: usize) -> bool {
        self.spans.templates.is_broken(at)
    }

    pub(super) fn spend(&self, work: usize) -> Result<(), TooMuchWork> {
        self.work.spend(work)
    }

    /// What a reference leads to.
    pub(super) fn found(
        &self,
        reference: &'a Reference,
    ) -> Result<Resolved<'a>, UnknownSchema<'a>> {
        let gives = Gives {
            plan: self.plan,
            spans: self.spans,
            contracts: self.contracts,
            computed: self.computed,
            work: self.work,
        };
        let given = gives.given(reference.source);
        self.spend(1 + given.ty.cost())?;
        let mut absent = given.absent;
        let ty = match follow(given.ty.clone(), reference.path(), &mut absent, self.work)? {
            Ok(ty) => ty,
            Err(lost) => return Err(UnknownSchema::Lost(Box::new((lost, given.ty)))),
        };
        let input = match reference.source {
            Source::Input(index) if reference.path.is_empty() && is_untyped(self.spans, index) => {
                Some(index)
            }
            _ => None,
        };
        Ok(Resolved {
            reference,
            ty,
            absent,
            style: self.style(reference),
            input,
        })
    }
}

/// Whether nobody said what type an input has.
fn is_untyped(spans: &Spans, input: usize) -> bool {
    spans.untyped.binary_search(&input).is_ok()
}

/// What is known of steps and inputs, while some computed values are still unknown.
struct Gives<'a, 'c> {
    plan: &'a Plan,
    spans: &'a Spans,
    contracts: &'a Contracts,
    computed: &'c Computed<'a>,
    work: &'a Work,
}

impl<'a> Gives<'a, '_> {
    /// What a source gives.
    fn given(&self, source: Source) -> GivenInput<'a> {
        match source {
            Source::Step(index) => match self.plan.steps.get(index) {
                Some(step) if computes(&step.body) => self
                    .computed
                    .get(&index)
                    .cloned()
                    .unwrap_or_else(GivenInput::any),
                Some(step) => self.given_by(step),
                None => GivenInput::any(),
            },
            Source::Input(index) => {
                self.plan
                    .inputs
                    .get(index)
                    .map_or_else(GivenInput::any, |input| {
                        if is_untyped(self.spans, index) {
                            GivenInput::any()
                        } else {
                            GivenInput::typed(input::stated(&input.type_name))
                        }
                    })
            }
            Source::Local(_) => GivenInput::any(),
        }
    }

    fn given_by(&self, step: &'a Step) -> GivenInput<'a> {
        let mut given = self.body(&step.body);
        if let Some(fallback) = &step.policy.fallback
            && matches!(fallback, Template::Null)
        {
            given.nullable(format!(
                "if step `{}` fails, its output is null",
                short(&step.id)
            ));
        }
        if step.policy.optional == Optional::Whole && step.policy.fallback.is_none() {
            given.nullable(format!(
                "step `{}` is optional: if it fails, its output is null",
                short(&step.id)
            ));
        }
        let each = step.policy.optional == Optional::Each;
        if each && given.ty.types() == Types::LIST {
            let element = given.ty.element().or(Type::plain(Types::NULL));
            given.ty = Type::list(element);
        }
        if matches!(step.body, Body::If(_)) && given.absent.is_some() {
            given.absent = Some(format!(
                "if step `{}` is skipped, its output is null",
                short(&step.id)
            ));
        }
        given
    }

    fn body(&self, body: &'a Body) -> GivenInput<'a> {
        match body {
            Body::Action(action) => match &action.tool {
                Some(tool) => {
                    let contract = self.contracts.get(&tool.name);
                    let schema = contract.and_then(|contract| contract.output.as_ref());
                    GivenInput::typed(
                        schema.map_or_else(Type::any, |schema| Type::of(schema, self.work)),
                    )
                }
                None => match &action.args {
                    Template::Reference(reference) => {
                        let given = self.given(reference.source);
                        let mut absent = given.absent;
                        match follow(given.ty, reference.path(), &mut absent, self.work) {
                            Ok(Ok(ty)) => GivenInput { ty, absent },
                            Ok(Err(_)) => GivenInput::any(),
                            Err(why) => GivenInput::typed(Type::unknown(why)),
                        }
                    }
                    _ => GivenInput::any(),
                },
            },
            Body::If(branches) => {
                let mut all = GivenInput::typed(Type::none());
                for branch in branches {
                    let given = self.body(&branch.body);
                    all.ty = all.ty.or(given.ty);
                    all.absent = all.absent.or(given.absent);
                }
                let last = branches.last();
                if !last.is_some_and(|branch| branch.conditions.is_empty()) {
                    all.nullable(String::new());
                }
                all
            }
            Body::For(each) => GivenInput::typed(Type::list(self.body(&each.body).ty)),
        }
    }
}

impl<'a> GivenInput<'a> {
    fn any() -> Self {
        Self::typed(Type::any())
    }

    fn typed(ty: Type<'a>) -> Self {
        Self { ty, absent: None }
    }

    fn nullable(&mut self, why: String) {
        let ty = std::mem::replace(&mut self.ty, Type::none());
        self.ty = ty.or(Type::plain(Types::NULL));
        self.absent = Some(why);
    }
}
