//! The steps of a plan before it runs, as the page shows them.

use crate::error::shortened;
use crate::limits;
use crate::tools::Office;
use plan_graph::{Line, MessageName};
use plan_runtime::Plan;
use plan_runtime::dynamic::{Contracts, Toolbox};
use plan_runtime::plan::{Body, Input, Role, Source, Step};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The most names of blocked steps for each step. All names would take space quadratic in the number of steps.
const NAMES: usize = 100;

/// A step of a plan.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct StepView {
    pub(crate) path: String,
    /// The tool that the step calls, or its tools with commas between them.
    pub(crate) tool: Option<String>,
    /// The description in the tool's contract.
    pub(crate) description: String,
    /// The intent that the plan states.
    pub(crate) intent: String,
    pub(crate) read_only: bool,
    /// `for`, `if`, `loop` or `block`, or an empty string for a plain call.
    pub(crate) form: &'static str,
    /// `true` if the step waits for a value from a person.
    pub(crate) waits: bool,
    /// The step that it undoes, if it does.
    pub(crate) undoes: Option<String>,
    /// The step that undoes it, if there is one.
    pub(crate) undone_by: Option<String>,
    /// `true` if the step runs at the end of every run.
    pub(crate) always: bool,
    /// The undo steps and the steps of every end inside the step, with paths without indices.
    pub(crate) cleanup: Vec<String>,
    pub(crate) needs: Vec<String>,
    /// The needed steps whose outputs the step does not read.
    pub(crate) after: Vec<String>,
    /// The steps that a failure of this step blocks, at most [`NAMES`] of them. A step without an effect has nothing to
    /// undo, so its undo step is not blocked.
    pub(crate) affects: Vec<String>,
    /// The number of steps that a failure of this step blocks.
    pub(crate) affects_count: usize,
}

impl StepView {
    /// Returns a short label for the step's action.
    pub(crate) fn what(&self) -> String {
        let tool = match &self.tool {
            Some(tool) => tool,
            None if self.waits => "waits for a value",
            None => "computes a value",
        };
        match (&self.undoes, self.form) {
            (Some(_), _) => format!("undo: {tool}"),
            (None, "") if self.always => format!("at the end: {tool}"),
            (None, "") => tool.to_owned(),
            (None, "for") => format!("for each: {tool}"),
            (None, form) => format!("{form}: {tool}"),
        }
    }

    /// Returns the CSS classes of the step in the graph.
    pub(crate) fn classes(&self) -> String {
        let undo = if self.undoes.is_some() { " undo" } else { "" };
        let form = if self.form.is_empty() { "" } else { " is-" };
        format!("{}{undo}{form}{}", self.kind(), self.form)
    }

    pub(crate) fn kind(&self) -> &'static str {
        match (self.waits, self.read_only) {
            (true, _) => "waits",
            (_, true) => "reads",
            _ => "acts",
        }
    }

    pub(crate) fn spoken(&self) -> String {
        let how = match self.kind() {
            "waits" if self.tool.is_none() => "",
            "waits" => ", waits for a value",
            "reads" => ", only reads",
            _ => ", may change something",
        };
        let undoes = self
            .undoes
            .as_ref()
            .map(|undone| format!(", undoes {undone}"))
            .unwrap_or_default();
        format!("{}: {}{undoes}{how}", self.path, self.what())
    }
}

/// Describes the plan in the form of the API.
pub(crate) fn plan(plan: &Plan, toolbox: &Toolbox<Office>) -> Value {
    let steps = steps(plan, toolbox.contracts());
    let svg = crate::picture::svg(&plan.name, &steps);
    json!({
        "name": plan.name.to_string(),
        "text": plan.to_string(),
        "mermaid": plan.mermaid().to_string(),
        "dot": plan.dot().to_string(),
        "inputs": plan.inputs.iter().map(input).collect::<Vec<_>>(),
        "steps": steps,
        "svg": svg,
    })
}

/// Returns the name of a step in the form of events, questions and errors.
fn written(step: &Step) -> String {
    MessageName(&step.id).to_string()
}

