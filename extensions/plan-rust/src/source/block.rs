//! Blocks: steps in braces, and loops around them.

use super::fragment::is_identifier;
use super::layout::{LayoutStyle, Tree};
use super::model::{is_whole, parts};
use super::names::RustNames;
use super::value::Takes;
use super::{SourceWriter, shown};
use plan_runtime::plan::{Block, Body, Branch, Key, Loop, Source, Template};
use proc_macro2::Delimiter;
use std::mem::{replace, take};

impl<'p> SourceWriter<'p> {
    /// Returns the content of the braces around a body, and `true` if a block needs these braces.
    pub(super) fn in_braces(&mut self, body: &'p Body, ends: Ends) -> (Vec<Tree>, bool) {
        match body {
            Body::Block(block) => (self.block(block, ends), true),
            Body::Action(value)
                if value.tool.is_none()
                    && ends == Ends::AsOthers
                    && !has_object(&value.args.plain()) =>
            {
                let value = self.value("", &value.args.plain(), Takes::Anything);
                (vec![value], false)
            }
            body => (vec![self.body(body)], false),
        }
    }

    /// Writes the steps of a block and its value, each on its own lines.
    pub(super) fn block(&mut self, block: &'p Block, ends: Ends) -> Vec<Tree> {
        let changes = self.taken.changes();
        let (items, _) = self.block_then(block, ends, None, |_| ());
        self.taken.back_to(changes);
        items
    }

    /// Writes a loop. The value of a round has the name of the step.
    pub(super) fn repeat(&mut self, repeat: &'p Loop, name: &str, collects: bool) -> Tree {
        let round = &repeat.round;
        let changes = self.taken.changes();
        let last = round.plan.inputs.first().filter(|_| repeat.last);
        let last = last.map(|last| self.taken.variable(&last.name, "last"));
        let start = last
            .as_ref()
            .map_or_else(String::new, |last| format!("|{last}| "));
        let (items, again) = self.block_then(round, Ends::Typed, last, |it| {
            if round.tail().is_some() {
                let own = Source::Step(round.named_steps().len());
                if collects && repeat.again.reads().contains(&own) {
                    let what = "a condition that refers to the call at the end of a round, whose values the loop collects";
                    it.cannot_express(it.here(), what);
                }
                it.names.steps.push(name.to_owned());
            }
            it.value("while", &repeat.again.plain(), Takes::Anything)
        });
        self.taken.back_to(changes);
        let braces = Tree::list("", Delimiter::Brace, LayoutStyle::Steps, items);
        let start = Tree::Text(format!("loop {start}"));
        let parts = vec![
            start,
            braces,
            Tree::text(" while "),
            again.unwrap_or_else(|| Tree::text("")),
        ];
        Tree::Row(parts)
    }

    /// Writes the block with the code after it, in the scope of the block's names. `last` is the name of a round's first input. The names stay
    /// reserved afterwards.
    fn block_then<T>(
        &mut self,
        block: &'p Block,
        ends: Ends,
        last: Option<String>,
        then: impl FnOnce(&mut Self) -> T,
    ) -> (Vec<Tree>, Option<T>) {
        let Some(inputs) = self.block_inputs(block, last) else {
            return (Vec::new(), None);
        };
        let around = self.around.clone();
        if let Some(step) = &self.step {
            self.around = format!("{step}.");
        }
        let steps = block.named_steps();
        let names = RustNames::of_steps(steps, inputs, &mut self.taken);
        for name in &names.steps {
            if self.locals.iter().any(|local| local.binds(name)) {
                let what = format!("the step `{name}`, whose name a pattern around it binds");
                self.cannot_express(self.here(), what);
            }
        }
        let names = replace(&mut self.names, names);
        let plan = replace(&mut self.plan, &block.plan);
        let locals = take(&mut self.locals);
        let step = self.step.clone();

        let mut items = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            items.extend(self.step(index, step));
        }
        self.step = step;
        match (block.tail(), value(block)) {
            (Some(tail), _) => items.push(self.body(tail)),
            (None, Some(value)) => {
                if !is_step(value) && (ends == Ends::Typed || has_object(&value.plain())) {
                    let value = shown(&value.to_string());
                    let what = format!(
                        "the value `{value}` of a block, whose type the plan does not keep"
                    );
                    self.cannot_express(self.here(), what);
                }
                items.push(self.value("", &value.plain(), Takes::Anything));
            }
            (None, None) => {}
        }
        let then = then(self);

