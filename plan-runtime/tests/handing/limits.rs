//! A value without JSON fails its own step, and the size of values counts toward the limits of a run.

use plan_runtime::run::{Limits, RunErrorKind};
use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize, Serializer};
use std::cell::RefCell;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
struct Numbers {
    numbers: Vec<f64>,
}

/// Returns numbers.
#[tool]
async fn measure(last: f64) -> Result<Numbers> {
    Ok(Numbers {
        numbers: vec![1.0, last / 0.0],
    })
}

/// Returns how many there are.
#[tool]
async fn count(numbers: Numbers) -> Result<usize> {
    Ok(numbers.numbers.len())
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
struct Deep {
    inside: Option<Box<Deep>>,
}

/// Returns a value that is nested this deep.
#[tool]
async fn nest(depth: usize) -> Result<Deep> {
    let mut deep = Deep { inside: None };
    for _ in 0..depth {
        deep = Deep {
            inside: Some(Box::new(deep)),
        };
    }
    Ok(deep)
}

/// Returns its argument.
#[tool]
async fn keep(deep: Deep) -> Result<Deep> {
    Ok(deep)
}

/// A map that has a name twice.
#[derive(Clone, Debug, Deserialize, Shape)]
struct Twice {
    text: String,
}

impl Serialize for Twice {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut twice = serializer.serialize_struct("Twice", 2)?;
        twice.serialize_field("text", &self.text)?;
        twice.serialize_field("text", &self.text)?;
        twice.end()
    }
}

/// Returns a value with two members of one name.
#[tool]
async fn repeat(text: String) -> Result<Twice> {
    Ok(Twice { text })
}

/// Takes it.
#[tool]
async fn take_twice(twice: Twice) -> Result<usize> {
    Ok(twice.text.len())
}

#[test]
fn what_json_cannot_hold_fails_its_own_step() {
    plan! {
        NotANumber() -> usize {
            step numbers = Measure { last: 1.0 };
            step counted = Count { numbers };
            counted
        }
    }
    plan! {
        TooDeep() -> Deep {
            step deep = Nest { depth: 200 };
            step kept = Keep { deep };
            kept
        }
    }
    plan! {
        TwoNames() -> usize {
            step twice = Repeat { text: "x" };
            step taken = TakeTwice { twice };
            taken
        }
    }
    let error = smol::block_on(NotANumber {}.run(&())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "plan `not_a_number` failed: step `numbers` (measure): its output is invalid: `/numbers/1` is inf, which JSON cannot represent (this blocked `counted`)"
    );
    let error = smol::block_on(TooDeep {}.run(&())).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("step `deep` (nest): its output is invalid: "),
        "{error}"
    );
    let error = smol::block_on(TwoNames {}.run(&())).unwrap_err();
    assert!(
        error.to_string().contains(
            "step `twice` (repeat): its output is invalid: `/text` is there more than once"
        ),
        "{error}"
    );
}

/// Returns as many bytes.
#[tool]
async fn bytes(size: usize) -> Result<Vec<u8>> {
    Ok(vec![0; size])
}

/// Returns its argument.
#[tool]
async fn same(bytes: Vec<u8>) -> Result<Vec<u8>> {
    Ok(bytes)
}

plan! {
    Held(size: usize) -> usize {
        step a = Bytes { size };
        step b = Same { bytes: a };
        step c = Bytes { size };
        step d: usize = b.len() + c.len();
        d
    }
}

#[test]
fn values_count_what_they_take() {
    let limits = Limits::DEFAULT.value(1_000_000).total(2_500_000);
    let run = |size: usize| smol::block_on(Held { size }.run(&()).concurrency(1).limits(limits));
    assert_eq!(run(900_000).unwrap(), 1_800_000);
    let error = run(1_100_000).unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Limit, "{error}");
    assert!(error.to_string().contains("step `a`"), "{error}");
    let total = limits.value(2_000_000);
    let error = smol::block_on(
        Held { size: 1_300_000 }
            .run(&())
            .concurrency(1)
            .limits(total),
    );
    assert_eq!(error.unwrap_err().kind(), RunErrorKind::Limit);
}

#[derive(Clone, Debug, Serialize, Deserialize, Shape)]
enum Unit {
    One,
    #[allow(dead_code)]
    Two,
}

/// Returns as many of each.
#[tool]
async fn texts(size: usize) -> Result<Vec<String>> {
    Ok(vec![String::new(); size])
}

#[tool]
async fn nothings(size: usize) -> Result<Vec<Option<String>>> {
    Ok(vec![None; size])
}

#[tool]
async fn units(size: usize) -> Result<Vec<Unit>> {
    Ok(vec![Unit::One; size])
}

#[tool]
async fn empties(size: usize) -> Result<Vec<Vec<u64>>> {
    Ok(vec![Vec::new(); size])
}

#[test]
fn what_is_empty_counts() {
    macro_rules! counted {
        ($plan:ident, $tool:ident, $item:ty) => {{
            plan! {
                $plan(size: usize) -> usize {
                    step list = $tool { size };
                    list.len()
                }
            }
            let limits = Limits::DEFAULT.value(1_000_000);
            let run = |size| smol::block_on($plan { size }.run(&()).limits(limits));
            assert_eq!(run(10_000).unwrap(), 10_000, "{}", stringify!($tool));
            // At least a third of the bytes is counted.
            let large = 3_000_000 / size_of::<$item>();
            assert_eq!(
                run(large).unwrap_err().kind(),
                RunErrorKind::Limit,
                "{}",
                stringify!($tool)
            );
        }};
    }
    counted!(OfTexts, Texts, String);
    counted!(OfNothings, Nothings, Option<String>);
    counted!(OfUnits, Units, Unit);
    counted!(OfEmpties, Empties, Vec<u64>);
}

