//! Which names a plan has, and whether each that it uses is one of them.

use crate::ast::{
    Body, Branch, Computed, Condition, Fields, Json, List, Local, Plan, Reference, Rest, Value,
};
use crate::computed;
use crate::report::Report;
use std::collections::{HashMap, HashSet};
use syn::Ident;
use syn::ext::IdentExt;

/// What a name in a value stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Source {
    /// The step at this place.
    Step(usize),
    /// The input at this place.
    Input(usize),
}

/// The names of a plan.
pub(crate) struct Names {
    sources: HashMap<String, Source>,
    /// Names of inputs that could not be read.
    broken: HashSet<String>,
    /// Steps of which not even the type is known.
    untyped: HashSet<String>,
    /// The names that `for` and `if let` bind, with the step that each is bound in first.
    bound: HashMap<String, String>,
    /// How a local value would come in as an input, for the help.
    inputs_help: String,
}

impl Names {
    /// Finds the names of a plan, and reports those that stand twice. An input that cannot be a field of the plan's struct is
    /// taken out.
    pub(crate) fn new(plan: &mut Plan, report: &mut Report) -> Self {
        let mut sources = HashMap::new();
        if let Some(head) = &mut plan.head {
            let mut known = HashSet::new();
            head.inputs.retain(|input| {
                let text = input.name.unraw().to_string();
                let valid = check_name(&input.name, "input", report);
                let first = known.insert(text.clone());
                if valid && !first {
                    report.error(
                        &input.name,
                        format!("the plan has more than one input named `{text}`"),
                    );
                }
                valid && first
            });
            let inputs = head.inputs.iter().enumerate();
            sources.extend(
                inputs.map(|(index, input)| (input.name.unraw().to_string(), Source::Input(index))),
            );
        }
        let mut untyped = HashSet::new();
        for (index, step) in plan.steps.iter().enumerate() {
            let text = step.name.unraw().to_string();
            check_name(&step.name, "step", report);
            match sources.get(&text) {
                Some(Source::Step(_)) => report.error(
                    &step.name,
                    format!("the plan has more than one step named `{text}`\nhelp: give this one a name of its own"),
                ),
                Some(Source::Input(_)) => report.error(
                    &step.name,
                    format!("`{text}` is an input of the plan already\nhelp: give the step a name of its own"),
                ),
                None => {
                    if step.ty.is_none() && is_untyped(&step.body) {
                        untyped.insert(text.clone());
                    }
                    sources.insert(text, Source::Step(index));
                }
            }
        }
        let inputs_help = match &plan.head {
            Some(head) => format!("what comes from outside comes in as an input: `{}(", head.name),
            None => "what comes from outside comes in as an input, which a named plan has: `plan! { Name(".to_owned(),
        };
        let mut bound = HashMap::new();
        for step in &plan.steps {
            bound_in(&step.body, &mut |name| {
                let name = name.unraw().to_string();
                let step = step.name.unraw().to_string();
                bound.entry(name).or_insert(step);
            });
        }
        let broken = plan.head.iter().flat_map(|head| &head.broken);
        let broken = broken.map(|name| name.unraw().to_string()).collect();
        Self {
            sources,
            broken,
            untyped,
            bound,
            inputs_help,
        }
    }

    pub(crate) fn get(&self, name: &Ident) -> Option<Source> {
        self.sources.get(&name.unraw().to_string()).copied()
    }

    /// Whether the name is that of a step of which not even the type is known: what it does could not be read, and was reported.
    pub(crate) fn is_untyped(&self, name: &Ident) -> bool {
        self.untyped.contains(&name.unraw().to_string())
    }

    /// Whether the name is that of an input that could not be read.
    pub(crate) fn is_broken(&self, name: &Ident) -> bool {
        self.broken.contains(&name.unraw().to_string())
    }

    /// What to say of a name that is none of the plan's, and whether one of the plan's was probably meant.
    pub(crate) fn unknown(&self, name: &Ident, frames: &Frames) -> (String, bool) {
        let text = name.unraw().to_string();
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
                format!("help: a name with a similar name is bound here: `{known}`")
            }
            Some(known) => {
                let kind = match self.sources.get(known) {
                    Some(Source::Input(_)) => "an input",
                    _ => "a step",
                };
                format!("help: {kind} with a similar name exists: `{known}`")
            }
            None if let Some(step) = self.bound.get(&text) => format!(
                "help: `{text}` is bound in the step `{step}`, and is known only in the braces there"
            ),
            None => format!(
                "help: a plan is static, so it sees no local variables; {}{text}: …)`",
                self.inputs_help
            ),
        };
        let message = format!("no step or input is named `{text}`\n{help}");
        (message, similar.is_some())
    }
}

