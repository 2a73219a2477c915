//! Patterns: the variables that they bind, as far as their source shows them, and the values that they match.

use super::{Absent, ERR, OK, Path, Selector, Source, Template, is_ok};
use crate::print::is_part_of_name;
use crate::print::{is_code, literal, short, some_of, word};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashSet;

/// The largest length of a pattern to parse, in bytes.
const LONGEST: usize = 4096;
/// The largest number of distinct names that a pattern gives.
const MOST: usize = 64;

/// Words that are never names.
const KEYWORDS: &[&str] = &[
    "as", "async", "await", "box", "break", "const", "continue", "crate", "dyn", "else", "enum",
    "extern", "false", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "match", "mod",
    "move", "mut", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true",
    "try", "type", "unsafe", "use", "where", "while", "yield",
];

/// The variables that a `for` or a condition binds, as far as its pattern shows them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bound {
    names: Vec<Option<Box<str>>>,
    /// `true` if the local value is a list of the variables' values.
    parts: bool,
    /// `true` if the pattern destructures data, and not a computed value. Then `names` contains all names of the pattern.
    is_data: bool,
    /// All words of the pattern, sorted. A pattern of any form binds no other name.
    words: Vec<Box<str>>,
    /// `true` if the pattern was too long to parse.
    is_long: bool,
}

/// Returns the name and the path with which a reference to this source is written. If a pattern has bound a variable, both start
/// at the variable. Returns `None` if a pattern binds the name to another value, so that the name would be ambiguous.
pub(crate) fn seen<'a>(
    source: Source,
    name: &'a str,
    path: Path<'a>,
    locals: &'a [Bound],
) -> Option<(&'a str, Path<'a>)> {
    if let Source::Local(depth) = source
        && let Some((name, rest)) = locals.get(depth).and_then(|bound| bound.start(path))
        && !locals[depth + 1..].iter().any(|inner| inner.binds(name))
    {
        return Some((name, rest));
    }
    let is_local = matches!(source, Source::Local(_));
    let hides = |(depth, around): (usize, &Bound)| {
        around.binds(name) || (!is_local && Source::Local(depth).name() == name)
    };
    (!locals.iter().enumerate().any(hides)).then_some((name, path))
}

impl Bound {
    /// Returns the variables of a pattern that destructures this value, or the elements of this list. The code of a computed value
    /// has already destructured it.
    pub(crate) fn pattern(pattern: &str, value: &Template) -> Self {
        if pattern.len() > LONGEST {
            let is_long = true;
            return Self {
                is_long,
                ..Self::default()
            };
        }
        let tokens = tokens(pattern);
        let (mut names, parts, is_data) = match (value, OfData::of(pattern)) {
            (Template::Computed(_), Some(of_data)) if of_data.is_one() => {
                (of_data.names, false, false)
            }
            (Template::Computed(_), _) => (together(&tokens), true, false),
            (_, Some(OfData { names, parts, .. })) => (names, parts, true),
            (_, None) => (Vec::new(), false, false),
        };
        names.truncate(MOST);
        Self {
            names: names.into_iter().map(|name| name.map(Box::from)).collect(),
            parts,
            is_data,
            words: words(&tokens, is_code(pattern)),
            is_long: false,
        }
    }

    /// Returns `true` if a pattern might bind this name.
    pub(crate) fn binds(&self, name: &str) -> bool {
        let name = plain(name).trim_start_matches('@');
        self.is_long
            || self
                .words
                .binary_search_by(|word| (**word).cmp(name))
                .is_ok()
    }

    /// Returns an error if the pattern has no name for the part of the local value that this path reads. Without a name, the printed
    /// plan could not show that part.
    pub(crate) fn unnamed(&self, path: Path<'_>) -> Option<String> {
        if !self.is_data || self.start(path).is_some() {
            return None;
        }
        let names: Vec<&str> = self.names.iter().flatten().map(|name| &**name).collect();
        let mut message = "reads a local value for which its pattern has no name".to_owned();
        if !names.is_empty() {
            message += &format!(", but only for {}", some_of(&names));
        }
        Some(message)
    }

    /// Returns the variables of a pattern that takes data apart.
    pub(crate) fn of_data(pattern: &str) -> Self {
        match OfData::of(pattern) {
            Some(OfData { names, parts, .. }) => Self {
                names: names.into_iter().map(|name| name.map(Box::from)).collect(),
                parts,
                is_data: true,
                ..Self::default()
            },
            None => Self::default(),
        }
    }

