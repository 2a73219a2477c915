//! The check whether a plan can run.

use super::graph::{Graph, number};
use crate::plan::depth::DEEPEST_BODY;
use crate::plan::json::meaningless;
use crate::plan::{
    Amount, Block, Body, Catch, Checked, Condition, Form, LocalValue, Origin, Plan, Role, Secrecy,
    Source, Step, Template, pattern_mistake, role_mistakes,
};
use crate::shape::Secrets;
use plan_graph::Graph as Edges;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

impl Graph {
    pub(crate) fn checked(plan: &Plan) -> Checked {
        match Self::new(plan, 0, None, None) {
            Ok(graph) => Ok(Arc::new(graph)),
            Err(mistake) => Err(mistake.into()),
        }
    }

    /// Creates the graph of a plan inside this many bodies. `again` is the condition of a loop if the plan is its round.
    fn new(
        plan: &Plan,
        depth: usize,
        around: Option<&Names<'_>>,
        again: Option<&Template>,
    ) -> Result<Self, String> {
        let names = Names {
            here: names(plan)?,
            around,
        };
        names.differ_from_those_around(plan)?;
        let mut check = Check::new(plan, names, depth);
        let mut graph = check.graph()?;
        check
            .count_reads(&plan.output.value, &mut graph)
            .map_err(|mistake| format!("the output {mistake}"))?;
        if let Some(again) = again {
            check
                .count_reads(again, &mut graph)
                .map_err(|mistake| format!("the condition of the loop {mistake}"))?;
        }
        {
            graph.lacks_code = check.lacks_code;
        }
        graph.count = check.actions;
        if !check.blocks.is_empty() {
            graph.blocks = Some(check.blocks);
        }
        if let Some(mistake) = role_mistakes(plan, Origin::Recorded).first() {
            return Err(mistake.in_plan(plan));
        }
        let needs = graph.last.as_ref().map(|_| plan.needs());
        if let Some(cycle) = needs.as_ref().unwrap_or(&graph.needs).cycles().first() {
            let ids = cycle.iter().chain(cycle.first());
            let ids: Vec<_> = ids
                .map(|step| format!("`{}`", plan.steps[*step].id))
                .collect();
            return Err(format!("steps wait for each other: {}", ids.join(" → ")));
        }
        graph.secrecy = Secrecy::of(plan, &Secrets::NONE, &|_| None);
        Ok(graph)
    }
}

/// The names of a plan or a block, and the names of the enclosing plans and blocks.
pub(super) struct Names<'n> {
    pub(super) here: HashMap<&'n str, Source>,
    around: Option<&'n Names<'n>>,
}

impl Names<'_> {
    /// Returns an error if a step of a block has the name of a step that the block may refer to.
    fn differ_from_those_around(&self, plan: &Plan) -> Result<(), String> {
        let has = |id: &str| {
            let all = std::iter::successors(self.around, |names| names.around);
            { all }.any(|names| names.here.contains_key(id))
        };
        let mut steps = plan.steps.iter().filter(|step| step.id != Block::TAIL);
        match steps.find(|step| self.around.is_some() && has(&step.id)) {
            Some(step) => Err(format!(
                "step `{}` has the name of a step or a value outside the block",
                step.id
            )),
            None => Ok(()),
        }
    }
}

/// Returns the names of inputs and steps, which must differ from each other.
fn names(plan: &Plan) -> Result<HashMap<&str, Source>, String> {
    let mut names = HashMap::with_capacity(plan.inputs.len() + plan.steps.len());
    for (place, input) in plan.inputs.iter().enumerate() {
        if input.name.is_empty() {
            return Err("an input has no name".to_owned());
        }
        if names.insert(&*input.name, Source::Input(place)).is_some() {
            return Err(format!("two inputs have the name `{}`", input.name));
        }
    }
    for (place, step) in plan.steps.iter().enumerate() {
        if step.id.is_empty() {
            return Err("a step has no id".to_owned());
        }
        if names.insert(&*step.id, Source::Step(place)).is_some() {
            return Err(match plan.input(&step.id) {
                Some(_) => format!("the step `{}` has the name of an input", step.id),
                None => format!("two steps have the id `{}`", step.id),
            });
        }
    }
    Ok(names)
}

fn sort(steps: &mut Vec<usize>) {
    if !steps.is_sorted_by(|a, b| a < b) {
        steps.sort_unstable();
        steps.dedup();
    }
}

