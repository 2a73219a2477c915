//! `Server::check` and `.run().durable()` give the same answer for each change of a plan, in both directions. A run stops before each call of the plan.

use super::support::{Folder, Place, at, has_ended, serve, summary};
use crate::journal::asking::Asking;
use plan_runtime::dynamic::Toolbox;
use plan_runtime::journal::{RunState, Sqlite, SqliteOptions};
use plan_runtime::{Result, RunError, plan, tool};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An application that ends `left` calls and keeps the next call waiting.
struct Shop {
    left: AtomicUsize,
    hangs: (smol::channel::Sender<()>, smol::channel::Receiver<()>),
}

impl Shop {
    fn new(left: usize) -> Arc<Self> {
        Arc::new(Self {
            left: left.into(),
            hangs: smol::channel::unbounded(),
        })
    }

    async fn call(&self) {
        let less = |left: usize| left.checked_sub(1);
        let order = Ordering::SeqCst;
        if self.left.fetch_update(order, order, less).is_err() {
            let _ = self.hangs.0.try_send(());
            std::future::pending::<()>().await;
        }
    }
}

/// Returns `n`.
#[tool]
async fn act(shop: &Shop, n: u64) -> Result<u64> {
    shop.call().await;
    Ok(n)
}

/// Returns `n`.
#[tool]
async fn other(shop: &Shop, n: u64) -> Result<u64> {
    shop.call().await;
    Ok(n)
}

type Running<'r> = Pin<Box<dyn Future<Output = Result<Value, RunError>> + Send + 'r>>;

/// A version of the plan.
struct Version {
    name: &'static str,
    toolbox: Toolbox<Shop>,
    run: for<'r> fn(&'r Shop, &Sqlite, String) -> Running<'r>,
}

mod inners {
    macro_rules! inner {
        ($name:ident, $n:literal) => {
            pub(super) mod $name {
                use super::super::Act;
                plan_runtime::plan! {
                    pub(crate) Inner(n: u64) -> u64 {
                        step one = Act { n };
                        #[after(one)]
                        step two = Act { n: $n };
                        two
                    }
                }
            }
        };
    }
    inner!(old, 2);
    inner!(new, 8);
}

