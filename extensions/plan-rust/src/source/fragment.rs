//! Rust fragments: expressions, patterns and types that a plan stores as strings.
//!
//! A string is accepted only if it is a single piece of that kind of syntax, within limits that are checked before any
//! recursive parser reads it. The source is written from its tokens, so comments are lost.

use plan_graph::{Quoted, is_seen};
use proc_macro2::{Literal, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, Parser};
use syn::visit::{self, Visit};
use syn::{Expr, GenericArgument, Ident, Pat, PathArguments, Type};

/// The largest size in bytes of a fragment.
const LONGEST: usize = 16 * 1024;
/// The largest number of brackets around a token.
const DEEPEST: usize = 32;
/// The largest number of tokens before a token, in its statement and in the enclosing ones. It bounds the parser's recursion.
const MOST: usize = 500;

/// The size in bytes of the stack for the parser. Without optimization, each recursion of the parser takes about 8 KiB.
pub(super) const STACK: usize = 16 * 1024 * 1024;

/// The types that may have others in `<…>` and are nothing but data.
const GENERIC: [&str; 12] = [
    "Option", "Vec", "Box", "Arc", "Rc", "HashMap", "BTreeMap", "HashSet", "BTreeSet", "VecDeque",
    "Result", "Cow",
];

/// The reason why a fragment is refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FragmentError {
    /// The fragment is too long, or nested too deep.
    Large,
    /// The fragment is another kind of syntax.
    Other,
}

/// Returns the tokens of a fragment within the limits. Literals are on one line.
pub(super) fn tokens(text: &str) -> Result<TokenStream, FragmentError> {
    if text.len() > LONGEST {
        return Err(FragmentError::Large);
    }
    let tokens: TokenStream = text.parse().map_err(|_| FragmentError::Other)?;
    bounded(tokens, 0, 0)
}

fn bounded(tokens: TokenStream, depth: usize, before: usize) -> Result<TokenStream, FragmentError> {
    if depth > DEEPEST {
        return Err(FragmentError::Large);
    }
    let mut count = before;
    let mut trees = Vec::new();
    for tree in tokens {
        count += 1;
        if count > MOST {
            return Err(FragmentError::Large);
        }
        trees.push(match tree {
            TokenTree::Group(group) => {
                let inside = bounded(group.stream(), depth + 1, count)?;
                proc_macro2::Group::new(group.delimiter(), inside).into()
            }
            TokenTree::Punct(punct) => {
                if punct.as_char() == ';' {
                    count = before;
                }
                punct.into()
            }
            TokenTree::Literal(literal) => one_line(literal)?.into(),
            TokenTree::Ident(name) if !is_seen(&name.to_string()) => {
                return Err(FragmentError::Other);
            }
            tree => tree,
        });
    }
    Ok(trees.into_iter().collect())
}

/// Returns the literal with escapes for invisible characters.
fn one_line(literal: Literal) -> Result<Literal, FragmentError> {
    let text = literal.to_string();
    if is_seen(&text) {
        return Ok(literal);
    }
    match syn::parse_str::<syn::Lit>(&text) {
        Ok(syn::Lit::Str(text)) if text.suffix().is_empty() => {
            let text = Quoted(&text.value()).to_string();
            text.parse().map_err(|_| FragmentError::Other)
        }
        Ok(syn::Lit::ByteStr(text)) if text.suffix().is_empty() => {
            Ok(Literal::byte_string(&text.value()))
        }
        _ => Err(FragmentError::Other),
    }
}

fn parse<T: Parse>(tokens: TokenStream) -> Result<T, FragmentError> {
    syn::parse2(tokens).map_err(|_| FragmentError::Other)
}