pub(crate) fn steps(plan: &Plan, contracts: &Contracts) -> Vec<StepView> {
    let places: HashMap<&str, usize> = plan
        .steps
        .iter()
        .enumerate()
        .map(|(at, step)| (&*step.id, at))
        .collect();
    let place = |step: &Step| places.get(&*step.id).copied();
    let needs: Vec<Vec<usize>> = plan
        .steps
        .iter()
        .map(|step| {
            plan.dependencies(&step.id)
                .into_iter()
                .filter_map(place)
                .collect()
        })
        .collect();
    // Undo and cleanup steps block no work: a failed cleanup blocks only cleanup.
    let holds_up = |step: &Step, need: usize| match plan.steps[need].role {
        Role::Undo(_) => false,
        _ if step.role == Role::Undo(need) => false,
        Role::Always => step.role == Role::Always,
        _ => true,
    };
    let graph = plan_graph::Graph::new(plan.steps.iter().zip(&needs).map(|(step, needs)| {
        needs
            .iter()
            .copied()
            .filter(|need| holds_up(step, *need))
            .collect::<Vec<_>>()
    }));
    let later = graph.reversed();
    let name = |at: usize| written(&plan.steps[at]);
    let undo_of = |at: usize| plan.steps.iter().find(|it| it.role == Role::Undo(at));
    let view = |(at, step): (usize, &Step)| {
        let mut blocked = later.reachable(at);
        blocked[at] = false;
        let affects = || (0..blocked.len()).filter(|at| blocked[*at]);
        let actions = step.body.actions();
        let mut tools: Vec<&str> = actions
            .iter()
            .filter_map(|it| Some(&*it.tool.as_ref()?.name))
            .collect();
        tools.dedup();
        let is_read_only = |tool: &&str| contracts.get(tool).is_some_and(|it| it.read_only);
        let description = match tools[..] {
            [tool] => contracts.get(tool).map(|it| it.description.clone()),
            _ => None,
        };
        StepView {
            path: written(step),
            read_only: tools.iter().all(is_read_only),
            tool: (!tools.is_empty()).then(|| tools.join(", ")),
            description: description.unwrap_or_default(),
            intent: intent_of(step),
            form: form(&step.body),
            waits: waits(&step.body),
            undoes: match step.role {
                Role::Undo(of) => plan.steps.get(of).map(written),
                _ => None,
            },
            undone_by: undo_of(at).map(written),
            always: step.role == Role::Always,
            cleanup: cleanup(&written(step), &step.body),
            needs: needs[at].iter().copied().map(name).collect(),
            after: after(step, &needs[at]).map(name).collect(),
            affects: affects().take(NAMES).map(name).collect(),
            affects_count: affects().count(),
        }
    };
    plan.steps.iter().enumerate().map(view).collect()
}

/// Returns the needed steps whose outputs a step does not read. An undo step reads nothing of its step, and is not in order only.
fn after(step: &Step, needs: &[usize]) -> impl Iterator<Item = usize> {
    let reads = step.reads();
    let is_read = move |need: usize| reads.contains(&Source::Step(need));
    let role = step.role;
    let needs = needs.iter().copied();
    needs.filter(move |need| role != Role::Undo(*need) && !is_read(*need))
}

/// Returns the first characters of a step's intent, on one line with escapes for invisible characters.
fn intent_of(step: &Step) -> String {
    Line(shortened(step.intent.trim(), limits::INTENT)).to_string()
}

/// Returns the plans inside a body.
fn inside(body: &Body) -> Vec<&Plan> {
    match body {
        Body::If(branches) => branches.iter().flat_map(|it| inside(&it.body)).collect(),
        Body::For(each) => inside(&each.body),
        Body::Block(block) => vec![&block.plan],
        Body::Loop(repeat) => vec![&repeat.round.plan],
        _ => Vec::new(),
    }
}

/// Returns the paths of the undo steps and of the steps of every end inside a body.
fn cleanup(around: &str, body: &Body) -> Vec<String> {
    let steps = inside(body).into_iter().flat_map(|plan| &plan.steps);
    let of_step = |step: &Step| {
        let path = format!("{around}.{}", written(step));
        match step.role {
            Role::Work => cleanup(&path, &step.body),
            _ => vec![path],
        }
    };
    steps.flat_map(of_step).collect()
}

