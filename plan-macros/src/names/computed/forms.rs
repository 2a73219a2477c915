//! The forms of expressions, and the forms that a computed value cannot have.

use super::{Finder, Meaning, source};
use crate::docs::text_of;
use crate::parse::{is_source_name, tidy, value_text};
use quote::ToTokens;
use syn::punctuated::Pair;
use syn::{
    BinOp, Expr, ExprAwait, ExprBinary, ExprField, ExprRange, ExprReturn, ExprTry, Ident, Lit,
    Member, Path, RangeLimits, Token,
};

/// Returns `true` for an operator that moves its operands. Comparisons and numbers borrow their operands.
pub(super) fn moves_operands(both: &ExprBinary) -> bool {
    let is_number = |expr: &Expr| match expr {
        Expr::Lit(literal) => matches!(literal.lit, Lit::Int(_) | Lit::Float(_)),
        _ => false,
    };
    let compares = matches!(
        both.op,
        BinOp::Eq(_)
            | BinOp::Ne(_)
            | BinOp::Lt(_)
            | BinOp::Le(_)
            | BinOp::Gt(_)
            | BinOp::Ge(_)
            | BinOp::And(_)
            | BinOp::Or(_)
    );
    !compares && !is_number(&both.left) && !is_number(&both.right)
}

/// Returns `true` for an operator that changes its left operand: `+=`.
pub(super) fn is_assignment(operator: &BinOp) -> bool {
    let compares = matches!(
        operator,
        BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Le(_) | BinOp::Ge(_)
    );
    !compares && operator.to_token_stream().to_string().ends_with('=')
}

/// Returns the operand before the dots of a range: `b` in `a && b..c`.
fn last_operand(expr: &Expr) -> &Expr {
    match expr {
        Expr::Binary(both) => last_operand(&both.right),
        Expr::Unary(unary) => last_operand(&unary.expr),
        Expr::Reference(reference) => last_operand(&reference.expr),
        other => other,
    }
}

/// Returns the first name after the dots of a range: `b` in `a..b.c(d) > e`.
fn first_operand(expr: &Expr) -> &Expr {
    match expr {
        Expr::Binary(both) => first_operand(&both.left),
        Expr::Cast(cast) => first_operand(&cast.expr),
        Expr::Field(field) => first_operand(&field.base),
        Expr::MethodCall(call) => first_operand(&call.receiver),
        Expr::Index(index) => first_operand(&index.expr),
        Expr::Try(ask) => first_operand(&ask.expr),
        other => other,
    }
}

/// Returns the innermost receiver of method calls and fields.
fn receiver(expr: &Expr) -> &Expr {
    match expr {
        Expr::MethodCall(call) => receiver(&call.receiver),
        Expr::Field(field) => receiver(&field.base),
        Expr::Index(index) => receiver(&index.expr),
        Expr::Paren(inner) => receiver(&inner.expr),
        Expr::Try(ask) => receiver(&ask.expr),
        other => other,
    }
}

/// Returns `true` for a range that ends with a call, such as `a..len()`. The author may mean `a.len()`.
pub(super) fn ends_with_call(range: &ExprRange) -> bool {
    let (Some(start), Some(end)) = (&range.start, &range.end) else {
        return false;
    };
    let is_called = match first_operand(end) {
        Expr::Call(call) => source(&call.func).is_some_and(|name| is_source_name(&name)),
        _ => false,
    };
    let is_literal = matches!(**start, Expr::Lit(_));
    is_called && !is_literal && matches!(range.limits, RangeLimits::HalfOpen(_))
}

