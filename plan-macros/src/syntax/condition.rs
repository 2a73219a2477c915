//! Rust expressions that have the form of a test, which a run may evaluate as data.

use super::pattern::{is_name, wrapped};
use super::reference::{is_source_name, place};
use super::value;
use crate::ast::Test;
use syn::{BinOp, Expr, ExprBinary, ExprLit, ExprMethodCall, Lit, Pat, UnOp};

/// The methods of a test, by their names in the runtime.
const METHODS: [&str; 6] = ["is_some", "is_none", "is_ok", "is_err", "is_empty", "len"];

/// The maximum number of operators, methods and parentheses around a part of a test. Data may not be nested as deep as Rust.
const DEEPEST: usize = 64;

/// Returns an expression with an operator or a method as a test.
pub(crate) fn test(expr: &Expr) -> Option<Box<Test>> {
    let test = operand(expr, 0)?;
    match test {
        Test::Reference(_) | Test::Scalar(_) | Test::Constant(_) => None,
        test => Some(Box::new(test)),
    }
}

/// Returns the value of an `if let` as data, if a run can evaluate the pattern.
pub(crate) fn bound(pat: &Pat, expr: &Expr) -> Option<Box<Test>> {
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

pub(crate) fn operand(expr: &Expr, depth: usize) -> Option<Test> {
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
