//! Tests that a plan with errors expands to its sound parts, in which editors complete.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::str::FromStr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns the expansion without spaces, because `proc_macro2` inserts spaces at its own choice.
fn expand(plan: &str) -> String {
    let tokens = TokenStream::from_str(plan).expect("tokens");
    crate::plan::plan(tokens).to_string().replace(' ', "")
}

/// Returns the number of distinct messages in `compile_error!`. rustc shows a message once per span.
fn errors(expansion: &str) -> usize {
    let errors = expansion.split("compile_error!{\"").skip(1);
    let messages = errors.map(|rest| rest.split("\"}").next());
    messages.collect::<BTreeSet<_>>().len()
}

/// Returns the expansion of the sound parts of the plan.
const LEFT: &[&str] = &[
    "pubstructBroken<>{",
    "pubinput:Input",
    "impl__plan::ToolforBroken",
    "typeOutput=<Outputas__plan::Checked<",
    "pubconstPLAN",
    ".key(\"First\",\"a\")",
    ".key(\"Last\",\"a\")",
    ").first_field",
    ").last_field",
    ").tail_field",
];

/// Expands a plan with one error in its middle step.
fn broken(middle: &str) -> String {
    expand(&format!(
        "pub Broken(input: Input) -> Output {{
            step before = First {{ a: input.first_field }};
            {middle}
            step following = Last {{ a: before.last_field }};
            following.tail_field
        }}"
    ))
}

#[test]
fn one_broken_step() {
    for middle in [
        "step middle = Foo { x: before. };",
        "step middle = Foo { x: before.a. , y: 1 };",
        "step middle = Foo { x: before.a }",
        "step middle = Foo { x: };",
        "step middle = Foo { x };",
        "step middle = Foo { : 1 };",
        "step middle = Foo { x 1 };",
        "step middle = Foo { x: 1 y: 2 };",
        "step middle = Foo { x = 1 };",
        "step middle = Foo { , };",
        "step middle = Foo { x: 1, x: 2 };",
        "step middle = Foo { ..rest };",
        "step middle = Foo { .., x: 1 };",
        "step middle = Foo;;; step = Foo {};",
        "step middle = ;",
        "step middle",
        "step middle;",
        "step middle: = 1;",
        "step middle: u64 = ;",
        "step middle: u64;",
        "step middle: Vec< = vec![];",
        "step middle = before.a;",
        "step middle = Foo(1);",
        "step middle = if true { };",
        "step middle = if { Foo {} };",
        "step middle = if unknown { Foo {} };",
        "step middle = if true { Foo {} } else;",
        "step middle = if true Foo;",
        "step middle = for x in { Foo {} };",
        "step middle = for x before { Foo {} };",
        "step middle = for x in before.list { 5 };",
        "step middle = for x in before.list { Foo { x: unknown } };",
        "#[retry] step middle = Foo {};",
        "#[retry(0)] step middle = Foo {};",
        "#[retry(2, backof = \"1s\")] step middle = Foo {};",
        "#[timeout(5)] step middle = Foo {};",
        "#[timeout(\"soon\")] step middle = Foo {};",
        "#[concurrency(2)] step middle = Foo {};",
        "#[optional(each)] step middle = Foo {};",
        "#[fallback] step middle = Foo {};",
        "#[optional] #[fallback(1)] step middle = Foo {};",
        "#[timeout(\"1s\")] step middle: u64 = 5;",
        "step ;",
        "step = Foo {};",
        "let middle = Foo {};",
        "middle = Foo {};",
        "Foo { x: before };",
        "#[after] step middle = Foo {};",
        "#[after(] step middle = Foo {};",
        "#[after()] step middle = Foo {};",
        "#[after(before.a)] step middle = Foo {};",
        "#[after(unknown)] step middle = Foo {};",
        "#[aftr(before)] step middle = Foo {};",
        "#[ step middle = Foo {};",
        "step middle = Foo { x: unknown };",
        "step middle = Foo { x: before[1 2] };",
        "step middle = Foo { x: before.pointer(\"no\") };",
        "step middle = Foo { x: json!({ \"a\": }) };",
        "step middle = Foo { x: json!({ a: 1 }) };",
        "step middle = Foo { x: json!([1, ) };",
        "step middle = Foo { x: Some(1, 2) };",
        "step middle = Foo { x: { return before } };",
        "step Middle = Foo {};",
        "step _ = Foo {};",
        "@ # $",
    ] {
        // Brackets that do not match are rustc's to report.
        if TokenStream::from_str(middle).is_err() {
            continue;
        }
        let expansion = broken(middle);
        assert_eq!(errors(&expansion), 1, "{middle}: {expansion}");
        for left in LEFT {
            assert!(
                expansion.contains(left),
                "{middle}: `{left}` is lost in {expansion}"
            );
        }
    }
}

