//! Which names a plan has, and whether each that it uses is one of them: `resolve` goes through the values, `computed` through the Rust
//! expressions among them.

mod braces;
mod caught;
mod compared;
mod computed;
mod each;
mod frames;
mod resolve;
mod roles;

pub(crate) use crate::ast::Source;
pub(crate) use frames::Frames;
pub(crate) use resolve::resolve;
pub(crate) use roles::{Reader, check as check_roles, reader};

use crate::ast::{Block, BlockTail, Body, Branch, Condition, Local, Plan, Step, typed};
use crate::docs::text_of;
use crate::report::Report;
use crate::scan::is_keyword;
use plan_graph::similar;
use std::collections::{HashMap, HashSet};
use syn::Ident;

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
    /// Those of the plan itself, and those of its blocks.
    scopes: Vec<Scope>,
    /// For each step, by its number, the scope that it is in.
    places: Vec<usize>,
    /// The names that `for` and `if let` bind, with the step that each is bound in first.
    bound: HashMap<String, String>,
    /// How a local value would come in as an input, for the help.
    inputs_help: String,
}

/// The names of a plan, or of a block.
#[derive(Default)]
struct Scope {
    sources: HashMap<String, Source>,
    /// The names of inputs that could not be read, and of steps of which not even the type is known; reported already. `_` stands for an
    /// unknown name.
    broken: HashSet<String>,
    /// What a block is in.
    around: Option<usize>,
    /// The number of its first step.
    first: usize,
    /// The step that a block is of.
    owner: String,
    /// Whether it is the block of a loop that does not name the value of the round before.
    repeats: bool,
}

impl Names {
    /// Finds the names of a plan, and reports duplicates. An input that cannot be a field of the plan's struct is removed.
    pub(crate) fn new(plan: &mut Plan, report: &mut Report) -> Self {
        let mut own = Scope::default();
        if let Some(head) = &mut plan.head {
            let mut known = HashSet::new();
            head.inputs.retain(|input| {
                let text = text_of(&input.name);
                let valid = check_name(&input.name, "input", report);
                let first = known.insert(text.clone());
                if valid && !first {
                    own.broken.insert(text.clone());
                    report.error(
                        &input.name,
                        format!("the plan has more than one input named `{text}`"),
                    );
                }
                valid && first
            });
            let inputs = head.inputs.iter().enumerate();
            own.broken.extend(head.broken.iter().map(text_of));
            let is_field = |name: &Ident| !is_keyword(name) && known.insert(text_of(name));
            head.broken.retain(is_field);
            if head.unclear_inputs {
                own.broken.insert("_".to_owned());
            }
            own.sources
                .extend(inputs.map(|(index, input)| (text_of(&input.name), Source::Input(index))));
        }
        let inputs_help = match &plan.head {
            Some(head) => format!("make it an input: `{}(", head.name),
            None => "make it an input of a named plan: `plan! { Name(".to_owned(),
        };
        let mut names = Self {
            scopes: vec![own],
            places: Vec::new(),
            bound: HashMap::new(),
            inputs_help,
        };
        names.steps(&mut plan.steps, &plan.broken, 0, &[], report);
        names
    }

    /// Adds the names of steps, and those of the blocks in them. `bound` are the names that `for` and `if let` bind around them.
    fn steps(
        &mut self,
        steps: &mut [Step],
        broken: &[Ident],
        scope: usize,
        bound: &[String],
        report: &mut Report,
    ) {
        self.scopes[scope].first = self.places.len();
        for step in &mut *steps {
            step.number = self.places.len();
            self.places.push(scope);
            let text = text_of(&step.name);
            if step.is_tail {
                continue;
            }
            check_name(&step.name, "step", report);
            let around = self.scopes[scope].around;
            let is_taken = bound.contains(&text)
                || around.is_some_and(|around| self.find_in(around, &text).is_some());
            let own = &mut self.scopes[scope];
            if own.sources.contains_key(&text) {
                // Which of the two a value means is not known.
                own.broken.insert(text.clone());
            }
            let whole = if scope == 0 { "plan" } else { "block" };
            match own.sources.get(&text) {
                Some(Source::Step(_)) => report.error(
                    &step.name,
                    format!("the {whole} has more than one step named `{text}`\nhelp: give this step another name"),
                ),
                Some(Source::Input(_)) => report.error(
                    &step.name,
                    format!("`{text}` is already an input of the plan\nhelp: give the step another name"),
                ),
                None => {
                    if is_taken {
                        report.error(
                            &step.name,
                            format!("the name `{text}` is taken outside this block\nhelp: use another name"),
                        );
                        own.broken.insert(text.clone());
                    }
                    if step.ty.is_none() && is_untyped(&step.body) {
                        own.broken.insert(text.clone());
                    }
                    own.sources.insert(text, Source::Step(step.number));
                }
            }
        }
        let own = &mut self.scopes[scope];
        let unread = broken.iter().map(text_of);
        let unread = unread.filter(|name| !own.sources.contains_key(name));
        own.broken.extend(unread);
        for step in steps {
            let mut bound = bound.to_vec();
            let owner = if step.is_tail {
                self.scopes[scope].owner.clone()
            } else {
                text_of(&step.name)
            };
            self.body(&mut step.body, scope, &owner, &mut bound, report);
        }
    }

