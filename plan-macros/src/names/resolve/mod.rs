//! Looks up the names in all values of a plan. A value with an unknown name counts as [`Value::Broken`].

mod blocks;
mod values;

use self::blocks::OpenBlock;
use super::frames::Frame;
use super::{Frames, Meaning, Mention, Names, Outcome, Source, caught};
use crate::ast::{Body, Branch, Condition, Given, List, Plan, Reference, Role, Step, Value};
use crate::docs::text_of;
use crate::parse::{self, value_text};
use crate::report::Report;
use proc_macro2::Span;
use std::collections::HashSet;
use syn::ext::IdentExt;
use syn::{BinOp, Expr, Ident, Pat};

/// Looks up the names in all values.
pub(crate) fn resolve<'t>(plan: &'t Plan, names: &mut Names<'t>, report: &mut Report) {
    names.facts.mentions = vec![Vec::new(); names.steps.len()];
    let mut resolver = Resolver {
        each_meant: HashSet::new(),
        elements: Vec::new(),
        blocks: vec![OpenBlock::new(0, 0)],
        own: plan.head.as_ref().map(|head| &head.name),
        frames: Frames::default(),
        mentions: Vec::new(),
        names,
        report,
    };
    plan.steps.iter().for_each(|step| resolver.step(step));
    if let Some(tail) = &plan.tail {
        resolver.value(&tail.value);
        resolver.names.facts.output = resolver.mentions;
    }
}

struct Resolver<'a, 't> {
    names: &'a mut Names<'t>,
    /// The steps whose `#[catch]` was reported to mean `#[catch(each)]`.
    each_meant: HashSet<Source>,
    /// The names of the enclosing `for`s over a caught step, with `true` if code uses the `Result` of each element.
    elements: Vec<(Ident, bool)>,
    /// The plan and the blocks around, the innermost last.
    blocks: Vec<OpenBlock>,
    /// The name of the plan.
    own: Option<&'a Ident>,
    frames: Frames,
    /// The mentions in the values so far.
    mentions: Vec<Mention>,
    report: &'a mut Report,
}

