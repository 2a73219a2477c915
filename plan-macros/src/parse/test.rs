//! Rust expressions that have the form of a test, which a run may evaluate as data.

use super::is_source_name;
use super::value;
use crate::ast::{Hop, Outcome, Reference, Test};
use syn::{
    BinOp, Expr, ExprBinary, ExprLit, ExprMethodCall, Ident, Index, Lit, Member, Pat, Path, UnOp,
};

/// The methods of a test, by their names in the runtime.
const METHODS: [&str; 6] = ["is_some", "is_none", "is_ok", "is_err", "is_empty", "len"];

/// How many operators, methods and parentheses are around a part of a test at most. Data may not be nested as deep as Rust.
const DEEPEST: usize = 64;

/// The test that an expression is: one with an operator or a method.
pub(super) fn test(expr: &Expr) -> Option<Box<Test>> {
    let test = operand(expr, 0)?;
    match test {
        Test::Reference(_) | Test::Scalar(_) | Test::Constant(_) => None,
        test => Some(Box::new(test)),
    }
}

/// What an `if let` takes a value out of, if its pattern is one of those that a run compares with data.
pub(super) fn bound(pat: &Pat, expr: &Expr) -> Option<Box<Test>> {
    let (path, inner) = wrapped(pat)?;
    if !matches!(inner, Pat::Wild(_)) && !is_name(inner) {
        return None;
    }
    let expr = match expr {
        Expr::Reference(borrowed) if borrowed.mutability.is_none() => &borrowed.expr,
        expr => expr,
    };
    let place = place(expr)?;
    Some(Box::new(if path.is_ident("Some") {
        Test::Some(place)
    } else {
        Test::Outcome(place)
    }))
}

/// Whether a pattern is a name in `Some(…)`, `Ok(…)` or `Err(…)`, which then means the whole value in it.
pub(crate) fn binds_one(pat: &Pat) -> bool {
    wrapped(pat).is_some_and(|(_, inner)| is_name(inner))
}

/// The pattern in `Some(…)`, `Ok(…)` or `Err(…)`.
fn wrapped(pat: &Pat) -> Option<(&Path, &Pat)> {
    let Pat::TupleStruct(pattern) = pat else {
        return None;
    };
    let is_known = ["Some", "Ok", "Err"]
        .iter()
        .any(|name| pattern.path.is_ident(name));
    let is_one = pattern.elems.len() == 1 && !pattern.elems.trailing_punct();
    (is_known && is_one).then(|| (&pattern.path, &pattern.elems[0]))
}

fn is_name(pat: &Pat) -> bool {
    matches!(pat, Pat::Ident(name) if name.by_ref.is_none()
        && name.mutability.is_none()
        && name.subpat.is_none()
        && name.attrs.is_empty()
        && is_source_name(&name.ident)
        && is_read_as_name(&name.ident))
}

/// Whether the runtime, which has only the text of a pattern, reads a name in it as one. In older editions, `gen` is a name.
fn is_read_as_name(name: &Ident) -> bool {
    let text = name.to_string();
    let plain = text.trim_start_matches("r#");
    text != "gen" && plain.chars().all(|c| c == '_' || c.is_alphanumeric())
}

pub(super) fn operand(expr: &Expr, depth: usize) -> Option<Test> {
    if depth > DEEPEST {
        return None;
    }
    match expr {
        Expr::Paren(inner) if inner.attrs.is_empty() => operand(&inner.expr, depth + 1),
        Expr::Group(inner) => operand(&inner.expr, depth + 1),
        Expr::Binary(both) if both.attrs.is_empty() => binary(both, depth),
        Expr::Unary(unary) if unary.attrs.is_empty() => match unary.op {
            UnOp::Not(_) => match operand(&unary.expr, depth + 1)? {
                // `!0` and `!a.len()` are numbers.
                Test::Scalar(scalar) if !matches!(scalar.lit, Lit::Bool(_)) => None,
                Test::Ask("len", _) => None,
                test => Some(Test::Not(Box::new(test))),
            },
            _ => value::scalar(expr).map(Test::Scalar),
        },
        Expr::Lit(ExprLit { attrs, .. }) if attrs.is_empty() => {
            value::scalar(expr).map(Test::Scalar)
        }
        Expr::MethodCall(call) => method(call),
        Expr::Path(path) if path.attrs.is_empty() && path.qself.is_none() => {
            let is_constant = match path.path.get_ident() {
                Some(name) => !is_source_name(name) && name != "None" && name != "self",
                None => true,
            };
            if is_constant {
                return Some(Test::Constant(path.path.clone()));
            }
            place(expr).map(Test::Reference)
        }
        expr => place(expr).map(Test::Reference),
    }
}

fn binary(both: &ExprBinary, depth: usize) -> Option<Test> {
    let operand = |expr| operand(expr, depth + 1);
    let joined = |is_same: fn(&BinOp) -> bool| {
        let mut operands = Vec::new();
        let mut first = both;
        loop {
            operands.push(operand(&first.right)?);
            match &*first.left {
                Expr::Binary(left) if left.attrs.is_empty() && is_same(&left.op) => first = left,
                left => {
                    operands.push(operand(left)?);
                    operands.reverse();
                    return Some(operands);
                }
            }
        }
    };
    let sign = match both.op {
        BinOp::And(_) => return joined(|op| matches!(op, BinOp::And(_))).map(Test::All),
        BinOp::Or(_) => return joined(|op| matches!(op, BinOp::Or(_))).map(Test::Any),
        BinOp::Eq(_) => "==",
        BinOp::Ne(_) => "!=",
        BinOp::Lt(_) => "<",
        BinOp::Le(_) => "<=",
        BinOp::Gt(_) => ">",
        BinOp::Ge(_) => ">=",
        _ => return None,
    };
    let operands = [operand(&both.left)?, operand(&both.right)?];
    Some(Test::Compare(sign, Box::new(operands)))
}

fn method(call: &ExprMethodCall) -> Option<Test> {
    if !call.attrs.is_empty() || !call.args.is_empty() || call.turbofish.is_some() {
        return None;
    }
    let method = METHODS.into_iter().find(|name| call.method == name)?;
    Some(Test::Ask(method, place(&call.receiver)?))
}

/// A name with the fields and elements that are named after it.
fn place(expr: &Expr) -> Option<Reference> {
    match expr {
        Expr::Group(inner) => place(&inner.expr),
        Expr::Path(path) if path.attrs.is_empty() && path.qself.is_none() => {
            let root = path.path.get_ident().filter(|name| is_source_name(name))?;
            Some(Reference {
                end: root.span(),
                root: root.clone(),
                local: None,
                hops: Vec::new(),
                outcome: Outcome::None,
            })
        }
        Expr::Field(field) if field.attrs.is_empty() => {
            let mut base = place(&field.base)?;
            base.end = match &field.member {
                Member::Named(name) => name.span(),
                Member::Unnamed(Index { span, .. }) => *span,
            };
            base.hops
                .push(Hop::Field(field.dot_token, field.member.clone()));
            Some(base)
        }
        Expr::Index(index) if index.attrs.is_empty() => {
            let mut base = place(&index.expr)?;
            let bracket = index.bracket_token;
            base.end = bracket.span.close();
            let Expr::Lit(ExprLit { lit, .. }) = &*index.index else {
                return None;
            };
            base.hops.push(match lit {
                Lit::Int(number) => Hop::Index(bracket, number.clone()),
                Lit::Str(key) => Hop::Key(bracket, key.clone()),
                _ => return None,
            });
            Some(base)
        }
        _ => None,
    }
}
