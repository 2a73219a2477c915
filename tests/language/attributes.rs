//! Each attribute around each body: the value of the step has its type, wherever a plan uses the value.

use crate::support::Same;
use plan_runtime::{Error, Failure, Result, RunError, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
pub struct Item {
    id: u64,
    wanted: bool,
    fails: bool,
    items: Vec<Item>,
}

const FAILS: &str = "it fails";

/// Gives the number, or fails.
#[tool]
pub async fn number(id: u64, fails: bool) -> Result<u64> {
    if fails {
        return Err(Error::msg(FAILS));
    }
    Ok(id)
}

plan! {
    pub Inner(id: u64, fails: bool) -> u64 {
        step given = Number { id, fails };
        given
    }
}

/// Elements that succeed and fail, with and without a branch that is taken.
fn items(depth: usize) -> Vec<Item> {
    if depth == 0 {
        return Vec::new();
    }
    let all = [(true, false), (true, true), (false, false), (false, true)];
    let all = all.iter().zip(1..);
    all.map(|((wanted, fails), id)| Item {
        id,
        wanted: *wanted,
        fails: *fails,
        items: items(depth - 1),
    })
    .collect()
}

/// Runs a plan of elements that fail and do not: it gives the same three times, or its tool fails.
fn agree<T: PartialEq + Debug>(name: &str, run: impl Fn(Item) -> Result<(T, T, T), RunError>) {
    let mut given = 0;
    for mut item in items(3) {
        for list in [item.items.clone(), items(1)[2..3].to_vec(), Vec::new()] {
            item.items = list;
            match run(item.clone()) {
                Ok((whole, argument, computed)) => {
                    given += 1;
                    assert_eq!(whole, argument, "{name}");
                    assert_eq!(whole, computed, "{name}");
                }
                Err(error) => assert!(error.to_string().contains(FAILS), "{name}: {error}"),
            }
        }
    }
    assert!(given > 0, "{name}");
}

type Caught<T> = Result<T, Failure>;

/// Makes a plan of each row. The plan uses the value of its step as its output, as an argument and in a computed value.
macro_rules! plans {
    ($($name:ident($it:ident) -> $ty:ty { [$($attributes:tt)+] $($body:tt)+ })+) => {
        $(plan! {
            $name($it: Item) -> ($ty, $ty, $ty) {
                $($attributes)+
                step value = $($body)+;
                step argument = Same::<$ty> { value };
                step computed: $ty = value.clone();
                (value, argument, computed)
            }
        })+

        #[test]
        fn each_value_has_its_type() {
            $(agree(stringify!($name), |it| smol::block_on($name { $it: it }.run(&())));)+
        }
    };
}

plans! {
    CallOptional(it) -> Option<u64> { [#[optional]] Number { id: it.id, fails: it.fails } }
    CallCatch(it) -> Caught<u64> { [#[catch]] Number { id: it.id, fails: it.fails } }
    CallFallback(it) -> u64 { [#[fallback(0)]] Number { id: it.id, fails: it.fails } }
    PlanCatch(it) -> Caught<u64> { [#[catch]] Inner { id: it.id, fails: it.fails } }
    BlockCatch(it) -> Caught<Option<u64>> { [#[catch]] { #[optional] step n = Number { id: it.id, fails: it.fails }; n } }

    IfOptional(it) -> Option<u64> { [#[optional]] if it.wanted { Number { id: it.id, fails: it.fails } } }
    IfCatch(it) -> Caught<Option<u64>> { [#[catch]] if it.wanted { Number { id: it.id, fails: it.fails } } }
    IfRetry(it) -> Option<u64> { [#[retry(2, backoff = "1ns")]] if it.wanted { Number { id: it.id, fails: it.fails } } }
    IfFallback(it) -> Option<u64> { [#[fallback(None)]] if it.wanted { Number { id: it.id, fails: it.fails } } }

    ForOptional(it) -> Option<Vec<u64>> { [#[optional]] for x in it.items { Number { id: x.id, fails: x.fails } } }
    ForOptionalEach(it) -> Vec<Option<u64>> { [#[optional(each)]] for x in it.items { Number { id: x.id, fails: x.fails } } }
    ForCatch(it) -> Caught<Vec<u64>> { [#[catch]] for x in it.items { Number { id: x.id, fails: x.fails } } }
    ForCatchEach(it) -> Vec<Caught<u64>> { [#[catch(each)]] for x in it.items { Number { id: x.id, fails: x.fails } } }
    ForFallback(it) -> Vec<u64> { [#[fallback(Vec::new())]] for x in it.items { Number { id: x.id, fails: x.fails } } }

    ForIfOptionalEach(it) -> Vec<Option<u64>> { [#[optional(each)]] for x in it.items { if x.wanted { Number { id: x.id, fails: x.fails } } } }
    ForIfCatch(it) -> Caught<Vec<Option<u64>>> { [#[catch]] for x in it.items { if x.wanted { Number { id: x.id, fails: x.fails } } } }
    ForIfCatchEach(it) -> Vec<Caught<Option<u64>>> { [#[catch(each)]] for x in it.items { if x.wanted { Number { id: x.id, fails: x.fails } } } }
    ForIfRetryCatchEach(it) -> Vec<Caught<Option<u64>>> { [#[retry(2, backoff = "1ns")] #[catch(each)] #[concurrency(1)]] for x in it.items { if x.wanted { Inner { id: x.id, fails: x.fails } } } }
    ForIfOptionalCatchEach(it) -> Option<Vec<Caught<Option<u64>>>> { [#[optional] #[catch(each)]] for x in it.items { if x.wanted { Number { id: x.id, fails: x.fails } } } }
    ForIfFallbackCatchEach(it) -> Vec<Caught<Option<u64>>> { [#[fallback(Vec::new())] #[catch(each)]] for x in it.items { if x.wanted { Number { id: x.id, fails: x.fails } } } }
    ForIfCatchOptionalEach(it) -> Caught<Vec<Option<u64>>> { [#[catch] #[optional(each)]] for x in it.items { if x.wanted { Number { id: x.id, fails: x.fails } } } }
    ForIfElseCatchEach(it) -> Vec<Caught<u64>> { [#[catch(each)]] for x in it.items { if x.wanted { Number { id: x.id, fails: x.fails } } else { Inner { id: 0, fails: x.fails } } } }
    ForBlockCatchEach(it) -> Vec<Caught<Option<u64>>> { [#[catch(each)]] for x in it.items { #[optional] step n = Number { id: x.id, fails: x.fails }; n } }
    ForBlockIfCatchEach(it) -> Vec<Caught<Option<u64>>> { [#[catch(each)]] for x in it.items { step n = if x.wanted { Number { id: x.id, fails: x.fails } }; n } }

    ForForIfOptionalEach(it) -> Vec<Vec<Option<u64>>> { [#[optional(each)]] for x in it.items { for y in x.items { if y.wanted { Number { id: y.id, fails: y.fails } } } } }
    ForForIfCatchEach(it) -> Vec<Vec<Caught<Option<u64>>>> { [#[catch(each)]] for x in it.items { for y in x.items { if y.wanted { Number { id: y.id, fails: y.fails } } } } }
    ForIfForOptionalEach(it) -> Vec<Option<Vec<Option<u64>>>> { [#[optional(each)]] for x in it.items { if x.wanted { for y in x.items { Number { id: y.id, fails: y.fails } } } } }
    ForIfForCatchEach(it) -> Vec<Caught<Option<Vec<Caught<u64>>>>> { [#[catch(each)]] for x in it.items { if x.wanted { for y in x.items { Number { id: y.id, fails: y.fails } } } } }

    LoopCatch(it) -> Caught<u64> { [#[at_most(3)] #[catch]] loop { step n = Number { id: it.id, fails: it.fails }; n } while it.id > 9 }
    LoopCollectOptional(it) -> Option<Vec<u64>> { [#[at_most(3)] #[collect] #[optional]] loop { step n = Number { id: it.id, fails: it.fails }; n } while it.id > 9 }
}

plan! {
    Parts(it: Item) -> (Vec<Option<String>>, Vec<Option<u64>>, Vec<Vec<Option<String>>>, Vec<String>) {
        #[catch(each)]
        step each = for x in &it.items { if x.wanted { Number { id: x.id, fails: x.fails } } };
        #[catch(each)]
        step nested = for x in &it.items { for y in &x.items { if y.wanted { Number { id: y.id, fails: y.fails } } } };
        step said = for one in &each {
            if let Err(failure) = one { Same::<String> { value: failure.message } }
            else if let Ok(Some(id)) = one { Same::<String> { value: id.to_string() } }
            else { Same::<String> { value: "skipped" } }
        };
        (each[..].err()?.message, each[..].ok()??, nested[..][..].err()?.message, said)
    }
}

#[test]
fn each_part_of_a_skipped_element_is_there() {
    let it = items(2).remove(0);
    let it = Item {
        items: items(2),
        ..it
    };
    let (errors, oks, nested, said) = smol::block_on(Parts { it }.run(&())).unwrap();
    let failed = || Some(FAILS.to_owned());
    assert_eq!(errors, [None, failed(), None, None]);
    assert_eq!(oks, [Some(1), None, None, None]);
    assert_eq!(nested, vec![vec![None, failed(), None, None]; 4]);
    assert_eq!(said, ["1", FAILS, "skipped", "skipped"]);
}
