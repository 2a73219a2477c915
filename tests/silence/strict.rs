#![deny(
    warnings,
    let_underscore,
    nonstandard_style,
    rust_2018_idioms,
    unused,
    absolute_paths_not_starting_with_crate,
    ambiguous_negative_literals,
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    macro_use_extern_crate,
    meta_variable_misuse,
    missing_copy_implementations,
    missing_debug_implementations,
    missing_docs,
    redundant_imports,
    redundant_lifetimes,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unit_bindings,
    unnameable_types,
    unreachable_pub,
    unused_extern_crates,
    unused_import_braces,
    unused_lifetimes,
    unused_macro_rules,
    unused_qualifications,
    unused_results,
    variant_size_differences,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    clippy::cargo
)]
//! Every kind of value under every lint.

use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// An application.
#[derive(Debug, Default, Clone, Copy)]
struct App;

/// A thing.
#[derive(Serialize, Deserialize, Shape, Debug, Clone, PartialEq)]
struct Thing {
    /// Its name.
    pub name: String,
    /// Its size.
    pub size: Option<u64>,
    /// Its parts.
    pub parts: Vec<Self>,
    /// Its kind.
    pub kind: Kind,
}

/// Types with the structure of another crate's.
mod other {
    /// Something.
    #[derive(serde::Serialize, serde::Deserialize, Debug, Clone, PartialEq, Eq)]
    pub(super) struct Issue {
        /// Its title.
        pub title: String,
        /// Its labels.
        #[deprecated]
        pub labels: Vec<String>,
    }

    impl Issue {
        /// An issue without labels.
        #[allow(deprecated)]
        pub(super) const fn new(title: String) -> Self {
            Self {
                title,
                labels: Vec::new(),
            }
        }
    }
}

/// Finds an issue.
#[tool]
async fn find_issue(title: String) -> Result<other::Issue> {
    Ok(other::Issue::new(title))
}

plan! {
    /// Finds the title of an issue.
    #[derive(Debug)]
    Title(
        /// The title.
        title: String,
    ) -> String {
        step issue = FindIssue { title };
        issue.title
    }
}

#[test]
fn a_type_of_another_crate() {
    let title = Title {
        title: "a".to_owned(),
    };
    assert_eq!(smol::block_on(title.run(&App)).unwrap(), "a");
}

/// Its fields.
#[derive(Shape)]
#[shape(remote = "other::Issue")]
struct IssueShape {
    /// Its title.
    title: String,
    /// Its labels.
    labels: Vec<String>,
}

/// A kind of thing.
#[derive(Serialize, Deserialize, Shape, Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// A plain one.
    Plain,
    /// A special one.
    Special {
        /// How.
        how: String,
    },
    /// A counted one.
    Counted(u64, String),
}

/// Finds a thing.
#[tool]
async fn find(app: &App, name: String, limit: Option<u8>) -> Result<Thing> {
    let _ = (app, limit);
    let part = Thing {
        name: "part".to_owned(),
        size: Some(2),
        parts: Vec::new(),
        kind: Kind::Plain,
    };
    Ok(Thing {
        name,
        size: Some(1),
        parts: vec![part],
        kind: Kind::Plain,
    })
}

/// Keeps a thing.
#[tool]
async fn keep(
    thing: Thing,
    raw: Value,
    names: Vec<String>,
    #[serde(default)] ratio: f64,
) -> Result<u64> {
    drop((raw, ratio));
    Ok(thing.size.unwrap_or(0) + names.len() as u64)
}

/// Does nothing.
#[tool]
async fn nothing() -> Result<()> {
    Ok(())
}

