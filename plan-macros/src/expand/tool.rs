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
        let (mut tools, number) = (Vec::new(), names.number(step));
        step.body.each(&mut |body| {
            if let Body::Call(Literal { path, .. }) = names.body(body) {
                let (index, at) = (tools.len(), ends(path).0);
                tools.push(Self {
                    path,
                    text: parse::path_text(path),
                    alias: Ident::new(&format!("__PlanTool{number}_{index}"), at),
                    arguments: Ident::new(&format!("__PlanArguments{number}_{index}"), at),
                });
            }
        });
        tools
    }
}
