//! Tests of plans with unusual names, such as `emit`, `until`, `retry` and `unwrap`.

use plan_graph::StepAttribute;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::str::FromStr;
use syn::{Ident, LitStr};

/// A name without a meaning.
const NEUTRAL: &str = "subject";

/// The quick form of the test checks one of `SAMPLE` names.
const SAMPLE: usize = 64;

/// Values that contain a name.
const USES: &[&str] = &[
    "Lit { x: W }",
    "Lit { W }",
    "Lit { W, y: 1 }",
    "Lit { y: 1, W }",
    "{ let a = W; a }",
    "if W { 1 } else { 2 }",
    "match W { 0 => 1, _ => 2 }",
    "{ assert!(other, \"{W}\"); W }",
    "[W, other]",
    "(W, other)",
    "Mode::Fast(W)",
    "format!(\"{W}\")",
    "format!(\"{W:?} {}\", W)",
    "json!({ \"a\": W })",
    "json!([W])",
    "vec![W]",
    "f(W)",
    "unknown!(W)",
    "unknown!(\"{W}\")",
    "Some(W)",
    "[W]",
];

/// Conditions that contain a name.
const CONDITIONS: &[&str] = &[
    "other + W",
    "W == 3",
    "3 == W",
    "W && other",
    "other && W",
    "W || other.ready",
    "W >= other",
    "other.f(W)",
    "matches!(W, 1)",
    "*W",
    "other.iter().map(|a| a + W)",
    "W as u64 > 3",
    "!W.ready",
    "W && other && W",
    "other && W.ready",
];

/// Values and conditions that begin with a name.
const PLAIN: &[&str] = &[
    "W",
    "W.id",
    "W[0]",
    "W[0].id",
    "W?",
    "W.get(0)?.id",
    "W + 1",
    "-W",
    "!W",
    "W.ready",
    "W.len()",
    "W.id.len()",
    "(W)",
    "(W + 1)",
    "W.0",
    "W as u64",
];

/// Statements that contain a value or a condition.
const PLACES: &[&str] = &[
    "step aN = A { x: USE };",
    "step aN = A { y: 1, x: USE, z: 2 };",
    "step aN: T = USE;",
    "#[fallback(USE)] step aN = A {};",
    "step aN = if COND { A {} } else { B {} };",
    "step aN = if other && COND { A {} } else if COND { B {} };",
    "step aN = if other { A {} } else { PLAIN };",
    "step aN = if other { step bN = A {}; bN } else { step cN = B {}; (PLAIN) };",
    "step aN = if let Some(eN) = PLAIN { A { x: eN } };",
    "step aN = match PLAIN { 0 => A {}, Mode::Slow => B {}, _ => A {} };",
    "step aN = match other { 0 => A {}, Mode::Slow => PLAIN, _ => A {} };",
    "step aN = for eN in COND { A { x: eN } };",
    "step aN = for eN in other { A { x: USE } };",
    "#[at_most(9)] step aN = loop { A {} } while COND;",
    "#[at_most(9)] step aN = loop { step bN = A { x: USE }; bN } while other;",
    "step aN = { step bN = A { x: USE }; step cN: T = USE; bN };",
];

/// Plans that declare a name. `PLACES` stands for the statements.
const DECLARED: &[&str] = &[
    "P(W: T, other: T) -> O { PLACES other }",
    "P(other: T) -> O { step W = A {}; PLACES other }",
    "P(other: T) -> O { step W: T = 1; PLACES other }",
    "P(other: T) -> O { step outer = for W in other { PLACES A { x: other } }; outer }",
    "P(other: T) -> O { step outer = if let Some(W) = other { PLACES step last = A {}; last }; outer }",
    "P(other: T) -> O { step outer = { step W = A {}; PLACES step last = A {}; last }; outer }",
    "P(other: T) -> O { #[at_most(9)] step outer = loop |W| { PLACES step last = A {}; last } while other; outer }",
];

/// Plans with a name in their output.
const WHOLE: &[&str] = &[
    "P(W: T, other: T) -> O { step a = A {}; COND }",
    "P(other: T) -> O { step W = A {}; COND }",
    "P(other: T) -> O { step W: T = other; COND }",
    "step other = B {}; step W = A {}; COND",
];

