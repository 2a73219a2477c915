//! The roles of steps: the plan's work, or steps after the end of the work.

use super::{Plan, Source, Step};
use plan_graph::Graph;
use std::collections::HashMap;

/// The role of a step. In `plan!`, `#[undo(paid)]` and `#[always]` set it.
///
/// ```
/// use plan_runtime::plan::{Action, Reference, Role, Source, Step, Template};
/// use plan_runtime::Plan;
///
/// let mut plan = Plan::new("order");
/// plan.steps = vec![
///     Step::new("paid", Action::call("pay", Template::Null)),
///     Step::new("refunded", Action::call("refund", Reference::new(Source::Step(0)))),
/// ];
/// plan.steps[1].role = Role::Undo(0);
/// assert_eq!(plan.to_string(), "\
/// plan order
///
///   step paid = pay
///     null
///     // starts at once
///
///   #[undo(paid)]
///   step refunded = refund
///     paid
///     // needs paid
/// ");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// The work of the plan.
    #[default]
    Work,
    /// The undo step of the step with this index in [`Plan::steps`]. It runs if that step completed and the run fails, is
    /// cancelled or passes its deadline. It reads the output of that step's call, regardless of the step's
    /// [`Policy`](super::Policy).
    Undo(usize),
    /// A final step, which runs after the end of all other steps, regardless of their outcome. It reads the outputs of
    /// the other steps as `Result`s, with a [`Failure`](crate::Failure) for each missing output.
    Always,
}

/// The origin of a plan, which determines if orders and policies without an effect are errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The author can still change the plan.
    #[default]
    Written,
    /// The plan may be in a journal, where an older version accepted the order or the policy.
    Recorded,
}

/// An error about the roles of a plan's steps.
#[derive(Debug)]
pub(crate) struct RoleMistake {
    /// The step; `None` for the plan's output.
    pub(crate) step: Option<usize>,
    /// The message, to follow the name of the step.
    pub(crate) message: String,
    /// The fix.
    pub(crate) help: String,
    /// The position in the step.
    pub(crate) place: RolePlace,
}

/// The position of an error about roles in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RolePlace {
    /// The role itself.
    Role,
    /// The dependency on this step in `after`.
    After(usize),
    /// A reference to this source.
    Reads(Source),
}

/// The largest number of dependencies that the search for transitive dependencies visits.
const MOST_NEEDS: usize = 4_000_000;

/// Returns the errors about roles in a plan, in the order of the steps. A missing step is a separate error.
pub(crate) fn role_mistakes(plan: &Plan, origin: Origin) -> Vec<RoleMistake> {
    if plan.steps.iter().all(|step| step.role == Role::Work) {
        return Vec::new();
    }
    let mut search = RoleSearch {
        plan,
        origin,
        undone_by: vec![None; plan.steps.len()],
        dependents: None,
        known: HashMap::new(),
        left: MOST_NEEDS,
        found: Vec::new(),
    };
    for (place, step) in plan.steps.iter().enumerate() {
        search.step(place, step);
    }
    for source in plan.output.value.reads() {
        search.refers(None, source, RolePlace::Reads(source));
    }
    search.found
}

struct RoleSearch<'p> {
    plan: &'p Plan,
    origin: Origin,
    undone_by: Vec<Option<usize>>,
    /// For each step, its dependents, and the number of dependencies of the plan.
    dependents: Option<(Graph, usize)>,
    /// For a step that undo steps refer to, its transitive dependents.
    known: HashMap<usize, Option<Vec<bool>>>,
    left: usize,
    found: Vec<RoleMistake>,
}