#[test]
fn one_name_for_two() {
    // The reference is ambiguous, so the macro does not check the reference.
    for (middle, unclear) in [
        ("step before = Foo {};", ").last_field"),
        ("step input = Foo {};", ").first_field"),
    ] {
        let expansion = broken(middle);
        assert_eq!(errors(&expansion), 1, "{middle}: {expansion}");
        for left in LEFT {
            assert_eq!(
                expansion.contains(left),
                *left != unclear,
                "{middle}: `{left}` in {expansion}"
            );
        }
    }
}

#[test]
fn one_broken_head() {
    for head in [
        "Broken -> u8",
        "Broken(a) -> u8",
        "Broken(a: ) -> u8",
        "Broken(a: u8 b: u8) -> u8",
        "Broken(&self) -> u8",
        "Broken(mut a: u8) -> u8",
        "Broken(a: &str) -> u8",
        "Broken(A: u8) -> u8",
        "Broken(b: u8, b: u8) -> u8",
        "#[derive(Debug)] pub(crate Broken(b: u8) -> u8",
    ] {
        let Ok(tokens) = TokenStream::from_str(&format!("{head} {{ step x = First {{}}; x.y }}"))
        else {
            continue;
        };
        let expansion = crate::plan::plan(tokens).to_string().replace(' ', "");
        assert_eq!(errors(&expansion), 1, "{head}: {expansion}");
        for left in [
            "structBroken<>{",
            "<Firstas__plan::IsTool>",
            ").y",
            "ToolforBroken",
        ] {
            assert!(
                expansion.contains(left),
                "{head}: `{left}` is lost in {expansion}"
            );
        }
    }
}

/// An attribute of an expression is Rust's own to report.
#[test]
fn attributes_of_literals_are_kept() {
    for value in [
        "#[cfg(any())] 5",
        "#[cfg(any())] -5",
        "#[cfg(any())] None",
        "#[cfg(any())] input",
    ] {
        let expansion = expand(&format!(
            "P(input: Input) -> Output {{ step a = Foo {{ x: {value} }}; step b: u64 = {value}; {value} }}"
        ));
        assert_eq!(expansion.matches("#[cfg(any())]").count(), 3, "{expansion}");
    }
}

/// Steps that wait for each other are an error like any other: there are no warnings beside the error.
#[test]
fn a_cycle_has_no_warnings() {
    let plan = |first: &str| {
        expand(&format!(
            "P(unused: Input) -> Output {{
                step outer = {{ step a = First {{ a: {first} }}; step b = First {{ a: a }}; b }};
                step unused_too: u64 = 1;
                outer
            }}"
        ))
    };
    let (sound, cycle) = (plan("1"), plan("b"));
    assert!(sound.contains("__plan_unused"), "{sound}");
    assert_eq!(errors(&sound), 0, "{sound}");
    assert!(!cycle.contains("__plan_unused"), "{cycle}");
    assert_eq!(errors(&cycle), 1, "{cycle}");
}

