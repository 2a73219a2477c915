//! Looks up the names in all values of a plan. A value with an unknown name becomes [`Value::Broken`].

mod blocks;
mod values;

use self::blocks::OpenBlock;
use super::caught::CaughtSteps;
use super::compared::ComparedPattern;
use super::frames::Frame;
use super::roles::LateSteps;
use super::{Frames, Meaning, Names, Source};
use super::{braces, caught};
use crate::ast::Given;
use crate::ast::{
    Body, Branch, Condition, List, Mention, Outcome, Plan, Reference, Role, Step, Value,
};
use crate::docs::text_of;
use crate::parse;
use crate::report::Report;
use proc_macro2::Span;
use std::collections::HashSet;
use syn::ext::IdentExt;
use syn::{Ident, Pat};

/// Replaces values with unknown names, and calls of the plan itself, by broken ones, and finds the names in computed values.
pub(crate) fn resolve(plan: &mut Plan, names: &Names, report: &mut Report) {
    let mut resolver = Resolver {
        names,
        caught: CaughtSteps::of(plan, names),
        forms: braces::Forms::of(plan),
        each_meant: HashSet::new(),
        elements: Vec::new(),
        late: LateSteps::of(plan),
        blocks: vec![OpenBlock::new(0, 0)],
        own: plan.head.as_ref().map(|head| &head.name),
        frames: Frames::default(),
        mentions: Vec::new(),
        bound: Vec::new(),
        unused: Vec::new(),
        braces: Vec::new(),
        report,
    };
    plan.steps.iter_mut().for_each(|step| resolver.step(step));
    if let Some(tail) = &mut plan.tail {
        resolver.value(&mut tail.value);
        tail.mentions = resolver.mentions;
    }
    plan.bound = resolver.bound;
    plan.unused = resolver.unused;
    plan.braces = resolver.braces;
}

struct Resolver<'a> {
    names: &'a Names,
    caught: CaughtSteps,
    forms: braces::Forms,
    /// The steps whose `#[catch]` was reported to mean `#[catch(each)]`.
    each_meant: HashSet<Source>,
    /// The elements of these steps in the enclosing `for`, with `true` if code uses the `Result` of each element.
    elements: Vec<(Ident, bool)>,
    late: LateSteps,
    /// The plan and the blocks around, the innermost last.
    blocks: Vec<OpenBlock>,
    /// The name of the plan.
    own: Option<&'a Ident>,
    frames: Frames,
    /// The mentions in the values so far.
    mentions: Vec<Mention>,
    /// The names that are bound and not mentioned.
    bound: Vec<Ident>,
    unused: Vec<(Ident, bool)>,
    /// Texts that are probably meant as calls of `format!`.
    braces: Vec<(Span, String)>,
    report: &'a mut Report,
}

