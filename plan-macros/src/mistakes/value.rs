//! Wrong forms of values.

use super::foreign;
use super::table::{WordKind, about};
use crate::report::{Mistake, mistake};
use crate::syntax::text::{tidy, value_text};
use crate::syntax::tokens::{Tokens, braces, first, is_sign, last, only, parse_start, start};
use crate::syntax::value::{ValueKind, ValueTokens};
use jsonptr::{ParseError, Pointer};
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use syn::parse::ParseStream;
use syn::{Expr, LitStr, Path};

/// Returns the reason why tokens are not a value.
pub(crate) fn broken(tokens: &TokenStream, error: syn::Error, end: Span) -> Mistake {
    const DOT: &str = "expected the name of a field after the `.`";
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let known = object(&trees)
        .or_else(|| foreign::inside_value(tokens.clone()))
        .or_else(|| strict_equality(&trees))
        .or_else(|| placeholder(&trees));
    if let Some(known) = known {
        return known;
    }
    let mut pairs = trees.windows(2);
    let dot = pairs.find(|pair| {
        let is_name = match &pair[1] {
            TokenTree::Punct(next) => next.as_char() == '.',
            TokenTree::Group(_) => false,
            _ => true,
        };
        is_sign(&pair[0], '.') && !is_name
    });
    if let Some([dot, _]) = dot {
        return Mistake::new(dot, DOT).certain();
    }
    let index = trees.windows(2).find_map(|pair| match pair {
        [
            TokenTree::Ident(_) | TokenTree::Group(_),
            TokenTree::Group(index),
        ] if index.delimiter() == Delimiter::Bracket && is_no_index(index) => Some(index),
        _ => None,
    });
    if let Some(index) = index {
        let message = "expected an index: `[0]`, `[\"key\"]`, or `[..]` for every element";
        return Mistake::new(index, message).certain();
    }
    match trees.last() {
        None => Mistake::at(end, "expected a value after this"),
        Some(dot) if is_sign(dot, '.') => Mistake::new(dot, DOT).certain(),
        Some(TokenTree::Punct(last)) if last.as_char() != '?' => {
            Mistake::new(last, "expected a value after this")
        }
        Some(last) if ends_early(&trees) => Mistake::at(
            last.span(),
            "the value ends too early: expected more after this",
        ),
        Some(_) => error.into(),
    }
}

/// Returns the error of `{ "key": … }` and `{ name: … }`.
fn object(trees: &[TokenTree]) -> Option<Mistake> {
    let [object] = trees else { return None };
    let object = braces(object)?;
    if is_json_object(object) {
        let message = "an object of untyped JSON is written in `json!`: `json!({ … })`";
        return Some(Mistake::new(object, message).certain());
    }
    let message = "a struct is written with its name: `Type { … }`";
    let is_struct = Tokens::new(object.stream()).is_key();
    is_struct.then(|| Mistake::at(object.span_open(), message).certain())
}

/// Returns the error of the `===` or `!==` of other languages.
pub(super) fn strict_equality(trees: &[TokenTree]) -> Option<Mistake> {
    trees.windows(3).find_map(|signs| match signs {
        [first, second, third] if is_sign(second, '=') && is_sign(third, '=') => {
            let first_sign = ['=', '!'].into_iter().find(|sign| is_sign(first, *sign))?;
            let signs: TokenStream = signs.iter().cloned().collect();
            Some(mistake!(
                signs,
                "Rust has no `{first_sign}==`\nhelp: write `{first_sign}=`"
            ))
        }
        _ => None,
    })
}

/// Returns the error of `$name`, `${name}` and `${{ name }}`.
fn placeholder(trees: &[TokenTree]) -> Option<Mistake> {
    let dollar = trees.iter().position(|tree| is_sign(tree, '$'))?;
    let mut inside: TokenStream = trees.get(dollar + 1)?.clone().into();
    while let Some(TokenTree::Group(group)) = only(&inside) {
        inside = group.stream();
    }
    let written = value_text(&inside);
    Some(mistake!(
        &trees[dollar],
        "a plan refers to a value by its name alone, without `$`\nhelp: write `{written}`"
    ))
}

