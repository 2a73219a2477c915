//! A pattern that a condition compares with a value instead of using `let`: `if Some(x) == maybe`.

use crate::parse::value_text;
use quote::ToTokens;
use syn::{BinOp, Expr, Ident};

/// A pattern used as an operand of `==`.
pub(super) struct ComparedPattern<'e> {
    pub(super) pattern: &'e Expr,
    /// The names in the pattern.
    pub(super) names: Vec<Ident>,
    value: &'e Expr,
}

impl<'e> ComparedPattern<'e> {
    /// Returns the operand of a comparison that is a call of a variant with a name that is unknown, and so probably bound.
    pub(super) fn of(expr: &'e Expr, is_unknown: &dyn Fn(&Ident) -> bool) -> Option<Self> {
        let Expr::Binary(both) = expr else {
            return None;
        };
        if !matches!(both.op, BinOp::Eq(_)) {
            return None;
        }
        let operands = [(&both.left, &both.right), (&both.right, &both.left)];
        operands.into_iter().find_map(|(pattern, value)| {
            let names = arguments(pattern)?;
            names.iter().any(is_unknown).then_some(Self {
                pattern,
                names,
                value,
            })
        })
    }

    pub(super) fn message(&self) -> String {
        let pattern = value_text(&self.pattern.to_token_stream());
        let value = value_text(&self.value.to_token_stream());
        format!("a pattern in a condition comes after `let`\nhelp: write `let {pattern} = {value}`")
    }
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
