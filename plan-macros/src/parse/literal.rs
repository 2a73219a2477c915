//! `Type { … }`, `path::Variant(…)`, `Some(…)`.

use super::value::{NEXT, classify, is_dangling, read, separated, start_of};
use super::{path_text, tidy};
use crate::ast::{self, Fields, Literal, Outcome, Reference, Rest, Scalar, Value};
use crate::report::Report;
use crate::scan::tokens::Tokens;
use crate::scan::value::{FieldKind, FieldTokens, Piece, ValueKind};
use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::{Lit, Path, token};

/// `path::Variant(…)`, `Some(…)`.
pub(super) fn unnamed(
    path: Path,
    paren: token::Paren,
    pieces: Vec<Piece>,
    tokens: TokenStream,
    report: &mut Report,
) -> Value {
    let end = paren.span.close();
    let inside = tokens.clone().into_iter().last();
    if let Some(group @ TokenTree::Group(_)) = inside
        && has_names(&group)
    {
        let name = path_text(&path);
        report.error(
            group,
            format!("named arguments are in braces: `{name} {{ name: value }}`"),
        );
        return Value::Broken;
    }
    if let Some(some) = path.get_ident().filter(|name| *name == "Some") {
        let Some((inner, _)) = pieces.into_iter().next() else {
            report.error_at(end, "expected a value after this");
            return Value::Some(some.clone(), paren, Box::new(Value::Broken));
        };
        let mut inner = read(inner, end, NEXT, report);
        let empty = match &inner {
            Value::None(none) => Some((none.span(), "None")),
            Value::Tuple(parens, values) if values.is_empty() => Some((parens.span.join(), "()")),
            _ => None,
        };
        if let Some((at, empty)) = empty {
            report.error_at(
                at,
                format!(
                    "`Some({empty})` is null in JSON, as `None` is\nhelp: write `None` for the whole, or a value in the place of `{empty}`"
                ),
            );
            inner = Value::Broken;
        }
        let extra = match tokens.into_iter().last() {
            Some(TokenTree::Group(group)) => after_comma(group.stream()),
            _ => TokenStream::new(),
        };
        if !extra.is_empty() {
            report.error(extra, "`Some(…)` takes one value");
        }
        return Value::Some(some.clone(), paren, Box::new(inner));
    }
    let mut inner = Report::default();
    let values = separated(pieces, end, &mut inner);
    if values.iter().any(needs_template) {
        report.extend(inner);
        let fields = Fields::Unnamed(paren, values);
        return Value::Literal(Literal { path, fields });
    }
    // Without references and texts in it, the call is plain Rust and asks nothing of its type.
    match syn::parse2(tokens) {
        Ok(expr) => classify(expr),
        Err(error) => {
            report.push(error);
            Value::Broken
        }
    }
}

/// Whether the parentheses begin with `name:`.
fn has_names(parens: &TokenTree) -> bool {
    let TokenTree::Group(group) = parens else {
        return false;
    };
    let tokens = Tokens::new(group.stream());
    tokens.peek_ident(0).is_some() && tokens.is_punct(1, ':') && !tokens.is_punct(2, ':')
}

/// Whether the value contains a string, or a lower-case name that is not a path.
fn needs_template(value: &Value) -> bool {
    match value {
        Value::Scalar(Scalar {
            lit: Lit::Str(_), ..
        })
        | Value::Reference(_)
        | Value::Broken
        | Value::Format(_)
        | Value::Json(..)
        | Value::Literal(_) => true,
        Value::Some(_, _, value) => needs_template(value),
        Value::List(_, values) | Value::Tuple(_, values) => values.iter().any(needs_template),
        Value::Scalar(_) | Value::None(_) | Value::Computed(_) => false,
    }
}

/// The tokens after the first comma.
fn after_comma(tokens: TokenStream) -> TokenStream {
    let mut tokens = Tokens::new(tokens);
    tokens.take_until(|tokens| tokens.is_punct(0, ','));
    tokens.next();
    tokens.rest()
}

