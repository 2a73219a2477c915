//! `if … { … } else { … }` and `for … in … { … }` around the call of a tool, or around a block.

mod block;
mod choice;
mod repeat;
mod step;

pub(super) use step::step;

use block::Ends;

use super::awaited;
use super::braced;
use super::call;
use super::other_words;
use super::test;
use super::token_text::{tidy, value_text};
use super::value;
use crate::ast::{Body, Branch, Computed, Condition, For, List, Value};
use crate::report::Report;
use crate::scan::tokens::Tokens;
use crate::scan::value::{end_of, is_type_name};
use crate::scan::{BranchTokens, FlowTokens, ForTokens, has_steps};
use plan_graph::similar;
use proc_macro2::{Group, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{BinOp, Expr, ExprIf, ExprLet, FieldPat, Pat, PatIdent};

/// Reads what a step without a type does. `until` is what ends it.
pub(super) fn body(
    tokens: TokenStream,
    end: Span,
    until: &str,
    name: &Ident,
    report: &mut Report,
) -> Body {
    if awaited::untyped(&tokens, until == "`}`", name, report) {
        return Body::Broken(None);
    }
    if let Some(label) = label(&tokens) {
        report.error(
            label,
            "a step has no label: nothing ends it from inside\nhelp: remove the label",
        );
        return Body::Broken(None);
    }
    if let Some(body) = choice::choice(&tokens, name, report) {
        return body;
    }
    let body = match FlowTokens::new(tokens) {
        FlowTokens::If(branches, after) => conditional(branches, after, name, report),
        FlowTokens::For(repeat) => repeated(repeat, name, report),
        FlowTokens::Loop(repeat) if until == "`}`" => {
            if let Some(keyword) = repeat.keyword {
                report.error(
                    keyword,
                    "a loop is all that a step does, since its attributes are about the loop\n\
                     help: write `step name = loop { … } while …;` in the braces, then `name`",
                );
            }
            None
        }
        FlowTokens::Loop(repeat) => repeat::repeat(repeat, end, name, report),
        FlowTokens::Block(group, after) if block::is_block(&group) => {
            if !after.is_empty() {
                report.error(after, "expected `;` before this");
            }
            Some(block::block(&group, Ends::Typed, name, report))
        }
        FlowTokens::Block(group, after) if after.is_empty() && block::is_call(&group) => {
            Some(inner(&group, name, report))
        }
        FlowTokens::Block(group, after) if after.is_empty() && group.stream().is_empty() => {
            report.error_at(
                group.span(),
                "expected steps in the braces, or a call to a tool: `{ Tool { … } }`",
            );
            None
        }
        FlowTokens::Block(group, after) => {
            let value = quote!(#group #after);
            Some(call::call(value, end, until, name, report))
        }
        FlowTokens::Call(call) => Some(call::call(call, end, until, name, report)),
    };
    body.unwrap_or(Body::Broken(None))
}

/// The `'label:` that tokens begin with.
fn label(tokens: &TokenStream) -> Option<TokenStream> {
    let mut trees = tokens.clone().into_iter();
    let (quote, name) = (trees.next()?, trees.next()?);
    let is_quote = matches!(&quote, TokenTree::Punct(punct) if punct.as_char() == '\'');
    is_quote.then(|| [quote, name].into_iter().collect())
}

/// Reads the content of the braces after a header; the report had `before` errors when the header began. If the header has an
/// error, it may have taken a part of that content or added to it, so errors in the content are not reported.
fn body_after(before: usize, report: &mut Report, read: impl FnOnce(&mut Report) -> Body) -> Body {
    if report.len() == before {
        read(report)
    } else {
        read(&mut Report::default())
    }
}

/// Returns how these branches may end: a value has the type of the others, so one of them is no value.
fn ends_of<'b>(mut branches: impl Iterator<Item = &'b Group>) -> Ends {
    let is_typed = |branch: &Group| {
        if !has_steps(branch) {
            return value_of(&branch.stream()).is_none();
        }
        let last = block::last(branch);
        last.is_none_or(|last| value_of(&last).is_none() || is_name(&last))
    };
    if branches.any(is_typed) {
        Ends::AsOthers
    } else {
        Ends::Typed
    }
}

/// Whether the tokens are one name.
fn is_name(tokens: &TokenStream) -> bool {
    syn::parse2::<Ident>(tokens.clone()).is_ok()
}

/// Reads the braces of a branch.
fn branch(group: &Group, ends: Ends, name: &Ident, report: &mut Report) -> Body {
    if has_steps(group) {
        return block::block(group, ends, name, report);
    }
    match value_of(&group.stream()).filter(|_| ends == Ends::AsOthers) {
        Some(tokens) => Body::Compute(value::all(tokens, group.span_close(), "`}`", report)),
        None => inner(group, name, report),
    }
}

/// Returns the tokens if they are a value, which no call of a tool is.
fn value_of(tokens: &TokenStream) -> Option<TokenStream> {
    let expr: Expr = syn::parse2(tokens.clone()).ok()?;
    is_value(&expr).then(|| tokens.clone())
}

/// Whether an expression is a value in a place where calls may be, too.
fn is_value(expr: &Expr) -> bool {
    match expr {
        Expr::Path(path) => {
            let name = path.path.get_ident();
            name.is_some_and(|name| super::is_source_name(name) || name == "None")
        }
        Expr::Call(call) => {
            let Expr::Path(function) = &*call.func else {
                return false;
            };
            ["Some", "Ok", "Err"]
                .iter()
                .any(|name| function.path.is_ident(name))
        }
        Expr::Macro(call) => ["format", "json", "vec"]
            .iter()
            .any(|name| call.mac.path.is_ident(name)),
        Expr::Field(field) => is_value(&field.base),
        Expr::Index(index) => is_value(&index.expr),
        Expr::Try(asks) => is_value(&asks.expr),
        Expr::MethodCall(call) => is_value(&call.receiver),
        Expr::Cast(cast) => is_value(&cast.expr),
        Expr::Lit(_)
        | Expr::Array(_)
        | Expr::Tuple(_)
        | Expr::Paren(_)
        | Expr::Unary(_)
        | Expr::Binary(_) => true,
        _ => false,
    }
}

/// Reads the content of the braces of an `if` or a `for`.
fn inner(group: &Group, name: &Ident, report: &mut Report) -> Body {
    if has_steps(group) {
        return block::block(group, Ends::Typed, name, report);
    }
    let calls = other_words::calls(&group.stream());
    if let Some((at, message)) = calls.or_else(|| attribute(&group.stream())) {
        report.error_at(at, message);
        return Body::Broken(None);
    }
    let mut tokens = Tokens::new(group.stream());
    let mut taken = TokenStream::new();
    while let Some(tree) = tokens.next() {
        if let TokenTree::Punct(punct) = &tree
            && punct.as_char() == ';'
        {
            report.error(
                &tree,
                "remove the `;`: the braces contain exactly one call, whose output is their value",
            );
            continue;
        }
        taken.extend([tree]);
    }
    if taken.is_empty() {
        report.error_at(
            group.span(),
            "expected a call to a tool in the braces: `{ Tool { … } }`",
        );
        return Body::Broken(None);
    }
    body(taken, group.span_close(), "`}`", name, report)
}

/// What is wrong with an attribute in front of a call in braces, and where.
fn attribute(tokens: &TokenStream) -> Option<(Span, String)> {
    let mut trees = tokens.clone().into_iter();
    let hash = trees.next()?;
    let is_hash = matches!(&hash, TokenTree::Punct(punct) if punct.as_char() == '#');
    let (TokenTree::Group(attribute), true) = (trees.next()?, is_hash) else {
        return None;
    };
    let call: TokenStream = trees.collect();
    let (attribute, call) = (attribute.to_string().replace(' ', ""), value_text(&call));
    Some((
        hash.span(),
        format!(
            "only steps have attributes\nhelp: write `#{attribute} step name = {call};`, then `name`, or the attribute on the step around it"
        ),
    ))
}

/// `None` if it was reported as a whole.
fn conditional(
    source: Vec<BranchTokens>,
    after: TokenStream,
    name: &Ident,
    report: &mut Report,
) -> Option<Body> {
    let mut branches = Vec::new();
    let blocks = source.iter().filter_map(|branch| branch.block.as_ref());
    let ends = ends_of(blocks);
    for branch in source {
        let (before, keyword) = (report.len(), branch.keywords.last()?);
        let Some(condition) = branch.condition else {
            let Some(block) = branch.block else {
                report.error(keyword, "expected `if` or `{` after `else`");
                return None;
            };
            branches.push(Branch {
                conditions: Vec::new(),
                body: self::branch(&block, ends, name, report),
            });
            continue;
        };
        let keyword = keyword.span();
        if let Some((at, message)) = missing_else(&condition, branch.block.as_ref()) {
            report.error_at(at, message);
            return None;
        }
        let Some(block) = branch.block else {
            report.error_at(
                end_of(&condition).unwrap_or(keyword),
                "expected `{` and a call to a tool after the condition: `if ready { Tool { … } }`",
            );
            return None;
        };
        branches.push(Branch {
            conditions: conditions(condition, keyword, report),
            body: body_after(before, report, |report| {
                self::branch(&block, ends, name, report)
            }),
        });
    }
    if !after.is_empty() {
        report.error(after, "expected `;` before this");
    }
    Some(Body::If(branches))
}

/// What is wrong between the braces of one branch and those of the next, if these are taken for the end of a condition.
fn missing_else(condition: &TokenStream, block: Option<&Group>) -> Option<(Span, String)> {
    let trees: Vec<TokenTree> = condition.clone().into_iter().collect();
    let is_block = |tree: &TokenTree| braced(tree).is_some();
    let word = trees.windows(2).find_map(|pair| match pair {
        [block, TokenTree::Ident(word)] if is_block(block) => Some(word),
        _ => None,
    });
    if let Some(word) = word {
        let name = word.to_string();
        let written = if ["elif", "elsif", "elseif"].contains(&name.as_str()) {
            "else if"
        } else {
            similar(&name, ["else"])?
        };
        return Some((word.span(), format!("`{name}` is written `{written}`")));
    }
    let last = trees.last().filter(|tree| is_block(tree));
    let second = last.and(block)?;
    Some((
        second.span_open(),
        "expected `else` before these braces: `else { … }`".to_owned(),
    ))
}

/// What is easily written in place of an operator of Rust.
fn misspelled_operator(tokens: &TokenStream) -> Option<(Span, String)> {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let alone = |at: usize, sign: char| {
        let is_punct = |at: Option<usize>| match at.and_then(|at| trees.get(at)) {
            Some(TokenTree::Punct(punct)) => Some(punct),
            _ => None,
        };
        let before = is_punct(at.checked_sub(1));
        let after = is_punct(Some(at + 1)).is_some_and(|next| "=&>".contains(next.as_char()));
        is_punct(Some(at)).is_some_and(|punct| {
            let joins = punct.spacing() == Spacing::Joint && after;
            punct.as_char() == sign && !joins
        }) && !before.is_some_and(|before| before.spacing() == Spacing::Joint)
    };
    let has_let = has_let(tokens);
    (0..trees.len()).find_map(|at| {
        let is_operand = at > 0 && !matches!(&trees[at - 1], TokenTree::Punct(_));
        let written = match &trees[at] {
            TokenTree::Ident(word) if at == 0 && word == "not" && trees.len() > 1 => "!",
            TokenTree::Ident(word) if is_operand && word == "and" => "&&",
            TokenTree::Ident(word) if is_operand && word == "or" => "||",
            TokenTree::Punct(_) if is_operand && alone(at, '&') => "&&",
            TokenTree::Punct(_) if is_operand && alone(at, '=') && !has_let => "==",
            TokenTree::Punct(_) if at + 1 == trees.len() && alone(at, '=') => {
                return Some((trees[at].span(), "expected a value after `=`".to_owned()));
            }
            TokenTree::Punct(equals)
                if is_operand
                    && equals.as_char() == '='
                    && equals.spacing() == Spacing::Joint
                    && after_let(&trees[..at]) =>
            {
                return Some((
                    equals.span(),
                    "a pattern of `let` is followed by `=`, not by `==`".to_owned(),
                ));
            }
            _ => return None,
        };
        let found = &trees[at];
        Some((
            found.span(),
            format!("in a condition, `{found}` is written `{written}`"),
        ))
    })
}

/// The pattern that is before a `=` in a condition without `let`, and the part of the condition that needs one.
fn without_let(tokens: &TokenStream) -> Option<(Pat, String)> {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is = |at: usize, signs: &str| matches!(trees.get(at), Some(TokenTree::Punct(punct)) if signs.contains(punct.as_char()));
    let joins = |at: &usize| is(*at, "&") && is(at + 1, "&");
    (1..trees.len()).find_map(|at| {
        if !is(at, "=") || is(at + 1, "=>") || is(at - 1, "=<>!+-*/%^&|") {
            return None;
        }
        let start = (0..at).rev().find(joins).map_or(0, |joins| joins + 2);
        let end = (at..trees.len()).find(joins).unwrap_or(trees.len());
        let pattern = trees[start..at].iter().cloned().collect();
        let pattern = Pat::parse_multi.parse2(pattern).ok()?;
        let path = match &pattern {
            Pat::TupleStruct(pattern) => &pattern.path,
            Pat::Struct(pattern) => &pattern.path,
            _ => return None,
        };
        let written = value_text(&trees[start..end].iter().cloned().collect());
        is_type_name(&path.segments.last()?.ident).then_some((pattern, written))
    })
}

/// Whether these tokens are `let` and a pattern.
fn after_let(trees: &[TokenTree]) -> bool {
    let at = trees
        .iter()
        .rposition(|tree| matches!(tree, TokenTree::Ident(word) if word == "let"));
    at.is_some_and(|at| {
        let pattern = trees[at + 1..].iter().cloned().collect();
        Pat::parse_multi.parse2(pattern).is_ok()
    })
}

/// The names that `let`s bind in a condition that cannot be read, so that what refers to them is not wrong.
fn names_of_lets(tokens: &TokenStream) -> Vec<Ident> {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut names = Vec::new();
    for (at, _) in trees
        .iter()
        .enumerate()
        .filter(|(_, tree)| matches!(tree, TokenTree::Ident(word) if word == "let"))
    {
        let parser = |input: ParseStream<'_>| {
            let pat = Pat::parse_multi(input);
            value::drain(input);
            pat
        };
        if let Ok(pat) = parser.parse2(trees[at + 1..].iter().cloned().collect()) {
            names.extend(names_in(&pat));
        }
    }
    names
}

