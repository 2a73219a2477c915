//! The forms of a plan: items, expressions, steps and their order, plans inside plans.

use crate::support::{Add, Make, Nothing, Same, done, failed};
use plan_runtime::{Call, Plan, Result, Shape, Tool, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Mutex;

#[derive(Default)]
pub struct App {
    log: Mutex<Vec<String>>,
}

/// Notes a word, and returns how many there are.
#[tool]
pub async fn note(app: &App, word: String) -> Result<usize> {
    let mut log = app.log.lock().unwrap();
    log.push(word);
    Ok(log.len())
}

/// A tool with arguments that can be left out.
#[tool]
#[derive(Debug)]
async fn configure(
    name: String,
    #[serde(default)] size: u8,
    label: Option<String>,
    r#type: Option<u8>,
) -> Result<String> {
    Ok(format!("{name} {size} {label:?} {}", r#type.is_some()))
}

/// A tool without arguments.
#[derive(Serialize, Deserialize, Shape, Tool)]
#[tool(output = bool)]
pub struct Ping;

impl<A: ?Sized + Sync> Call<A> for Ping {
    async fn call(self, _: &A) -> Result<bool> {
        Ok(true)
    }
}

plan! { Empty() {} }
plan! { OnlyOutput(a: u8) -> u8 { a } }
plan! { NoOutput() { step one = Nothing {}; step two = Ping; step three = crate::plans::Ping; } }
plan! { Constant() -> (u8, char) { (1, 'x') } }

#[test]
fn small_plans() {
    done(Empty {}.run(&()));
    done(NoOutput {}.run(&()));
    assert_eq!(done(OnlyOutput { a: 3 }.run(&())), 3);
    assert_eq!(done(Constant {}.run(&())), (1, 'x'));
    assert_eq!(
        (Empty::PLAN.name.as_ref(), Empty::PLAN.steps.len()),
        ("empty", 0)
    );
    assert_eq!(NoOutput::PLAN.output.type_name, "()");
    assert_eq!(NoOutput::PLAN.levels().len(), 1);
}

plan! {
    /// Steps in any order.
    Shuffled(a: i64) -> i64 {
        step last = Add { left: middle, right: first };
        step middle = Add { left: first, right: 10 };
        step first = Add { left: a, right: 1 };
        last
    }
}

#[test]
fn any_order() {
    assert_eq!(done(Shuffled { a: 1 }.run(&())), 14);
    let ids: Vec<Vec<&str>> = Shuffled::PLAN
        .levels()
        .iter()
        .map(|level| level.iter().map(|step| &*step.id).collect())
        .collect();
    assert_eq!(ids, [["first"], ["middle"], ["last"]]);
}

plan! {
    /// Order without data.
    After(word: String) -> Vec<usize> {
        #[after(second)]
        step third = Note { word: "third" };
        #[after(first)]
        step second = Note { word };
        /// The first one.
        step first = Note { word: "first" };
        #[after(third, first)]
        #[after(computed)]
        step fourth = Note { word: "fourth" };
        #[after(third)]
        step computed: usize = 5;
        [first, second, third, fourth, computed]
    }
}

#[test]
fn after() {
    let app = App::default();
    assert_eq!(
        done(
            After {
                word: "second".into()
            }
            .run(&app)
        ),
        [1, 2, 3, 4, 5]
    );
    assert_eq!(
        *app.log.lock().unwrap(),
        ["first", "second", "third", "fourth"]
    );
    let fourth = After::PLAN.step("fourth").unwrap();
    assert_eq!(
        (&*fourth.after, &*fourth.needs()),
        (&[0, 2, 4][..], &[0, 2, 4][..])
    );
}

plan! {
    LeftOut(name: String, r#type: u8) -> [String; 4] {
        step all = Configure { name, size: 3, label: "l", r#type };
        step rest = Configure { name, .. };
        step some = Configure { label: Some(name), name: "n", .. };
        step none = Configure { name, size: 1, label: None, r#type: None };
        [all, rest, some, none]
    }
}

#[test]
fn left_out() {
    let plan = LeftOut {
        name: "x".into(),
        r#type: 1,
    };
    let expected = [
        "x 3 Some(\"l\") true",
        "x 0 None false",
        "n 0 Some(\"x\") false",
        "x 1 None false",
    ];
    assert_eq!(done(plan.run(&())), expected);
    assert_eq!(LeftOut::PLAN.inputs[1].name, "type");
}

plan! {
    /// Adds one.
    pub(crate) Increment(number: i64) -> i64 {
        step sum = Add { left: number, right: 1 };
        sum
    }
}

plan! {
    pub IncrementTwice(number: i64) -> Steps {
        step once = Increment { number };
        step twice = Increment { number: once };
        Steps { once, twice: twice }
    }
}

plan! {
    Thrice(start: i64) -> (i64, i64) {
        step two = IncrementTwice { number: start };
        step three = Increment { number: two.twice };
        (two.once, three)
    }
}

#[derive(Serialize, Deserialize, Shape, Debug, PartialEq)]
pub struct Steps {
    pub once: i64,
    pub twice: i64,
}

#[test]
fn plans_in_plans() {
    assert_eq!(done(Thrice { start: 5 }.run(&())), (6, 8));
    assert_eq!(
        (Increment::NAME, Increment::DESCRIPTION),
        ("increment", "Adds one.")
    );
    let tool = Thrice::PLAN.step("two").unwrap().tool().unwrap();
    assert_eq!(tool.name, "increment_twice");
    let call = Thrice { start: 1 }.call(&());
    assert_eq!(smol::block_on(call).unwrap(), (2, 4));
    let error = failed(
        Thrice {
            start: i64::MAX - 2,
        }
        .run(&()),
    );
    assert!(error.contains("step `three."), "{error}");
}

plan! {
    /// What it does.
    ///
    /// At length.
    #[derive(Debug, Clone, PartialEq)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    #[must_use]
    pub Attributed(
        /// The first.
        first_name: String,
        #[serde(default = "nobody", rename = "last")] last_name: String,
        #[allow(unused)] not_used: Option<u8>,
        _ignored: Option<u8>,
    ) -> String {
        /// Joins the names.
        ///
        /// Twice.
        step joined: String = format!("{first_name} {last_name}");
        joined
    }
}

fn nobody() -> String {
    "Nobody".into()
}

#[test]
fn attributes() {
    let plan: Attributed =
        serde_json::from_value(json!({"firstName": "Jo", "notUsed": 1})).unwrap();
    assert_eq!(plan.clone(), plan);
    assert_eq!(done(plan.run(&())), "Jo Nobody");
    assert!(serde_json::from_value::<Attributed>(json!({"firstName": "Jo", "x": 1})).is_err());
    let plan = Attributed::PLAN;
    assert_eq!(plan.description, "What it does.\n\nAt length.");
    assert_eq!(plan.input("first_name").unwrap().description, "The first.");
    assert_eq!(
        plan.step("joined").unwrap().intent,
        "Joins the names.\n\nTwice."
    );
}

/// A type without `Shape`, with hand-written serde traits of another crate.
#[derive(Serialize, Deserialize, Clone)]
pub struct Shapeless {
    pub inside: Vec<u8>,
}

plan! {
    NoShapes(thing: Shapeless, result: std::result::Result<u8, String>, duration: std::time::Duration) -> Value {
        step same = Same::<Shapeless> { value: thing };
        step length: usize = same.inside.len() + thing.inside.len();
        step results = Same::<std::result::Result<u8, String>> { value: result };
        json!([length, same, results, duration])
    }
}

#[test]
fn inputs_without_shape() {
    let plan = NoShapes {
        thing: Shapeless { inside: vec![1, 2] },
        result: Err("no".into()),
        duration: std::time::Duration::from_millis(1500),
    };
    let expected = json!([4, {"inside": [1, 2]}, {"Err": "no"}, {"secs": 1, "nanos": 500_000_000}]);
    assert_eq!(done(plan.run(&())), expected);
}

#[test]
fn tails() {
    assert_eq!(
        done(plan! { step a = Add { left: 1, right: 2 }; a }.run(&())),
        3
    );
    assert_eq!(
        done(plan! { step a = Same::<Option<u8>> { value: 1 }; a }.run(&())),
        Some(1)
    );
    assert_eq!(
        done(plan! { step a = Add { left: 1, right: 2 }; a + 1 }.run(&())),
        4
    );
    assert_eq!(
        done(plan! { step a = Add { left: 1, right: 2 }; format!("{a}!") }.run(&())),
        "3!"
    );
    assert_eq!(
        done(plan! { step a = Add { left: 1, right: 2 }; (a, "x", 1.5) }.run(&())),
        (3, "x".into(), 1.5)
    );
    assert_eq!(
        done(plan! { step a = Add { left: 1, right: 2 }; [a, a] }.run(&())),
        [3, 3]
    );
    assert_eq!(
        done(plan! { step a = Add { left: 1, right: 2 }; Some(a) }.run(&())),
        Some(3)
    );
    assert_eq!(
        done(plan! { step a = Add { left: 1, right: 2 }; json!({"a": a}) }.run(&())),
        json!({"a": 3})
    );
    assert_eq!(
        done(plan! { step a = Add { left: 1, right: 2 }; a.to_string() }.run(&())),
        "3"
    );
    assert_eq!(
        done(
            plan! { step a = Add { left: 1, right: 2 }; if a > 2 { vec![a] } else { vec![] } }
                .run(&())
        ),
        [3]
    );
    assert_eq!(
        done(plan! { step a = Add { left: 1, right: 2 }; format!("{:>3}", a + 1) }.run(&())),
        "  4"
    );
    assert_eq!(
        done(plan! { step a = Add { left: 1, right: 2 }; json!([a + 1, a]) }.run(&())),
        json!([4, 3])
    );
    assert_eq!(
        done(plan! { step a = Add { left: 1, right: 2 }; (a * 2, [a.pow(2)]) }.run(&())),
        (6, vec![9])
    );
    assert_eq!(
        done(
            plan! { step a: String = "1".into(); Steps { once: a.parse().unwrap_or(0), twice: 2 } }
                .run(&())
        )
        .once,
        1
    );
    let steps = plan! { step a = Add { left: 1, right: 2 }; Steps { once: a, twice: a * 2 } };
    assert_eq!(done(steps.run(&())), Steps { once: 3, twice: 6 });
    assert_eq!(
        done(
            plan! { step a = Make::<Steps> { json: "{\"once\":1,\"twice\":2}", .. }; a.twice }
                .run(&())
        ),
        2
    );
    assert_eq!(
        done(plan! { step a = Same::<Value> { value: json!([1]) }; a[0] }.run(&())),
        json!(1)
    );
    assert_eq!(
        done(plan! { step a = Same::<Vec<Steps>> { value: [] }; a[..].once }.run(&())),
        [0; 0]
    );
    assert_eq!(done(plan! { 5u8 }.run(&())), 5);
    assert_eq!(done(plan! { "text" }.run(&())), "text");
    done(plan! { step a = Nothing {}; a }.run(&()));
    done(plan! { step a = Nothing {}; }.run(&()));
}

#[test]
fn expressions() {
    let inner = plan! { step a = Increment { number: 1 }; step b: i64 = a * 2; b };
    let copy = inner;
    assert_eq!(done(inner.run(&())), done(copy.run(&App::default())));
    let data: &'static Plan = inner.plan();
    assert_eq!((data.steps.len(), data.inputs.len()), (2, 0));
    assert_eq!(inner.to_string(), data.to_string());
}

fn generic<T>(app: &T) -> i64
where
    T: Sync,
    Note: Call<T>,
{
    let plan =
        plan! { step words = Note { word: "generic" }; step more: i64 = words as i64 + 1; more };
    done(plan.run(app))
}

impl<T> Wrapper<T> {
    fn run(&self) -> (usize, i64)
    where
        T: Sync,
    {
        plan! { Inside(number: i64) -> i64 { step a = Add { left: number, right: 1 }; a } }
        (
            std::mem::size_of::<T>(),
            done(Inside { number: 1 }.run(&self.0)),
        )
    }
}

struct Wrapper<T>(T);

#[test]
fn generic_functions() {
    assert_eq!(generic(&App::default()), 2);
    assert_eq!(Wrapper(1_u16).run(), (2, 2));
}

mod outer {
    use plan_runtime::plan;

    pub(super) mod inner {
        plan_runtime::plan! {
            pub(in crate::plans) Deep(number: i64) -> i64 {
                step a = crate::support::Add { left: number, right: super::PRIVATE };
                step b = super::super::Increment { number: a };
                b
            }
        }
    }

    const PRIVATE: i64 = 5;

    plan! { pub(super) Shallow() -> i64 { step a = self::inner::Deep { number: 1 }; a } }
}

#[test]
fn modules() {
    assert_eq!(done(outer::Shallow {}.run(&())), 7);
    assert_eq!(outer::inner::Deep::PLAN.name, "deep");
}