/// The results for the parts of a plan. Only this check decides if they are legal.
pub(super) struct Check<'p> {
    pub(super) plan: &'p Plan,
    pub(super) names: Names<'p>,
    /// The steps that were read.
    pub(super) steps: Vec<usize>,
    actions: usize,
    /// The blocks that were found.
    blocks: HashMap<u32, Arc<Graph>>,
    /// The number of bodies around the plan.
    depth: usize,
    /// The local values in this position.
    pub(super) locals: Vec<LocalValue<'p>>,
    /// The names of the members of an object.
    pub(super) members: Vec<&'p str>,
    pub(super) lacks_code: bool,
}

impl<'p> Check<'p> {
    fn new(plan: &'p Plan, names: Names<'p>, depth: usize) -> Self {
        Self {
            plan,
            names,
            steps: Vec::new(),
            actions: 0,
            blocks: HashMap::new(),
            depth,
            locals: Vec::new(),
            members: Vec::new(),
            lacks_code: false,
        }
    }

    /// Checks the steps, and returns the graph of their dependencies.
    fn graph(&mut self) -> Result<Graph, String> {
        let plan = self.plan;
        let count = plan.steps.len();
        let mut graph = Graph::default();
        graph.readers = vec![0; count];
        graph.actions.reserve_exact(count);
        graph.simple.reserve_exact(count);
        let mut reads = Edges::default();
        let (mut total, mut only_reads) = (0, true);
        for (place, step) in plan.steps.iter().enumerate() {
            graph.actions.push(number(self.actions));
            self.step(step)
                .map_err(|mistake| format!("step `{}` {mistake}", step.id))?;
            let needs = &mut self.steps;
            sort(needs);
            needs.iter().for_each(|&read| graph.readers[read] += 1);
            only_reads &= step.after.is_empty() && step.role == Role::Work;
            reads.push(&*needs);
            needs.extend_from_slice(&step.after);
            sort(needs);
            graph.simple.push(is_simple(step));
            graph.has_waits |= matches!(step.body, Body::Await(_));
            if step.role == Role::Work {
                total += needs.len();
                if u32::try_from(count.max(total).max(self.actions)).is_err() {
                    return Err(format!("{count} steps with {total} needs are too many"));
                }
            } else {
                graph.keep_for_last(plan, place, needs);
                needs.clear();
            }
            graph.needs.push(&*needs);
            needs.clear();
        }
        graph.needs.shrink_to_fit();
        graph.reads = (!only_reads).then_some(reads);
        if let Some(last) = &mut graph.last {
            last.seen.sort_unstable();
            last.seen.dedup();
        }
        Ok(graph)
    }

    /// Checks a value that the plan itself reads, and counts its reader.
    fn count_reads(&mut self, value: &'p Template, graph: &mut Graph) -> Result<(), String> {
        self.steps.clear();
        self.template(value, 0)?;
        sort(&mut self.steps);
        let reads = self.steps.iter();
        reads.for_each(|&read| graph.readers[read] += 1);
        Ok(())
    }

    fn step(&mut self, step: &'p Step) -> Result<(), String> {
        self.body(&step.body, self.depth)?;
        let meaningless = meaningless(&step.policy, false, &step.body, step.role, Origin::Recorded);
        if let Some((_, mistake)) = meaningless.first() {
            return Err(format!("has a policy that means nothing: {mistake}"));
        }
        if let Body::Loop(_) = step.body
            && step.policy.at_most.is_none()
            && step.policy.gives(Amount::AtMost).is_none()
        {
            return Err("has a loop without a bound: `at_most` of its policy".to_owned());
        }
        for (amount, constant) in &step.policy.named {
            let is_none = match amount {
                Amount::Timeout => step.policy.timeout == Some(Duration::ZERO),
                Amount::Deadline => step.policy.deadline == Some(Duration::ZERO),
                _ => false,
            };
            if is_none {
                let name = amount.name();
                return Err(format!(
                    "has a `{name}` of 0 (`{constant}`), but no call ends in no time"
                ));
            }
        }
        let named = &step.policy.named;
        let is_named = |asked| named.iter().any(|(amount, _)| *amount == asked);
        // Computed amounts replace these.
        if step.policy.given.is_empty()
            && let Some((amount, why)) = step.policy.contradiction(is_named)
        {
            return Err(format!("has a `{}` of {why}", amount.name()));
        }
        for (amount, template) in &step.policy.given {
            let before = self.steps.len();
            self.template(template, 0)?;
            if self.steps.len() > before {
                let name = amount.name();
                return Err(format!(
                    "has `{name}` from a step; policies take constants and inputs"
                ));
            }
        }
        if let Some(fallback) = &step.policy.fallback {
            self.template(fallback, 0)?;
        }
        step.after.iter().try_for_each(|&after| self.exists(after))
    }

