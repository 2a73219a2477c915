//! The flow of secrets in a plan: references, formatted strings and computed values that read a secret are secret.
//!
//! `shape/search.rs` finds the secret parts of types, as pointers. The graph of a plan stores the flow of these parts. A run computes the flow again
//! if its toolbox or its enclosing run adds secrets. A plan without secrets has no `Secrecy`, and its runs pay nothing. A journal does not learn
//! which values are secret: it encrypts all strings of a run.

use super::{
    Action, Block, Body, BodyPart, Catch, Condition, Entry, InnerPlan, Key, Loop, OK, Plan,
    Reference, Role, Selector, Source, Step, Tag, Template, ToolInfo, outcome_of,
};
use crate::shape::Secrets;
use std::collections::HashMap;
use std::sync::Arc;

/// The secrets in the runs of a plan.
#[derive(Debug, Default)]
pub(crate) struct Secrecy {
    inputs: Vec<Secrets>,
    /// The arguments of each action, by its number.
    arguments: Vec<Secrets>,
    /// The outputs of the steps.
    outputs: Vec<Secrets>,
    /// The secrets of the blocks with secrets, by the numbers of the blocks.
    blocks: HashMap<usize, Arc<Self>>,
    /// `true` for a step that reads a secret, whose errors must not contain values.
    touched: Vec<bool>,
    /// The secrets of the plan's output, and `true` if the output reads a secret.
    output: Secrets,
    output_touched: bool,
}

/// The secrets of a tool, if the caller has more details than the plan.
pub(crate) struct KnownTool<'t> {
    pub(crate) arguments: &'t Secrets,
    pub(crate) output: &'t Secrets,
    pub(crate) plan: InnerPlan,
}

pub(crate) type KnownTools<'t> = dyn Fn(&ToolInfo) -> Option<KnownTool<'t>> + 't;

/// The largest number of plans to follow, each once for each step that calls it. The outputs of further plans are
/// secret as a whole.
const MOST: usize = 1_000;

impl Secrecy {
    /// Follows the secrets of the plan's inputs, its tools, and the `given` values of its inputs. Returns `None` without secrets.
    pub(crate) fn of<'t>(
        plan: &Plan,
        given: &Secrets,
        known: &'t KnownTools<'t>,
    ) -> Option<Arc<Self>> {
        let mut search = SecretSearch {
            known,
            open: Vec::new(),
            left: MOST,
        };
        search.plan(plan, given, None).map(Arc::new)
    }

    /// Returns the secrets of this input.
    pub(crate) fn input(&self, place: usize) -> &Secrets {
        &self.inputs[place]
    }

    /// Returns the secrets of the arguments of this action.
    pub(crate) fn arguments(&self, action: usize) -> &Secrets {
        &self.arguments[action]
    }

    /// Returns the secrets in the block with this number, if it has any.
    pub(crate) fn block(&self, number: usize) -> Option<&Arc<Self>> {
        self.blocks.get(&number)
    }

    /// Returns the secrets of the output of this step.
    pub(crate) fn output_of(&self, step: usize) -> &Secrets {
        &self.outputs[step]
    }

    /// Returns `true` if the step reads a secret.
    pub(crate) fn touches(&self, step: usize) -> bool {
        self.touched[step]
    }

    /// Returns `true` if the output of the plan, or the condition of the loop whose round it is, reads a secret.
    pub(crate) fn output_touches(&self) -> bool {
        self.output_touched
    }

    fn whole(&self, source: Source, locals: &[Secrets]) -> Secrets {
        let found = match source {
            Source::Input(place) => self.inputs.get(place),
            Source::Step(place) => self.outputs.get(place),
            Source::Local(place) => locals.get(place),
        };
        found.cloned().unwrap_or_default()
    }
}

/// The search for secrets in a plan and the plans inside it.
struct SecretSearch<'t> {
    known: &'t KnownTools<'t>,
    /// The enclosing plans.
    open: Vec<*const Plan>,
    left: usize,
}

