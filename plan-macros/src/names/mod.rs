//! The names of a plan, and errors about unknown names: `resolve` visits the values, `computed` visits the Rust
//! expressions inside them.

mod braces;
mod caught;
mod computed;
mod each;
mod facts;
mod frames;
mod resolve;
mod roles;
mod unknown;

pub(crate) use facts::{Capture, Captured, ComputedNames, Local, Mention, Outcome, Source};
pub(crate) use frames::Frames;
pub(crate) use resolve::resolve;
pub(crate) use roles::{Reader, check as check_roles, reader};

use crate::ast::{Block, BlockTail, Body, Branch, Condition, Input, Loop, Plan, Step};
use crate::docs::text_of;
use crate::mistakes::keyword;
use crate::report::Report;
use crate::syntax::is_keyword;
use facts::{FactTable, Facts};
use std::collections::{HashMap, HashSet};
use syn::Ident;

/// The meaning of a name in a value.
enum Meaning {
    /// A `for` or an `if let` binds it.
    Local(Local),
    /// The name of a step or an input.
    Source(Source),
    /// The declaration of the name was unreadable and is already reported.
    Broken,
    Unknown,
}

/// The names of a plan, and their meaning in each part of the plan.
#[derive(Default)]
pub(crate) struct Names<'t> {
    /// The names of the plan itself, and the names of each block.
    scopes: Vec<Scope<'t>>,
    /// For each step, by its number, the scope that it is in.
    places: Vec<usize>,
    /// The names that `for` and `if let` bind, with the step that each is bound in first.
    bound: HashMap<String, String>,
    /// The form in which a block would declare a local value as an input, for the help.
    inputs_help: String,
    /// The inputs that can be fields of the plan's struct.
    pub(crate) inputs: Vec<&'t Input>,
    /// The names of other fields of the plan's struct, whose inputs could not be read.
    pub(crate) unread_inputs: Vec<&'t Ident>,
    /// The steps of the plan and of its blocks, by their numbers.
    pub(crate) steps: Vec<&'t Step>,
    numbers: FactTable<'t, Step, usize>,
    numbers_of_blocks: FactTable<'t, Block, usize>,
    numbers_of_loops: FactTable<'t, Loop, usize>,
    pub(crate) facts: Facts<'t>,
    /// `true` if a scope has a broken name.
    has_broken: bool,
    no_names: ComputedNames,
}

/// The names of a plan, or of a block.
#[derive(Default)]
struct Scope<'t> {
    /// The steps, or none for the condition of a loop.
    steps: &'t [Step],
    /// `None` for the plan itself.
    block: Option<&'t Block>,
    sources: HashMap<String, Source>,
    /// The names of unreadable inputs, of steps with an unknown type, and names in upper case; all are already reported. `_` stands for an
    /// unknown name.
    broken: HashSet<String>,
    /// The enclosing scope of a block.
    around: Option<usize>,
    /// The number of its first step.
    first: usize,
    /// The step that a block is of.
    owner: String,
    /// `true` for the block of a loop that does not name the value of the previous round.
    repeats: bool,
}

impl<'t> Names<'t> {
    /// Finds the names of a plan, and reports duplicates.
    pub(crate) fn new(plan: &'t Plan, report: &mut Report) -> Self {
        let mut own = Scope::default();
        let (mut inputs, mut unread_inputs) = (Vec::new(), Vec::new());
        if let Some(head) = &plan.head {
            let mut known = HashSet::new();
            for input in &head.inputs.read {
                let text = text_of(&input.name);
                if text.starts_with(char::is_uppercase) {
                    own.broken.insert(text.clone());
                }
                if !check_name(&input.name, "input", report) {
                    known.insert(text);
                } else if known.insert(text.clone()) {
                    inputs.push(input);
                } else {
                    report.error(
                        &input.name,
                        format!("the plan has more than one input named `{text}`"),
                    );
                    own.broken.insert(text);
                }
            }
            own.broken.extend(head.inputs.broken.iter().map(text_of));
            let is_field = |name: &&Ident| !is_keyword(name) && known.insert(text_of(name));
            unread_inputs.extend(head.inputs.broken.iter().filter(is_field));
            if head.inputs.unclear {
                own.broken.insert("_".to_owned());
            }
            let sources = inputs.iter().enumerate();
            own.sources
                .extend(sources.map(|(index, input)| (text_of(&input.name), Source::Input(index))));
        }
        let inputs_help = match &plan.head {
            Some(head) => format!("make it an input: `{}(", head.name),
            None => "make it an input of a named plan: `plan! { Name(".to_owned(),
        };
        let mut declaration = Declaration {
            names: Self {
                scopes: vec![own],
                inputs_help,
                inputs,
                unread_inputs,
                ..Self::default()
            },
            bound: Vec::new(),
            report,
        };
        declaration.steps(&plan.steps, &plan.broken, 0);
        let mut names = declaration.names;
        names.has_broken = names.scopes.iter().any(|scope| !scope.broken.is_empty());
        names
    }