/// Returns an expression. Before a block, it cannot end with a block.
pub(super) fn expression(text: &str, before_block: bool) -> Result<String, FragmentError> {
    let tokens = tokens(text)?;
    let expr: Expr = parse(tokens.clone())?;
    // In a `format!`, an assignment would change the meaning of a name in the format string.
    if !is_known(|known| known.visit_expr(&expr)) || matches!(expr, Expr::Assign(_)) {
        return Err(FragmentError::Other);
    }
    if before_block {
        let without = Expr::parse_without_eager_brace.parse2(tokens.clone());
        without.map_err(|_| FragmentError::Other)?;
    }
    let item = quote!(let x = #tokens;);
    Ok(written(&tokens, &item, "let x = ", ";"))
}

/// Returns `true` if an expression needs no parentheses between two `&&`.
pub(super) fn is_operand(expression: &str) -> bool {
    let Ok(tokens) = expression.parse::<TokenStream>() else {
        return false;
    };
    let Ok(Expr::Binary(both)) = syn::parse2(quote!(x && #tokens && x)) else {
        return false;
    };
    let operand = match &*both.left {
        Expr::Binary(first) => &first.right,
        _ => return false,
    };
    operand.to_token_stream().to_string() == tokens.to_string()
}

/// Returns a type, and `true` if it consists only of names.
pub(super) fn type_name(text: &str) -> Result<(String, bool), FragmentError> {
    let tokens = tokens(text)?;
    let ty: Type = parse(tokens.clone())?;
    if !is_known(|known| known.visit_type(&ty)) {
        return Err(FragmentError::Other);
    }
    let item = quote!(let x: #tokens;);
    Ok((written(&tokens, &item, "let x: ", ";"), is_plain(&ty)))
}

fn is_plain(ty: &Type) -> bool {
    match ty {
        Type::Tuple(tuple) => tuple.elems.iter().all(is_plain),
        Type::Path(path) => {
            let last = path.path.segments.len().saturating_sub(1);
            let mut segments = path.path.segments.iter().enumerate();
            path.qself.is_none()
                && segments.all(|(at, segment)| match &segment.arguments {
                    PathArguments::None => true,
                    PathArguments::AngleBracketed(inside) => {
                        let known = GENERIC.iter().any(|name| segment.ident == name);
                        let plain = |argument: &GenericArgument| matches!(argument, GenericArgument::Type(ty) if is_plain(ty));
                        at == last && known && inside.colon2_token.is_none() && inside.args.iter().all(plain)
                    }
                    PathArguments::Parenthesized(_) => false,
                })
        }
        _ => false,
    }
}

/// Returns `true` if the parser understood all syntax, without passing tokens through.
pub(super) fn is_known(visit: impl FnOnce(&mut IsKnownType)) -> bool {
    let mut known = IsKnownType(true);
    visit(&mut known);
    known.0
}

pub(super) struct IsKnownType(bool);

impl IsKnownType {
    /// Visits an expression that may be a chain of conditions with `let`s.
    fn visit_condition(&mut self, condition: &Expr) {
        match condition {
            Expr::Binary(chain) if matches!(chain.op, syn::BinOp::And(_)) => {
                self.visit_condition(&chain.left);
                self.visit_condition(&chain.right);
            }
            Expr::Let(one) => {
                self.visit_pat(&one.pat);
                self.visit_expr(&one.expr);
            }
            other => self.visit_expr(other),
        }
    }
}

impl<'ast> Visit<'ast> for IsKnownType {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        // Outside of a condition, a `let` binds no name, or a name outside of the expression.
        self.0 &= !matches!(expr, Expr::Verbatim(_) | Expr::Let(_));
        visit::visit_expr(self, expr);
    }

    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        self.visit_condition(&branch.cond);
        self.visit_block(&branch.then_branch);
        if let Some((_, other)) = &branch.else_branch {
            self.visit_expr(other);
        }
    }

    fn visit_expr_while(&mut self, repeat: &'ast syn::ExprWhile) {
        self.visit_condition(&repeat.cond);
        self.visit_block(&repeat.body);
    }

    fn visit_pat(&mut self, pat: &'ast Pat) {
        self.0 &= !matches!(pat, Pat::Verbatim(_));
        visit::visit_pat(self, pat);
    }

    fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
        // The parser accepts `self` as an identifier.
        self.0 &= is_identifier(&pat.ident.to_string());
        visit::visit_pat_ident(self, pat);
    }

    fn visit_type(&mut self, ty: &'ast Type) {
        self.0 &= !matches!(ty, Type::Verbatim(_));
        visit::visit_type(self, ty);
    }

    fn visit_item(&mut self, item: &'ast syn::Item) {
        // Items that contain other items have more kinds of syntax than a value needs.
        self.0 &= matches!(
            item,
            syn::Item::Const(_)
                | syn::Item::Enum(_)
                | syn::Item::Fn(_)
                | syn::Item::Static(_)
                | syn::Item::Struct(_)
                | syn::Item::Type(_)
                | syn::Item::Use(_)
        );
        visit::visit_item(self, item);
    }

    fn visit_type_param_bound(&mut self, bound: &'ast syn::TypeParamBound) {
        self.0 &= !matches!(bound, syn::TypeParamBound::Verbatim(_));
        visit::visit_type_param_bound(self, bound);
    }
}