/// Returns the intent of the step with a path such as `trip[2].hotel`, or the intent of the nearest enclosing step
/// with an intent.
pub(crate) fn intent(plan: &Plan, path: &str) -> String {
    let found = plan.steps.iter().find_map(|step| {
        let rest = path.strip_prefix(&*written(step))?;
        let is_whole = rest.is_empty() || rest.starts_with(['[', '.']);
        is_whole.then_some((step, rest))
    });
    let Some((step, rest)) = found else {
        return String::new();
    };
    let inner = rest.trim_start_matches(|c: char| c == '[' || c == ']' || c.is_ascii_digit());
    let inner = inner.strip_prefix('.').into_iter();
    let mut inner =
        inner.flat_map(|rest| inside(&step.body).into_iter().map(|it| intent(it, rest)));
    let found = inner.find(|intent| !intent.is_empty());
    found.unwrap_or_else(|| intent_of(step))
}

/// Returns the innermost step with a path such as `trip[2].hotel`, with its plan.
fn innermost<'p>(plan: &'p Plan, path: &str) -> Option<(&'p Plan, &'p Step)> {
    plan.steps.iter().find_map(|step| {
        let rest = path.strip_prefix(&*written(step))?;
        let inner = rest.trim_start_matches(|c: char| c == '[' || c == ']' || c.is_ascii_digit());
        match inner.strip_prefix('.') {
            Some(rest) => inside(&step.body)
                .into_iter()
                .find_map(|plan| innermost(plan, rest)),
            None => inner.is_empty().then_some((plan, step)),
        }
    })
}

/// Returns the steps and inputs that supply each argument of a call, by the name of the argument.
pub(crate) fn sources(plan: &Plan, path: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut sources: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let Some((plan, step)) = innermost(plan, path) else {
        return sources;
    };
    let name = |of: Source| Some(MessageName(plan.name_of(of)?).to_string());
    // The element of a list comes from the sources of the list.
    let list = match &step.body {
        Body::For(each) => each.list.reads(),
        _ => Vec::new(),
    };
    for action in step.actions() {
        for usage in action.args.references() {
            let end = usage.place.find(['.', '[']).unwrap_or(usage.place.len());
            let of = match usage.reference.source {
                Source::Local(_) => list.clone(),
                source => vec![source],
            };
            let names = of.into_iter().filter_map(name);
            let argument = usage.place[..end].to_owned();
            sources.entry(argument).or_default().extend(names);
        }
    }
    sources
}

/// Returns the keyword of a body, or an empty string for a plain call.
fn form(body: &Body) -> &'static str {
    match body {
        Body::If(_) => "if",
        Body::For(_) => "for",
        Body::Loop(_) => "loop",
        Body::Block(_) => "block",
        _ => "",
    }
}

/// Returns `true` if the body contains an `await`.
fn waits(body: &Body) -> bool {
    match body {
        Body::Await(_) => true,
        Body::If(branches) => branches.iter().any(|branch| waits(&branch.body)),
        Body::For(each) => waits(&each.body),
        Body::Block(block) => block.plan.steps.iter().any(|step| waits(&step.body)),
        Body::Loop(repeat) => repeat.round.plan.steps.iter().any(|step| waits(&step.body)),
        _ => false,
    }
}

fn input(input: &Input) -> Value {
    let name = input.type_name.to_string();
    let (inner, required) = match name
        .strip_prefix("Option<")
        .and_then(|rest| rest.strip_suffix('>'))
    {
        Some(inner) => (inner.trim(), false),
        None => (&*name, true),
    };
    json!({
        "name": input.name.to_string(),
        "type": name,
        "required": required,
        "kind": kind(inner),
        "description": input.description.to_string(),
    })
}

/// Returns the kind of form field for values of a type.
fn kind(type_name: &str) -> &'static str {
    match type_name {
        "String" | "&str" | "char" => "text",
        "bool" => "boolean",
        "f32" | "f64" | "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32"
        | "i64" | "i128" | "isize" => "number",
        _ => "json",
    }
}

#[cfg(test)]
mod tests {
    use super::{NAMES, steps};
    use crate::tools::toolbox;
    use plan_runtime::plan::Role;
    use plan_runtime::run::Throttle;