/// Returns the error of `value or default`.
fn or_default(item: &ValueTokens) -> Option<Mistake> {
    let mut extra = Tokens::new(item.extra.clone());
    let word = extra.next_ident()?;
    let message = about(WordKind::Default, &word.to_string())?;
    let (before, other) = (value_text(item.written()?), default(&extra.rest()));
    let message = message
        .replace("{before}", &before)
        .replace("{other}", &other);
    Some(Mistake::new(word, message))
}

/// Returns the argument of `unwrap_or` for a default.
fn default(value: &TokenStream) -> String {
    let value = value_text(value);
    let is_text = value.ends_with('"');
    value + if is_text { ".to_owned()" } else { "" }
}

/// Returns `true` for `[]` and `[*]`.
fn is_no_index(group: &Group) -> bool {
    let mut content = group.stream().into_iter();
    content.next().is_none_or(|tree| is_sign(&tree, '*')) && content.next().is_none()
}

/// Returns `true` for `{ "key": …`.
fn is_json_object(group: &Group) -> bool {
    let mut content = group.stream().into_iter();
    matches!(content.next(), Some(TokenTree::Literal(_)))
        && content.next().is_some_and(|colon| is_sign(&colon, ':'))
}

/// Returns `true` for tokens that are only the beginning of an expression.
fn ends_early(trees: &[TokenTree]) -> bool {
    let stops_at_end = |tokens: TokenStream| {
        let parser =
            |input: ParseStream<'_>| Ok(input.parse::<Expr>().is_err() && input.is_empty());
        parse_start(tokens, parser).unwrap_or_default()
    };
    if !stops_at_end(trees.iter().cloned().collect()) {
        return false;
    }
    // An error inside the last brackets is found after them.
    match trees.split_last() {
        Some((TokenTree::Group(group), before)) => {
            let empty = Group::new(group.delimiter(), TokenStream::new());
            let trees = before.iter().cloned().chain([empty.into()]);
            stops_at_end(trees.collect())
        }
        _ => true,
    }
}

/// Returns `true` if the value ends with a dot.
pub(crate) fn is_dangling(item: &ValueTokens) -> bool {
    let last = match &item.kind {
        ValueKind::Broken(tokens, _) => last(tokens),
        _ => None,
    };
    last.is_some_and(|last| is_sign(&last, '.'))
}

/// Returns `true` for a name that touches a string after it, such as `f"{name}"`, which the compiler reports.
pub(crate) fn has_prefix(item: &ValueTokens) -> bool {
    let (Some(TokenTree::Ident(name)), Some(TokenTree::Literal(text))) =
        (item.written().and_then(only), first(&item.extra))
    else {
        return false;
    };
    let is_text = text.to_string().ends_with('"');
    is_text && proc_macro::is_available() && {
        let (end, start) = (name.span().unwrap().end(), text.span().unwrap().start());
        (end.line(), end.column()) == (start.line(), start.column())
    }
}

/// Returns the error of the `?` or `??` after a value, if the tokens after it make it an operator of other languages.
pub(crate) fn choice(item: &ValueTokens) -> Option<Mistake> {
    if item.extra.is_empty() {
        return None;
    }
    let extra: Vec<TokenTree> = item.extra.clone().into_iter().collect();
    if let Some(other) = or_default(item).or_else(|| strict_equality(&extra)) {
        return Some(other);
    }
    let (before, signs) = asked(item)?;
    let mut extra = Tokens::new(item.extra.clone());
    let first = extra.take_until(|extra| extra.is_colon(0));
    let has_colon = extra.next().is_some();
    let (before, rest) = (value_text(&before), extra.rest());
    let count = signs.clone().into_iter().count();
    if has_colon && !first.is_empty() && count == 1 {
        let [first, rest] = [first, rest].map(value_text);
        let message =
            format!("Rust has no `? :`\nhelp: write `if {before} {{ {first} }} else {{ {rest} }}`");
        return Some(Mistake::new(signs, message));
    }
    let (sign, other) = if has_colon {
        ("?:", rest)
    } else {
        ("??", first)
    };
    let other = default(&other);
    let message = format!("Rust has no `{sign}`\nhelp: write `{before}.unwrap_or({other})`");
    (count == 2 || has_colon).then(|| Mistake::new(signs, message))
}

