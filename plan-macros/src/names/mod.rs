//! Which names a plan has, and whether each that it uses is one of them: `resolve` goes through the values, `computed` through the Rust
//! expressions among them.

mod braces;
mod caught;
mod computed;
mod frames;
mod resolve;
mod roles;

pub(crate) use frames::Frames;
pub(crate) use resolve::resolve;
pub(crate) use roles::{Reader, check as check_roles, reader};

use crate::ast::{Body, Branch, Condition, Local, Plan};
use crate::docs::text_of;
use crate::report::Report;
use plan_graph::similar;
use std::collections::{HashMap, HashSet};
use syn::Ident;

/// What a name in a value refers to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Source {
    /// The step at this place.
    Step(usize),
    /// The input at this place.
    Input(usize),
}

/// What a name in a value means.
enum Meaning {
    /// A `for` or an `if let` binds it.
    Local(Local),
    /// It is a step's or an input's.
    Source,
    /// It could not be read where it is declared, and that was reported.
    Broken,
    Unknown,
}

/// The names of a plan.
pub(crate) struct Names {
    sources: HashMap<String, Source>,
    /// The names of inputs that could not be read, and of steps of which not even the type is known; reported already.
    broken: HashSet<String>,
    /// The names that `for` and `if let` bind, with the step that each is bound in first.
    bound: HashMap<String, String>,
    /// How a local value would come in as an input, for the help.
    inputs_help: String,
    /// Whether there may be inputs that could not be read.
    unclear: bool,
}

impl Names {
    /// Finds the names of a plan, and reports duplicates. An input that cannot be a field of the plan's struct is removed.
    pub(crate) fn new(plan: &mut Plan, report: &mut Report) -> Self {
        let mut sources = HashMap::new();
        let mut broken = HashSet::new();
        if let Some(head) = &mut plan.head {
            let mut known = HashSet::new();
            head.inputs.retain(|input| {
                let text = text_of(&input.name);
                let valid = check_name(&input.name, "input", report);
                let first = known.insert(text.clone());
                if valid && !first {
                    broken.insert(text.clone());
                    report.error(
                        &input.name,
                        format!("the plan has more than one input named `{text}`"),
                    );
                }
                valid && first
            });
            let inputs = head.inputs.iter().enumerate();
            sources
                .extend(inputs.map(|(index, input)| (text_of(&input.name), Source::Input(index))));
        }
        for (index, step) in plan.steps.iter().enumerate() {
            let text = text_of(&step.name);
            check_name(&step.name, "step", report);
            if sources.contains_key(&text) {
                // Which of the two a value means is not known.
                broken.insert(text.clone());
            }
            match sources.get(&text) {
                Some(Source::Step(_)) => report.error(
                    &step.name,
                    format!("the plan has more than one step named `{text}`\nhelp: give this step another name"),
                ),
                Some(Source::Input(_)) => report.error(
                    &step.name,
                    format!("`{text}` is already an input of the plan\nhelp: give the step another name"),
                ),
                None => {
                    if step.ty.is_none() && is_untyped(&step.body) {
                        broken.insert(text.clone());
                    }
                    sources.insert(text, Source::Step(index));
                }
            }
        }
        let inputs_help = match &plan.head {
            Some(head) => format!("make it an input: `{}(", head.name),
            None => "make it an input of a named plan: `plan! { Name(".to_owned(),
        };
        let mut bound = HashMap::new();
        for step in &plan.steps {
            bound_in(&step.body, &mut |name| {
                let name = text_of(name);
                let step = text_of(&step.name);
                bound.entry(name).or_insert(step);
            });
        }
        let unread = plan.broken.iter().map(text_of);
        broken.extend(unread.filter(|name| !sources.contains_key(name)));
        Self {
            sources,
            broken,
            bound,
            inputs_help,
            unclear: plan.head.as_ref().is_some_and(|head| head.unclear_inputs),
        }
    }

    pub(crate) fn get(&self, name: &Ident) -> Option<Source> {
        self.sources.get(&text_of(name)).copied()
    }

    /// Whether a step, an input, a `for` or an `if let` has this name.
    pub(crate) fn is_taken(&self, name: &str) -> bool {
        self.sources.contains_key(name) || self.bound.contains_key(name)
    }