/// `false` if the name can be none.
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

fn check_name(name: &Ident, kind: &str, report: &mut Report) -> bool {
    let text = name.unraw().to_string();
    if text == "_" {
        report.error(name, format!("this {kind} needs a name"));
    } else if is_keyword(name) {
        report.error(
            name,
            format!("`{text}` is a keyword of Rust, so no {kind} can have this name"),
        );
    } else if text.starts_with(char::is_uppercase) {
        report.error(
            name,
            format!("the name of this {kind} must start with a lower-case letter: names in upper case are Rust's own in a plan"),
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

/// The one of `known` that was probably meant.
pub(crate) fn similar<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    // A name of one letter is like any other.
    let limit = (length.max(3) / 3).min(length.saturating_sub(1));
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Replaces all values that refer to unknown names by [`Value::Broken`], and finds the names in computed ones.
pub(crate) fn resolve(plan: &mut Plan, names: &Names, report: &mut Report) {
    let mut resolver = Resolver {
        names,
        frames: Frames::default(),
        report,
    };
    for step in &mut plan.steps {
        resolver.after(&mut step.after, &step.name);
        resolver.body(&mut step.body);
        if let Some((_, fallback)) = &mut step.policy.fallback {
            resolver.value(fallback);
        }
    }
    if let Some(tail) = &mut plan.tail {
        resolver.value(&mut tail.value);
    }
}

/// The names that `for` and `if let` bind, outermost first.
#[derive(Default)]
pub(crate) struct Frames(Vec<Frame>);

struct Frame {
    names: Vec<(String, Option<usize>)>,
    /// What the names are bound to could not be read, so nothing is known of them. Such a frame is not expanded.
    broken: bool,
}

impl Frames {
    /// Where a name is bound, if it is.
    pub(crate) fn get(&self, name: &Ident) -> Option<Local> {
        let (index, part) = self.find(name)?;
        let outer = self.0[..index].iter().filter(|frame| !frame.broken);
        (!self.0[index].broken).then(|| Local {
            frame: outer.count(),
            part,
        })
    }

    /// Whether the name is bound to what could not be read.
    pub(crate) fn is_broken(&self, name: &Ident) -> bool {
        self.find(name)
            .is_some_and(|(index, _)| self.0[index].broken)
    }

    fn find(&self, name: &Ident) -> Option<(usize, Option<usize>)> {
        let name = name.unraw().to_string();
        self.0.iter().enumerate().rev().find_map(|(index, frame)| {
            let mut names = frame.names.iter().rev();
            let (_, part) = names.find(|(known, _)| *known == name)?;
            Some((index, *part))
        })
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let names = self.0.iter().flat_map(|frame| &frame.names);
        names.map(|(name, _)| name.as_str())
    }
}

struct Resolver<'a> {
    names: &'a Names,
    frames: Frames,
    report: &'a mut Report,
}

impl Resolver<'_> {
    fn after(&mut self, after: &mut Vec<Ident>, step: &Ident) {
        after.retain(|after| match self.names.get(after) {
            Some(Source::Step(_)) => true,
            Some(Source::Input(_)) => {
                self.report.error(after, format!("`{after}` is an input, which is there from the start; `#[after(…)]` names steps"));
                false
            }
            None => {
                self.report.error(after, after_unknown(self.names, after, step));
                false
            }
        });
    }

    fn body(&mut self, body: &mut Body) {
        match body {
            Body::Call(literal) => self.fields(&mut literal.fields),
            Body::Compute(value) => self.value(value),
            Body::If(branches) => {
                for Branch { condition, body } in branches {
                    let bound = match condition {
                        Condition::Always => false,
                        Condition::Holds(value) => {
                            self.value(value);
                            false
                        }
                        Condition::Binds(computed, bound) => {
                            let names = parts(bound);
                            let broken = !self.computed(computed);
                            if broken {
                                *condition = Condition::Holds(Value::Broken);
                            }
                            self.frames.0.push(Frame { names, broken });
                            true
                        }
                    };
                    self.body(body);
                    if bound {
                        self.frames.0.pop();
                    }
                }
            }
            Body::For(repeat) => {
                let names = match &mut repeat.list {
                    List::Reference(reference, name) => {
                        let bound = vec![(name.unraw().to_string(), None)];
                        if !self.reference(reference) {
                            repeat.list = List::Broken;
                        }
                        bound
                    }
                    List::Computed(computed, bound) => {
                        let bound = parts(bound);
                        if !self.computed(computed) {
                            repeat.list = List::Broken;
                        }
                        bound
                    }
                    List::Broken => parts(&crate::parse::bound(&repeat.pat)),
                };
                let broken = matches!(repeat.list, List::Broken);
                self.frames.0.push(Frame { names, broken });
                self.body(&mut repeat.body);
                self.frames.0.pop();
            }
            Body::Broken(_) => {}
        }
    }

    fn fields(&mut self, fields: &mut Fields) {
        match fields {
            Fields::Named(_, fields, rest) => {
                for field in &mut *fields {
                    self.value(&mut field.value);
                }
                // It is not known whether the field or the value is meant: one message is enough.
                let before = fields.len();
                fields.retain(|field| !(field.shorthand && matches!(field.value, Value::Broken)));
                if fields.len() < before {
                    *rest = Rest::Broken;
                }
            }
            Fields::Unnamed(_, values) => values.iter_mut().for_each(|value| self.value(value)),
            Fields::Unit => {}
        }
    }

    fn value(&mut self, value: &mut Value) {
        match value {
            Value::Scalar(_) | Value::None(_) | Value::Broken => {}
            Value::Some(_, _, value) => self.value(value),
            Value::List(_, values) | Value::Tuple(_, values) => {
                values.iter_mut().for_each(|value| self.value(value))
            }
            Value::Literal(literal) => self.fields(&mut literal.fields),
            Value::Json(_, json) => self.json(json),
            Value::Format(format) => format.args.iter_mut().for_each(|value| self.value(value)),
            Value::Reference(reference) => {
                if !self.reference(reference) {
                    *value = Value::Broken;
                }
            }
            Value::Computed(computed) => {
                if !self.computed(computed) {
                    *value = Value::Broken;
                }
            }
        }
    }

    fn json(&mut self, json: &mut Json) {
        match json {
            Json::Null => {}
            Json::Value(value) => self.value(value),
            Json::List(elements) => elements.iter_mut().for_each(|element| self.json(element)),
            Json::Object(members) => members.iter_mut().for_each(|(_, member)| self.json(member)),
        }
    }

    /// `false` if the reference's root is unknown, and reported.
    fn reference(&mut self, reference: &mut Reference) -> bool {
        if self.frames.is_broken(&reference.root) {
            return false;
        }
        reference.local = self.frames.get(&reference.root);
        if reference.local.is_none() && self.names.is_untyped(&reference.root) {
            return false;
        }
        let known = reference.local.is_some() || self.names.get(&reference.root).is_some();
        if !known && !self.names.is_broken(&reference.root) {
            let (message, _) = self.names.unknown(&reference.root, &self.frames);
            self.report.error(&reference.root, message);
        }
        known
    }

    /// `false` if something in the expression was reported.
    fn computed(&mut self, computed: &mut Computed) -> bool {
        computed::analyse(computed, self.names, &self.frames, self.report)
    }
}

/// Goes through the names that a body binds.
fn bound_in(body: &Body, visit: &mut impl FnMut(&Ident)) {
    match body {
        Body::If(branches) => {
            for Branch { condition, body } in branches {
                if let Condition::Binds(_, names) = condition {
                    names.iter().for_each(&mut *visit);
                }
                bound_in(body, visit);
            }
        }
        Body::For(repeat) => {
            let names = crate::parse::bound(&repeat.pat);
            names.iter().for_each(&mut *visit);
            bound_in(&repeat.body, visit);
        }
        Body::Call(_) | Body::Compute(_) | Body::Broken(_) => {}
    }
}

/// Names that are bound together.
fn parts(names: &[Ident]) -> Vec<(String, Option<usize>)> {
    names
        .iter()
        .enumerate()
        .map(|(part, name)| (name.unraw().to_string(), Some(part)))
        .collect()
}

fn after_unknown(names: &Names, after: &Ident, step: &Ident) -> String {
    let text = after.unraw().to_string();
    let step = step.unraw().to_string();
    let known = names
        .sources
        .iter()
        .filter(|(name, source)| matches!(source, Source::Step(_)) && **name != step);
    let mut known: Vec<&str> = known.map(|(name, _)| name.as_str()).collect();
    known.sort_unstable();
    match similar(&text, known) {
        Some(known) => {
            format!("no step is named `{text}`\nhelp: a step with a similar name exists: `{known}`")
        }
        None => format!("no step is named `{text}`"),
    }
}
