//! The documentation that editors show on hover. A local has no documentation, so the expansion contains a second copy of each step and each input: a
//! field of a struct. A step that is used before its declaration is an item instead.

use super::uses::NameUses;
use super::{IdeExpansion, attribute, unplaced};
use crate::docs::text_of;
use crate::syntax::{HeadTokens, PlanTokens, Statement, StatementKind, StepTokens};
use plan_graph::StepAttribute;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use std::collections::BTreeSet;
use syn::Path;

impl IdeExpansion {
    /// Writes each use of a step or an input as a use of a field.
    pub(super) fn echo(&self, plan: &PlanTokens) -> TokenStream {
        let editor = &self.editor;
        let mut fields = TokenStream::new();
        let mut names = BTreeSet::new();
        for (statement, step, name) in steps(plan) {
            let docs = docs(statement);
            let ty = unplaced(self.type_of_step(step, statement));
            if docs.is_empty() || self.ahead.contains(&text_of(name)) {
                let name = unplaced(name.to_token_stream());
                fields.extend(quote!(#name: #ty,));
            } else {
                names.insert(text_of(name));
                fields.extend(quote!(#docs #name: #ty,));
            }
        }
        let inputs: BTreeSet<String> = plan
            .head
            .iter()
            .flat_map(HeadTokens::names)
            .map(text_of)
            .collect();
        let uses = plan.statements.iter().flat_map(|part| self.uses(part));
        let uses: TokenStream = uses
            .map(|name| match text_of(&name) {
                text if names.contains(&text) => quote!(steps.#name;),
                text if inputs.contains(&text) => quote!(inputs.#name;),
                _ => TokenStream::new(),
            })
            .collect();
        let checks = self.checks.take();
        let name = plan.head.as_ref().and_then(|head| head.name.as_ref().ok());
        let name = name.map(|name| unplaced(name.to_token_stream()));
        let inputs = name
            .as_ref()
            .map(|name| quote!(static inputs: #name = #editor::any();));
        // The struct has the name of the plan, since a hover shows the name.
        let name = name.unwrap_or_else(|| quote!(Steps));
        quote! {
            #[allow(warnings, non_upper_case_globals, clippy::all, clippy::pedantic, clippy::nursery)]
            const _: () = {
                #inputs
                {
                    struct #name { #fields }
                    static steps: #name = #editor::any();
                    #uses
                    use #editor::{FitJson as _, Misfit as _};
                    #(const _: () = #checks;)*
                }
            };
        }
    }

    /// Returns the names of steps that are used before their declaration.
    pub(super) fn names_ahead(&self, plan: &PlanTokens) -> BTreeSet<String> {
        let mut seen = BTreeSet::new();
        let mut ahead = BTreeSet::new();
        for statement in &plan.statements {
            let names = self.uses(statement).into_iter().map(|name| text_of(&name));
            ahead.extend(names.filter(|name| !seen.contains(name)));
            seen.extend(statement.name().map(text_of));
        }
        ahead
    }

    /// Writes the steps used before their declaration as items, which are in scope there as well. The items have no
    /// values, because a hover would show the values.
    pub(super) fn items_ahead(&self, plan: &PlanTokens) -> TokenStream {
        let ahead = steps(plan).filter(|(_, _, name)| self.ahead.contains(&text_of(name)));
        let items = ahead.map(|(statement, step, name)| {
            let docs = docs(statement);
            let ty = unplaced(self.type_of_step(step, statement));
            quote!(#docs #[allow(non_upper_case_globals)] static #name: #ty;)
        });
        items.collect()
    }

    /// Returns the uses of steps and inputs in a statement.
    fn uses(&self, statement: &Statement) -> Vec<Ident> {
        let mut uses = NameUses::of(&self.known);
        for attribute in statement.attributes() {
            let name = attribute.clone().into_iter().next();
            let known = name.and_then(|name| StepAttribute::named(&name.to_string()));
            if known.is_some_and(|known| !known.is_complete_alone()) {
                uses.look_in(attribute);
            }
        }
        match &statement.kind {
            StatementKind::Other(tokens) => uses.look_in(tokens.clone()),
            StatementKind::Step(step) => uses.look_in(step.value.clone()),
        }
        uses.found
    }
}

/// Writes each use of an argument in the body of a tool's function as a use of the struct's field. A rename in a plan
/// then renames the argument.
pub(crate) fn arguments<'a>(
    krate: &Path,
    structure: &Ident,
    arguments: impl Iterator<Item = &'a Ident>,
    body: TokenStream,
) -> TokenStream {
    let names = arguments.map(text_of).collect();
    let mut uses = NameUses::of(&names);
    uses.look_in(body);
    let (structure, uses) = (unplaced(structure.to_token_stream()), uses.found);
    quote! {
        #[allow(warnings, clippy::all, clippy::pedantic, clippy::nursery)]
        const _: () = {
            let arguments: #structure = #krate::check::editor::any();
            #(arguments.#uses;)*
        };
    }
}

/// Returns the doc comments among the attributes.
fn docs(statement: &Statement) -> TokenStream {
    let docs = statement.attributes().filter(attribute::is_doc);
    unplaced(quote!(#(#[#docs])*))
}

/// Returns the steps with names.
fn steps(plan: &PlanTokens) -> impl Iterator<Item = (&Statement, &StepTokens, &Ident)> {
    let statements = plan.statements.iter();
    statements.filter_map(|statement| {
        let step = statement.step()?;
        Some((statement, step, step.name.as_ref()?))
    })
}

#[cfg(test)]
mod tests {
    use crate::{ide, syntax};
    use plan_graph::StepAttribute;

    #[test]
    fn names_in_attributes_are_uses() {
        for attribute in StepAttribute::ALL {
            let name = attribute.name();
            let plan = format!("Mail(limit: u32) {{ #[{name}(limit)] step a = Send {{}}; a }}");
            let plan = syntax::scan(plan.parse().unwrap());
            let expansion = ide::expand(&plan).to_string();
            let is_use = expansion.contains("inputs . limit ;");
            assert_eq!(is_use, !attribute.is_complete_alone(), "{name}");
        }
    }
}