impl Finder<'_> {
    /// Reports `inbox::data` instead of `inbox.data`. A path of a module is left alone.
    pub(super) fn refuse_path(&mut self, path: &Path) {
        let mut parts = path.segments.pairs().map(Pair::into_tuple);
        if let (Some((first, Some(colons))), Some((second, _))) = (parts.next(), parts.next())
            && self.is_plans(&first.ident)
            && is_source_name(&second.ident)
        {
            let (first, second) = (&first.ident, &second.ident);
            let message = format!(
                "`{first}` is a value, so a dot leads to its fields: write `{first}.{second}`"
            );
            self.refuse(colons, &message);
        }
    }

    /// Reports `inbox..data` instead of `inbox.data`, and returns `true` after a report.
    pub(super) fn refuse_dots(&mut self, range: &ExprRange) -> bool {
        let (Some(start), Some(end)) = (&range.start, &range.end) else {
            return false;
        };
        let (before, after) = (last_operand(start), first_operand(end));
        let is_value = source(receiver(before)).is_some_and(|name| is_source_name(&name));
        let Some(field) = source(after).filter(|field| is_value && self.is_unknown(field)) else {
            return false;
        };
        let before = tidy(before);
        let message = format!("one dot leads to a field: write `{before}.{field}`");
        self.refuse(range.limits, &message);
        true
    }

    /// Returns `true` for an unknown name.
    pub(super) fn is_unknown(&self, name: &Ident) -> bool {
        is_source_name(name)
            && !self.is_bound(name)
            && matches!(self.names.find(name, self.frames), Meaning::Unknown)
    }

    /// Reports the first assignment to a name without `let`, and declares the name.
    pub(super) fn refuse_undeclared(&mut self, place: &Expr, value: &Expr) {
        let Some(name) = source(place).filter(|name| self.foreign == 0 && self.is_unknown(name))
        else {
            return;
        };
        let word = match value {
            Expr::Struct(_) => "step",
            _ => "let",
        };
        let message =
            format!("the name `{name}` is not declared\nhelp: write `{word} {name} = …;`");
        self.refuse(&name, &message);
        self.bind(&syn::parse_quote!(#name));
    }

    /// Reports `self.n` instead of `n`.
    pub(super) fn refuse_self(&mut self, field: &ExprField) {
        if let (Expr::Path(base), Member::Named(name)) = (&*field.base, &field.member)
            && base.path.is_ident("self")
            && self.foreign == 0
        {
            self.refuse(
                base,
                &format!(
                    "a plan has no `self`: an input or a step is written by its name, `{name}`"
                ),
            );
        }
    }

    /// Reports a change of a step or an input.
    pub(super) fn refuse_change(&mut self, place: &Expr, at: impl ToTokens) {
        if let Some(name) = self.plans_root(place) {
            let text = text_of(&name);
            self.refuse(
                at,
                &format!("`{text}` cannot be changed: a step or an input keeps its value\nhelp: change a copy: `{{ let mut {name} = {name}; … }}`"),
            );
        }
    }

    /// Refuses a `get` without an argument before a `?`, and returns `true` for such a call.
    pub(super) fn refuse_get(&mut self, ask: &ExprTry) -> bool {
        let Expr::MethodCall(call) = &*ask.expr else {
            return false;
        };
        let is_get = call.method == "get" && call.args.is_empty();
        let is_refused = is_get && self.plans_root(&call.receiver).is_some();
        if is_refused {
            let message = "`get` needs the number or the text of an element\nhelp: in a reference, write `.get(0)?` or `.get(\"key\")?`";
            self.refuse(&call.method, message);
        }
        is_refused
    }

    pub(super) fn refuse_return(&mut self, back: &ExprReturn) {
        self.refuse(
            back.return_token,
            "a computed value is an expression, so it cannot `return`\n\
             help: write the value alone; to fail the step, write `Err(\"…\")?`",
        );
    }

    /// Returns the message about an `.await`.
    pub(super) fn await_message(&self, wait: &ExprAwait) -> (Token![await], String) {
        let written = value_text(&wait.base);
        let message = if matches!(&*wait.base, Expr::Struct(_)) {
            format!(
                "a computed value calls no tool\nhelp: write a step without a type: `step name = {written};`"
            )
        } else if self.plans_root(&wait.base).is_some() {
            format!(
                "`{written}` is a value, which is there when this is computed\nhelp: write `{written}`"
            )
        } else if source(&wait.base).is_some_and(|name| self.is_unknown(&name)) {
            format!(
                "a value from outside is a step of its own\nhelp: write `step {written}: Type = await;`, and refer to `{written}`"
            )
        } else {
            "a computed value cannot `.await`: call a tool in a separate step".to_owned()
        };
        (wait.await_token, message)
    }
}

/// Returns the function of `check` that lends the receiver of a method with the name of a consuming method of the standard library.
pub(super) fn lender(method: &str) -> Option<&'static str> {
    match method {
        // Methods of an `Option` or a `Result`. A type of the application may have borrowing methods with these names.
        "err" | "expect_err" | "inspect" | "inspect_err" | "is_err_and" | "is_ok_and" | "ok"
        | "unzip" => Some("takable_result"),
        // This method accepts borrowed lists as well.
        "into_iter" => None,
        "and" | "and_then" | "clamp" | "expect" | "filter" | "flatten" | "into" | "is_none_or"
        | "is_some_and" | "map" | "max" | "min" | "or" | "or_else" | "transpose" | "try_into"
        | "xor" | "zip" => Some("takable"),
        method => {
            let mut starts = ["into_", "map_", "ok_or", "unwrap"].into_iter();
            let is_consuming = starts.any(|start| method.starts_with(start));
            is_consuming.then_some("takable")
        }
    }
}
