//! A step that calls the plan that it is a step of.

use crate::ast::{Body, Branch, Plan};
use crate::report::Report;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Ident, Path};

/// Reports each call of the plan in its own steps. Only a plain name is certain to be the plan's: a longer path may lead anywhere.
pub(super) fn refuse(plan: &mut Plan, report: &mut Report) {
    let Some(head) = &plan.head else { return };
    for step in &mut plan.steps {
        in_body(&mut step.body, &head.name, report);
    }
}

fn in_body(body: &mut Body, own: &Ident, report: &mut Report) {
    match body {
        Body::Call(literal) if is(&literal.path, own) => {
            let path = literal.path.clone();
            report.error(
                path.to_token_stream(),
                format!(
                    "`{own}` cannot call itself in a step: every run would start another\n\
                     help: for a recursion that ends, call it from a tool: a function with `#[tool]` that awaits `Box::pin({own} {{ … }}.run(app))`\n\
                     help: to call a tool for each element of a list, use `for`"
                ),
            );
            *body = Body::Broken(Some(path));
        }
        Body::If(branches) => {
            for Branch { body, .. } in branches {
                in_body(body, own, report);
            }
        }
        Body::For(repeat) => in_body(&mut repeat.body, own, report),
        Body::Call(_) | Body::Compute(_) | Body::Broken(_) => {}
    }
}

fn is(path: &Path, name: &Ident) -> bool {
    path.get_ident()
        .is_some_and(|path| path.unraw() == name.unraw())
}
