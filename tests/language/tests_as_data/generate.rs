//! Writes random expressions that are tests, each as a part of a plan and in a function.

use std::fmt::Write;
use std::path::Path;

/// Random numbers that are the same in each run.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number from 0 up to this, which it is not.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap()
    }

    pub fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }
}

/// Values of one type.
struct Kind {
    /// Fields of `Inner`.
    fields: &'static [&'static str],
    /// Other values of the type.
    places: &'static [&'static str],
    /// Literals and constants.
    constants: &'static [&'static str],
    /// `true` if the values have an order for comparisons: between two values, and with constants.
    order: (bool, bool),
}

const KINDS: [Kind; 16] = [
    kind(
        &["signed_one", r#"scores["k"]"#],
        &["all.signed", "all.pair[0]", "all.pair[1]", "all.point.0"],
        &[
            "0",
            "-1",
            "3_i64",
            "0xff",
            "-9_223_372_036_854_775_808",
            "9007199254740993",
            "LEAST",
            "i64::MAX",
        ],
        (true, true),
    ),
    kind(
        &["unsigned"],
        &[],
        &[
            "0",
            "1",
            "18446744073709551615",
            "9_007_199_254_740_993u64",
            "GREATEST",
            "u64::MIN",
            "1 ",
        ],
        (true, true),
    ),
    kind(
        &[],
        &["all.small"],
        &["0", "-1", "97i32", "i32::MAX"],
        (true, true),
    ),
    kind(
        &[],
        &["all.byte"],
        &["0", "255", "b'a'", "u8::MAX"],
        (true, true),
    ),
    kind(
        &["ratio"],
        &["all.point.1"],
        &[
            "0.0",
            "-0.0",
            "0.1",
            "1e300",
            "-1.5e0_f64",
            "HUGE",
            "NOTHING",
            "f64::MAX",
            "9007199254740992.",
        ],
        (true, true),
    ),
    kind(
        &["text"],
        &["all.texts[0]", "all.texts[1]", "all.wrapped.0"],
        &[
            r#""""#,
            r#""a""#,
            r#""ä""#,
            r#""\u{10000}""#,
            r##"r#"a"b"#"##,
            "NAME",
            "self::NAME",
        ],
        (true, false),
    ),
    kind(
        &["letter"],
        &[],
        &["'a'", "'ä'", r"'\u{ffff}'", "LETTER", "char::MAX"],
        (true, true),
    ),
    kind(&["flag"], &[], &["true", "false"], (true, true)),
    kind(
        &["state"],
        &[],
        &[
            "State::Running",
            "State::Done",
            "super::random::State::NotBegun",
            "FIRST",
        ],
        (false, false),
    ),
    kind(&["numbers"], &[], &[], (false, false)),
    kind(&["words"], &[], &[], (false, false)),
    kind(&["maybe_text"], &[], &[], (false, false)),
    kind(&["maybe_number"], &[], &[], (false, false)),
    kind(&["maybe_state"], &[], &[], (false, false)),
    kind(&["outcome"], &[], &[], (false, false)),
    kind(&["scores", "states"], &[], &[], (false, false)),
];

const fn kind(
    fields: &'static [&'static str],
    places: &'static [&'static str],
    constants: &'static [&'static str],
    order: (bool, bool),
) -> Kind {
    Kind {
        fields,
        places,
        constants,
        order,
    }
}

/// Expressions with the fields of `Inner`.
const INNERS: [&str; 3] = ["all.inner", "all.other", r#"all.by_name["k"]"#];

const SIGNS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];

/// The methods, each with fields that have it.
const METHODS: [(&[&str], &[&str]); 4] = [
    (
        &["is_some", "is_none"],
        &["maybe_text", "maybe_number", "maybe_state"],
    ),
    (&["is_ok", "is_err"], &["outcome"]),
    (
        &["is_empty"],
        &["text", "numbers", "words", "scores", "states"],
    ),
    (&["len"], &["text", "numbers", "words", "scores", "states"]),
];