    /// What a name in a value means, with `frames` around it.
    fn find(&self, name: &Ident, frames: &Frames) -> Meaning {
        if let Some(local) = frames.get(name) {
            Meaning::Local(local)
        } else if frames.is_broken(name) || self.broken.contains(&text_of(name)) {
            Meaning::Broken
        } else if self.get(name).is_some() {
            Meaning::Source
        } else if self.unclear {
            Meaning::Broken
        } else {
            Meaning::Unknown
        }
    }

    /// The message about a name that the plan does not have, and whether one of the plan's names was probably meant.
    pub(crate) fn unknown(&self, name: &Ident, frames: &Frames) -> (String, bool) {
        let text = text_of(name);
        let mut known: Vec<&str> = self
            .sources
            .keys()
            .map(String::as_str)
            .chain(frames.names())
            .collect();
        known.sort_unstable();
        let similar = similar(&text, known);
        let help = match similar {
            Some(known) if frames.names().any(|name| name == known) => {
                format!("help: a local variable with a similar name exists: `{known}`")
            }
            Some(known) => {
                let kind = match self.sources.get(known) {
                    Some(Source::Input(_)) => "an input",
                    _ => "a step",
                };
                format!("help: {kind} with a similar name exists: `{known}`")
            }
            None => match self.bound.get(&text) {
                Some(step) => format!(
                    "help: `{text}` is bound in the step `{step}`, and is in scope only inside its braces"
                ),
                None => format!(
                    "help: a plan cannot capture local variables; {}{text}: …)`",
                    self.inputs_help
                ),
            },
        };
        let message = format!("no step or input is named `{text}`\n{help}");
        (message, similar.is_some())
    }

    /// The message about a name in `#[after(…)]` that is not a step's.
    pub(crate) fn unknown_after(&self, after: &Ident, step: &Ident) -> String {
        let text = text_of(after);
        let step = text_of(step);
        let known = self
            .sources
            .iter()
            .filter(|(name, source)| matches!(source, Source::Step(_)) && **name != step);
        let mut known: Vec<&str> = known.map(|(name, _)| name.as_str()).collect();
        known.sort_unstable();
        match similar(&text, known) {
            Some(known) => {
                format!(
                    "no step is named `{text}`\nhelp: a step with a similar name exists: `{known}`"
                )
            }
            None => format!("no step is named `{text}`"),
        }
    }
}

/// Whether nothing says what a body gives.
fn is_untyped(body: &Body) -> bool {
    match body {
        Body::Call(_) | Body::Compute(_) | Body::Broken(Some(_)) => false,
        Body::Broken(None) => true,
        Body::If(branches) => branches
            .first()
            .is_none_or(|branch| is_untyped(&branch.body)),
        Body::For(repeat) => is_untyped(&repeat.body),
    }
}

/// `false` if the name can be none.
fn check_name(name: &Ident, kind: &str, report: &mut Report) -> bool {
    let text = text_of(name);
    if text == "_" {
        report.error(name, format!("this {kind} needs a name"));
    } else if is_keyword(name) {
        let raw = format!("r#{text}");
        let help = match syn::parse_str::<Ident>(&raw) {
            Ok(_) => format!("\nhelp: write `{raw}`, or choose another name"),
            Err(_) => String::new(),
        };
        report.error(
            name,
            format!("`{text}` is a Rust keyword, so it cannot be the name of this {kind}{help}"),
        );
    } else if text.starts_with(char::is_uppercase) {
        report.error(
            name,
            format!("the name of this {kind} must start with a lowercase letter: in a plan, names that start with an uppercase letter are Rust paths"),
        );
        return true;
    } else {
        return true;
    }
    false
}

/// Whether the name needs an `r#` that it does not have.
fn is_keyword(name: &Ident) -> bool {
    syn::parse_str::<Ident>(&name.to_string()).is_err()
}

/// Goes through the names that a body binds.
fn bound_in(body: &Body, visit: &mut impl FnMut(&Ident)) {
    match body {
        Body::If(branches) => {
            for Branch { conditions, body } in branches {
                for condition in conditions {
                    if let Condition::Let(_, _, names) | Condition::Broken(names) = condition {
                        names.iter().for_each(&mut *visit);
                    }
                }
                bound_in(body, visit);
            }
        }
        Body::For(repeat) => {
            let names = crate::parse::names_in(&repeat.pat);
            names.iter().for_each(&mut *visit);
            bound_in(&repeat.body, visit);
        }
        Body::Call(_) | Body::Compute(_) | Body::Broken(_) => {}
    }
}
