//! Rust expressions that have the form of a test, which a run may evaluate as data.

use super::is_source_name;
use super::value;
use crate::ast::{Hop, Reference, Test};
use syn::{BinOp, Expr, ExprBinary, ExprLit, ExprMethodCall, Ident, Index, Lit, Member, Pat, UnOp};

/// The methods of a test, in the order of the runtime's `Question::ALL`.
const METHODS: [&str; 6] = ["is_some", "is_none", "is_ok", "is_err", "is_empty", "len"];

/// The test that an expression is: one with an operator or a method.
pub(super) fn test(expr: &Expr) -> Option<Box<Test>> {
    let test = operand(expr)?;
    match test {
        Test::Reference(_) | Test::Scalar(_) | Test::Constant(_) => None,
        test => Some(Box::new(test)),
    }
}

/// What an `if let` takes a value out of, if its pattern is one of those that a run compares with data.
pub(super) fn bound(pat: &Pat, expr: &Expr) -> Option<Box<Test>> {
    let Pat::TupleStruct(pattern) = pat else {
        return None;
    };
    let mut inner = pattern.elems.iter();
    let (Some(first), None, false) = (inner.next(), inner.next(), pattern.elems.trailing_punct())
    else {
        return None;
    };
    if !matches!(first, Pat::Wild(_)) && !is_name(first) {
        return None;
    }
    let expr = match expr {
        Expr::Reference(borrowed) if borrowed.mutability.is_none() => &borrowed.expr,
        expr => expr,
    };
    let place = place(expr)?;
    Some(Box::new(if pattern.path.is_ident("Some") {
        Test::Some(place)
    } else if pattern.path.is_ident("Ok") || pattern.path.is_ident("Err") {
        Test::Outcome(place)
    } else {
        return None;
    }))
}

/// Whether a pattern is a name in `Some(…)`, `Ok(…)` or `Err(…)`, which then means the whole value in it.
pub(crate) fn binds_one(pat: &Pat) -> bool {
    let Pat::TupleStruct(pattern) = pat else {
        return false;
    };
    let mut inner = pattern.elems.iter();
    let (Some(first), None, false) = (inner.next(), inner.next(), pattern.elems.trailing_punct())
    else {
        return false;
    };
    let is_known = ["Some", "Ok", "Err"]
        .iter()
        .any(|name| pattern.path.is_ident(name));
    is_known && is_name(first)
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

fn operand(expr: &Expr) -> Option<Test> {
    match expr {
        Expr::Paren(inner) if inner.attrs.is_empty() => operand(&inner.expr),
        Expr::Group(inner) => operand(&inner.expr),
        Expr::Binary(both) if both.attrs.is_empty() => binary(both),
        Expr::Unary(unary) if unary.attrs.is_empty() => match unary.op {
            UnOp::Not(_) => match operand(&unary.expr)? {
                // `!0` and `!a.len()` are numbers.
                Test::Scalar(scalar) if !matches!(scalar.lit, Lit::Bool(_)) => None,
                Test::Ask(method, _) if METHODS[method] == "len" => None,
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

fn binary(both: &ExprBinary) -> Option<Test> {
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
    // In the order of the runtime's `Comparison::ALL`.
    let (sign, is_order) = match both.op {
        BinOp::And(_) => return joined(|op| matches!(op, BinOp::And(_))).map(Test::All),
        BinOp::Or(_) => return joined(|op| matches!(op, BinOp::Or(_))).map(Test::Any),
        BinOp::Eq(_) => (0, false),
        BinOp::Ne(_) => (1, false),
        BinOp::Lt(_) => (2, true),
        BinOp::Le(_) => (3, true),
        BinOp::Gt(_) => (4, true),
        BinOp::Ge(_) => (5, true),
        _ => return None,
    };
    let operands = [operand(&both.left)?, operand(&both.right)?];
    Some(Test::Compare(sign, is_order, Box::new(operands)))
}

fn method(call: &ExprMethodCall) -> Option<Test> {
    if !call.attrs.is_empty() || !call.args.is_empty() || call.turbofish.is_some() {
        return None;
    }
    let method = METHODS.iter().position(|name| call.method == name)?;
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
                is_caught: false,
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