impl Resolver<'_> {
    fn step(&mut self, step: &mut Step) {
        let outside = std::mem::take(&mut self.mentions);
        self.set_role(step.role.clone());
        self.after(&mut step.after, &step.name);
        match &mut step.body {
            Body::Loop(repeat) => {
                let collects = step.policy.collect.is_some();
                self.repeat(repeat, &step.name, step.number, collects);
            }
            body => self.body(body),
        }
        for (_, given) in &mut step.policy.amounts {
            if let Given::Value(amount) = given {
                self.amount(amount);
            }
        }
        if let Some((_, fallback)) = &mut step.policy.fallback {
            self.value(fallback);
        }
        self.set_role(Role::Work);
        step.mentions = std::mem::replace(&mut self.mentions, outside);
    }

    /// Sets the role of the innermost step.
    fn set_role(&mut self, role: Role) {
        if let Some(block) = self.blocks.last_mut() {
            block.role = role;
        }
    }

    fn after(&mut self, after: &mut Vec<Ident>, step: &Ident) {
        let scope = self.frames.scope;
        after.retain(|after| match self.names.own(scope, after) {
            Some(Source::Step(_)) => true,
            Some(Source::Input(_)) => {
                self.report.error(after, format!("`{after}` is an input, which is available from the start; `#[after(…)]` takes steps"));
                false
            }
            None => {
                let message = self.names.unknown_after(after, step, scope, |owner| {
                    format!("help: write `#[after({owner})]`, which waits for all of that block")
                });
                if let Some(message) = message {
                    self.report.error(after, message);
                }
                false
            }
        });
    }

    fn body(&mut self, body: &mut Body) {
        match body {
            Body::Call(literal) => {
                let before = self.mentions.len();
                self.fields(&mut literal.fields);
                let path = &literal.path;
                // Only a plain name is certain to be the plan's: a longer path may lead anywhere.
                if let (Some(own), Some(tool)) = (self.own, path.get_ident())
                    && own.unraw() == tool.unraw()
                {
                    self.report.error(
                        path,
                        format!(
                            "`{own}` cannot call itself in a step: every run would start another\n\
                             help: for a recursion that ends, call it from a tool: a function with `#[tool]` that awaits `Box::pin({own} {{ … }}.run(app))`\n\
                             help: to call a tool for each element of a list, use `for`"
                        ),
                    );
                    self.mentions.truncate(before);
                    *body = Body::Broken(Some(path.clone()));
                }
            }
            Body::Compute(value) => self.value(value),
            Body::Block(block) => self.block(block, |_| {}),
            // `step` resolves a loop, which is the whole of a step.
            Body::Loop(_) => {}
            Body::If(branches) => {
                for Branch { conditions, body } in branches {
                    for condition in &mut *conditions {
                        self.condition(condition);
                    }
                    self.body(body);
                    for condition in conditions.iter().rev() {
                        match condition {
                            Condition::Holds(_) => {}
                            Condition::Let(pat, ..) => self.leave(pat),
                            Condition::Broken(_) => drop(self.frames.leave(Vec::new())),
                        }
                    }
                }
            }
            Body::For(repeat) => {
                let mut failed = None;
                let names = match &mut repeat.list {
                    List::Reference(reference, name) => {
                        let bound = vec![(text_of(name), None)];
                        if !self.reference(reference) {
                            repeat.list = List::Broken;
                        } else if reference.outcome == Outcome::One {
                            failed = Some(reference.clone());
                            self.elements.push((name.clone(), false));
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
                    List::Broken => parts(&crate::parse::names_in(&repeat.pat)),
                };
                let broken = matches!(repeat.list, List::Broken);
                self.frames.enter(Frame::new(names, broken));
                self.body(&mut repeat.body);
                self.leave(&repeat.pat);
                if let Some(reference) = failed {
                    self.no_list(&reference);
                }
            }
            Body::Await(_) | Body::Broken(_) => {}
        }
    }

    /// Reports a `for` over a `Result`.
    fn no_list(&mut self, reference: &Reference) {
        let element = self.elements.pop();
        let written = reference.written();
        let source = self.names.get_in(self.frames.scope, &reference.root);
        let list = source.filter(|_| reference.hops.is_empty());
        let each = list.and_then(|source| Some((source, self.caught.list(source)?)));
        match (each, element) {
            (Some((source, at)), Some((element, true))) => {
                let list = format!("for {element} in {written}");
                self.means_each(source, at, &list);
            }
            (each, _) => {
                let help = each.map_or_else(String::new, |_| {
                    format!(
                        "\nhelp: for a `Result` of each element, write `#[catch(each)]` on `{written}`"
                    )
                });
                self.report.error(
                    &reference.root,
                    format!("`{written}` may have failed: it is a `Result`, not a list\nhelp: write `{written}?`, which fails if `{written}` did{help}"),
                );
            }
        }
    }

    /// Reports once for each step a `#[catch]` that means `#[catch(each)]`.
    fn means_each(&mut self, source: Source, at: Span, written: &str) {
        if self.each_meant.insert(source) {
            self.report.error_at(at, caught::means_each(written));
        }
    }

    /// Resolves a condition, and enters the frame of the names that the condition binds.
    fn condition(&mut self, condition: &mut Condition) {
        if let Condition::Holds(Value::Computed(computed)) = condition {
            let is_unknown =
                |name: &Ident| matches!(self.names.find(name, &self.frames), Meaning::Unknown);
            if let Some(compared) = ComparedPattern::of(&computed.expr, &is_unknown) {
                self.report.error(compared.pattern, compared.message());
                *condition = Condition::Broken(compared.names);
            }
        }
        if let Condition::Let(_, computed, names) = condition
            && !self.computed(computed)
        {
            *condition = Condition::Broken(std::mem::take(names));
        }
        let (names, broken) = match condition {
            Condition::Holds(value) => return self.truth(value),
            Condition::Let(pat, _, names) if parse::binds_one(pat) => {
                let whole = names.iter().map(|name| (text_of(name), None));
                (whole.collect(), false)
            }
            Condition::Let(_, _, names) => (parts(names), false),
            Condition::Broken(names) => (parts(names), true),
        };
        self.frames.enter(Frame::new(names, broken));
    }

    /// Leaves the frame of a pattern.
    fn leave(&mut self, pat: &Pat) {
        let fields = crate::parse::fields_in(pat);
        let names = crate::parse::names_in(pat);
        let own = names.iter().filter(|name| !fields.contains(name));
        self.bound.extend(own.cloned());
        let names = self.frames.leave(names);
        self.unused.extend(names.map(|name| {
            let is_field = fields.contains(&name);
            (name, is_field)
        }));
    }
}

/// Returns the names that one pattern binds.
fn parts(names: &[Ident]) -> Vec<(String, Option<usize>)> {
    names
        .iter()
        .enumerate()
        .map(|(part, name)| (text_of(name), Some(part)))
        .collect()
}
