//! Checked plans, with all the data that their runs need.

use super::depth::{DEEPEST_BODY, DEEPEST_VALUE, is_deep};
use super::json::meaningless;
use super::{
    Amount, Block, Body, Bound, CalledTools, Catch, Condition, Entry, Form, Handing, Key,
    LocalValue, Number, Origin, Part, Plan, Role, Secrecy, Source, Step, Template, Test,
    pattern_mistake,
};
use crate::machine::{BadNodes, Tables};
use crate::shape::Secrets;
use plan_graph::Graph as Edges;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A plan with all the data that its runs need: the dependencies of each step, and the reason if the plan cannot run.
///
/// Each run of a [`Plan`] creates an `Executable`. If a plan runs often, create it once, so that the plan is checked only once.
/// A `plan!` and a [`Document`](crate::dynamic::Document) store theirs.
///
/// A plan that was built in Rust may be invalid. Then [`mistake`](Self::mistake) returns the reason, and each run fails with that
/// message.
///
/// ```
/// use plan_runtime::plan::{Action, Executable, Step, Template};
/// use plan_runtime::Plan;
///
/// let mut plan = Plan::new("hello");
/// plan.steps = vec![Step::new("sent", Action::call("send", Template::Null))];
/// assert_eq!(Executable::new(&plan).mistake(), None);
///
/// plan.steps[0].after = vec![0];
/// assert_eq!(Executable::new(&plan).mistake(), Some("steps wait for each other: `sent` → `sent`"));
/// ```
#[derive(Clone, Debug)]
pub struct Executable<'p> {
    pub(crate) plan: &'p Plan,
    pub(crate) graph: Checked,
    /// `true` for the plan of a `plan!`, which a compiler has checked and its author has read.
    pub(crate) is_source: bool,
}

/// The graph of a plan, or the reason why the plan cannot run.
pub(crate) type Checked = Result<Arc<Graph>, Arc<str>>;

impl<'p> Executable<'p> {
    /// Checks a plan.
    pub fn new(plan: &'p Plan) -> Self {
        let graph = Graph::checked(plan);
        Self {
            plan,
            graph,
            is_source: false,
        }
    }

    /// Returns the plan.
    pub fn plan(&self) -> &'p Plan {
        self.plan
    }

    /// Returns the reason why the plan cannot run: for example, a reference to a missing step or input, a dependency cycle, or two
    /// steps with one ID. Returns `None` for a plan that can run.
    pub fn mistake(&self) -> Option<&str> {
        self.graph.as_ref().err().map(|mistake| &**mistake)
    }
}

impl<'p> From<&'p Plan> for Executable<'p> {
    fn from(plan: &'p Plan) -> Self {
        Self::new(plan)
    }
}

impl<'p> From<&Executable<'p>> for Executable<'p> {
    fn from(plan: &Executable<'p>) -> Self {
        plan.clone()
    }
}

/// The data of a plan for its runs, in a few flat lists. Step numbers have 32 bits, so that more of the graph fits a
/// cache.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// For each step, its dependencies.
    needs: Edges,
    /// For each step, the dependencies that it reads. `None` if each step reads all its dependencies, as in nearly all
    /// plans.
    reads: Option<Edges>,
    /// For each step, its dependents, computed for the first run with listeners.
    dependents: OnceLock<Edges>,
    /// For each step, the number of readers of its output. The plan's own output counts as a reader.
    pub(crate) readers: Vec<u32>,
    /// For each step, the number of its first action. Actions are numbered over the whole plan, in the order of their notation.
    pub(crate) actions: Vec<u32>,
    /// For each step, `true` if it is a single call with one attempt, without a time limit, in the plan's work.
    pub(crate) simple: Vec<bool>,
    /// The steps that run once the work has ended, if there are any.
    pub(crate) last: Option<Box<LastSteps>>,
    /// `true` if a part lacks its code from `plan!`.
    #[cfg(feature = "dynamic")]
    pub(crate) lacks_code: bool,
    /// `true` if a step waits for a value from outside.
    pub(crate) has_waits: bool,
    /// The paths of the waiting steps, with those of plans inside, computed at the first use.
    pub(crate) awaited: OnceLock<Box<[String]>>,
    /// The secrets of the plan, if it has any.
    pub(crate) secrecy: Option<Arc<Secrecy>>,
    /// The blocks of its steps, by their numbers, if there are any.
    pub(crate) blocks: Option<HashMap<u32, Arc<Self>>>,
    /// The count of numbers that its actions and blocks use up.
    pub(crate) count: usize,
    /// The plan itself, for the reports of its runs.
    shared: OnceLock<Arc<Plan>>,
    /// The values to hand over, computed for the first run of a `plan!`.
    handing: OnceLock<Option<Arc<Handing>>>,
    /// The tools that the plan calls, computed at the first use.
    called: OnceLock<Arc<CalledTools>>,
    /// The tables of the plan for the machine, once a run has made them; and the tables of runs whose driver decides when calls start.
    tables: [OnceLock<Result<Arc<Converted>, BadNodes>>; 2],
}