/// Returns the value before the `?` or `??` that a value ends with, and these signs.
fn asked(item: &ValueTokens) -> Option<(TokenStream, TokenStream)> {
    let mut trees: Vec<TokenTree> = item.written()?.clone().into_iter().collect();
    let end = trees.iter().rposition(|tree| !is_sign(tree, '?'))? + 1;
    let signs = trees.split_off(end);
    (!signs.is_empty()).then(|| (trees.into_iter().collect(), signs.into_iter().collect()))
}

/// Returns the error of named arguments in the parentheses that end these tokens: `Tool(name: value)`.
pub(crate) fn named_in_parentheses(path: &Path, tokens: &TokenStream) -> Option<Mistake> {
    let TokenTree::Group(group) = last(tokens)? else {
        return None;
    };
    let name = tidy(path);
    Tokens::new(group.stream()).is_key().then(|| {
        mistake!(
            group,
            "named arguments are in braces: `{name} {{ name: value }}`"
        )
    })
}

/// Returns the error about tokens instead of an argument.
pub(crate) fn not_a_field(tokens: TokenStream) -> Option<Mistake> {
    let mut trees = tokens.into_iter();
    let (at, message) = match (trees.next()?, trees.next()) {
        (TokenTree::Ident(name), Some(at)) if is_sign(&at, '=') => (
            at,
            format!("write a colon between the argument and its value: `{name}: value`"),
        ),
        (TokenTree::Ident(name), Some(at)) => {
            (at, format!("expected `:` and the value of `{name}`"))
        }
        (at, _) if is_sign(&at, '#') => (at, "arguments cannot have attributes".to_owned()),
        (at, _) => (
            at,
            "expected the name of an argument: `name: value`".to_owned(),
        ),
    };
    Some(Mistake::at(start(&at), message))
}

/// Returns the errors of the tokens after the `..` of a literal.
pub(crate) fn after_dots(tokens: TokenStream) -> Vec<Mistake> {
    let mut tokens = Tokens::new(tokens);
    let base = tokens.take_until(|tokens| tokens.is_punct(0, ','));
    tokens.next();
    let after = tokens.rest();
    let mut mistakes = Vec::new();
    if !base.is_empty() {
        let help = match syn::parse2(base.clone()) {
            Ok(Expr::Path(_) | Expr::Field(_)) => {
                let base = tidy(&base);
                format!("\nhelp: write the other fields by name, such as `field: {base}.field`")
            }
            _ => String::new(),
        };
        let message = format!("`..` takes no value: the omitted fields have their defaults{help}");
        mistakes.push(Mistake::new(base, message));
    }
    if !after.is_empty() {
        mistakes.push(Mistake::new(after, "`..` must come after all arguments"));
    }
    mistakes
}

/// Returns the error of a string that is not a JSON Pointer.
pub(crate) fn pointer(text: &LitStr) -> Option<Mistake> {
    let value = text.value();
    let reason = match Pointer::parse(&value).err()? {
        ParseError::NoLeadingSlash => {
            format!("it does not start with `/`\nhelp: write `\"/{value}\"`")
        }
        _ => "`~` is valid only in `~0` (for `~`) and `~1` (for `/`)".to_owned(),
    };
    Some(mistake!(text, "`{value}` is not a JSON Pointer (RFC 6901): {reason}").certain())
}

/// Returns the token after the format string of `format!`, unless the token is a comma. A name after the token would
/// not be found.
pub(crate) fn no_comma(arguments: &TokenStream) -> Option<Mistake> {
    let mut trees = arguments.clone().into_iter();
    let is_text = matches!(trees.next(), Some(TokenTree::Literal(_)));
    let found = trees.next().filter(|_| is_text)?;
    let is_token = !matches!(found, TokenTree::Group(_)) && !is_sign(&found, ',');
    is_token.then(|| mistake!(&found, "expected `,`, found `{found}`"))
}

/// Returns the error of a token instead of a key of `json!`.
pub(crate) fn not_a_key(first: &TokenTree, is_text: bool) -> Mistake {
    let message = if is_text {
        format!("expected `:` and a value after the key: `{first}: value`")
    } else if matches!(first, TokenTree::Punct(_)) {
        "expected a key before this: `\"key\": value`".to_owned()
    } else {
        let key = first.to_string();
        format!(
            "the keys of `json!` are strings: `\"{}\"`",
            key.trim_matches('\'')
        )
    };
    Mistake::at(first.span(), message)
}
