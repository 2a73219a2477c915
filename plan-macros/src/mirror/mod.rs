//! What an editor sees of a plan: the author's tokens as plain Rust, in the order in which they are written, over locals of the types
//! that the plan gives them. It is not what rustc sees.
//!
//! rust-analyzer finds out what to offer at a cursor by expanding twice, with and without a marker there, and comparing both at the
//! offset of the marker. So the output before a token must not depend on that token: all decisions here are about the places of
//! tokens, none about whether they make sense.

mod attribute;
mod echo;
mod fit;
mod flow;
#[cfg(test)]
mod marker;
mod scan;
mod value;

use crate::parse::{self, tokens::Tokens};
use crate::report::Report;
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;
use scan::{Part, Scanned, Step};
use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use std::sync::OnceLock;
use syn::ext::IdentExt;

/// Whether an editor expands, and not a compiler. rust-analyzer sets this variable for the process in which macros run, which
/// refuses to start without it, and for nothing else.
pub(crate) fn is_wanted() -> bool {
    static WANTED: OnceLock<bool> = OnceLock::new();
    *WANTED.get_or_init(|| {
        let compiler = |exe: &Path| {
            let name = exe.file_stem().and_then(|name| name.to_str());
            name.is_some_and(|name| ["rustc", "rustdoc", "clippy-driver", "miri"].contains(&name))
        };
        env::var_os("RUST_ANALYZER_INTERNALS_DO_NOT_USE").is_some()
            && !env::current_exe().is_ok_and(|exe| compiler(&exe))
    })
}

/// What makes the mirror of a plan.
struct Mirror {
    /// Where the runtime crate has what a mirror names.
    editor: TokenStream,
    /// The names of steps and inputs.
    known: BTreeSet<String>,
    /// The names that patterns bind somewhere in the plan.
    bound: BTreeSet<String>,
    /// The names of steps that are referred to before they are declared.
    ahead: BTreeSet<String>,
}

/// The mirror of a plan: items in the item form, and a value in the expression form.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut tokens = Tokens::new(input);
    let editor = match parse::krate(&mut tokens, &mut Report::new()) {
        Some(path) => quote!(#path::__private::editor),
        None => quote!(::plan_runtime::__private::editor),
    };
    let scanned = scan::scan(&mut tokens);
    let inputs = scanned.head.iter().flat_map(|head| &head.inputs);
    let steps = scanned.parts.iter().filter_map(|part| match part {
        Part::Step(step) => Some(&step.name),
        _ => None,
    });
    let names = inputs.filter_map(|input| input.name.as_ref()).chain(steps);
    let mut mirror = Mirror {
        known: names.map(text).collect(),
        bound: scanned.parts.iter().fold(BTreeSet::new(), echo::bound_in),
        ahead: BTreeSet::new(),
        editor,
    };
    mirror.ahead = mirror.names_ahead(&scanned);
    mirror.plan(&scanned)
}

impl Mirror {
    fn knows(&self, name: &Ident) -> bool {
        self.known.contains(&text(name))
    }

    fn plan(&self, plan: &Scanned) -> TokenStream {
        let editor = &self.editor;
        let body = self.statements(&plan.parts);
        let (tail, ahead, echo) = (self.tail(plan), self.items_ahead(plan), self.echo(plan));
        let Some(head) = &plan.head else {
            return quote!({ let __plan = #editor::inline(|| { use #editor::Owned as _; #body #ahead #tail }); #echo __plan });
        };
        let inputs = head.inputs.iter().map(|input| {
            let (name, ty, after) = (&input.name, &input.ty, &input.after);
            quote!(let #name #ty = #editor::any(); let (#after) = #editor::any();)
        });
        let behind_inputs = &head.behind_inputs;
        let tail = match &head.output {
            Some(ty) => quote!(let _: #ty = #tail;),
            None => quote!(let _ = #tail;),
        };
        quote! {
            #[allow(warnings, non_upper_case_globals, clippy::all, clippy::pedantic, clippy::nursery)]
            const _: () = {
                use #editor::Owned as _;
                #(#inputs)*
                let _: (#behind_inputs) = #editor::any();
                #body
                #tail
                #ahead
            };
            #echo
        }
    }

    /// All before the last expression. Between two parts, something may be half typed.
    fn statements(&self, parts: &[Part]) -> TokenStream {
        let mut statements = TokenStream::new();
        let mut attributes = Vec::new();
        let mut open = true;
        for (index, part) in parts.iter().enumerate() {
            let is_last = index + 1 == parts.len();
            if open && !matches!(part, Part::Other(_)) {
                let gap = self.gap(&TokenStream::new());
                statements.extend(quote!(#gap;));
            }
            open = true;
            match part {
                Part::Attribute(attribute) => {
                    statements.extend(self.attribute(attribute.clone()));
                    attributes.push(attribute.clone());
                }
                Part::Step(step) => {
                    let is_name = step.keyword == "let" || self.known.contains("step");
                    let keyword = (!is_name).then_some(&step.keyword);
                    let keyword = self.gap(&quote!(#keyword));
                    statements.extend(quote!(#keyword;));
                    statements.extend(self.step(step, attribute::policy(attributes.iter())));
                    attributes.clear();
                }
                Part::Other(tokens) if !is_last => {
                    let gap = self.gap(&self.value(tokens.clone()));
                    statements.extend(quote!(#gap;));
                    open = false;
                }
                Part::Other(_) => {}
            }
        }
        statements
    }

    /// A place where a statement may begin, with the tokens there.
    fn gap(&self, tokens: &TokenStream) -> TokenStream {
        let editor = &self.editor;
        if self.known.contains("step") {
            quote!({ #tokens })
        } else {
            quote!({ use #editor::keyword::step; #tokens })
        }
    }

    fn tail(&self, plan: &Scanned) -> TokenStream {
        let tail = match plan.parts.last() {
            Some(Part::Other(tokens)) => tokens.clone(),
            _ => TokenStream::new(),
        };
        match &plan.head {
            Some(_) => self.gap(&self.typed(tail)),
            None => self.gap(&self.value(tail)),
        }
    }

    fn step(&self, step: &Step, policy: flow::Policy) -> TokenStream {
        // What is referred to before it is declared is an item.
        let name = match &step.name {
            name if self.ahead.contains(&text(name)) => quote!(_),
            name => quote!(#name),
        };
        match &step.ty {
            Some(ty) if policy.optional => {
                let value = self.argument(step.value.clone());
                quote!(let #name: ::core::option::Option<#ty> = #value;)
            }
            Some(ty) => {
                let value = self.typed(step.value.clone());
                quote!(let #name: #ty = #value;)
            }
            None => {
                let body = self.body(step.value.clone(), policy);
                quote!(let #name = #body;)
            }
        }
    }
}

fn text(name: &Ident) -> String {
    name.unraw().to_string()
}

/// The same tokens at the place of the macro: not another place at which the author wrote them.
pub(crate) fn unplaced(tokens: TokenStream) -> TokenStream {
    placed(tokens, Span::mixed_site())
}

/// The same tokens, all at one place.
fn placed(tokens: TokenStream, at: Span) -> TokenStream {
    let trees = tokens.into_iter().map(|mut tree| {
        if let TokenTree::Group(group) = &tree {
            tree = Group::new(group.delimiter(), placed(group.stream(), at)).into();
        }
        tree.set_span(at);
        tree
    });
    trees.collect()
}
