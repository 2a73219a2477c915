//! The tools that a step calls.

use super::way::ends;
use crate::ast::{Body, Literal, Step};
use crate::names::Names;
use crate::parse;
use proc_macro2::Ident;
use syn::Path;

/// A tool that a step calls.
pub(super) struct Tool<'p> {
    pub(super) path: &'p Path,
    /// The path as a string.
    pub(super) text: String,
    /// The name of the type of the tool.
    pub(super) alias: Ident,
    /// The alias for the arguments in a struct literal. The author's path is used once as a literal, because rustc
    /// words an unknown path in a literal differently from one in a type.
    pub(super) arguments: Ident,
}

impl<'p> Tool<'p> {
    /// Returns the tools of a step in order, without the tools of steps in its blocks.
    pub(super) fn all_of(step: &'p Step, names: &'p Names<'p>) -> Vec<Self> {
        let mut tools = Vec::new();
        Self::add(&step.body, names.number(step), names, &mut tools);
        tools
    }

    fn add(body: &'p Body, step: usize, names: &'p Names<'p>, tools: &mut Vec<Self>) {
        match names.body(body) {
            Body::Call(Literal { path, .. }) => {
                let (index, at) = (tools.len(), ends(path).0);
                tools.push(Self {
                    path,
                    text: parse::path_text(path),
                    alias: Ident::new(&format!("__PlanTool{step}_{index}"), at),
                    arguments: Ident::new(&format!("__PlanArguments{step}_{index}"), at),
                });
            }
            Body::If(branches) => branches
                .iter()
                .for_each(|branch| Self::add(&branch.body, step, names, tools)),
            Body::For(repeat) => Self::add(&repeat.body, step, names, tools),
            Body::Compute(_)
            | Body::Await(_)
            | Body::Block(_)
            | Body::Loop(_)
            | Body::Broken(_) => {}
        }
    }
}