impl<'p> RoleSearch<'p> {
    fn name(&self, step: usize) -> &'p str {
        self.plan.steps.get(step).map_or("", |step| &step.id)
    }

    fn note(&mut self, step: usize, place: RolePlace, message: String, help: &str) {
        self.found.push(RoleMistake {
            step: Some(step),
            message,
            help: help.to_owned(),
            place,
        });
    }

    fn step(&mut self, place: usize, step: &'p Step) {
        if step.role != Role::Work && step.body.waits() {
            let kind = match step.role {
                Role::Always => "an always step",
                Role::Undo(_) | Role::Work => "an undo step",
            };
            let message = format!("waits for a value, but {kind} cannot wait for one");
            self.note(place, RolePlace::Role, message, "wait in a step before");
        }
        if let Role::Undo(undone) = step.role {
            return self.undo(place, step, undone);
        }
        for source in step.reads() {
            self.refers(Some(place), source, RolePlace::Reads(source));
        }
        for &after in &step.after {
            self.refers(Some(place), Source::Step(after), RolePlace::After(after));
        }
        if step.role == Role::Always && self.origin == Origin::Written {
            for after in step.only_after() {
                self.waits_for_work(place, after);
            }
        }
    }

    /// Reports the order of an always step after a work step.
    fn waits_for_work(&mut self, place: usize, after: usize) {
        let Some(Step {
            id,
            role: Role::Work,
            ..
        }) = self.plan.steps.get(after)
        else {
            return;
        };
        let message = format!("waits for `{id}`, but an always step runs after `{id}` anyway");
        let help = format!("remove the dependency on `{id}`");
        self.note(place, RolePlace::After(after), message, &help);
    }

    /// Checks a reference of a step that is not an undo step.
    fn refers(&mut self, by: Option<usize>, source: Source, place: RolePlace) {
        let Source::Step(to) = source else { return };
        let Some(step) = self.plan.steps.get(to) else {
            return;
        };
        let is_always = by.is_some_and(|by| self.plan.steps[by].role == Role::Always);
        let id = &step.id;
        let waits = matches!(place, RolePlace::After(_));
        let verb = if waits { "waits for" } else { "refers to" };
        let (message, help) = match step.role {
            Role::Undo(undone) => (
                format!("{verb} the undo step `{id}`, which may never run"),
                match by {
                    Some(by) if by == undone => "remove the reference".to_owned(),
                    _ => format!("refer to `{}`", self.name(undone)),
                },
            ),
            Role::Always if !is_always => (
                format!("{verb} `{id}`, which runs later"),
                format!("only always steps can refer to `{id}`"),
            ),
            Role::Always | Role::Work => return,
        };
        let remove = || format!("remove the dependency on `{id}`");
        let help = waits.then(remove).unwrap_or(help);
        self.found.push(RoleMistake {
            step: by,
            message,
            help,
            place,
        });
    }

    fn undo(&mut self, place: usize, step: &'p Step, undone: usize) {
        let Some(other) = self.plan.steps.get(undone) else {
            let message = format!("undoes step number {undone}, which does not exist");
            return self.note(place, RolePlace::Role, message, "name a step of the plan");
        };
        let id = &other.id;
        let calls = other.actions().iter().any(|action| action.tool.is_some());
        let a_call = "name a step that calls a tool";
        let wrong = if undone == place {
            Some(("undoes itself".to_owned(), a_call))
        } else if other.role != Role::Work {
            Some((
                format!("undoes `{id}`, which is an undo step or an always step"),
                a_call,
            ))
        } else if !calls {
            Some((format!("undoes `{id}`, which calls no tool"), a_call))
        } else if other.body.repeats() {
            let message =
                format!("undoes `{id}`, whose calls may be half done when one of them fails");
            Some((message, "undo a step that makes exactly one call"))
        } else {
            let first = self.undone_by[undone].replace(place);
            let message = |first| format!("undoes `{id}`, as `{}` does", self.name(first));
            first.map(|first| (message(first), "remove one of the two undo steps"))
        };
        if let Some((message, help)) = wrong {
            self.note(place, RolePlace::Role, message, help);
        }
        if let Some(&first) = step.after.first() {
            let message =
                "waits for other steps, but undo steps run in the reverse order of the steps that they undo"
                    .to_owned();
            let help = "remove the dependencies";
            self.note(place, RolePlace::After(first), message, help);
        }
        for source in step.reads() {
            let Source::Step(read) = source else { continue };
            if read == undone || self.plan.steps.get(read).is_none() {
                continue;
            }
            let message = match self.needs(undone, read) {
                None => "refers to more steps than can be checked".to_owned(),
                Some(true) => continue,
                Some(false) => format!(
                    "refers to `{}`, which may be missing, because `{id}` does not need it",
                    self.name(read)
                ),
            };
            let help = format!("use `{id}`, an input, or a step that `{id}` needs");
            self.note(place, RolePlace::Reads(source), message, &help);
        }
    }

    /// Returns `true` if a step depends on another step, directly or through others, or `None` if the search would
    /// exceed its limit.
    fn needs(&mut self, step: usize, needed: usize) -> Option<bool> {
        let plan = self.plan;
        let (dependents, edges) = self.dependents.get_or_insert_with(|| {
            let needs = plan.needs();
            let edges = (0..needs.len()).map(|step| needs.of(step).len()).sum();
            (needs.reversed(), edges)
        });
        let known = self.known.entry(needed).or_insert_with(|| {
            self.left = self.left.checked_sub(plan.steps.len() + *edges)?;
            Some(dependents.reachable(needed))
        });
        Some(known.as_ref()?[step])
    }
}

impl RoleMistake {
    /// Returns the step's name with the message.
    pub(crate) fn in_plan(&self, plan: &Plan) -> String {
        match self.step.and_then(|step| plan.steps.get(step)) {
            Some(step) => format!("step `{}` {}; {}", step.id, self.message, self.help),
            None => format!("the output {}; {}", self.message, self.help),
        }
    }
}
