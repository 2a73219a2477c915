//! Tests of tokens that another macro captured, such as `$e:expr`: such tokens are in a group without delimiters.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::str::FromStr;

/// Captured values.
const VALUES: &[&str] = &[
    "Some(x).unwrap_or(y)",
    "Money(5).cents()",
    "Ok(x)?",
    "Some(1) == y",
    "None",
    "None == y",
    "Some(x)",
    "Money(5)",
    "Money(x)",
    "Mode::Slow",
    "Mode::Fast(x)",
    "Mode::Fast(x).speed()",
    "Lit { a: x }",
    "Lit { a: x }.speed()",
    "x",
    "x.id",
    "x?",
    "x[0]",
    "x[0].id",
    "x[0].speed()",
    "x + y",
    "x.id + 1",
    "-x",
    "!x",
    "x as u64",
    "x == 3 && y",
    "[x, y]",
    "[x, y].len()",
    "[x; 3]",
    "(x, y)",
    "(x, y).0",
    "(x + y)",
    "()",
    "5",
    "-5",
    "\"text\"",
    "'c'",
    "true",
    "1.5",
    "json!({ \"a\": x })",
    "json!([x]).len()",
    "format!(\"{x}\")",
    "format!(\"{x}\").len()",
    "vec![x]",
    "vec![x].len()",
    "{ x }",
    "if x { 1 } else { 2 }",
    "match x { 0 => 1, _ => 2 }",
    "x.iter().map(|it| it + y)",
    "LIMIT",
    "LIMIT + x",
    "f(x)",
    "self::f(x)",
    "Vec::<u8>::new()",
    "matches!(x, 1)",
    "unknown!(x, y)",
];

/// Plans with the captured tokens in the place of `E`.
const PLACES: &[&str] = &[
    "step a = A { v: E };",
    "step a = A { v: E, w: 1 };",
    "step a = A { w: 1, v: E };",
    "step a = A { v: [E] };",
    "step a = A { v: [E, x] };",
    "step a = A { v: (E, x) };",
    "step a = A { v: (E) };",
    "step a = A { v: Lit { v: E } };",
    "step a = A { v: json!({ \"a\": E }) };",
    "step a = A { v: json!([E, 1]) };",
    "step a = A { v: Lit { v: E.speed() } };",
    "step a = A { v: E.id };",
    "step a = A { v: E[0] };",
    "step a = A { v: E + 1 };",
    "step a = A { v: x + E };",
    "step a = A { v: f(E) };",
    "step a = A { v: Some([E]) };",
    "step a = A { v: Mode::Fast(E, x) };",
    "step a = A { v: vec![E] };",
    "step a: T = E;",
    "step a: T = E.speed();",
    "step a: T = { let b = E; b };",
    "step a = if E { A {} };",
    "step a = if x && E { A {} } else { B {} };",
    "step a = if E == x { A {} };",
    "step a = if let Some(b) = E { A { b } };",
    "step a = for b in E { A { b } };",
    "step a = for b in x { A { v: E } };",
    "#[at_most(3)] step a = loop { A {} } while E;",
    "#[fallback(E)] step a = A {};",
    "step a = A {}; E",
    "step a = A {}; (E, a)",
    "step a = A {}; [E]",
];

/// Captured types.
const TYPES: &[&str] = &[
    "u64",
    "Vec<u8>",
    "crate::Lit",
    "(u8, String)",
    "[u8; 3]",
    "Option<Lit>",
];

const TYPE_PLACES: &[&str] = &[
    "step a: E = 1;",
    "step a: Vec<E> = 1;",
    "step a: T = <E>::new();",
    "step a: T = E::new();",
    "step a: T = Vec::<E>::new();",
    "step a = A { v: x as E };",
    "step a = A { v: <E>::new(x) };",
    "step a = A { v: Vec::<E>::new() };",
    "step a = A { v: x.parse::<E>() };",
    "step a = A { v: x.parse::<E>(), w: 1 };",
];

/// Captured paths of tools.
const PATHS: &[&str] = &["Send", "tools::Send", "::tools::Send"];

const PATH_PLACES: &[&str] = &[
    "step a = E { v: x };",
    "step a = if x { E { v: x } };",
    "step a = for b in x { E { b } };",
    "step a = A { v: E { v: x } };",
    "step a = A { v: E(x) };",
    "step a = A { v: E::new(x) };",
    "step a = { step b = E { v: x }; b };",
];

/// Returns the plan with a group of these tokens in the place of `E`.
fn capturing(plan: TokenStream, captured: &TokenStream, delimiter: Delimiter) -> TokenStream {
    let trees = plan.into_iter().map(|tree| match tree {
        TokenTree::Ident(name) if name == "E" => Group::new(delimiter, captured.clone()).into(),
        TokenTree::Group(group) => {
            let inside = capturing(group.stream(), captured, delimiter);
            Group::new(group.delimiter(), inside).into()
        }
        other => other,
    });
    trees.collect()
}

/// Returns the errors of a plan with captured tokens.
fn errors(place: &str, captured: &str, delimiter: Delimiter) -> Vec<String> {
    let plan = format!("P(x: T, y: T) {{ {place} }}");
    let plan = if place.ends_with(';') {
        plan
    } else {
        plan.replacen(")", ") -> O", 1)
    };
    let captured = TokenStream::from_str(captured).expect("tokens");
    let plan = capturing(
        TokenStream::from_str(&plan).expect("tokens"),
        &captured,
        delimiter,
    );
    let expansion = crate::plan::plan(plan).to_string();
    let errors = expansion.split("compile_error ! {").skip(1);
    errors
        .map(|rest| rest.split('}').next().unwrap_or_default().to_owned())
        .collect()
}

/// A captured value is read like a value in parentheses.
#[test]
fn captured_values_are_read_as_in_parentheses() {
    let mut wrong = Vec::new();
    for place in PLACES {
        for value in VALUES {
            let [in_parens, captured] = [Delimiter::Parenthesis, Delimiter::None]
                .map(|delimiter| errors(place, value, delimiter));
            if in_parens.len() != captured.len() {
                wrong.push(format!("{place} {value}: {in_parens:?} {captured:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn captured_types_and_paths_are_no_errors() {
    let types = TYPE_PLACES
        .iter()
        .flat_map(|place| TYPES.iter().map(move |ty| (place, ty)));
    let paths = PATH_PLACES
        .iter()
        .flat_map(|place| PATHS.iter().map(move |path| (place, path)));
    let mut wrong = Vec::new();
    for (place, captured) in types.chain(paths) {
        let errors = errors(place, captured, Delimiter::None);
        if !errors.is_empty() {
            wrong.push(format!("{place} {captured}: {errors:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