impl SecretSearch<'_> {
    /// Finds the secrets of a plan or a block. `again` is the condition of a loop, if the block is its round.
    fn plan(&mut self, plan: &Plan, given: &Secrets, again: Option<&Template>) -> Option<Secrecy> {
        if given.is_empty() && !self.has_secrets(plan, &mut Vec::new()) {
            return None;
        }
        let mut first = HashMap::with_capacity(plan.steps.len());
        let mut actions = 0;
        for (place, step) in plan.steps.iter().enumerate() {
            first.insert(std::ptr::from_ref(step), (place, actions));
            actions += step.body.count();
        }
        let inputs = plan.inputs.iter().map(|input| {
            let mut secrets = input.secrets.clone();
            secrets.add(given.at(&input.name));
            secrets
        });
        let mut found = Secrecy {
            inputs: inputs.collect(),
            arguments: vec![Secrets::NONE; actions],
            outputs: vec![Secrets::NONE; plan.steps.len()],
            blocks: HashMap::new(),
            touched: vec![false; plan.steps.len()],
            output: Secrets::NONE,
            output_touched: false,
        };
        for step in plan.levels().into_iter().flatten() {
            let (place, action) = first[&std::ptr::from_ref(step)];
            let mut flow = Flow::new(&found, self);
            flow.seen_by = (step.role != Role::Work).then_some((plan, step.role));
            flow.collects = step.policy.collect;
            let mut output = flow.body(&step.body, step.policy.catch == Catch::Each);
            if step.policy.catch == Catch::Whole {
                output = output.under(OK);
            }
            for (_, amount) in &step.policy.given {
                let secrets = flow.template(amount);
                flow.touched |= !secrets.is_empty();
            }
            if let Some(fallback) = &step.policy.fallback {
                output.add(flow.template(fallback));
            }
            let (arguments, blocks, touched) = (flow.arguments, flow.blocks, flow.touched);
            let blocks = blocks.into_iter();
            let blocks = blocks.map(|(number, block)| (action + number, block));
            found.blocks.extend(blocks);
            found.touched[place] = touched;
            found.outputs[place] = output;
            for (number, secrets) in arguments.into_iter().enumerate() {
                found.arguments[action + number] = secrets;
            }
        }
        let mut flow = Flow::new(&found, self);
        let output = flow.template(&plan.output.value);
        // An error of the condition is an error of the round.
        if let Some(again) = again {
            flow.template(again);
        }
        let touched = flow.touched;
        (found.output, found.output_touched) = (output, touched);
        Some(found)
    }

    /// Returns `true` if a plan, or a plan inside it, has secrets.
    fn has_secrets(&self, plan: &Plan, seen: &mut Vec<*const Plan>) -> bool {
        let place = std::ptr::from_ref(plan);
        if seen.contains(&place) {
            return false;
        }
        seen.push(place);
        let awaits = |plan: &Plan| {
            let waits =
                |step: &Step| matches!(&step.body, Body::Await(wait) if !wait.secrets.is_empty());
            plan.steps.iter().any(waits)
        };
        let mut found = plan.inputs.iter().any(|input| !input.secrets.is_empty()) || awaits(plan);
        for step in &plan.steps {
            step.body.visit_all(&mut |part| match part {
                BodyPart::Action(Action {
                    tool: Some(tool), ..
                }) => found = found || self.tool_has_secrets(tool, seen),
                BodyPart::Block(block) => found |= awaits(&block.plan),
                _ => {}
            });
        }
        found
    }

    fn tool_has_secrets(&self, tool: &ToolInfo, seen: &mut Vec<*const Plan>) -> bool {
        let known = (self.known)(tool);
        let has_own = known
            .as_ref()
            .is_some_and(|known| !known.arguments.is_empty() || !known.output.is_empty());
        let inner = tool.plan.plan().or_else(|| known?.plan.plan());
        has_own
            || !tool.secret_arguments.is_empty()
            || !tool.secret_output.is_empty()
            || inner.is_some_and(|plan| self.has_secrets(plan, seen))
    }

    /// Returns the secrets in the output of a plan with these arguments.
    fn output_of(&mut self, plan: &Plan, given: &Secrets) -> Secrets {
        let place = std::ptr::from_ref(plan);
        if self.left == 0 || self.open.contains(&place) {
            let has_secrets = !given.is_empty() || self.has_secrets(plan, &mut Vec::new());
            return if has_secrets {
                Secrets::whole()
            } else {
                Secrets::NONE
            };
        }
        self.left -= 1;
        self.open.push(place);
        let found = self.plan(plan, given, None);
        self.open.pop();
        found.map_or(Secrets::NONE, |found| found.output)
    }
}