/// Plans that mention a name alone.
const ALONE: &[&str] = &[
    "P() -> O { step outer = { step W = A {}; W }; outer }",
    "P() -> O { step outer = { step a = A {}; step W: T = a; W }; outer }",
    "P(c: T) -> O { step outer = if c { step W = A {}; W } else { B {} }; outer }",
    "P(c: T) -> O { step outer = if c { A {} } else { step W = A {}; W }; outer }",
    "P(c: T, W: T) -> O { step outer = if c { W } else { A {} }; outer }",
    "P(c: T) -> O { step outer = if let Some(W) = c { W } else { A {} }; outer }",
    "P(c: T) -> O { step outer = for W in c { A { W } }; outer }",
    "P(c: T) -> O { step outer = for (i, W) in c.iter() { A { x: W, i } }; outer }",
    "P(c: T) -> O { step outer = for Lit { W, .. } in c { A { W } }; outer }",
    "P(c: T) -> O { #[at_most(9)] step outer = loop { step W = A {}; W } while c; outer }",
    "P(c: T) -> O { #[at_most(9)] step W = loop { A {} } while W.ready; W }",
    "P() -> O { step W = A {}; #[after(W)] step b = A {}; b }",
    "P() -> O { step W = A {}; #[undo(W)] step b = A {}; W }",
    "P() -> O { step W = A {}; #[always] step b = A { x: W.is_ok() }; W }",
    "P(c: T) -> O { step W: T = await; W }",
];

/// Plans with a field, a function or a module of this name.
const FOREIGN: &[&str] = &[
    "P(c: T) -> O { step a = A { W: c }; a }",
    "P(c: T) -> O { step a = A { x: Lit { y: 1, W: c.W } }; a.W }",
    "P(c: T) -> O { step a = A { x: c.W[0].W?, y: c.W + 1 }; a.W.W }",
    "P(c: T) -> O { step a = if c.W { A {} } else { c.W }; (a, c.W) }",
    "P(c: T) -> O { step a: T = W(2) + m::W + m::W(1); a }",
    "P(c: T) -> O { step a = W::A {}; step b = x::W::A { y: W::Lit { z: W::Mode::Fast } }; b }",
];

/// A plan with a method of this name. The macro expands some methods differently, but refuses none.
const METHOD: &str = "P(c: T) -> O { step a: T = c.W(1) + c.x.W(); a }";

/// Returns the names in the string literals of the macro's source code.
fn words() -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for folder in ["mistakes", "syntax", "names", "parse", "ide"] {
        add_words_in_folder(&source.join(folder), &mut words);
    }
    words.extend(StepAttribute::ALL.iter().map(|it| it.name().to_owned()));
    // The plans above use these names themselves.
    let mut own = vec![
        "other", "outer", "last", "a", "b", "c", "f", "i", "x", "y", "z",
    ];
    // `null` is a value in `json!`, no field is named like these methods, and another test has raw names.
    own.extend([
        "null", "is_some", "is_none", "is_ok", "is_err", "gen", "r#type",
    ]);
    words.retain(|word| {
        let is_name = syn::parse_str::<Ident>(word).is_ok() && !word.contains(' ');
        is_name && word != "_" && !own.contains(&&**word)
    });
    // Other names get no lint about their case.
    words.retain(|word| !word.contains(char::is_uppercase));
    words
}

fn add_words_in_folder(folder: &Path, words: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            add_words_in_folder(&path, words);
        } else {
            let source = fs::read_to_string(&path).expect("source code");
            add_words_in(TokenStream::from_str(&source).expect("tokens"), words);
        }
    }
}

fn add_words_in(tokens: TokenStream, words: &mut BTreeSet<String>) {
    for tree in tokens {
        match tree {
            TokenTree::Group(group) => add_words_in(group.stream(), words),
            TokenTree::Literal(literal) => {
                words.extend(
                    syn::parse2::<LitStr>(TokenTree::from(literal).into()).map(|it| it.value()),
                );
            }
            _ => {}
        }
    }
}

/// Returns the values for a statement, and the name that stands for them.
fn uses(place: &str) -> (&'static str, Vec<&'static str>) {
    if place.contains("PLAIN") {
        ("PLAIN", PLAIN.to_vec())
    } else if place.contains("COND") {
        ("COND", [PLAIN, CONDITIONS].concat())
    } else {
        ("USE", [PLAIN, CONDITIONS, USES].concat())
    }
}