/// Returns the tokens as source code, formatted inside a statement if formatting preserves the tokens.
pub(super) fn written(
    tokens: &TokenStream,
    statement: &TokenStream,
    before: &str,
    behind: &str,
) -> String {
    formatted(statement, before, behind)
        .filter(|text| is_same(tokens, text))
        .unwrap_or_else(|| tokens.to_string())
}

fn formatted(statement: &TokenStream, before: &str, behind: &str) -> Option<String> {
    // The statement is indented as deeply as the steps of a plan.
    let file = syn::parse2(quote!(mod plan { fn steps() { #statement } })).ok()?;
    let file = prettyplease::unparse(&file);
    let lines: Vec<&str> = file.lines().collect();
    let inside = lines.get(2..lines.len().checked_sub(2)?)?;
    let inside: Vec<&str> = inside
        .iter()
        .map(|line| line.get(8..).unwrap_or(""))
        .collect();
    let inside = inside.join("\n");
    let inside = inside.strip_prefix(before)?.strip_suffix(behind)?;
    Some(inside.to_owned())
}

/// Returns `true` if the source code has these tokens. A trailing comma does not count, unless the list has only one item.
fn is_same(tokens: &TokenStream, text: &str) -> bool {
    let Ok(found) = text.parse::<TokenStream>() else {
        return false;
    };
    leaves(found) == leaves(tokens.clone())
}

/// Returns the tokens in order, without the trailing commas of lists.
pub(super) fn leaves(tokens: TokenStream) -> Vec<String> {
    use super::layout::Token;
    let mut flat = Vec::new();
    super::layout::flatten(tokens, &mut flat);
    let mut leaves: Vec<String> = Vec::with_capacity(flat.len());
    let mut single: Vec<usize> = Vec::new();
    for token in flat {
        let leaf = match token {
            Token::Word(word) => word,
            Token::Bracket(bracket) => {
                match bracket {
                    '(' | '[' | '{' => single.push(leaves.len()),
                    _ => {
                        let open = single.pop().unwrap_or_default();
                        let inside = leaves.get(open + 1..).unwrap_or_default();
                        // `(a,)` is not `(a)`.
                        let commas = inside.iter().filter(|leaf| *leaf == ",").count();
                        if commas > 1 && leaves.last().is_some_and(|leaf| leaf == ",") {
                            leaves.pop();
                        }
                    }
                }
                bracket.to_string()
            }
            Token::Punct(sign, Some(proc_macro2::Spacing::Joint)) => format!("{sign}~"),
            Token::Punct(sign, _) => sign.to_string(),
        };
        leaves.push(leaf);
    }
    leaves
}

/// Returns `true` for a valid Rust name, exactly as written.
pub(super) fn is_identifier(name: &str) -> bool {
    name.len() <= LONGEST
        && is_seen(name)
        && unicode_normalization::is_nfc(name)
        && syn::parse_str::<Ident>(name).is_ok_and(|ident| ident == name)
        && name != "gen"
}