    /// Returns the step or the input of this name in the plan itself.
    pub(crate) fn get(&self, name: &Ident) -> Option<Source> {
        self.get_in(0, name)
    }

    /// Returns the step or the input that a name means in this block: of the block, or of an enclosing scope.
    pub(crate) fn get_in(&self, scope: usize, name: &Ident) -> Option<Source> {
        self.find_in(scope, &text_of(name))
    }

    fn find_in(&self, scope: usize, name: &str) -> Option<Source> {
        let mut scopes = self.around(scope);
        scopes.find_map(|scope| scope.sources.get(name).copied())
    }

    /// Returns the step of this name in this block, without enclosing scopes.
    pub(crate) fn own(&self, scope: usize, name: &Ident) -> Option<Source> {
        self.scopes[scope].sources.get(&text_of(name)).copied()
    }

    /// Returns a scope and its enclosing scopes, innermost first.
    fn around(&self, scope: usize) -> impl Iterator<Item = &Scope<'t>> {
        let own = self.scopes.get(scope);
        std::iter::successors(own, |scope| self.scopes.get(scope.around?))
    }

    /// Returns the number, the steps and the block of each scope: first of the plan itself, then of its blocks.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = (usize, &'t [Step], Option<&'t Block>)> {
        let scopes = self.scopes.iter().enumerate();
        scopes.map(|(number, scope)| (number, scope.steps, scope.block))
    }

    /// Returns the scope of a step or an input.
    pub(crate) fn scope_of(&self, source: Source) -> usize {
        match source {
            Source::Step(number) => self.places.get(number).copied().unwrap_or_default(),
            Source::Input(_) => 0,
        }
    }

    /// Returns the index of a step in its plan or block.
    pub(crate) fn place_of(&self, number: usize) -> usize {
        number - self.scopes[self.scope_of(Source::Step(number))].first
    }

    /// Returns `true` if a step, an input, a `for` or an `if let` has this name.
    pub(crate) fn is_taken(&self, name: &str) -> bool {
        let mut scopes = self.scopes.iter();
        scopes.any(|scope| scope.sources.contains_key(name)) || self.bound.contains_key(name)
    }

    /// Returns the meaning of a name in a value inside `frames`.
    fn find(&self, name: &Ident, frames: &Frames) -> Meaning {
        if self.is_broken(frames.scope, name) {
            Meaning::Broken
        } else if let Some(local) = frames.get(name) {
            Meaning::Local(local)
        } else if frames.is_broken(name) {
            Meaning::Broken
        } else if let Some(source) = self.get_in(frames.scope, name) {
            Meaning::Source(source)
        } else if self.lacks_name(frames.scope) {
            Meaning::Broken
        } else {
            Meaning::Unknown
        }
    }

    /// Returns `true` if the declaration of the name was reported as an error.
    fn is_broken(&self, scope: usize, name: &Ident) -> bool {
        // A fast path for nearly all plans, because every name comes here.
        if !self.has_broken {
            return false;
        }
        let text = text_of(name);
        let mut scopes = self.around(scope);
        let own =
            scopes.find(|scope| scope.broken.contains(&text) || scope.sources.contains_key(&text));
        own.is_some_and(|scope| scope.broken.contains(&text))
    }

    /// Returns `true` if a scope or an enclosing scope lacks the name of a step or an input. An unknown name may be the missing name.
    fn lacks_name(&self, scope: usize) -> bool {
        self.around(scope).any(|scope| scope.broken.contains("_"))
    }
}

/// Adds the names of steps, and reports duplicates.
struct Declaration<'a, 't> {
    names: Names<'t>,
    /// The names that `for`, `if let` and `loop` bind around a step.
    bound: Vec<String>,
    report: &'a mut Report,
}