/// Returns the plans that declare this name.
fn plans(name: &str) -> Vec<String> {
    let mut plans: Vec<String> = ALONE.iter().map(|&plan| plan.to_owned()).collect();
    for plan in WHOLE {
        let (kind, uses) = uses(plan);
        plans.extend(uses.iter().map(|used| plan.replace(kind, used)));
    }
    for (form, plan) in DECLARED.iter().enumerate() {
        for (at, place) in PLACES.iter().enumerate() {
            let (kind, mut uses) = uses(place);
            // The form of the declaration hardly affects the form of a use.
            uses.truncate(if form == 0 { usize::MAX } else { 2 });
            let places = uses.iter().enumerate().map(|(number, used)| {
                let number = format!("{at}_{number}");
                let locals = ["aN", "bN", "cN", "eN"].into_iter();
                let place = locals.fold((*place).to_owned(), |place, local| {
                    place.replace(local, &local.replace('N', &number))
                });
                place.replace(kind, used)
            });
            plans.push(plan.replace("PLACES", &places.collect::<String>()));
        }
    }
    plans.iter().map(|plan| plan.replace('W', name)).collect()
}

/// Returns all plans with this name.
fn all_plans(name: &str) -> Vec<String> {
    let foreign = FOREIGN.iter().map(|plan| plan.replace('W', name));
    plans(name).into_iter().chain(foreign).collect()
}

fn expand(plan: &str) -> TokenStream {
    crate::plan::plan(TokenStream::from_str(plan).expect("tokens"))
}

/// Returns the errors in an expansion.
fn errors(expansion: &TokenStream) -> Vec<String> {
    let mut errors = Vec::new();
    let mut is_error = false;
    for tree in expansion.clone() {
        match tree {
            TokenTree::Group(group) if is_error => errors.push(group.stream().to_string()),
            TokenTree::Group(group) => errors.extend(self::errors(&group.stream())),
            TokenTree::Ident(name) => is_error = name == "compile_error",
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    errors
}

/// Returns the first difference of two expansions other than the name.
fn difference(neutral: &TokenStream, other: &TokenStream, name: &str) -> Option<String> {
    let (mut neutral, mut other) = (neutral.clone().into_iter(), other.clone().into_iter());
    loop {
        let is_equal = match (neutral.next(), other.next()) {
            (None, None) => return None,
            (Some(TokenTree::Group(left)), Some(TokenTree::Group(right)))
                if left.delimiter() == right.delimiter() =>
            {
                match difference(&left.stream(), &right.stream(), name) {
                    None => continue,
                    found => return found,
                }
            }
            (Some(TokenTree::Literal(_)), Some(TokenTree::Literal(_))) => true,
            (Some(TokenTree::Ident(left)), Some(TokenTree::Ident(right))) => {
                let (left, right) = (left.to_string(), right.to_string());
                left == right || left.replace(NEUTRAL, name) == right
            }
            (Some(TokenTree::Punct(left)), Some(TokenTree::Punct(right))) => {
                left.as_char() == right.as_char()
            }
            (left, right) => return Some(format!("{left:?} and {right:?}")),
        };
        if !is_equal {
            return Some(format!(
                "before {other}",
                other = other.take(20).collect::<TokenStream>()
            ));
        }
    }
}

#[test]
fn each_word_is_a_name() {
    let neutral = all_plans(NEUTRAL);
    let expansions: Vec<TokenStream> = neutral.iter().map(|plan| expand(plan)).collect();
    let mut wrong = Vec::new();
    for (plan, expansion) in neutral.iter().zip(&expansions) {
        let errors = errors(expansion);
        wrong.extend((!errors.is_empty()).then(|| format!("{errors:?} in {plan}")));
    }
    let words = words();
    assert!(words.len() > 150, "{words:?}");
    let is_long = std::env::var("PLAN_TESTS").is_ok();
    let every = if is_long { 1 } else { SAMPLE };
    for word in words.iter().step_by(every) {
        let errors_of_method = errors(&expand(&METHOD.replace('W', word)));
        wrong.extend(
            (!errors_of_method.is_empty()).then(|| format!("{word}: {errors_of_method:?}")),
        );
        for (plan, expansion) in all_plans(word).iter().zip(&expansions) {
            let other = expand(plan);
            match &*errors(&other) {
                [] => wrong.extend(
                    difference(expansion, &other, word).map(|it| format!("{word}: {it} in {plan}")),
                ),
                errors => wrong.push(format!("{word}: {errors:?} in {plan}")),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} with {} words:\n{}",
        wrong.len(),
        words.len(),
        wrong.join("\n")
    );
}

/// `gen` is a keyword since the 2024 edition. The macro writes `r#gen`.
#[test]
fn gen_is_raw() {
    for plan in plans("gen") {
        let expansion = expand(&plan);
        assert!(!is_mentioned(&expansion, "gen"), "{plan}");
    }
}

fn is_mentioned(tokens: &TokenStream, name: &str) -> bool {
    tokens.clone().into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => is_mentioned(&group.stream(), name),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}