    /// Returns the element of the local value with this name, or `Some(None)` if the name means the whole value.
    pub(crate) fn part(&self, name: &str) -> Option<Option<usize>> {
        let mut names = self.names.iter();
        let part = names.position(|it| it.as_deref() == Some(name))?;
        if self.parts {
            return Some(Some(part));
        }
        (part == 0).then_some(None)
    }

    /// Returns the element like [`part`](Self::part), and the whole local value for any word of a pattern for computed values,
    /// which is a separate error.
    pub(crate) fn named(&self, name: &str) -> Option<Option<usize>> {
        let any = !self.is_data && self.binds(name);
        self.part(name).or(any.then_some(None))
    }

    /// Returns the names of the pattern.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().flatten().map(|name| &**name)
    }

    /// Returns the variable at the start of a path in the local value, and the rest of the path.
    pub(crate) fn start<'p>(&self, path: Path<'p>) -> Option<(&str, Path<'p>)> {
        if !self.parts {
            return Some((self.names.first()?.as_deref()?, path));
        }
        let first = path.segments.first()?;
        let Selector::Index(part) = first.selector else {
            return None;
        };
        // A variable cannot be missing, and the notation after a name has no form for a missing list of values.
        if path.optional || !matches!(first.absent, Absent::Error) {
            return None;
        }
        Some((self.names.get(part)?.as_deref()?, path.after(0)))
    }
}

/// Joins the names of the parts of a pattern.
fn together<'t>(tokens: &[&'t str]) -> Vec<Option<&'t str>> {
    // No pattern begins with a brace.
    if tokens.first() == Some(&"{") {
        return Vec::new();
    }
    let mut names = Vec::new();
    // The number of open brackets whose contents are not a pattern.
    let mut depth = 0_i32;
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", |at| tokens[at]);
        let after = tokens.get(at + 1).copied().unwrap_or_default();
        let opens = nests(token) > 0 && (*token == "<" || matches!(before, "!" | "const"));
        if depth > 0 || opens {
            depth += nests(token);
            continue;
        }
        // A path, a struct, a macro, or a field whose pattern follows.
        let leads = ["::", "(", "{", "!", ":"].contains(&after) || before == "::";
        let name = match after {
            // A name before `@` is a variable, not a constant.
            "@" => identifier(token),
            _ => name(token),
        };
        names.extend(name.filter(|_| !leads).map(Some));
    }
    names
}

/// A pattern that a run can compare with data.
struct OfData<'t> {
    /// `true` inside `Some(…)`, `Ok(…)` or `Err(…)`.
    is_wrapped: bool,
    /// The names, with `None` for `_`. They differ from each other.
    names: Vec<Option<&'t str>>,
    /// `true` for a tuple of names, instead of one name for the whole value.
    parts: bool,
}

impl<'t> OfData<'t> {
    /// Parses a name, `_`, or a tuple of these.
    fn of(pattern: &'t str) -> Option<Self> {
        let pattern = pattern.trim();
        let mut wrappers = ["Some(", "Ok(", "Err("].into_iter();
        let wrapped = wrappers.find_map(|open| inside(pattern, open));
        let is_wrapped = wrapped.is_some();
        let pattern = wrapped.unwrap_or(pattern);
        let tuple = inside(pattern, "(").unwrap_or(pattern);
        let list = tuple.strip_suffix(',').filter(|_| tuple != pattern);
        let elements = list.unwrap_or(tuple).split(',').map(str::trim);
        let names = elements.map(|element| match element {
            "_" => Some(None),
            element => name(element).map(Some),
        });
        let names: Vec<_> = names.collect::<Option<_>>()?;
        let mut seen = HashSet::new();
        let differ = names.iter().flatten().all(|name| seen.insert(*name));
        let parts = names.len() > 1 || list.is_some();
        (differ && (tuple != pattern || !parts)).then_some(Self {
            is_wrapped,
            names,
            parts,
        })
    }

    /// Returns `true` if the pattern is one name in `Some(…)`, `Ok(…)` or `Err(…)`.
    fn is_one(&self) -> bool {
        self.is_wrapped && !self.parts && self.names.iter().all(Option::is_some)
    }
}

