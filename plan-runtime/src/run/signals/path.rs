//! The paths of steps that wait for a value: `reply`, `orders[3].reply`.

use super::super::catch::catch;
use super::super::nesting::DEEPEST;
use crate::error::elements;
use crate::plan::{Await, Body, InnerPlan, Plan, Role, Step};

/// The largest number of paths that a message lists.
const MOST_PATHS: usize = 100;

/// Returns the wait of the step at this path. If a step calls a plan, the path continues in that plan.
pub(super) fn find<'p>(plan: &'p Plan, path: &str) -> Option<&'p Await> {
    find_in(plan, path, 0, &|end| match end {
        PathEnd::Wait(wait) => Some(wait),
        PathEnd::Tool => None,
    })
}

/// The end of a path through plans.
enum PathEnd<'p> {
    Wait(&'p Await),
    /// The call of a tool that is not a plan, and may run plans of its own.
    Tool,
}

/// Returns the first wanted end of a path. A path may have several ends, since a name may contain a dot.
fn find_in<'p, T>(
    plan: &'p Plan,
    path: &str,
    depth: usize,
    wanted: &impl Fn(PathEnd<'p>) -> Option<T>,
) -> Option<T> {
    if depth > DEEPEST {
        return None;
    }
    steps(plan).find_map(|step| {
        let rest = path.strip_prefix(&*step.id)?;
        let (element, rest) = elements(rest)?;
        match (rest.strip_prefix('.'), &step.body) {
            (None, Body::Await(wait)) if rest.is_empty() && element.is_empty() => {
                wanted(PathEnd::Wait(wait))
            }
            (Some(rest), body) => find_inside(body, element.len(), rest, depth, wanted),
            _ => None,
        }
    })
}

/// Searches a body inside as many lists as the path names elements of.
fn find_inside<'p, T>(
    body: &'p Body,
    elements: usize,
    path: &str,
    depth: usize,
    wanted: &impl Fn(PathEnd<'p>) -> Option<T>,
) -> Option<T> {
    match body {
        Body::Action(action) if elements == 0 => match inner(action.tool.as_ref()?.plan) {
            Some(plan) => find_in(plan, path, depth + 1, wanted),
            None if path.is_empty() => None,
            None => wanted(PathEnd::Tool),
        },
        Body::Block(block) if elements == 0 => find_in(&block.plan, path, depth + 1, wanted),
        // The path contains the number of the round.
        Body::Loop(repeat) if elements == 1 => find_in(&repeat.round.plan, path, depth + 1, wanted),
        Body::If(branches) => branches
            .iter()
            .find_map(|branch| find_inside(&branch.body, elements, path, depth, wanted)),
        Body::For(each) => find_inside(&each.body, elements.checked_sub(1)?, path, depth, wanted),
        Body::Action(_) | Body::Block(_) | Body::Loop(_) | Body::Await(_) => None,
    }
}

/// Returns the plan of a tool that is a plan. Its creation calls functions of the program, which may panic.
fn inner(plan: InnerPlan) -> Option<&'static Plan> {
    if !plan.is_some() {
        return None;
    }
    catch(|| plan.plan()).ok().flatten()
}

/// Returns the step of a plan that waits for a value at this path. Returns `Ok(None)` if the path leads into a tool that may run a plan. Otherwise,
/// the error is a similar path.
pub(crate) fn wait_at<'p>(plan: &'p Plan, path: &str) -> Result<Option<&'p Await>, Option<String>> {
    if let Some(wait) = find(plan, path) {
        return Ok(Some(wait));
    }
    let into_tool = |end| matches!(end, PathEnd::Tool).then_some(());
    if find_in(plan, path, 0, &into_tool).is_some() {
        return Ok(None);
    }
    Err(similar_path(plan, path))
}

/// Returns the path of a step that waits for a value and has a similar path, or the name `path` inside of another step.
pub(super) fn similar_path(plan: &Plan, path: &str) -> Option<String> {
    let paths = awaited(plan);
    let similar = plan_graph::similar(path, paths.iter().map(String::as_str));
    let is_name = |it: &&String| it.rsplit_once('.').is_some_and(|(_, name)| name == path);
    let inside = || paths.iter().find(is_name).map(String::as_str);
    similar.or_else(inside).map(str::to_owned)
}

/// Returns the steps of the work. Undo steps and always steps accept no values.
fn steps(plan: &Plan) -> impl Iterator<Item = &Step> {
    plan.steps.iter().filter(|step| step.role == Role::Work)
}

/// Returns the steps of a plan that wait for values, including those of plans inside it; `[..]` is any element.
pub(in crate::run) fn awaited(plan: &Plan) -> Vec<String> {
    let mut search = PathSearch::default();
    search.plan(plan);
    search.found
}

#[derive(Default)]
struct PathSearch {
    found: Vec<String>,
    /// The path to this position.
    path: String,
    /// The enclosing plans, since a plan may call itself through others.
    around: Vec<*const Plan>,
}

impl PathSearch {
    fn plan(&mut self, plan: &Plan) {
        let itself = std::ptr::from_ref(plan);
        if self.around.len() > DEEPEST || self.around.contains(&itself) {
            return;
        }
        self.around.push(itself);
        for step in steps(plan) {
            self.inside(&step.id, |it| it.body(&step.body));
        }
        self.around.pop();
    }

    fn body(&mut self, body: &Body) {
        if self.found.len() >= MOST_PATHS {
            return;
        }
        match body {
            Body::Await(_) => self.found.push(self.path.clone()),
            Body::Action(action) => {
                let tool = action.tool.as_ref();
                if let Some(plan) = tool.and_then(|tool| inner(tool.plan)) {
                    self.inside(".", |it| it.plan(plan));
                }
            }
            Body::Block(block) => self.inside(".", |it| it.plan(&block.plan)),
            Body::Loop(repeat) => self.inside("[..].", |it| it.plan(&repeat.round.plan)),
            Body::If(branches) => branches.iter().for_each(|branch| self.body(&branch.body)),
            Body::For(each) => self.inside("[..]", |it| it.body(&each.body)),
        }
    }

    /// Searches the steps whose paths continue with this part.
    fn inside(&mut self, part: &str, search: impl FnOnce(&mut Self)) {
        let before = self.path.len();
        self.path.push_str(part);
        search(self);
        self.path.truncate(before);
    }
}