/// Reads what is between `if` and the braces: conditions that `&&` joins.
fn conditions(tokens: TokenStream, keyword: Span, report: &mut Report) -> Vec<Condition> {
    if tokens.is_empty() {
        report.error_at(keyword, "expected a condition after `if`");
        return vec![Condition::Broken(Vec::new())];
    }
    if let Some((pattern, written)) = without_let(&tokens) {
        report.error(
            &pattern,
            format!("a pattern in a condition comes after `let`\nhelp: write `let {written}`"),
        );
        let mut names = names_of_lets(&tokens);
        names.extend(names_in(&pattern));
        return vec![Condition::Broken(names)];
    }
    if let Some((at, message)) = misspelled_operator(&tokens) {
        report.error_at(at, message);
        return vec![Condition::Broken(names_of_lets(&tokens))];
    }
    // A condition is what can follow `if`. The parser of an expression alone does not know that.
    let end = tokens.clone().into_iter().last();
    let end = end.map_or(keyword, |last| last.span());
    let mut at_end = false;
    let parser = |input: ParseStream<'_>| {
        let parsed = input.parse::<ExprIf>();
        at_end = input.is_empty();
        value::drain(input);
        parsed
    };
    let parsed = parser.parse2(quote_spanned!(end=> if #tokens {}));
    match parsed {
        Ok(branch) => {
            let mut conditions = Vec::new();
            split(*branch.cond, keyword, report, &mut conditions);
            conditions
        }
        Err(error) if has_let(&tokens) && !at_end => {
            report.push(error);
            vec![Condition::Broken(names_of_lets(&tokens))]
        }
        // syn has no place for what is missing at the end.
        Err(_) if has_let(&tokens) => {
            let at = tokens.clone().into_iter().next();
            report.error_at(
                at.map_or(keyword, |first| first.span()),
                "this is not a condition: write `ready`, or `let Some(x) = maybe`, with `&&` between them",
            );
            vec![Condition::Broken(names_of_lets(&tokens))]
        }
        Err(_) => vec![Condition::Holds(value::all(tokens, keyword, "`{`", report))],
    }
}

fn has_let(tokens: &TokenStream) -> bool {
    let mut trees = tokens.clone().into_iter();
    trees.any(|tree| matches!(tree, TokenTree::Ident(ident) if ident == "let"))
}

/// Reads what `&&` joins, from left to right.
fn split(condition: Expr, keyword: Span, report: &mut Report, conditions: &mut Vec<Condition>) {
    match condition {
        Expr::Binary(both) if matches!(both.op, BinOp::And(_)) && both.attrs.is_empty() => {
            split(*both.left, keyword, report, conditions);
            split(*both.right, keyword, report, conditions);
        }
        Expr::Let(binding) => {
            let names = names_in(&binding.pat);
            let pattern = binding.pat.clone();
            let written = binding.expr.to_token_stream();
            let test = test::bound(&binding.pat, &binding.expr);
            let computed = Computed {
                test,
                ..Computed::new(written, Expr::Let(borrowed(binding)))
            };
            conditions.push(Condition::Let(pattern, computed, names));
        }
        test => {
            let mut lets = Vec::new();
            lets_in(&test, &mut lets);
            conditions.push(match lets.first() {
                Some(first) => {
                    match &test {
                        Expr::Range(range) => report.error(
                            range.limits,
                            "`let` takes no range: one dot leads to a field",
                        ),
                        _ => report.error(
                            first.let_token,
                            "`let` is a condition of its own, which only `&&` joins with others",
                        ),
                    }
                    let names = lets.iter().flat_map(|binding| names_in(&binding.pat));
                    Condition::Broken(names.collect())
                }
                None => {
                    let test = test.to_token_stream();
                    Condition::Holds(value::all(test, keyword, "`{`", report))
                }
            });
        }
    }
}

/// Finds the `let`s among the operands of a test.
fn lets_in<'e>(test: &'e Expr, lets: &mut Vec<&'e ExprLet>) {
    match test {
        Expr::Let(binding) => lets.push(binding),
        Expr::Binary(both) => {
            lets_in(&both.left, lets);
            lets_in(&both.right, lets);
        }
        Expr::Paren(inner) => lets_in(&inner.expr, lets),
        Expr::Range(range) => range.start.iter().for_each(|it| lets_in(it, lets)),
        Expr::Unary(inner) => lets_in(&inner.expr, lets),
        _ => {}
    }
}