/// Returns the value that a `let` binds, from the value of its code or of the plan, or `None` without a match.
///
/// # Errors
///
/// Returns the value itself, if the pattern needs a `Result` and the value is not a `Result`.
pub(crate) fn bound_by_let<'v>(
    pattern: &str,
    template: &Template,
    value: Cow<'v, Value>,
) -> Result<Option<Cow<'v, Value>>, Cow<'v, Value>> {
    if let Template::Computed(_) = template {
        // The code of the pattern returns a list of the values of all variables, or null.
        let is_one = OfData::of(pattern).is_some_and(|it| it.is_one());
        return Ok(match value.into_owned() {
            Value::Null => None,
            Value::Array(mut parts) if is_one => parts.pop().map(Cow::Owned),
            value => Some(Cow::Owned(value)),
        });
    }
    let Some(side) = outcome(pattern) else {
        return Ok(Some(value).filter(|value| !value.is_null()));
    };
    match is_ok(&value) {
        Some(is_ok) if is_ok != (side == OK) => Ok(None),
        None => Err(value),
        Some(_) => Ok(match value {
            Cow::Borrowed(value) => value.get(side).map(Cow::Borrowed),
            Cow::Owned(mut value) => value.get_mut(side).map(|it| Cow::Owned(it.take())),
        }),
    }
}

/// Returns the member that a pattern over data reads: the member for `Ok(…)` or `Err(…)`.
pub(crate) fn outcome_of(pattern: &str, value: &Template) -> Option<&'static str> {
    match value {
        Template::Computed(_) => None,
        _ => outcome(pattern),
    }
}

/// Returns the side of a `Result` that a pattern matches. A run compares the side with data.
fn outcome(pattern: &str) -> Option<&'static str> {
    let pattern = pattern.trim_start();
    if pattern.starts_with("Ok(") {
        Some(OK)
    } else {
        pattern.starts_with("Err(").then_some(ERR)
    }
}

/// Returns the part of a pattern between `open` and its last parenthesis.
fn inside<'t>(pattern: &'t str, open: &str) -> Option<&'t str> {
    let inner = pattern.strip_prefix(open)?.strip_suffix(')')?;
    Some(inner.trim())
}

/// Returns the error of a pattern for this value, with a fix. A run never matches data against a pattern, so a pattern that requires more
/// than a non-null value would print a condition that the run does not check. A computed value is matched by its own code.
pub(crate) fn pattern_mistake(
    pattern: &str,
    value: &Template,
    in_if: bool,
) -> Option<(String, String)> {
    let of_data = OfData::of(pattern);
    // A pattern that always matches is skipped for null.
    let fits = of_data.as_ref().is_some_and(|it| it.is_wrapped == in_if);
    if matches!(value, Template::Computed(_)) || fits {
        return None;
    }
    let shown = short(pattern);
    if in_if && of_data.is_some() {
        return Some((
            format!("an `if` cannot have the pattern `{shown}`"),
            format!("write `Some({shown})`, which matches every value except null"),
        ));
    }
    let (owner, help) = if in_if {
        (
            "an `if`",
            "write `Some(x)`, `Ok(x)` or `Err(x)`, where `x` is a name, `_`, or a tuple of names",
        )
    } else {
        (
            "a `for`",
            "write a name, `_`, or a tuple of names: `(k, v)`",
        )
    };
    let message = format!("{owner} cannot have the pattern `{shown}`");
    Some((message, help.to_owned()))
}

fn nests(token: &str) -> i32 {
    match token {
        "(" | "[" | "{" | "<" => 1,
        ")" | "]" | "}" | ">" => -1,
        _ => 0,
    }
}

/// Returns the name that a token of a pattern binds, if it binds one. A capitalized name is a constant.
fn name(token: &str) -> Option<&str> {
    let is_constant = token.starts_with(char::is_uppercase);
    identifier(token).filter(|_| !is_constant)
}

/// Returns the token if it is a name, and `None` for a keyword and for any other token.
fn identifier(token: &str) -> Option<&str> {
    let plain = plain(token);
    let is_name = plain.starts_with(|c: char| c == '_' || c.is_alphabetic())
        && plain.chars().all(is_part_of_name)
        && token != "_"
        && !KEYWORDS.contains(&token);
    is_name.then_some(plain)
}