    fn body(&mut self, body: &'p Body, depth: usize) -> Result<(), String> {
        match body {
            Body::Action(action) => {
                self.actions += 1;
                if action
                    .tool
                    .as_ref()
                    .is_some_and(|tool| tool.name.is_empty())
                {
                    return Err("calls a tool without a name".to_owned());
                }
                self.template(&action.args, 0)
            }
            Body::If(branches) => branches.iter().try_for_each(|branch| {
                let around = self.locals.len();
                for condition in &branch.conditions {
                    match condition {
                        Condition::Holds(value) => self.template(value, 0)?,
                        Condition::Let { pattern, value } => {
                            self.template_as(Form::Let(pattern), value, 0)?;
                            pattern_fits(pattern, value, true)?;
                            self.bind(value.bound_by(pattern))?;
                        }
                    }
                }
                self.inner(&branch.body, around, depth)
            }),
            Body::For(each) => {
                self.template_as(Form::Each(&each.pattern), &each.list, 0)?;
                pattern_fits(&each.pattern, &each.list, false)?;
                let around = self.locals.len();
                self.bind(each.list.bound_by(&each.pattern))?;
                self.inner(&each.body, around, depth)
            }
            Body::Block(block) => self.block(block, depth, None),
            Body::Loop(repeat) => {
                if depth > self.depth {
                    return Err("has a loop that is not all that the step does".to_owned());
                }
                if repeat.last {
                    let mut reads = repeat.round.reads().unwrap_or_default().into_iter();
                    if !matches!(reads.next(), Some((_, Template::Null))) {
                        return Err(
                            "gives its last value to an input that it does not have".to_owned()
                        );
                    }
                }
                self.block(&repeat.round, depth, Some(&repeat.again))
            }
            Body::Await(_) if depth > self.depth => {
                Err("waits for a value in an `if` or a `for`".to_owned())
            }
            Body::Await(_) => Ok(()),
        }
    }

    fn block(
        &mut self,
        block: &'p Block,
        depth: usize,
        again: Option<&'p Template>,
    ) -> Result<(), String> {
        if depth >= DEEPEST_BODY {
            return Err(too_deep());
        }
        let number = number(self.actions);
        self.template(&block.inputs, 0)?;
        if block.reads().is_none() {
            return Err("passes inputs to its block that the block does not declare".to_owned());
        }
        let graph = Graph::new(&block.plan, depth + 1, Some(&self.names), again)
            .map_err(|mistake| format!("has a block in which {mistake}"))?;
        self.actions += 1 + graph.count;
        {
            self.lacks_code |= graph.lacks_code;
        }
        self.blocks.insert(number, Arc::new(graph));
        Ok(())
    }

    /// Adds a local value to the enclosing local values.
    fn bind(&mut self, local: LocalValue<'p>) -> Result<(), String> {
        if self.locals.len() >= DEEPEST_BODY {
            return Err(format!(
                "has more than {DEEPEST_BODY} local values in each other"
            ));
        }
        self.locals.push(local);
        Ok(())
    }

    /// Checks a body inside another body. The local values of the inner body end with the inner body.
    fn inner(&mut self, body: &'p Body, around: usize, depth: usize) -> Result<(), String> {
        if depth >= DEEPEST_BODY {
            return Err(too_deep());
        }
        let checked = self.body(body, depth + 1);
        self.locals.truncate(around);
        checked
    }
}

/// Returns `true` for a single call with one attempt, without a time limit, in the plan's work.
fn is_simple(step: &Step) -> bool {
    let policy = &step.policy;
    matches!(step.body, Body::Action(_))
        && step.role == Role::Work
        && policy.attempts <= 1
        && policy.timeout.is_none()
        && policy.deadline.is_none()
        && policy.catch == Catch::No
        && policy.given.is_empty()
}

fn too_deep() -> String {
    format!("nests conditions, loops and blocks more than {DEEPEST_BODY} levels deep")
}

/// Checks that a pattern fits its value. A run never compares data with a pattern.
fn pattern_fits(pattern: &str, value: &Template, in_if: bool) -> Result<(), String> {
    pattern_mistake(pattern, value, in_if).map_or(Ok(()), |(mistake, _)| {
        Err(format!("says something else than a run does: {mistake}"))
    })
}