    /// Adds the names of the blocks in a body, and notes what is bound around them.
    fn body(
        &mut self,
        body: &mut Body,
        scope: usize,
        owner: &str,
        bound: &mut Vec<String>,
        report: &mut Report,
    ) {
        let around = bound.len();
        match body {
            Body::If(branches) => {
                for Branch { conditions, body } in branches {
                    for condition in conditions {
                        if let Condition::Let(_, _, names) | Condition::Broken(names) = condition {
                            self.bind(names, owner, bound);
                        }
                    }
                    self.body(body, scope, owner, bound, report);
                    bound.truncate(around);
                }
            }
            Body::For(repeat) => {
                let names = crate::parse::names_in(&repeat.pat);
                self.bind(&names, owner, bound);
                self.body(&mut repeat.body, scope, owner, bound, report);
            }
            Body::Block(block) => self.block(block, scope, owner, bound, report),
            Body::Loop(repeat) => {
                let last = repeat.last.as_slice();
                if let [last] = last
                    && (bound.contains(&text_of(last))
                        || self.find_in(scope, &text_of(last)).is_some())
                {
                    let text = text_of(last);
                    report.error(
                        last,
                        format!(
                            "the name `{text}` is taken outside this loop\nhelp: use another name"
                        ),
                    );
                }
                self.bind(last, owner, bound);
                self.block(&mut repeat.round, scope, owner, bound, report);
                self.scopes[repeat.round.scope].repeats = repeat.last.is_none();
                // Where the condition is, the step's own name is that of the round's value.
                repeat.scope = self.scopes.len();
                let value = repeat.round.value().map(|step| Source::Step(step.number));
                self.scopes.push(Scope {
                    around: Some(repeat.round.scope),
                    owner: owner.to_owned(),
                    sources: value
                        .map(|value| (owner.to_owned(), value))
                        .into_iter()
                        .collect(),
                    ..Scope::default()
                });
            }
            Body::Call(_) | Body::Compute(_) | Body::Await(_) | Body::Broken(_) => {}
        }
        bound.truncate(around);
    }

    fn block(
        &mut self,
        block: &mut Block,
        scope: usize,
        owner: &str,
        bound: &[String],
        report: &mut Report,
    ) {
        block.scope = self.scopes.len();
        self.scopes.push(Scope {
            around: Some(scope),
            owner: owner.to_owned(),
            ..Scope::default()
        });
        let broken = std::mem::take(&mut block.broken);
        self.steps(&mut block.steps, &broken, block.scope, bound, report);
    }

    fn bind(&mut self, names: &[Ident], owner: &str, bound: &mut Vec<String>) {
        for name in names {
            let text = text_of(name);
            let first = self.bound.entry(text.clone());
            first.or_insert_with(|| owner.to_owned());
            bound.push(text);
        }
    }

    /// The step or the input of this name, of the plan itself.
    pub(crate) fn get(&self, name: &Ident) -> Option<Source> {
        self.get_in(0, name)
    }

    /// The step or the input that a name means in this block, be it of the block or around it.
    pub(crate) fn get_in(&self, scope: usize, name: &Ident) -> Option<Source> {
        self.find_in(scope, &text_of(name))
    }

    fn find_in(&self, scope: usize, name: &str) -> Option<Source> {
        let mut scopes = self.around(scope);
        scopes.find_map(|scope| scope.sources.get(name).copied())
    }

    /// The step of this name in this block, and not around it.
    pub(crate) fn own(&self, scope: usize, name: &Ident) -> Option<Source> {
        self.scopes[scope].sources.get(&text_of(name)).copied()
    }

    /// A scope and all around it, the innermost first.
    fn around(&self, scope: usize) -> impl Iterator<Item = &Scope> {
        let own = self.scopes.get(scope);
        std::iter::successors(own, |scope| self.scopes.get(scope.around?))
    }

    /// The scope that a step or an input is in.
    pub(crate) fn scope_of(&self, source: Source) -> usize {
        match source {
            Source::Step(number) => self.places.get(number).copied().unwrap_or_default(),
            Source::Input(_) => 0,
        }
    }

    /// Which step it is of its plan or block.
    pub(crate) fn place_of(&self, number: usize) -> usize {
        number - self.scopes[self.scope_of(Source::Step(number))].first
    }

    /// Whether a step, an input, a `for` or an `if let` has this name.
    pub(crate) fn is_taken(&self, name: &str) -> bool {
        let mut scopes = self.scopes.iter();
        scopes.any(|scope| scope.sources.contains_key(name)) || self.bound.contains_key(name)
    }