        (self.names, self.plan, self.locals) = (names, plan, locals);
        self.around = around;
        (items, Some(then))
    }

    /// Returns the names around a block of the values that the block reads.
    fn block_inputs(&mut self, block: &Block, last: Option<String>) -> Option<Vec<String>> {
        let Some(reads) = reads(block) else {
            self.cannot_express(self.here(), "a block with inputs that it does not declare");
            return None;
        };
        let mut names = Vec::with_capacity(reads.len());
        let others = usize::from(last.is_some());
        names.extend(last);
        for (name, template) in reads.into_iter().skip(others) {
            let outside = match template {
                Template::Reference(reference) => self.reference(reference),
                _ => Err("another value".to_owned()),
            };
            match outside {
                Ok(outside) if is_identifier(&outside) => names.push(outside),
                _ => {
                    let (name, value) = (shown(name), shown(&template.to_string()));
                    let what = format!("`{name}` in a block for `{value}`, which has no name");
                    self.cannot_express(self.here(), what);
                    names.push("_".to_owned());
                }
            }
        }
        Some(names)
    }
}

/// The possible ends of braces.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Ends {
    /// The last step, or a call.
    Typed,
    /// Any value of the type of another branch.
    AsOthers,
}

impl Ends {
    /// Returns how these branches may end.
    pub(super) fn of(branches: &[Branch]) -> Self {
        let is_typed = |branch: &Branch| match &branch.body {
            Body::Action(action) => action.tool.is_some(),
            Body::Block(block) => block.tail().is_some() || value(block).is_none_or(is_step),
            _ => true,
        };
        if branches.iter().any(is_typed) {
            Self::AsOthers
        } else {
            Self::Typed
        }
    }
}

/// Returns the block's value, unless the value is always null.
fn value(block: &Block) -> Option<&Template> {
    let value = &block.plan.output.value;
    (!matches!(value.plain(), Template::Null)).then_some(value)
}

/// Returns `true` if the block contains only a value, or only a call.
pub(super) fn is_bare(block: &Block) -> bool {
    block.named_steps().is_empty() && value(block).is_some()
}

/// Returns the values from outside that the block reads, each with its name inside. Returns `None` if these are not the
/// inputs of the block.
fn reads(block: &Block) -> Option<Vec<(&str, &Template)>> {
    let Template::Object(entries) = &block.inputs else {
        return None;
    };
    let named = entries.iter().map(|entry| match &entry.key {
        Key::Name(name) => Some((name.as_str(), &entry.value)),
        Key::Flattened | Key::Inner => None,
    });
    let named: Vec<_> = named.collect::<Option<_>>()?;
    let names = named.iter().map(|(name, _)| *name);
    let inputs = block.plan.inputs.iter().map(|input| &*input.name);
    names.eq(inputs).then_some(named)
}

/// Returns `true` if a plain value contains an object, whose type in Rust is unknown.
fn has_object(value: &Template) -> bool {
    matches!(value, Template::Object(_) | Template::Tagged(..))
        || parts(value).into_iter().any(has_object)
}

/// Returns `true` if a value is the value of a step.
fn is_step(value: &Template) -> bool {
    match value.plain() {
        Template::Reference(value) => matches!(value.source, Source::Step(_)) && is_whole(&value),
        _ => false,
    }
}