    /// The blocked steps are equal to the library's `blocked_by`, without undo steps that have nothing to undo.
    #[test]
    fn a_failure_affects_what_it_blocks() {
        let toolbox = toolbox(Throttle::new());
        let sources = crate::samples::all().filter(|(name, _)| *name != "faulty");
        for (name, text) in sources {
            let document = toolbox.read(text).unwrap();
            let plan = document.plan();
            for step in steps(plan, toolbox.contracts()) {
                let blocked = plan.blocked_by(&step.path);
                let blocked = blocked.iter().filter(|it| it.role == Role::Work);
                let blocked: Vec<String> = blocked.map(|step| step.id.clone()).collect();
                assert_eq!(
                    (step.affects, step.affects_count),
                    (blocked.clone(), blocked.len()),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn questions_have_the_intent_of_their_step() {
        let toolbox = toolbox(Throttle::new());
        let text = r#"{"steps": [{"id": "trip", "intent": " Plan\u202e the trip. ", "block": {"steps": [
            {"id": "booked", "intent": "Book it.", "tool": "event_book", "arguments": {"title": "x", "day": "2027-03-12"}},
            {"id": "told", "tool": "email_send", "arguments": {"to": "ada@example.org", "subject": "x"}}
        ], "value": "$ref:booked.id"}}], "output_steps": ["trip"]}"#;
        let document = toolbox.read(text).unwrap();
        let intent = |path| super::intent(document.plan(), path);
        assert_eq!(intent("trip.booked"), "Book it.");
        for path in ["trip", "trip[3]", "trip[3].told"] {
            assert_eq!(intent(path), r"Plan\u{202e} the trip.", "{path}");
        }
        assert_eq!(intent("trips"), "");
    }

    #[test]
    fn arguments_have_their_sources() {
        let toolbox = toolbox(Throttle::new());
        let of = |name: &str, path: &str| {
            let (_, text) = crate::samples::all().find(|(it, _)| *it == name).unwrap();
            let document = toolbox.read(text).unwrap();
            serde_json::to_value(super::sources(document.plan(), path)).unwrap()
        };
        let expected = serde_json::json!({"to": ["inbox"], "subject": ["inbox"], "text": ["text"]});
        assert_eq!(of("reply", "sent"), expected);
        let expected = serde_json::json!({"to": ["people"]});
        assert_eq!(of("contacts", "sent[3]"), expected);
        assert_eq!(of("contacts", "other"), serde_json::json!({}));
    }

    #[test]
    fn cleanup_is_known() {
        let toolbox = toolbox(Throttle::new());
        let text = r#"{"steps": [
            {"id": "all", "for": {"pattern": "day", "list": ["2027-03-12"], "body": {"block": {"steps": [
                {"id": "booked", "tool": "event_book", "arguments": {"title": "x", "day": "$ref:day"}},
                {"id": "back", "undo": "booked", "tool": "event_cancel", "arguments": {"id": "$ref:booked.id"}}
            ], "value": "$ref:booked.id"}}}},
            {"id": "told", "always": true, "tool": "email_send", "arguments": {"to": "ada@example.org", "subject": "x"}}
        ], "output_steps": ["all"]}"#;
        let document = toolbox.read(text).unwrap();
        let steps = steps(document.plan(), toolbox.contracts());
        assert_eq!(
            (steps[0].always, &*steps[0].cleanup),
            (false, &["all.back".to_owned()][..])
        );
        assert_eq!((steps[1].always, &*steps[1].cleanup), (true, &[][..]));
    }

    #[test]
    fn many_steps_are_counted() {
        let toolbox = toolbox(Throttle::new());
        let last = r#"{"tool": "email_read", "params": {"id": "${step[0].data[0].id}"}}"#;
        let text = format!(
            r#"{{"requestId": "r", "steps": [{{"tool": "emails_list", "params": {{}}}}{}]}}"#,
            format!(", {last}").repeat(2_000)
        );
        let document = toolbox.read(&text).unwrap();
        let first = &steps(document.plan(), toolbox.contracts())[0];
        assert_eq!((first.affects.len(), first.affects_count), (NAMES, 2_000));
    }
}