const VALID: &str = r#"
    #![plan(crate = plan_runtime)]
    /// A plan.
    #[derive(Debug)]
    pub Whole(sender: String, limit: Option<u8>, #[serde(default)] list: Vec<(u8, String)>) -> (Receipt, Vec<u64>) {
        /// The inbox.
        step inbox = FetchEmails { filters: Filters { sender, since: None, .. }, limit: limit? };
        step count: u64 = inbox.data.iter().map(|mail| mail.size).sum::<u64>() + { let x = 1; x };
        #[after(inbox, count)]
        step sent = Reply {
            to: [inbox.data[0].from.email, "me", Some(format!("{} {count:>4}", inbox.data.get(1)?.id))],
            raw: json!({"a": [inbox.raw["k"], -1.5, null], "b": inbox.raw.pointer("/x/0")}),
            kind: Kind::Special(1, "x"), pair: (1, 'c'), ids: inbox.data[..].id,
            text: if count > 3 { "many" } else { "few" }.to_owned(),
        };
        (sent, inbox.data[..].size)
    }
"#;

/// Returns a token and the group around the token.
fn size(stream: &TokenStream) -> usize {
    let trees = stream.clone().into_iter();
    trees
        .map(|tree| match tree {
            TokenTree::Group(group) => 1 + size(&group.stream()),
            _ => 1,
        })
        .sum()
}

/// Removes the tokens at these indexes, or all tokens after the index in its group.
fn without(stream: TokenStream, places: &[usize], truncate: bool, at: &mut usize) -> TokenStream {
    let mut kept = TokenStream::new();
    let mut cut = false;
    for tree in stream {
        let here = *at;
        *at += 1;
        let inside = match &tree {
            TokenTree::Group(group) => {
                let inside = without(group.stream(), places, truncate, at);
                let mut inside = Group::new(group.delimiter(), inside);
                inside.set_span(group.span());
                Some(inside)
            }
            _ => None,
        };
        cut |= truncate && places.contains(&here);
        if cut || places.contains(&here) {
            continue;
        }
        kept.extend([inside.map_or(tree, TokenTree::Group)]);
    }
    kept
}

/// Returns `true` if the tokens still begin like a plan: attributes, `pub Whole(…)`.
fn has_head(stream: &TokenStream) -> bool {
    let kinds: String = stream
        .clone()
        .into_iter()
        .map(|tree| match tree {
            TokenTree::Punct(punct) => punct.as_char(),
            TokenTree::Group(group) => match group.delimiter() {
                Delimiter::Bracket => ']',
                Delimiter::Parenthesis => ')',
                _ => '}',
            },
            TokenTree::Ident(name) if name == "pub" => 'p',
            TokenTree::Ident(name) if name == "Whole" => 'W',
            _ => 'x',
        })
        .collect();
    let head = kinds.trim_start_matches("#!]").trim_start_matches("#]");
    head.starts_with("pW)") && head.ends_with('}')
}

/// Plans without a head, and with one.
static HEADS: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

#[test]
fn never_panics() {
    each_expansion_never_panics();
    let counts = HEADS.each_ref().map(|it| it.load(Ordering::Relaxed));
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    fn each_expansion_never_panics(
        places in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
        truncate: bool,
    ) {
        let whole = TokenStream::from_str(VALID).unwrap();
        let places: Vec<usize> = places.iter().map(|place| place.index(size(&whole))).collect();
        let plan = without(whole, &places, truncate, &mut 0);
        let (has_head, written) = (has_head(&plan), plan.to_string());
        let expansion = crate::plan::plan(plan).to_string().replace(' ', "");
        HEADS[usize::from(has_head)].fetch_add(1, Ordering::Relaxed);
        if has_head {
            prop_assert!(expansion.contains("structWhole<>{"), "{written}");
            prop_assert!(expansion.contains("__plan::ToolforWhole"), "{written}");
        }
    }
}

#[test]
fn the_whole_plan_has_no_errors() {
    let expansion = expand(VALID);
    assert_eq!(errors(&expansion), 0, "{expansion}");
    syn::parse_str::<syn::File>(
        &crate::plan::plan(TokenStream::from_str(VALID).unwrap()).to_string(),
    )
    .unwrap();
}