plan! {
    /// Uses all there is.
    #[derive(Debug, Clone)]
    All(
        /// Whose.
        name: String,
        count: u64,
        r#type: Option<u8>,
    ) -> (u64, Thing) {
        /// Find it.
        step found = Find { name, limit: r#type };
        step other = Find { name: found.parts[0].name, limit: 3 };
        #[after(other)]
        step none = Nothing {};
        step total: u64 = found.parts.iter().map(|part| part.size.unwrap_or_default()).sum::<u64>() + count;
        step is_large: bool = total > 5 || matches!(found.kind, Kind::Special { .. });
        step text: String = format!("{name}: {:>5} {}", total, found.parts.len() * 2);
        #[after(none)]
        step kept = Keep {
            thing: Thing {
                name: text,
                size: found.parts.get(0)?.size?,
                parts: [other, Thing { name: "x", size: None, parts: [], kind: Kind::Counted(count, "y") }],
                kind: Kind::Special { how: format!("{is_large}") },
            },
            raw: json!({"a": [found.name, null, -1.5, total + 1], "b": {"c": is_large}}),
            names: found.parts[..].name,
            ..
        };
        step last: Thing = {
            let Thing { name, .. } = &found;
            if let Some(size) = other.size { Thing { name: name.clone(), size: Some(size), ..other.clone() } } else { found.clone() }
        };
        (kept, last)
    }
}

plan! {
    /// Conditions, loops and policies.
    #[derive(Debug, Clone)]
    Flow(
        name: String,
        limit: u8,
        label: Option<String>,
    ) -> (Option<u64>, Vec<Vec<Option<u64>>>, usize) {
        /// Find it.
        #[retry(3, backoff = "1ms", max = "1s", jitter = false)]
        #[timeout("10s")]
        #[deadline("1m")]
        step found = Find { name, limit };
        step skipped = if limit > 3 { Find { name, limit: None } };
        step chosen = if let Some(label) = &label && limit > 1 {
            Find { name: label, limit: Some(limit) }
        } else if let [first, ..] = &found.parts[..] {
            Find { name: first.name, limit: first.size.map(|size| u8::try_from(size).unwrap_or(limit)) }
        } else if found.parts.is_empty() {
            Find { name: format!("{name} {}", found.name), limit }
        } else {
            Find { name: "none", limit: None }
        };
        /// Each of them.
        #[concurrency(2)]
        #[optional(each)]
        step each = for part in found.parts {
            for (index, kind) in [part.kind.clone(), Kind::Plain].into_iter().enumerate() {
                Keep {
                    thing: Thing { name: part.name, size: Some(index as u64), parts: [], kind },
                    raw: json!({"part": part, "index": index, "limit": limit}),
                    names: [name, part.name, format!("{} {index}", part.name)],
                    ratio: 0.5,
                }
            }
        };
        #[fallback(found.clone())]
        step with_fallback = Find { name: "x", limit: None };
        #[optional]
        #[after(each)]
        step optional = Keep { thing: chosen, raw: null_of, names: [], .. };
        step null_of: Value = json!(null);
        step some = for thing in &found.parts { if thing.size.is_some() { Find { name: thing.name, limit: None } } };
        step names = for _ in 0..limit { Nothing {} };
        step last: usize = some.len() + usize::from(skipped.is_some()) + with_fallback.parts.len() + names.len() + name.len();
        (optional, each, last)
    }
}

plan! { /** Nothing. */ Nobody() { step a = Nothing {}; step b = Nothing {}; } }

plan! { Private(count: u64) -> Vec<u64> { [count, 1, count + 1] } }

/// Plans as expressions.
#[test]
fn expressions() {
    let plan = plan! {
        step found = Find { name: "x", limit: None };
        step total: u64 = found.size.unwrap_or(1) + 1;
        (total, found.name, format!("{total}"), json!([found.kind]))
    };
    let (total, name, text, kind) = smol::block_on(plan.run(&App)).unwrap();
    assert_eq!(
        (total, &*name, &*text, kind),
        (2, "x", "2", json!(["Plain"]))
    );
    let computed = plan! { step found = Find { name: "x", limit: None }; found.parts.len() + 1 };
    assert_eq!(smol::block_on(computed.run(&App)).unwrap(), 2);
    let thing = plan! { Thing { name: "x", size: 1, parts: [], kind: Kind::Plain } };
    assert_eq!(smol::block_on(thing.run(&App)).unwrap().size, Some(1));
    let nothing = plan! { step a = Nothing {}; };
    smol::block_on(nothing.run(&App)).unwrap();
}

/// Plans as items.
#[test]
fn items() {
    let all = All {
        name: "n".to_owned(),
        count: 2,
        r#type: None,
    };
    let (kept, last) = smol::block_on(all.run(&App)).unwrap();
    assert_eq!((kept, &*last.name), (3, "n"));
    smol::block_on(Nobody {}.run(&App)).unwrap();
    let flow = Flow {
        name: "n".to_owned(),
        limit: 4,
        label: None,
    };
    let (optional, each, last) = smol::block_on(flow.run(&App)).unwrap();
    assert_eq!((optional, last), (Some(1), 8));
    assert_eq!(each, [[Some(3), Some(4)]]);
    assert_eq!(
        smol::block_on(Private { count: 4 }.run(&App)).unwrap(),
        [4, 1, 5]
    );
}

/// Fails if an amount is too large.
#[tool(read_only)]
async fn check_amount(cents: u64) -> Result<()> {
    let _ = cents;
    Ok(())
}

/// Finds the price of an amount.
#[tool(read_only)]
async fn find_price(cents: u64) -> Result<u64> {
    Ok(cents)
}

/// Pays an amount.
#[tool]
async fn pay(cents: u64) -> Result<u64> {
    Ok(cents)
}

plan! {
    /// Pays after a check, and reads beside the check.
    #[derive(Debug)]
    Spend(
        /// The amount.
        cents: u64,
    ) -> u64 {
        step ok = CheckAmount { cents };
        step price = FindPrice { cents };
        #[after(ok)]
        step paid = Pay { cents: price };
        paid
    }
}

#[test]
fn effects_in_order() {
    assert_eq!(smol::block_on(Spend { cents: 3 }.run(&App)).unwrap(), 3);
    let unnamed = plan! {
        step ok = CheckAmount { cents: 1 };
        step price = FindPrice { cents: 2 };
        price
    };
    assert_eq!(smol::block_on(unnamed.run(&App)).unwrap(), 2);
}