    /// What a name in a value means, with `frames` around it.
    fn find(&self, name: &Ident, frames: &Frames) -> Meaning {
        if self.is_broken(frames.scope, name) {
            Meaning::Broken
        } else if let Some(local) = frames.get(name) {
            Meaning::Local(local)
        } else if frames.is_broken(name) {
            Meaning::Broken
        } else if self.get_in(frames.scope, name).is_some() {
            Meaning::Source
        } else if self.lacks_name(frames.scope) {
            Meaning::Broken
        } else {
            Meaning::Unknown
        }
    }

    /// Whether it was reported where the name is declared that it cannot be one.
    fn is_broken(&self, scope: usize, name: &Ident) -> bool {
        // Nearly always, and every name is asked.
        if self.scopes.iter().all(|scope| scope.broken.is_empty()) {
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

    /// The message about a name that the plan does not have, and whether one of the plan's names was probably meant.
    pub(crate) fn unknown(&self, name: &Ident, frames: &Frames) -> (String, bool) {
        let text = text_of(name);
        let mut scopes = self.scopes.iter();
        if let Some(scope) = scopes.find(|scope| scope.sources.contains_key(&text)) {
            let owner = &scope.owner;
            let message = format!(
                "`{text}` is known only in the block of `{owner}`\nhelp: end that block with `{text}`"
            );
            return (message, true);
        }
        if ["none", "null", "nil", "undefined"].contains(&&*text) {
            let message = format!("no step or input is named `{text}`\nhelp: write `None`");
            return (message, true);
        }
        let mut known: Vec<&str> = self
            .around(frames.scope)
            .flat_map(|scope| scope.sources.keys())
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
                let kind = match self.find_in(frames.scope, known) {
                    Some(Source::Input(_)) => "an input",
                    _ => "a step",
                };
                format!("help: {kind} with a similar name exists: `{known}`")
            }
            None => match self.bound.get(&text) {
                Some(step) => format!(
                    "help: `{text}` is bound in the step `{step}`, and is in scope only inside its braces"
                ),
                None if is_round_before(&text)
                    && self.around(frames.scope).any(|scope| scope.repeats) =>
                {
                    format!(
                        "help: name the value of the round before: `loop |{text}| {{ … }} while …`"
                    )
                }
                None => format!(
                    "help: a plan cannot capture local variables; {}{text}: …)`",
                    self.inputs_help
                ),
            },
        };
        let message = format!("no step or input is named `{text}`\n{help}");
        (message, similar.is_some())
    }

    /// The message about a name in `#[after(…)]` that is not a step's; `None` if the name may be that of a step that could not be read.
    pub(crate) fn unknown_after(
        &self,
        after: &Ident,
        step: &Ident,
        scope: usize,
        inner_help: impl Fn(&str) -> String,
    ) -> Option<String> {
        let text = text_of(after);
        let step = text_of(step);
        if self.is_broken(scope, after) {
            return None;
        }
        if let Some(Source::Step(_)) = self.get_in(scope, after) {
            let owner = &self.scopes[scope].owner;
            return Some(format!(
                "`{text}` is outside this block, which a step of it cannot wait for alone\nhelp: write `#[after({text})]` on `{owner}`"
            ));
        }
        if let Some(inner) = self
            .scopes
            .iter()
            .find(|scope| matches!(scope.sources.get(&text), Some(Source::Step(_))))
        {
            let owner = &inner.owner;
            return Some(format!(
                "`{text}` is known only in the block of `{owner}`\n{}",
                inner_help(owner)
            ));
        }
        if self.lacks_name(scope) {
            return None;
        }
        let known = self.scopes[scope]
            .sources
            .iter()
            .filter(|(name, source)| matches!(source, Source::Step(_)) && **name != step);
        let mut known: Vec<&str> = known.map(|(name, _)| name.as_str()).collect();
        known.sort_unstable();
        Some(match similar(&text, known) {
            Some(known) => {
                format!(
                    "no step is named `{text}`\nhelp: a step with a similar name exists: `{known}`"
                )
            }
            None => format!("no step is named `{text}`"),
        })
    }
}

/// Whether a name is one for the value of the round before.
fn is_round_before(name: &str) -> bool {
    ["last", "previous", "prev", "before"].contains(&name)
}

/// Returns `true` if the type of a body is unknown.
fn is_untyped(body: &Body) -> bool {
    match body {
        Body::Call(_) | Body::Compute(_) | Body::Await(_) | Body::Broken(Some(_)) => false,
        Body::Broken(None) => true,
        Body::If(branches) => typed(branches).is_none_or(is_untyped),
        Body::For(repeat) => is_untyped(&repeat.body),
        Body::Block(block) => is_untyped_block(block),
        Body::Loop(repeat) => is_untyped_block(&repeat.round),
    }
}

/// Returns `true` if the last name of a block is not a step of the block, or if the step has an unknown type.
fn is_untyped_block(block: &Block) -> bool {
    let is_untyped = |step: &Step| step.ty.is_none() && is_untyped(&step.body);
    match block.tail {
        BlockTail::None | BlockTail::Value(_) => false,
        _ => block.value().is_none_or(is_untyped),
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
            Err(_) => "\nhelp: choose another name".to_owned(),
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