impl<'t> Resolver<'_, 't> {
    fn step(&mut self, step: &'t Step) {
        let outside = std::mem::take(&mut self.mentions);
        self.set_role(step.role.clone());
        self.after(&step.after, &step.name);
        match &step.body {
            Body::Loop(repeat) => {
                let collects = step.policy.collects();
                self.repeat(repeat, step, collects);
            }
            body => self.body(body),
        }
        for (_, given) in &step.policy.amounts {
            if let Given::Value(amount) = given {
                self.amount(amount);
            }
        }
        if let Some(fallback) = &step.policy.fallback {
            self.value(fallback);
        }
        self.set_role(Role::Work);
        let own = std::mem::replace(&mut self.mentions, outside);
        let number = self.names.number(step);
        self.names.facts.mentions[number] = own;
    }

    /// Sets the role of the innermost step.
    fn set_role(&mut self, role: Role) {
        if let Some(block) = self.blocks.last_mut() {
            block.role = role;
        }
    }

    /// Reports names that are no steps.
    fn after(&mut self, after: &[Ident], step: &Ident) {
        let scope = self.frames.scope;
        for after in after {
            match self.names.own(scope, after) {
                Some(Source::Step(_)) => {}
                Some(Source::Input(_)) => {
                    self.report.error(after, format!("`{after}` is an input, which is available from the start; `#[after(…)]` takes steps"));
                }
                None => {
                    let message = self.names.unknown_after(after, step, scope, |owner| {
                        format!(
                            "help: write `#[after({owner})]`, which waits for all of that block"
                        )
                    });
                    if let Some(message) = message {
                        self.report.error(after, message);
                    }
                }
            }
        }
    }

    fn body(&mut self, body: &'t Body) {
        match body {
            Body::Call(literal) => {
                let before = self.mentions.len();
                self.fields(&literal.fields);
                let path = &literal.path;
                let name = path.get_ident();
                if name.is_some_and(|name| self.names.is_broken(self.frames.scope, name)) {
                    self.names
                        .facts
                        .calls_of_plan
                        .insert(body, Body::Broken(None));
                    return;
                }
                // Only a plain name is certain to be the plan's: a longer path may lead anywhere.
                if let (Some(own), Some(tool)) = (self.own, name)
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
                    let broken = Body::Broken(Some(path.clone()));
                    self.names.facts.calls_of_plan.insert(body, broken);
                }
            }
            Body::Compute(value) => self.value(value),
            Body::Block(block) => self.block(block, |_| Vec::new()),
            // `step` resolves a loop, which is the whole of a step.
            Body::Loop(_) => {}
            Body::If(branches) => {
                for Branch { conditions, body } in branches {
                    for condition in conditions {
                        self.condition(condition);
                    }
                    self.body(body);
                    for condition in conditions.iter().rev() {
                        match self.names.condition(condition) {
                            Condition::Holds(_) => {}
                            Condition::Let(pat, ..) => self.leave(pat),
                            Condition::Broken(_) => drop(self.frames.leave(Vec::new())),
                        }
                    }
                }
            }
            Body::For(repeat) => {
                let mut failed = None;
                let (names, broken) = match &repeat.list {
                    List::Reference(reference, name) => {
                        let is_known = self.reference(reference);
                        if is_known && self.names.outcome(reference) == Outcome::One {
                            failed = Some(reference);
                            self.elements.push((name.clone(), false));
                        }
                        (vec![(text_of(name), None)], !is_known || failed.is_some())
                    }
                    List::Computed(computed, bound) => (parts(bound), !self.computed(computed)),
                    List::Broken => (parts(&crate::parse::names_in(&repeat.pat)), true),
                };
                if broken {
                    self.names.facts.broken_lists.insert(&repeat.list, ());
                }
                self.frames.enter(Frame::new(names, broken));
                self.body(&repeat.body);
                self.leave(&repeat.pat);
                if let Some(reference) = failed {
                    self.no_list(reference);
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
        let each = list.and_then(|source| Some((source, caught::list(self.names, source)?)));
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
    fn condition(&mut self, condition: &'t Condition) {
        let (names, broken) = match condition {
            Condition::Holds(value) => match self.compared(value) {
                Some(names) => (parts(&names), true),
                None => return self.truth(value),
            },
            Condition::Let(pat, computed, names) => {
                let broken = !self.computed(computed);
                if !broken && parse::binds_one(pat) {
                    let whole = names.iter().map(|name| (text_of(name), None));
                    (whole.collect(), false)
                } else {
                    (parts(names), broken)
                }
            }
            Condition::Broken(names) => (parts(names), true),
        };
        if broken {
            self.names.facts.broken_conditions.insert(condition, ());
        }
        self.frames.enter(Frame::new(names, broken));
    }

    /// Reports a comparison with a pattern, and returns the names of the pattern.
    fn compared(&mut self, value: &Value) -> Option<Vec<Ident>> {
        let Value::Computed(computed) = value else {
            return None;
        };
        let Expr::Binary(both) = &computed.expr else {
            return None;
        };
        // A name that is unknown is probably bound.
        let is_unknown =
            |name: &Ident| matches!(self.names.find(name, &self.frames), Meaning::Unknown);
        let mut operands = [(&both.left, &both.right), (&both.right, &both.left)].into_iter();
        let (pattern, value, names) = operands.find_map(|(pattern, value)| {
            let names = arguments(pattern).filter(|names| names.iter().any(is_unknown))?;
            matches!(both.op, BinOp::Eq(_)).then_some((pattern, value, names))
        })?;
        let (written, value) = (value_text(pattern), value_text(value));
        self.report.error(
            pattern,
            format_args!(
                "a pattern in a condition comes after `let`\nhelp: write `let {written} = {value}`"
            ),
        );
        Some(names)
    }

    /// Leaves the frame of a pattern.
    fn leave(&mut self, pat: &Pat) {
        let fields = crate::parse::fields_in(pat);
        let names = crate::parse::names_in(pat);
        let own = names.iter().filter(|name| !fields.contains(name));
        self.names.facts.bound.extend(own.cloned());
        let names = self.frames.leave(names);
        self.names.facts.unused.extend(names.map(|name| {
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

/// Returns the names in `Variant(a, b)`, if the parentheses contain only names.
fn arguments(expr: &Expr) -> Option<Vec<Ident>> {
    let Expr::Call(call) = expr else { return None };
    let Expr::Path(variant) = &*call.func else {
        return None;
    };
    let last = variant.path.segments.last()?;
    let names = call.args.iter().map(|argument| match argument {
        Expr::Path(path) => path.path.get_ident().cloned(),
        _ => None,
    });
    let is_variant = last.ident.to_string().starts_with(char::is_uppercase);
    names.collect::<Option<_>>().filter(|_| is_variant)
}