/// Returns the name without the `r#` of a raw identifier.
fn plain(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

/// Returns all words in these tokens, sorted: words in the notation of Rust, and words in the notation of step names.
fn words(tokens: &[&str], has_strings: bool) -> Vec<Box<str>> {
    let tokens = tokens
        .iter()
        .filter(|token| !(has_strings && literal(token).is_some()));
    let readings = |token: &&str| {
        let whole = token.contains(['-', '$']).then_some(*token);
        let words = token.split(|c| !is_part_of_name(c)).chain(whole);
        // A word that begins with a digit is not a name. As the name of a step, it is written in quotes.
        let words = words.filter(|word| !word.is_empty() && !word.starts_with(char::is_numeric));
        words.map(Box::from).collect::<Vec<Box<str>>>()
    };
    let mut words: Vec<Box<str>> = tokens.flat_map(readings).collect();
    words.sort_unstable();
    words.dedup();
    words.shrink_to_fit();
    words
}

/// Names, literals, `::`, and other punctuation.
fn tokens(mut text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    loop {
        text = text.trim_start();
        let Some(first) = text.chars().next() else {
            return tokens;
        };
        let name = text.strip_prefix("r#").map_or("", word);
        let length = match literal(text) {
            Some(length) if length > 0 => length,
            _ if !name.is_empty() => "r#".len() + name.len(),
            _ => match named(text) {
                0 => ["::", "==", "=>", "->", "..=", "<=", ">=", "!="]
                    .iter()
                    .find(|sign| text.starts_with(**sign))
                    .map_or(first.len_utf8(), |sign| sign.len()),
                length => length,
            },
        };
        let (token, rest) = text.split_at(length);
        tokens.push(token);
        text = rest;
    }
}

/// Returns the length of the name at the beginning of a string, in the notation of steps: `my-step`.
fn named(text: &str) -> usize {
    let mut rest = word(text.trim_start_matches('$'));
    let mut length = text.len() - text.trim_start_matches('$').len() + rest.len();
    while !rest.is_empty() {
        let signs = &text[length..];
        let after = signs.trim_start_matches(['-', '$']);
        rest = word(after);
        if rest.is_empty() || after.len() == signs.len() {
            break;
        }
        length += signs.len() - after.len() + rest.len();
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Computed, Reference, written};

    #[test]
    fn names_of_patterns() {
        let computed = Template::Computed(Computed::new("x", []));
        let start = |bound: &Bound, way: &str| {
            let local = Reference::new(Source::Local(0));
            let part = |local: Reference, part: &str| match part.parse() {
                Ok(index) => local.index(index),
                Err(_) => local.key(part),
            };
            let reference = way.split_whitespace().fold(local, part);
            let found = bound.start(reference.path());
            found.map(|(name, rest)| written(name, rest))
        };
        let whole = Bound::pattern("mail", &Template::Null);
        assert_eq!(start(&whole, "0 id").as_deref(), Some("mail[0].id"));
        let some = Bound::pattern("Some(to)", &Template::Null);
        assert_eq!(start(&some, "").as_deref(), Some("to"));
        let pair = Bound::pattern("(_, value)", &Template::Null);
        assert_eq!(start(&pair, "1 id").as_deref(), Some("value.id"));
        assert_eq!(start(&pair, "0"), None);
        let parts = Bound::pattern("Point { x: a, r#type, .. }", &computed);
        assert_eq!(start(&parts, "1").as_deref(), Some("type"));
    }

    #[test]
    fn names_and_nothing_else() {
        for pattern in [
            "x",
            "_",
            "(a, b)",
            "(_, b)",
            "(a, b,)",
            "r#type",
            "_x",
            "結果",
            "( a , b )",
        ] {
            let of_data = OfData::of(pattern);
            assert!(of_data.is_some_and(|it| !it.is_wrapped), "{pattern}");
        }
        for pattern in [
            "Some(x)",
            "Some((a, b))",
            "Some(_)",
            "Some( x )",
            "Ok(x)",
            "Err((_, b))",
        ] {
            let of_data = OfData::of(pattern);
            assert!(of_data.is_some_and(|it| it.is_wrapped), "{pattern}");
        }
        for pattern in [
            "",
            "None",
            "MAX",
            "true",
            "5",
            "\"x\"",
            "Some(\"x\")",
            "Some(Ok(x))",
            "(a, a)",
            "(r#a, a)",
            "(a, (b, c))",
            "[a, ..]",
            "Mail { to, .. }",
            "ref x",
            "mut x",
            "&x",
            "x @ _",
            "x | y",
            "Some(Some(x))",
            "self",
            "a::b",
            "(a, None)",
            "()",
            "x // y",
            "x if true",
            "Some(x) | y",
        ] {
            assert!(OfData::of(pattern).is_none(), "{pattern}");
        }
    }
}