/// Returns as many values that take no memory.
#[tool]
async fn nulls(size: usize) -> Result<Vec<()>> {
    Ok(vec![(); size])
}

#[test]
fn a_list_of_nothing_ends_too() {
    plan! {
        Nothing(size: usize) -> usize {
            step list = Nulls { size };
            list.len()
        }
    }
    let error = smol::block_on(Nothing { size: 1 << 40 }.run(&())).unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Limit, "{error}");
}

/// A value that cannot be cloned.
#[derive(Debug, Serialize, Deserialize, Shape)]
struct Single {
    bytes: Vec<u8>,
}

/// Returns one.
#[tool]
async fn make_single(size: usize) -> Result<Single> {
    Ok(Single {
        bytes: vec![0; size],
    })
}

/// Returns its size.
#[tool]
async fn look(single: Single) -> Result<usize> {
    Ok(single.bytes.len())
}

#[test]
fn json_that_was_made_counts_as_long_as_it_is_kept() {
    plan! {
        Kept(size: usize) -> usize {
            step a = MakeSingle { size };
            step b = MakeSingle { size };
            // All but the last read the JSON.
            step seen_a = Look { single: a };
            step seen_b = Look { single: b };
            step end = Look { single: a };
            step other = Look { single: b };
            seen_a + seen_b + end + other
        }
    }
    let run = |total: usize| {
        let limits = Limits::DEFAULT.total(total);
        smol::block_on(Kept { size: 10_000 }.run(&()).concurrency(1).limits(limits))
    };
    assert_eq!(run(2_000_000).unwrap(), 40_000);
    // The JSON of one fits, and that of both does not.
    assert_eq!(run(500_000).unwrap_err().kind(), RunErrorKind::Limit);
}

/// Counts the bytes of an input.
#[tool]
async fn weigh(bytes: Vec<u8>, other: u64) -> Result<usize> {
    Ok(bytes.len() + usize::try_from(other).unwrap_or(0))
}

#[test]
fn inputs_count_as_arguments() {
    plan! {
        Weighed(bytes: Vec<u8>) -> Vec<usize> {
            step weights = for other in [1_u64, 2] { Weigh { bytes, other } };
            weights
        }
    }
    let limits = Limits::DEFAULT.arguments(1_000);
    let run = |size| {
        smol::block_on(
            Weighed {
                bytes: vec![0; size],
            }
            .run(&())
            .limits(limits),
        )
    };
    assert_eq!(run(500).unwrap(), [501, 502]);
    assert_eq!(run(2_000).unwrap_err().kind(), RunErrorKind::Limit);
}

#[test]
fn json_of_a_value_counts_when_it_is_made() {
    plan! {
        Element(size: usize) -> u8 {
            step a = Bytes { size };
            a[0]
        }
    }
    let limits = Limits::DEFAULT.value(1_000_000);
    let error = smol::block_on(Element { size: 100_000 }.run(&()).limits(limits)).unwrap_err();
    assert_eq!(error.kind(), RunErrorKind::Limit, "{error}");
}

thread_local! {
    static WRITTEN: RefCell<usize> = const { RefCell::new(0) };
}

/// A value that JSON can hold the first time.
#[derive(Clone, Debug, Deserialize, Shape)]
struct Changing {
    number: f64,
}

impl Serialize for Changing {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let times = WRITTEN.with_borrow_mut(|times| {
            *times += 1;
            *times
        });
        let number = if times > 1 { f64::NAN } else { self.number };
        BTreeMap::from([("number", number)]).serialize(serializer)
    }
}

/// Returns it.
#[tool]
async fn change() -> Result<Changing> {
    Ok(Changing { number: 1.0 })
}

/// Takes another type.
#[tool]
async fn take_map(map: BTreeMap<String, f64>) -> Result<usize> {
    Ok(map.len())
}

#[test]
fn a_value_that_json_cannot_hold_later_fails_its_reader() {
    use plan_runtime::Plan;
    use plan_runtime::plan::{Action, Reference, Source, Step, Template};
    use plan_runtime::run::Run;
    use plan_runtime::{check::Request, check::Started};

    fn start<'x>(step: usize, request: Request<'_>, app: &'x ()) -> Started<'x> {
        match step {
            0 => request.call::<Change, ()>(app),
            _ => request.call::<TakeMap, ()>(app),
        }
    }
    let mut plan = Plan::new("changing");
    let whole = Template::from(Reference::new(Source::Step(0)));
    plan.steps = vec![
        Step::new("a", Action::call("change", Template::object::<String>([]))),
        Step::new(
            "b",
            Action::call("take_map", Template::object([("map", whole)])),
        ),
    ];
    plan.output.value = Reference::new(Source::Step(1)).into();
    let error = smol::block_on(Run::<(), usize>::new(&plan, Ok(Vec::new()), &(), start));
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("step `b`") && error.contains("NaN"),
        "{error}"
    );
}