/// The tables of a plan for the machine.
#[derive(Debug)]
pub(crate) struct Converted {
    pub(crate) tables: Arc<Tables>,
    /// The plans in the order of the machine's list of plans: the address of each plan, and the label of its first step.
    pub(crate) plans: Vec<(usize, u32)>,
}

/// The steps that run once the work of a plan has ended.
#[derive(Debug, Default)]
pub(crate) struct LastSteps {
    /// For each step, its undo step.
    pub(crate) undone_by: Vec<Option<u32>>,
    /// The always steps, each with the always steps that it waits for.
    pub(crate) always: Vec<(u32, Vec<u32>)>,
    /// The steps whose outputs the undo steps and always steps read.
    pub(crate) seen: Vec<u32>,
}

impl Graph {
    /// Returns the dependencies of each step of the work.
    pub(crate) fn needs(&self) -> &Edges {
        &self.needs
    }

    /// Returns the dependents of each step of the work.
    pub(crate) fn dependents(&self) -> &Edges {
        self.dependents.get_or_init(|| self.needs.reversed())
    }

    /// Returns the graph's plan without secrets, in one copy for all owners.
    pub(crate) fn shared(&self, plan: &Plan) -> Arc<Plan> {
        let copy = || Arc::new(plan.without_secrets().unwrap_or_else(|| plan.clone()));
        Arc::clone(self.shared.get_or_init(copy))
    }

    /// Returns the values to hand over in the graph's plan. `again` is the condition of a loop if the plan is a round, and `Some(None)` for any other
    /// block.
    pub(crate) fn handing(
        &self,
        plan: &Plan,
        block: Option<Option<&Template>>,
    ) -> Option<Arc<Handing>> {
        let of = || Handing::of(plan, block.is_some(), block.flatten());
        self.handing.get_or_init(of).clone()
    }

    /// Returns the tools that the plan of this graph calls.
    #[inline]
    pub(crate) fn called(&self, plan: &Plan) -> &Arc<CalledTools> {
        let of = || Arc::new(CalledTools::of(plan));
        self.called.get_or_init(of)
    }

    /// Returns the tables of the plan of which this graph was made.
    pub(crate) fn tables(
        &self,
        admits: bool,
        make: impl FnOnce() -> Result<Converted, BadNodes>,
    ) -> Result<Arc<Converted>, BadNodes> {
        let tables = &self.tables[usize::from(admits)];
        tables.get_or_init(|| make().map(Arc::new)).clone()
    }

    pub(crate) fn checked(plan: &Plan) -> Checked {
        match Self::new(plan, 0, None, None) {
            Ok(graph) => Ok(Arc::new(graph)),
            Err(mistake) => Err(mistake.into()),
        }
    }

    /// Returns the steps that each step reads.
    #[inline]
    pub(crate) fn reads(&self) -> &Edges {
        self.reads.as_ref().unwrap_or(&self.needs)
    }

    /// Returns `true` if steps of the plan, or of blocks in it, run after the end of the work.
    pub(crate) fn has_last(&self) -> bool {
        let mut blocks = self.blocks.iter().flat_map(HashMap::values);
        self.last.is_some() || blocks.any(|block| block.has_last())
    }