/// Writes the base plan with the given parts. A given part replaces a part of the base plan.
macro_rules! order {
    (@ { $($docs:tt)* } { $($inputs:tt)* } { $($first:tt)* } { $($each:tt)* } { $($block:tt)* } { $($inner:tt)* } { $($last:tt)* } { $($tail:tt)* }) => {
        plan! {
            $($docs)*
            pub(crate) Order($($inputs)*) -> u64 { $($first)* $($each)* $($block)* $($inner)* $($last)* $($tail)* }
        }
    };
    (@ $docs:tt $inputs:tt $first:tt $each:tt $block:tt $inner:tt $last:tt $tail:tt docs $part:tt $($rest:tt)*) => {
        order! { @ $part $inputs $first $each $block $inner $last $tail $($rest)* }
    };
    (@ $docs:tt $inputs:tt $first:tt $each:tt $block:tt $inner:tt $last:tt $tail:tt inputs $part:tt $($rest:tt)*) => {
        order! { @ $docs $part $first $each $block $inner $last $tail $($rest)* }
    };
    (@ $docs:tt $inputs:tt $first:tt $each:tt $block:tt $inner:tt $last:tt $tail:tt first $part:tt $($rest:tt)*) => {
        order! { @ $docs $inputs $part $each $block $inner $last $tail $($rest)* }
    };
    (@ $docs:tt $inputs:tt $first:tt $each:tt $block:tt $inner:tt $last:tt $tail:tt each $part:tt $($rest:tt)*) => {
        order! { @ $docs $inputs $first $part $block $inner $last $tail $($rest)* }
    };
    (@ $docs:tt $inputs:tt $first:tt $each:tt $block:tt $inner:tt $last:tt $tail:tt block $part:tt $($rest:tt)*) => {
        order! { @ $docs $inputs $first $each $part $inner $last $tail $($rest)* }
    };
    (@ $docs:tt $inputs:tt $first:tt $each:tt $block:tt $inner:tt $last:tt $tail:tt inner $part:tt $($rest:tt)*) => {
        order! { @ $docs $inputs $first $each $block $part $last $tail $($rest)* }
    };
    (@ $docs:tt $inputs:tt $first:tt $each:tt $block:tt $inner:tt $last:tt $tail:tt last $part:tt $($rest:tt)*) => {
        order! { @ $docs $inputs $first $each $block $inner $part $tail $($rest)* }
    };
    (@ $docs:tt $inputs:tt $first:tt $each:tt $block:tt $inner:tt $last:tt $tail:tt tail $part:tt $($rest:tt)*) => {
        order! { @ $docs $inputs $first $each $block $inner $last $part $($rest)* }
    };
    ($($parts:tt)*) => {
        order! {
            @ {}
            { n: u64 }
            { step first = Act { n }; }
            { #[after(first)] #[concurrency(1)] step each = for x in [1, 2] { Act { n: x } }; }
            { #[after(each)] step block = { step one = Act { n: 5 }; step two = Act { n: one }; two }; }
            { #[after(block)] step inner = Inner { n: 3 }; }
            { #[after(inner)] step last = Act { n: first }; }
            { last }
            $($parts)*
        }
    };
}

macro_rules! versions {
    ($($name:ident($make:expr): $inner:ident { $($parts:tt)* })*) => {
        $(mod $name {
            use super::inners::$inner::Inner;
            use super::{Act, Other, Shop, Version};
            use plan_runtime::dynamic::Toolbox;
            use plan_runtime::plan;

            order! { $($parts)* }

            pub(super) fn version() -> Version {
                let _ = std::mem::size_of::<Other>();
                Version {
                    name: stringify!($name),
                    toolbox: Toolbox::<Shop>::new().with::<Order>(),
                    run: |shop, db, id| {
                        let run = $make.run(shop).durable(db, id);
                        Box::pin(async move { Ok(serde_json::json!(run.await?)) })
                    },
                }
            }
        })*

        fn versions() -> Vec<Version> {
            vec![$($name::version()),*]
        }
    };
}

versions! {
    base(Order { n: 1 }): old {}
    a_step_is_renamed(Order { n: 1 }): old {
        first { step begun = Act { n }; }
        each { #[after(begun)] #[concurrency(1)] step each = for x in [1, 2] { Act { n: x } }; }
        last { #[after(inner)] step last = Act { n: begun }; }
    }
    an_argument(Order { n: 1 }): old {
        block { #[after(each)] step block = { step one = Act { n: 6 }; step two = Act { n: one }; two }; }
        inner { #[after(block)] step inner = Inner { n: n }; }
        last { #[after(inner)] step last = Act { n: 9 }; }
    }
    an_argument_of_the_first(Order { n: 1 }): old {
        first { step first = Act { n: 1 }; }
        last { #[after(inner)] step last = Act { n }; }
    }
    a_tool(Order { n: 1 }): old {
        each { #[after(first)] #[concurrency(1)] step each = for x in [1, 2] { Other { n: x } }; }
        last { #[after(inner)] step last = Other { n: first }; }
    }
    an_input_is_added(Order { n: 1, more: 2 }): old {
        inputs { n: u64, more: u64 }
        last { #[after(inner)] step last = Act { n: more }; }
    }
    an_input_is_optional(Order { n: 1, note: None }): old {
        inputs { n: u64, note: Option<u64> }
        last { #[after(inner)] step last = Act { n: note.unwrap_or(4) }; }
    }
    an_input_is_optional_and_given(Order { n: 1, note: Some(3) }): old {
        inputs { n: u64, note: Option<u64> }
        last { #[after(inner)] step last = Act { n: note.unwrap_or(4) }; }
    }
    an_input_is_gone(Order {}): old {
        inputs {}
        first { step first = Act { n: 1 }; }
    }
    an_input_is_renamed(Order { number: 1 }): old {
        inputs { number: u64 }
        first { step first = Act { n: number }; }
    }
    another_order(Order { n: 1 }): old {
        first { #[after(inner)] step last = Act { n: first }; }
        each { #[after(block)] step inner = Inner { n: 3 }; }
        block { #[after(each)] step block = { step one = Act { n: 5 }; step two = Act { n: one }; two }; }
        inner { #[after(first)] #[concurrency(1)] step each = for x in [1, 2] { Act { n: x } }; }
        last { step first = Act { n }; }
    }
    steps_are_added(Order { n: 1 }): old {
        block {
            #[after(each)]
            step block = { step one = Act { n: 5 }; step two = Act { n: one }; step three = Act { n: two }; three };
        }
        tail {
            #[after(last)] step more = Act { n: 7 };
            more
        }
    }
    steps_are_gone(Order { n: 1 }): old {
        block { #[after(each)] step block = { step one = Act { n: 5 }; one }; }
        last {}
        tail { inner + first }
    }
    policies(Order { n: 1 }): old {
        first { #[retry(3)] #[timeout("1h")] step first = Act { n }; }
        each { #[after(first)] #[concurrency(1)] #[deadline("1h")] step each = for x in [1, 2] { Act { n: x } }; }
        block { #[after(each)] #[retry(2)] step block = { step one = Act { n: 5 }; step two = Act { n: one }; two }; }
        inner { #[after(block)] #[timeout("1h")] step inner = Inner { n: 3 }; }
        last { #[after(inner)] #[fallback(3)] step last = Act { n: first }; }
    }
    a_step_is_optional(Order { n: 1 }): old {
        each { #[after(first)] #[concurrency(1)] #[optional(each)] step each = for x in [1, 2] { Act { n: x } }; }
        block { #[after(each)] #[optional] step block = { step one = Act { n: 5 }; step two = Act { n: one }; two }; }
        inner { #[after(block)] #[optional] step inner = Inner { n: 3 }; }
    }
    a_list(Order { n: 1 }): old {
        each { #[after(first)] #[concurrency(1)] step each = for x in [1, 2, 3] { Act { n: x } }; }
    }
    a_plan_that_is_called(Order { n: 1 }): new {}
    words_and_code(Order { n: 1 }): old {
        docs {
            /// Other words.
        }
        first {
            /// To begin.
            step first = Act { n };
        }
        last { #[after(inner)] step last = Act { n: first + each.len() as u64 }; }
        tail { last * 2 }
    }
}

/// The most calls that a version makes.
const CALLS: usize = 10;

/// Compares the two answers for runs of the old version. Returns the number of refused runs and the number of resumed runs.
fn compare(old: &Version, new: &Version) -> (usize, usize) {
    let folder = Folder::new();
    let db = SqliteOptions::new().normal().open(folder.path()).unwrap();
    let mut stopped = Vec::new();
    for calls in 0..CALLS {
        let shop = Shop::new(calls);
        let id = calls.to_string();
        let run = (old.run)(&shop, &db, id.clone());
        let hangs = async {
            let _ = shop.hangs.1.recv().await;
            Ok(Value::Null)
        };
        smol::block_on(smol::future::or(run, hangs)).unwrap();
        // The release is queued before a later claim.
        db.claim_and_release();
        if summary(&db, &id).state == RunState::Running {
            stopped.push(id);
        }
    }
    assert!(stopped.len() >= 6, "{}", old.name);
    let shop = Shop::new(usize::MAX);
    let found = at(&db, &new.toolbox, &shop).check().unwrap();
    let found: BTreeMap<String, String> = found
        .into_iter()
        .map(|(id, error)| (id, error.to_string()))
        .collect();
    let (mut refused, mut continued) = (0, 0);
    for id in stopped {
        let result = smol::block_on((new.run)(&shop, &db, id.clone()));
        let expected = result.err().map(|error| error.to_string());
        let what = format!("{} to {}, after {id} calls", old.name, new.name);
        assert_eq!(found.get(&id), expected.as_ref(), "{what}");
        match expected {
            Some(_) => refused += 1,
            None => continued += 1,
        }
    }
    (refused, continued)
}

trait Settled {
    fn claim_and_release(&self);
}

impl Settled for Sqlite {
    fn claim_and_release(&self) {
        use plan_runtime::journal::Journal;
        let claim = self.claim_now("none").unwrap().claim;
        self.release(&claim);
    }
}

#[test]
fn check_gives_the_answer_of_durable() {
    let versions = versions();
    let base = &versions[0];
    let (mut refused, mut continued) = (0, 0);
    for version in &versions {
        // Only the caller of the run has this input.
        let is_given = version.name == "an_input_is_optional_and_given";
        for (old, new) in [(base, version), (version, base)] {
            if is_given && new.name == version.name {
                continue;
            }
            let (not, well) = compare(old, new);
            refused += not;
            continued += well;
        }
    }
    assert!(refused > 50 && continued > 50, "{refused}, {continued}");
}

#[test]
fn a_new_input_that_may_be_absent_must_be() {
    let versions = versions();
    let of = |name: &str| versions.iter().find(|it| it.name == name).unwrap();
    let folder = Folder::new();
    let db = folder.open();
    let stop = |version: &Version, id: &str| {
        let shop = Shop::new(1);
        let hangs = async {
            let _ = shop.hangs.1.recv().await;
            Ok(json!("it hangs"))
        };
        let run = (version.run)(&shop, &db, id.to_owned());
        smol::block_on(smol::future::or(run, hangs))
    };
    assert_eq!(stop(&versions[0], "a").unwrap(), "it hangs");
    let error = stop(of("an_input_is_optional_and_given"), "a").unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `order` cannot start: run `a` already exists with different inputs (input `note` is new); use a new ID, or the original inputs"
    );
    let absent = of("an_input_is_optional");
    assert_eq!(stop(absent, "a").unwrap(), "it hangs");
    // The resumed run has the input.
    let error = stop(&versions[0], "a").unwrap_err();
    assert!(
        error.to_string().contains("input `note` is missing"),
        "{error}"
    );
    let shop = Shop::new(usize::MAX);
    let run = (absent.run)(&shop, &db, "a".to_owned());
    assert_eq!(smol::block_on(run).unwrap(), 4);
}

mod charged {
    use super::{Act, Other};
    plan_runtime::plan! {
        pub(crate) Charged(n: u64) -> u64 {
            step first = Act { n };
            step second = Other { n: first };
            second
        }
    }
}

plan! {
    Charged(n: u64) -> u64 {
        step first = Act { n };
        step second = Act { n: first };
        second
    }
}

/// A server runs each run that `check` accepts.
#[test]
fn a_run_whose_recorded_plan_needs_a_tool_that_is_gone_goes_on_as_the_plan_of_now() {
    let (folder, shop) = (Folder::new(), Shop::new(usize::MAX));
    let db = folder.open();
    smol::block_on(charged::Charged { n: 4 }.submit(&db, "a")).unwrap();
    let toolbox = Toolbox::<Shop>::new().with::<Charged>();
    assert!(at(&db, &toolbox, &shop).check().unwrap().is_empty());
    serve(&db, &toolbox, &shop, || has_ended(&db, "a"));
    assert_eq!(db.output_now("a").unwrap(), Some(json!(4)));
}