/// The search for secrets in one step.
struct Flow<'s, 't, 'k> {
    known: &'s Secrecy,
    search: &'t mut SecretSearch<'k>,
    locals: Vec<Secrets>,
    arguments: Vec<Secrets>,
    blocks: Vec<(usize, Arc<Secrecy>)>,
    touched: bool,
    /// `true` if the step returns the values of all rounds of its loop.
    collects: bool,
    /// The plan and the role of an undo step or an always step, which reads outputs in another form than the work does.
    seen_by: Option<(&'s Plan, Role)>,
}

impl<'s, 't, 'k> Flow<'s, 't, 'k> {
    fn new(known: &'s Secrecy, search: &'t mut SecretSearch<'k>) -> Self {
        Self {
            known,
            search,
            locals: Vec::new(),
            arguments: Vec::new(),
            blocks: Vec::new(),
            touched: false,
            collects: false,
            seen_by: None,
        }
    }

    /// Returns the secrets of the whole value of a source.
    fn whole(&self, source: Source) -> Secrets {
        let secrets = self.known.whole(source, &self.locals);
        let (Some((plan, role)), Source::Step(step)) = (self.seen_by, source) else {
            return secrets;
        };
        let catches = plan
            .steps
            .get(step)
            .is_some_and(|it| it.policy.catch == Catch::Whole);
        match role {
            Role::Always if !catches => secrets.under(OK),
            Role::Undo(undone) if undone == step && catches => secrets.at(OK),
            _ => secrets,
        }
    }

    /// Returns the secrets of the output.
    fn body(&mut self, body: &Body, catches: bool) -> Secrets {
        match body {
            Body::Action(action) => self.action(action),
            Body::If(branches) => {
                let mut output = Secrets::NONE;
                for branch in branches {
                    let around = self.locals.len();
                    for condition in &branch.conditions {
                        match condition {
                            Condition::Holds(test) => drop(self.template(test)),
                            Condition::Let { pattern, value } => {
                                let bound = self.template(value);
                                self.locals.push(match outcome_of(pattern, value) {
                                    Some(side) => bound.at(side),
                                    None => bound,
                                });
                            }
                        }
                    }
                    output.add(self.body(&branch.body, catches));
                    self.locals.truncate(around);
                }
                output
            }
            Body::For(each) => {
                let element = self.template(&each.list).any();
                // The elements of an object are lists of a key and a value.
                let mut local = element.clone().under("1");
                local.add(element);
                self.locals.push(local);
                let mut output = self.body(&each.body, catches);
                if catches && !matches!(each.body, Body::For(_)) {
                    output = output.under(OK);
                }
                self.locals.pop();
                output.in_list()
            }
            Body::Block(block) => self.block(block),
            Body::Loop(repeat) => self.repeat(repeat, self.collects),
            Body::Await(wait) => wait.secrets.clone(),
        }
    }

    /// Finds the secrets of a loop. A secret in the value of a round is a secret in the input of the next round.
    fn repeat(&mut self, repeat: &Loop, collects: bool) -> Secrets {
        let around = (self.arguments.len(), self.blocks.len());
        let mut known = Secrets::NONE;
        let name = repeat.round.plan.inputs.first().filter(|_| repeat.last);
        loop {
            let is_last = self.search.left == 0;
            if is_last {
                known = Secrets::whole();
            } else {
                self.search.left -= 1;
            }
            let last = name.map_or(Secrets::NONE, |name| known.clone().under(&*name.name));
            let output = self.block_given(&repeat.round, last, Some(&repeat.again));
            let mut next = known.clone();
            next.add(output);
            let next = next.bounded();
            if next == known || is_last {
                break;
            }
            known = next;
            self.arguments.truncate(around.0);
            self.blocks.truncate(around.1);
        }
        if collects {
            known = known.in_list();
        }
        known
    }