    /// Creates the graph of a plan inside this many bodies. `again` is the condition of a loop if the plan is its round.
    fn new(
        plan: &Plan,
        depth: usize,
        around: Option<&Names<'_>>,
        again: Option<&Template>,
    ) -> Result<Self, String> {
        let count = plan.steps.len();
        let names = Names {
            here: names(plan)?,
            around,
        };
        names.differ_from_those_around(plan)?;
        let mut graph = Self {
            readers: vec![0; count],
            actions: Vec::with_capacity(count),
            simple: Vec::with_capacity(count),
            ..Self::default()
        };
        let mut reads = Edges::default();
        let mut check = Check::new(plan, names, depth);
        let (mut total, mut only_reads) = (0, true);
        for step in &plan.steps {
            graph.actions.push(number(check.actions));
            check
                .step(step)
                .map_err(|mistake| format!("step `{}` {mistake}", step.id))?;
            let needs = &mut check.steps;
            sort(needs);
            needs.iter().for_each(|&read| graph.readers[read] += 1);
            if !step.after.is_empty() || step.role != Role::Work {
                only_reads = false;
            }
            reads.push(&*needs);
            needs.extend_from_slice(&step.after);
            sort(needs);
            let policy = &step.policy;
            graph.simple.push(
                matches!(step.body, Body::Action(_))
                    && step.role == Role::Work
                    && policy.attempts <= 1
                    && policy.timeout.is_none()
                    && policy.deadline.is_none()
                    && policy.catch == Catch::No
                    && policy.given.is_empty(),
            );
            if step.role != Role::Work {
                let place = graph.needs.len();
                graph.keep_for_last(plan, place, needs);
                needs.clear();
                graph.needs.push(&*needs);
                continue;
            }
            total += needs.len();
            if u32::try_from(count.max(total).max(check.actions)).is_err() {
                return Err(format!("{count} steps with {total} needs are too many"));
            }
            graph.needs.push(&*needs);
            needs.clear();
        }
        check
            .template(&plan.output.value, 0)
            .map_err(|mistake| format!("the output {mistake}"))?;
        sort(&mut check.steps);
        check
            .steps
            .iter()
            .for_each(|&read| graph.readers[read] += 1);
        if let Some(again) = again {
            check.steps.clear();
            check
                .template(again, 0)
                .map_err(|mistake| format!("the condition of the loop {mistake}"))?;
            sort(&mut check.steps);
            let reads = check.steps.iter();
            reads.for_each(|&read| graph.readers[read] += 1);
        }
        #[cfg(feature = "dynamic")]
        {
            graph.lacks_code = check.lacks_code;
        }
        let mut steps = plan.steps.iter();
        graph.has_waits = steps.any(|step| matches!(step.body, Body::Await(_)));
        graph.count = check.actions;
        if !check.blocks.is_empty() {
            graph.blocks = Some(check.blocks);
        }
        if let Some(mistake) = plan.role_mistakes(Origin::Recorded).first() {
            return Err(mistake.in_plan(plan));
        }
        if let Some(last) = &mut graph.last {
            last.seen.sort_unstable();
            last.seen.dedup();
        }
        graph.needs.shrink_to_fit();
        graph.reads = (!only_reads).then_some(reads);
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

/// The names of a plan or a block, and those around it.
struct Names<'n> {
    here: HashMap<&'n str, Source>,
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
                "step `{}` has the name of something around the block",
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

impl Graph {
    /// Records an undo step or an always step, which needs the steps in `needs`.
    fn keep_for_last(&mut self, plan: &Plan, place: usize, needs: &[usize]) {
        let last = self.last.get_or_insert_default();
        match plan.steps[place].role {
            Role::Work => {}
            Role::Undo(undone) => {
                last.undone_by.resize(plan.steps.len(), None);
                if let Some(by) = last.undone_by.get_mut(undone) {
                    *by = Some(number(place));
                }
            }
            Role::Always => {
                let is_always = |need: &&usize| {
                    plan.steps
                        .get(**need)
                        .is_some_and(|it| it.role == Role::Always)
                };
                let waits = needs.iter().filter(is_always).map(|need| number(*need));
                last.always.push((number(place), waits.collect()));
                last.seen.extend(needs.iter().map(|need| number(*need)));
            }
        }
    }
}

fn sort(steps: &mut Vec<usize>) {
    if !steps.is_sorted_by(|a, b| a < b) {
        steps.sort_unstable();
        steps.dedup();
    }
}

/// Converts a number of steps, actions or dependencies, which the limits keep below 2^32.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a graph has no more steps than that"
)]
#[inline]
pub(crate) fn number(steps: usize) -> u32 {
    steps as u32
}