impl<'t> Declaration<'_, 't> {
    /// Adds the names of steps, and the names of the blocks in the steps.
    fn steps(&mut self, steps: &'t [Step], broken: &[Ident], scope: usize) {
        let own = &mut self.names.scopes[scope];
        (own.first, own.steps) = (self.names.places.len(), steps);
        for step in steps {
            self.names.numbers.insert(step, self.names.steps.len());
            self.names.steps.push(step);
            self.names.places.push(scope);
            if !step.is_tail {
                check_name(&step.name, "step", self.report);
                self.step(step, scope);
            }
        }
        let own = &mut self.names.scopes[scope];
        let unread = broken.iter().map(text_of);
        let unread = unread.filter(|name| !own.sources.contains_key(name));
        own.broken.extend(unread);
        for step in steps {
            let owner = if step.is_tail {
                self.names.scopes[scope].owner.clone()
            } else {
                text_of(&step.name)
            };
            self.body(&step.body, scope, &owner);
        }
    }

    fn step(&mut self, step: &Step, scope: usize) {
        let text = text_of(&step.name);
        let is_taken = self.bound.contains(&text) || {
            let around = self.names.scopes[scope].around;
            around.is_some_and(|around| self.names.find_in(around, &text).is_some())
        };
        let number = self.names.number(step);
        let own = &mut self.names.scopes[scope];
        let known = own.sources.get(&text).copied();
        // The meaning of a duplicate is unknown.
        if known.is_some() || is_taken || text.starts_with(char::is_uppercase) {
            own.broken.insert(text.clone());
        }
        let whole = if scope == 0 { "plan" } else { "block" };
        let message = match known {
            Some(Source::Step(_)) => format!(
                "the {whole} has more than one step named `{text}`\nhelp: give this step another name"
            ),
            Some(Source::Input(_)) => format!(
                "`{text}` is already an input of the plan\nhelp: give the step another name"
            ),
            None => {
                own.sources.insert(text.clone(), Source::Step(number));
                if !is_taken {
                    return;
                }
                format!("the name `{text}` is taken outside this block\nhelp: use another name")
            }
        };
        self.report.error(&step.name, message);
    }

    /// Adds the names of the blocks in a body.
    fn body(&mut self, body: &'t Body, scope: usize, owner: &str) {
        let around = self.bound.len();
        match body {
            Body::If(branches) => {
                for Branch { conditions, body } in branches {
                    for condition in conditions {
                        if let Condition::Let(_, _, names) | Condition::Broken(names) = condition {
                            self.bind(names, owner);
                        }
                    }
                    self.body(body, scope, owner);
                    self.bound.truncate(around);
                }
            }
            Body::For(repeat) => {
                self.bind(&crate::parse::names_in(&repeat.pat), owner);
                self.body(&repeat.body, scope, owner);
            }
            Body::Block(block) => self.block(block, scope, owner),
            Body::Loop(repeat) => self.repeat(repeat, scope, owner),
            _ => {}
        }
        self.bound.truncate(around);
    }

    fn repeat(&mut self, repeat: &'t Loop, scope: usize, owner: &str) {
        if let Some(last) = &repeat.last {
            let text = text_of(last);
            if self.bound.contains(&text) || self.names.find_in(scope, &text).is_some() {
                let message =
                    format!("the name `{text}` is taken outside this loop\nhelp: use another name");
                self.report.error(last, message);
            }
        }
        self.bind(repeat.last.as_slice(), owner);
        self.block(&repeat.round, scope, owner);
        let round = self.names.scope(&repeat.round);
        self.names.scopes[round].repeats = repeat.last.is_none();
        // In the condition, the name of the step is the value of the round.
        let value = repeat.round.value().map(|step| self.names.source(step));
        let sources = value.map(|value| (owner.to_owned(), value));
        let scope = self.open(round, owner);
        self.names.numbers_of_loops.insert(repeat, scope);
        let own = &mut self.names.scopes[scope];
        if sources.is_none() && !matches!(repeat.round.tail, BlockTail::None) {
            own.broken.insert(owner.to_owned());
        }
        own.sources.extend(sources);
    }

    fn block(&mut self, block: &'t Block, scope: usize, owner: &str) {
        let scope = self.open(scope, owner);
        self.names.scopes[scope].block = Some(block);
        self.names.numbers_of_blocks.insert(block, scope);
        self.steps(&block.steps, &block.broken, scope);
    }

    /// Adds a scope.
    fn open(&mut self, around: usize, owner: &str) -> usize {
        self.names.scopes.push(Scope {
            around: Some(around),
            owner: owner.to_owned(),
            ..Scope::default()
        });
        self.names.scopes.len() - 1
    }

    fn bind(&mut self, names: &[Ident], owner: &str) {
        for name in names.iter().map(text_of) {
            let first = self.names.bound.entry(name.clone());
            first.or_insert_with(|| owner.to_owned());
            self.bound.push(name);
        }
    }
}

/// Reports a name that is not allowed, and returns `false` for it.
fn check_name(name: &Ident, kind: &str, report: &mut Report) -> bool {
    let text = text_of(name);
    if text == "_" {
        report.error(name, format!("this {kind} needs a name"));
    } else if let Some(keyword) = keyword(name, kind) {
        report.push(keyword);
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