/// Lists, and a test of an element, which there may not be.
const ELEMENTS: [(&str, &str); 6] = [
    ("numbers", "[AT] > 1"),
    ("numbers", "[AT] != -1"),
    ("words", r#"[AT] == "a""#),
    ("words", "[AT] <= all.texts[1]"),
    ("states", "[AT] == State::Done"),
    ("states", "[AT] != FIRST"),
];

fn place(random: &mut Random, kind: &Kind) -> String {
    let count = kind.fields.len() * INNERS.len() + kind.places.len();
    let chosen = random.below(count);
    match chosen.checked_sub(kind.places.len()) {
        None => kind.places[chosen].to_owned(),
        Some(_) => format!("{}.{}", random.of(&INNERS), random.of(kind.fields)),
    }
}

fn compare(random: &mut Random) -> String {
    // Those before the ninth have an order, or constants.
    let kinds = if random.one_in(4) {
        &KINDS[9..]
    } else {
        &KINDS[..9]
    };
    let kind = random.of(kinds);
    // Scores and states are of two types.
    let mut left = place(random, kind);
    let with_constant = !kind.constants.is_empty() && random.one_in(2);
    let mut right = if with_constant {
        (*random.of(kind.constants)).to_owned()
    } else if kind.fields.len() == 2 && kind.places.is_empty() {
        let field = *random.of(kind.fields);
        left = format!("{}.{field}", random.of(&INNERS));
        format!("{}.{field}", random.of(&INNERS))
    } else {
        place(random, kind)
    };
    if left == right && !random.one_in(8) {
        return compare(random);
    }
    let has_order = if with_constant {
        kind.order.1
    } else {
        kind.order.0
    };
    let sign = *random.of(&SIGNS[..if has_order { 6 } else { 2 }]);
    if random.one_in(4) {
        std::mem::swap(&mut left, &mut right);
    }
    format!("{left} {sign} {right}")
}

fn ask(random: &mut Random) -> String {
    let (methods, fields) = random.of(&METHODS);
    let asked = format!(
        "{}.{}.{}()",
        random.of(&INNERS),
        random.of(fields),
        random.of(methods)
    );
    if asked.ends_with(".len()") {
        let sign = random.of(&SIGNS);
        return match random.below(3) {
            0 => format!("{asked} {sign} all.texts[0].len()"),
            1 => format!("{} {sign} {asked}", random.below(4)),
            _ => format!("{asked} {sign} {}", random.below(4)),
        };
    }
    asked
}

/// Returns a test of an element that is guarded by a test of its existence.
fn guarded(random: &mut Random) -> String {
    let (field, test) = random.of(&ELEMENTS);
    let list = format!("{}.{field}", random.of(&INNERS));
    let at = random.below(2);
    let test = format!("{list}{}", test.replace("AT", &at.to_string()));
    if random.one_in(2) {
        format!("({list}.len() > {at} && {test})")
    } else {
        format!("({list}.len() <= {at} || {test})")
    }
}

fn simple(random: &mut Random) -> String {
    match random.below(8) {
        0 => guarded(random),
        1 | 2 => ask(random),
        3 => format!("{}.flag", random.of(&INNERS)),
        _ => compare(random),
    }
}

/// A test that binds as tightly as `!` does.
fn tight(random: &mut Random, depth: usize) -> String {
    let inner = test(random, depth);
    match random.below(3) {
        0 => format!("!({inner})"),
        1 => format!("!{}.flag", random.of(&INNERS)),
        _ => format!("({inner})"),
    }
}

fn test(random: &mut Random, depth: usize) -> String {
    let Some(depth) = depth.checked_sub(1) else {
        return simple(random);
    };
    let several = |random: &mut Random, sign: &str| {
        let count = 2 + random.below(2);
        let operands: Vec<_> = (0..count).map(|_| test(random, depth)).collect();
        operands.join(sign)
    };
    match random.below(7) {
        // `a || b && c` is `a || (b && c)`.
        0 | 1 => several(random, " && "),
        2 | 3 => several(random, " || "),
        4 => tight(random, depth),
        5 => format!(
            "({}) {} ({})",
            test(random, depth),
            random.of(&SIGNS),
            test(random, depth)
        ),
        _ => simple(random),
    }
}

/// Returns a test that is not a single value or constant.
fn whole(random: &mut Random) -> String {
    loop {
        let depth = *random.of(&[0, 0, 0, 1, 1, 2, 3]);
        let test = test(random, depth);
        if test.contains(' ') || test.contains('!') || test.ends_with("()") {
            return test;
        }
    }
}

const PLANS: usize = 10;
const TESTS: usize = 26;

fn file() -> String {
    let mut random = Random::new(0);
    let mut text = "//! Random tests. `UPDATE_EXPECT=1` writes them.\n\n".to_owned();
    text +=
        "use super::random::{All, FIRST, GREATEST, HUGE, LEAST, LETTER, NAME, NOTHING, State};\n";
    text += "use crate::support::done;\nuse plan_runtime::{Plan, plan};\n";
    let mut all = "\n/// The plans, what runs them, and what Rust says.\n".to_owned();
    all += "pub fn all() -> Vec<(&'static Plan, fn(All) -> Vec<bool>, fn(&All) -> Vec<bool>)> {\n    vec![\n";
    for plan in 0..PLANS {
        let tests: Vec<_> = (0..TESTS)
            .map(|_| format!("        {},\n", whole(&mut random)))
            .collect();
        let tests = tests.concat();
        write!(
            text,
            "\nplan! {{\n    pub Plan{plan}(all: All) -> Vec<bool> {{\n        [\n{tests}        ]\n    }}\n}}\n\n\
             fn plan_{plan}(all: &All) -> Vec<bool> {{\n    vec![\n{tests}    ]\n}}\n"
        )
        .unwrap();
        writeln!(
            all,
            "        (Plan{plan}::PLAN, |all| done(Plan{plan} {{ all }}.run(&())), plan_{plan}),"
        )
        .unwrap();
    }
    text + &all + "    ]\n}\n"
}

#[test]
fn the_expressions_are_those_that_are_generated() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/language/tests_as_data/expressions.rs");
    let text = file();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let was = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(was == text, "UPDATE_EXPECT=1 writes other expressions");
}