/// The results for the parts of a plan. Only this check decides if they are legal.
struct Check<'p> {
    plan: &'p Plan,
    names: Names<'p>,
    /// The steps that were read.
    steps: Vec<usize>,
    actions: usize,
    /// The blocks that were found.
    blocks: HashMap<u32, Arc<Graph>>,
    /// The number of bodies around the plan.
    depth: usize,
    /// The local values in this position.
    locals: Vec<LocalValue<'p>>,
    /// The names of the members of an object.
    members: Vec<&'p str>,
    #[cfg(feature = "dynamic")]
    lacks_code: bool,
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
            #[cfg(feature = "dynamic")]
            lacks_code: false,
        }
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
        again: Option<&Template>,
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
        #[cfg(feature = "dynamic")]
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

    /// Checks a body inside another body. Its local values end with it.
    fn inner(&mut self, body: &'p Body, around: usize, depth: usize) -> Result<(), String> {
        if depth >= DEEPEST_BODY {
            return Err(too_deep());
        }
        let checked = self.body(body, depth + 1);
        self.locals.truncate(around);
        checked
    }

    fn template(&mut self, template: &'p Template, depth: usize) -> Result<(), String> {
        self.template_as(Form::Value, template, depth)
    }

    fn template_as(
        &mut self,
        form: Form<'_>,
        template: &'p Template,
        depth: usize,
    ) -> Result<(), String> {
        if depth >= DEEPEST_VALUE && !template.is_scalar() {
            return Err(deep_value());
        }
        match template {
            Template::Reference(reference) => {
                if reference.otherwise.is_some() && !reference.can_end() {
                    return Err("has a default for a reference that nothing can end".to_owned());
                }
                self.source(reference.source)?;
                if let Source::Local(local) = reference.source
                    && let local = self.locals[local]
                    && !local.is_computed
                    && let Some(mistake) = Bound::of_data(local.pattern).unnamed(reference.path())
                {
                    return Err(mistake);
                }
                if reference.defaults().any(|value| is_deep(value, 0)) {
                    return Err(deep_value());
                }
            }
            Template::Computed(computed) => {
                let mut reads = computed.reads().iter();
                reads.try_for_each(|&source| self.source(source))?;
                let mistake = computed.mistake(form, self.plan, &self.names.here, &self.locals);
                mistake.map_or(Ok(()), Err)?;
            }
            Template::Object(entries) => self.members_differ(entries)?,
            Template::Test(test) => {
                if let Test::All(operands) | Test::Any(operands) = &**test
                    && operands.len() < 2
                {
                    return Err("has a test that joins fewer than two others".to_owned());
                }
            }
            Template::Number(Number::Float(value)) if !value.is_finite() => {
                return Err(format!(
                    "has the number {value}, which JSON cannot represent"
                ));
            }
            _ => {}
        }
        #[cfg(feature = "dynamic")]
        {
            self.lacks_code |= template.lacks_code();
        }
        if let Template::Text(parts) = template {
            let mut parts = parts.iter();
            return parts.try_for_each(|part| match part {
                Part::Value { value, spec } => {
                    self.template_as(Form::Formatted(spec), value, depth + 1)
                }
                Part::Literal(_) => Ok(()),
            });
        }
        let mut parts = template.parts();
        parts.try_for_each(|part| self.template(part, depth + 1))
    }

    /// Checks that all members of an object have different names.
    fn members_differ(&mut self, entries: &'p [Entry]) -> Result<(), String> {
        self.members.clear();
        let names = entries.iter().filter_map(|entry| match &entry.key {
            Key::Name(name) => Some(&**name),
            Key::Flattened | Key::Inner => None,
        });
        self.members.extend(names);
        self.members.sort_unstable();
        match self.members.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("has an object with two members `{}`", pair[0])),
            None => Ok(()),
        }
    }

    fn source(&mut self, source: Source) -> Result<(), String> {
        match source {
            Source::Step(step) => {
                self.exists(step)?;
                self.steps.push(step);
                Ok(())
            }
            Source::Input(input) => within(input, self.plan.inputs.len(), || {
                format!("reads input number {input}, but the plan has only")
            }),
            Source::Local(local) => within(local, self.locals.len(), || {
                format!("reads local value number {local}, but there are only")
            }),
        }
    }

    fn exists(&self, step: usize) -> Result<(), String> {
        within(step, self.plan.steps.len(), || {
            format!("needs step number {step}, but the plan has only")
        })
    }
}

fn too_deep() -> String {
    format!("nests conditions, loops and blocks more than {DEEPEST_BODY} levels deep")
}

/// Checks that a pattern fits its value. A run compares data with no pattern.
fn pattern_fits(pattern: &str, value: &Template, in_if: bool) -> Result<(), String> {
    pattern_mistake(pattern, value, in_if).map_or(Ok(()), |(mistake, _)| {
        Err(format!("says something else than a run does: {mistake}"))
    })
}

fn within(place: usize, count: usize, mistake: impl Fn() -> String) -> Result<(), String> {
    if place < count {
        return Ok(());
    }
    Err(format!("{} {count}", mistake()))
}

fn deep_value() -> String {
    format!("nests values more than {DEEPEST_VALUE} levels deep")
}