/// `Type { name: value, shorthand, .. }`
pub(super) fn named(
    path: Path,
    brace: token::Brace,
    source: Vec<FieldTokens>,
    report: &mut Report,
) -> Value {
    let mut fields: Vec<ast::Field> = Vec::new();
    let mut rest = Rest::Nothing;
    let mut source = source.into_iter().peekable();
    let mut dangling = false;
    while let Some(FieldTokens {
        kind,
        comma,
        semicolon,
    }) = source.next()
    {
        if let Some(at) = semicolon {
            report.error_at(at, "a comma separates arguments: write `,` instead of `;`");
        }
        let was_dangling = std::mem::replace(
            &mut dangling,
            matches!(&kind, FieldKind::Value(_, _, item) if is_dangling(item)),
        );
        let (name, shorthand, value) = match kind {
            FieldKind::Value(name, colon, item) => {
                let is_missing =
                    matches!(&item.kind, ValueKind::Broken(tokens, _) if tokens.is_empty());
                let value = if is_missing {
                    let message = format!("expected a value for `{name}`: `{name}: value`");
                    report.error(&name, message);
                    Value::Broken
                } else {
                    read(*item, colon.span(), NEXT, report)
                };
                let next = source.peek().map(|next| &next.kind);
                match (comma, next) {
                    (None, Some(FieldKind::Value(next, ..))) => {
                        report.error(next, format!("expected {NEXT}, found `{next}`"));
                        (name, false, Value::Broken)
                    }
                    _ => (name, false, value),
                }
            }
            // `a: b.,c` may be `a: b.c`.
            FieldKind::Name(_) | FieldKind::Broken(_) if was_dangling => {
                rest = Rest::Broken;
                continue;
            }
            FieldKind::Name(name) => {
                let value = Value::Reference(Reference {
                    root: name.clone(),
                    local: None,
                    hops: Vec::new(),
                    end: name.span(),
                    outcome: Outcome::None,
                });
                (name, true, value)
            }
            FieldKind::Rest(dots, tokens) => {
                rest = Rest::Defaults(dots);
                let mut tokens = Tokens::new(tokens);
                let base = tokens.take_until(|tokens| tokens.is_punct(0, ','));
                tokens.next();
                let after = tokens.rest();
                if !base.is_empty() {
                    let help = match syn::parse2(base.clone()) {
                        Ok(syn::Expr::Path(_) | syn::Expr::Field(_)) => {
                            let base = tidy(&base);
                            format!("\nhelp: give the rest by name, such as `field: {base}.field`")
                        }
                        _ => String::new(),
                    };
                    report.error(&base, format!("`..` takes no value here: alone, it leaves out the rest, which then has its defaults{help}"));
                }
                if !after.is_empty() {
                    report.error(&after, "`..` must come after all arguments");
                }
                if !base.is_empty() || !after.is_empty() {
                    rest = Rest::Broken;
                }
                break;
            }
            FieldKind::Broken(tokens) => {
                match (comma, tokens.is_empty()) {
                    (Some(comma), true) => report.error(
                        comma,
                        "expected an argument before this comma: `name: value`",
                    ),
                    _ => {
                        not_a_field(tokens, report);
                        rest = Rest::Broken;
                    }
                }
                continue;
            }
        };
        if fields.iter().any(|earlier| earlier.name == name) {
            let message = format!("the argument `{name}` is given more than once");
            // A shorthand may be a part of the value before it.
            if shorthand {
                report.error(&name, message);
            } else {
                report.contained(&name, message);
            }
        } else {
            fields.push(ast::Field {
                name,
                shorthand,
                value,
            });
        }
    }
    let fields = Fields::Named(brace, fields, rest);
    Value::Literal(Literal { path, fields })
}

/// Says why the tokens are not an argument.
fn not_a_field(tokens: TokenStream, report: &mut Report) {
    let mut trees = tokens.into_iter();
    let (first, second) = (trees.next(), trees.next());
    let is =
        |tree: &TokenTree, char| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == char);
    let (at, message) = match (first, second) {
        (Some(TokenTree::Ident(name)), Some(at)) if is(&at, '=') => (
            at,
            format!("write a colon between the argument and its value: `{name}: value`"),
        ),
        (Some(TokenTree::Ident(name)), Some(at)) => {
            (at, format!("expected `:` and the value of `{name}`"))
        }
        (Some(at), _) if is(&at, '#') => (at, "arguments cannot have attributes".to_owned()),
        (Some(at), _) => (
            at,
            "expected the name of an argument: `name: value`".to_owned(),
        ),
        (None, _) => return,
    };
    report.error_at(start_of(&at), message);
}