/// `if let Some(x) = maybe` looks at a place, and takes nothing out of it.
fn borrowed(mut binding: ExprLet) -> ExprLet {
    if is_place(&binding.expr) {
        let expr = &binding.expr;
        let at = expr.span();
        if let Ok(reference) = syn::parse2(quote_spanned!(at=> & #expr)) {
            binding.expr = reference;
        }
    }
    binding
}

fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Path(path) => path.path.get_ident().is_some_and(super::is_source_name),
        Expr::Field(field) => is_place(&field.base),
        Expr::Index(index) => is_place(&index.expr),
        Expr::Group(group) => is_place(&group.expr),
        _ => false,
    }
}

fn repeated(source: ForTokens, name: &Ident, report: &mut Report) -> Option<Body> {
    const USAGE: &str = "a loop is written `for x in list { Tool { … } }`";
    let ForTokens {
        keyword,
        pattern,
        within,
        list,
        block,
    } = source;
    let Some(within) = within.map(|within| within.span()) else {
        match after_pattern(pattern) {
            Some(TokenTree::Ident(word)) if word == "of" => {
                report.error(&word, format!("expected `in`, found `of`: {USAGE}"));
            }
            Some(next) => report.error_at(
                value::start_of(&next),
                format!("expected `in` before this: {USAGE}"),
            ),
            None => report.error(keyword, USAGE),
        }
        return None;
    };
    let Some(block) = block else {
        report.error_at(end_of(&list).unwrap_or(within), USAGE);
        return None;
    };
    if let Some(word) = other_words::ending(&block.stream()).filter(|word| word != "return") {
        report.error(&word, other_words::ending_of_for(&word));
        return None;
    }
    if pattern.is_empty() {
        report.error_at(within, format!("expected a name before `in`: {USAGE}"));
        return None;
    }
    let parser = |input: ParseStream<'_>| {
        let pat = Pat::parse_single(input)?;
        let more = (!input.is_empty()).then(|| input.span());
        value::drain(input);
        Ok((pat, more))
    };
    let pat = match parser.parse2(pattern) {
        Ok((pat, None)) => pat,
        Ok((_, Some(more))) => {
            report.error_at(more, format!("expected `in` before this: {USAGE}"));
            return None;
        }
        Err(error) => {
            report.push(error);
            return None;
        }
    };
    let before = report.len();
    if let Some((at, list, test)) = filter(&list) {
        let [pattern, list, test] = [pat.to_token_stream(), list, test].map(|it| value_text(&it));
        report.error_at(at, format!("a `for` has no condition of its own: its braces may contain an `if`\nhelp: `for {pattern} in {list} {{ if {test} {{ Tool {{ … }} }} }}`"));
        return None;
    }
    let list = self::list(list, &pat, within, report);
    Some(Body::For(Box::new(For {
        pat,
        list,
        body: body_after(before, report, |report| inner(&block, name, report)),
    })))
}