    fn block(&mut self, block: &Block) -> Secrets {
        self.block_given(block, Secrets::NONE, None)
    }

    fn block_given(&mut self, block: &Block, more: Secrets, again: Option<&Template>) -> Secrets {
        let mut inputs = self.template(&block.inputs);
        inputs.add(more);
        let number = self.arguments.len();
        let count: usize = block.plan.steps.iter().map(|step| step.body.count()).sum();
        self.arguments.push(inputs.clone());
        self.arguments
            .resize_with(number + 1 + count, || Secrets::NONE);
        let Some(found) = self.search.plan(&block.plan, &inputs, again) else {
            return Secrets::NONE;
        };
        let output = found.output.clone();
        // The error of a step that reads a secret may contain the secret, and is the error of the block.
        self.touched |= found.output_touched || found.touched.contains(&true);
        self.blocks.push((number, Arc::new(found)));
        output
    }

    fn action(&mut self, action: &Action) -> Secrets {
        let mut arguments = self.template(&action.args);
        let output = match &action.tool {
            Some(tool) => {
                arguments.add(tool.secret_arguments.clone());
                let mut output = tool.secret_output.clone();
                let known = (self.search.known)(tool);
                if let Some(known) = &known {
                    arguments.add(known.arguments.clone());
                    output.add(known.output.clone());
                }
                if let Some(plan) = tool.plan.plan().or_else(|| known?.plan.plan()) {
                    output.add(self.search.output_of(plan, &arguments));
                }
                output
            }
            None => arguments.clone(),
        };
        self.touched |= !arguments.is_empty();
        self.arguments.push(arguments);
        output
    }

    fn template(&mut self, template: &Template) -> Secrets {
        let secrets = match template {
            Template::Null | Template::Bool(_) | Template::Number(_) | Template::String(_) => {
                Secrets::NONE
            }
            Template::List(items) => {
                let mut all = Secrets::NONE;
                for (place, item) in items.iter().enumerate() {
                    all.add(self.template(item).under(place.to_string()));
                }
                all
            }
            Template::Object(entries) => {
                let mut all = Secrets::NONE;
                for Entry { key, value } in entries {
                    let value = self.template(value);
                    all.add(match key {
                        Key::Name(name) => value.under(name.as_str()),
                        Key::Flattened | Key::Inner => value,
                    });
                }
                all
            }
            Template::Tagged(Tag::None, Some(content)) => self.template(content),
            Template::Tagged(..) | Template::Text(_) | Template::Test(_) => {
                let mut all = Secrets::NONE;
                for part in template.parts() {
                    all.add(self.template(part).as_one());
                }
                all
            }
            Template::Reference(reference) => self.reference(reference),
            Template::Computed(computed) => {
                let mut all = Secrets::NONE;
                for source in computed.reads() {
                    all.add(self.whole(*source).as_one());
                }
                all
            }
        };
        self.touched |= !secrets.is_empty();
        // A value that contains another value twice also contains the secret parts of the other value twice.
        secrets.bounded()
    }

    fn reference(&mut self, reference: &Reference) -> Secrets {
        let mut found = self.whole(reference.source);
        // Errors on the path show the values around the result.
        self.touched |= !found.is_empty();
        let mut lists = 0;
        for segment in &reference.path {
            found = match &segment.selector {
                Selector::Key(key) => found.at(key),
                Selector::Index(index) => found.at(&index.to_string()),
                Selector::Each => {
                    lists += 1;
                    found.any()
                }
            };
        }
        match lists {
            0 => found,
            1 => found.in_list(),
            _ => found.as_one(),
        }
    }
}
