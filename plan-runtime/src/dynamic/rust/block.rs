//! Blocks: steps in braces.

use super::fragment::is_identifier;
use super::layout::Tree;
use super::names::RustNames;
use super::value::Takes;
use super::{SourceWriter, shown};
use crate::plan::{Block, Body, Template};
use std::mem::{replace, take};

impl<'p> SourceWriter<'p> {
    /// What is in the braces around a body, and whether it is a block, whose braces these are.
    pub(super) fn in_braces(&mut self, body: &'p Body) -> (Vec<Tree>, bool) {
        match body {
            Body::Block(block) => (self.block(block), true),
            body => (vec![self.body(body)], false),
        }
    }

    /// The steps of a block and its value, each on its own lines.
    pub(super) fn block(&mut self, block: &'p Block) -> Vec<Tree> {
        let Some(inputs) = self.block_inputs(block) else {
            return Vec::new();
        };
        let around = self.around.clone();
        if let Some(step) = &self.step {
            self.around = format!("{step}.");
        }
        let changes = self.taken.changes();
        let steps = block.named_steps();
        let names = RustNames::of_steps(steps, inputs, &mut self.taken);
        for name in &names.steps {
            if self.locals.iter().any(|local| local.bound.binds(name)) {
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
        match (block.tail(), block.value()) {
            (Some(tail), _) => items.push(self.body(tail)),
            (None, Some(value)) => items.push(self.value("", &value.plain(), Takes::Anything)),
            (None, None) => {}
        }

        self.taken.back_to(changes);
        (self.names, self.plan, self.locals) = (names, plan, locals);
        self.around = around;
        items
    }

    /// The names of the values that a block reads, which are their names around it.
    fn block_inputs(&mut self, block: &Block) -> Option<Vec<String>> {
        let Some(reads) = block.reads() else {
            self.cannot_express(
                self.here(),
                "a block that is given other inputs than it has",
            );
            return None;
        };
        let mut names = Vec::with_capacity(reads.len());
        for (name, template) in reads {
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