/// The `if` in `list if test`, and what is around it.
fn filter(tokens: &TokenStream) -> Option<(Span, TokenStream, TokenStream)> {
    let mut tokens = Tokens::new(tokens.clone());
    let list = tokens.take_until(|tokens| tokens.is_ident(0, "if"));
    let keyword = tokens.next()?;
    syn::parse2::<Expr>(list.clone()).ok()?;
    Some((keyword.span(), list, tokens.rest()))
}

/// The first token after a pattern.
fn after_pattern(tokens: TokenStream) -> Option<TokenTree> {
    let parser = |input: ParseStream<'_>| {
        Pat::parse_single(input)?;
        Ok(value::drain(input))
    };
    parser.parse2(tokens).ok()?.into_iter().next()
}

fn list(tokens: TokenStream, pat: &Pat, within: Span, report: &mut Report) -> List {
    if tokens.is_empty() {
        report.error_at(within, "expected a list after `in`");
        return List::Broken;
    }
    let written = tokens.clone();
    match (value::all(tokens, within, "`{`", report), pat) {
        (
            Value::Reference(reference),
            Pat::Ident(PatIdent {
                by_ref: None,
                mutability: None,
                subpat: None,
                ident,
                ..
            }),
        ) => List::Reference(reference, ident.clone()),
        (Value::Broken, _) => List::Broken,
        (value, _) => {
            // What is a place is borrowed: its elements are gone through, not taken out.
            let expr = match &value {
                Value::Reference(reference) => {
                    let at = reference.root.span();
                    syn::parse2(quote_spanned!(at=> & #written))
                }
                Value::Computed(computed) => Ok(computed.expr.clone()),
                _ => syn::parse2(written.clone()),
            };
            match expr {
                Ok(expr) => List::Computed(Box::new(Computed::new(written, expr)), names_in(pat)),
                Err(error) => {
                    report.push(error);
                    List::Broken
                }
            }
        }
    }
}

/// The names that a pattern binds.
pub(crate) fn names_in(pat: &Pat) -> Vec<Ident> {
    let mut names = PatternNames::default();
    names.visit_pat(pat);
    names.all
}

/// Those of them that are fields' names, too: `Email { id, .. }`.
pub(crate) fn fields_in(pat: &Pat) -> Vec<Ident> {
    let mut names = PatternNames::default();
    names.visit_pat(pat);
    names.fields
}

#[derive(Default)]
struct PatternNames {
    all: Vec<Ident>,
    fields: Vec<Ident>,
}

impl<'ast> Visit<'ast> for PatternNames {
    fn visit_pat_ident(&mut self, pat: &'ast PatIdent) {
        let name = pat.ident.to_string();
        // `None` in a pattern is a constant, not a name.
        if pat.subpat.is_some() || !name.starts_with(char::is_uppercase) {
            self.all.push(pat.ident.clone());
        }
        if let Some((_, pat)) = &pat.subpat {
            self.visit_pat(pat);
        }
    }

    fn visit_field_pat(&mut self, field: &'ast FieldPat) {
        let before = self.all.len();
        self.visit_pat(&field.pat);
        if field.colon_token.is_none() {
            self.fields.extend(self.all[before..].iter().cloned());
        }
    }
}

/// A pattern as its author wrote it, but for spaces.
pub(crate) fn pattern_text(pat: &Pat) -> String {
    tidy(&pat.to_token_stream())
}
