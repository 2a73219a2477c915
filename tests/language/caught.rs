//! Steps whose failures are values: `#[catch]`.

use crate::support::{Same, done, failed};
use plan_runtime::dynamic::Toolbox;
use plan_runtime::run::{OnFailure, Status};
use plan_runtime::{Error, Failure, Plan, Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Shape)]
pub struct Item {
    pub id: u64,
    pub name: Option<String>,
}

/// Finds an item by its name.
#[tool]
pub async fn find(name: String) -> Result<Item> {
    if name.starts_with("no") {
        return Err(Error::permanent(format!("there is {name}")).with_code("NOT_FOUND"));
    }
    let id = name.len() as u64;
    Ok(Item {
        id,
        name: Some(name),
    })
}

/// Describes the report of an item.
#[tool]
pub async fn describe(
    id: Option<u64>,
    name: Option<String>,
    why: Option<String>,
) -> Result<String> {
    Ok(format!("{id:?} {name:?} {why:?}"))
}

/// Takes an item's number.
#[tool]
pub async fn number(id: u64) -> Result<u64> {
    Ok(id)
}

plan! {
    pub Described(name: String) -> (String, bool, Result<Item, Failure>) {
        #[catch]
        step found = Find { name };
        step text = Describe { id: found.ok()?.id, name: found.ok()?.name?, why: found.err()?.message };
        step is_there: bool = found.is_ok();
        (text, is_there, found)
    }
}

fn not_found(step: &str, message: &str) -> Failure {
    let json = json!({
        "step": step, "code": "NOT_FOUND", "message": message, "transient": false, "attempts": 1,
    });
    serde_json::from_value(json).unwrap()
}

#[test]
fn both_outcomes_are_values() {
    let name = |name: &str| Described { name: name.into() }.run(&());
    let lamp = Item {
        id: 4,
        name: Some("lamp".into()),
    };
    let text = r#"Some(4) Some("lamp") None"#.to_owned();
    assert_eq!(done(name("lamp")), (text, true, Ok(lamp)));
    let text = r#"None None Some("there is no lamp")"#.to_owned();
    let failure = not_found("found", "there is no lamp");
    assert_eq!(done(name("no lamp")), (text, false, Err(failure)));
}

plan! {
    pub NumberOf(name: String) -> u64 {
        #[catch]
        step found = Find { name };
        #[catch]
        step first = Number { id: found?.id };
        step second = Number { id: first? };
        second
    }
}

#[test]
fn a_failure_goes_on_as_it_is() {
    let name = |name: &str| NumberOf { name: name.into() }.run(&());
    assert_eq!(done(name("lamp")), 4);
    assert_eq!(
        failed(name("no lamp")),
        "plan `number_of` failed: step `second` (number): step `found` failed: there is no lamp"
    );
    let (result, report) = smol::block_on(name("no lamp").with_report());
    let error = result.unwrap_err();
    let failure = Failure::from(&error.failures()[0]);
    assert_eq!(failure, not_found("found", "there is no lamp"));
    assert!(error.is_permanent());
    let is_recovered =
        |step: &str| matches!(report.step(step).unwrap().status(), Status::Recovered(_));
    assert!(is_recovered("found") && is_recovered("first"));
}

plan! {
    pub Each(names: Vec<String>) -> (Vec<Result<u64, Failure>>, Vec<Option<u64>>) {
        #[catch(each)] #[concurrency(1)]
        step numbers = for name in &names {
            if name.is_empty() { Missing {} } else { Length { name } }
        };
        (numbers, numbers[..].ok()?)
    }
}

/// Fails once more.
#[tool]
pub async fn missing() -> Result<u64> {
    Err(Error::msg("it has no name"))
}

/// Returns the length of a name.
#[tool]
pub async fn length(name: String) -> Result<u64> {
    Ok(find(name).await?.id)
}

#[test]
fn each_element_has_its_own() {
    let names = ["lamp", "", "no table"].map(str::to_owned).to_vec();
    let (all, numbers) = done(Each { names }.run(&()));
    assert_eq!(numbers, [Some(4), None, None]);
    let [Ok(4), Err(first), Err(second)] = &all[..] else {
        panic!("{all:?}");
    };
    assert_eq!(
        (&*first.step, &*first.code, first.transient),
        ("numbers[1]", "FAILED", true)
    );
    assert_eq!(first.message, "it has no name");
    assert_eq!(*second, not_found("numbers[2]", "there is no table"));
}

plan! {
    pub Grid(rows: Vec<Vec<String>>) -> (u64, Vec<Vec<Option<String>>>) {
        #[catch(each)]
        step cells = for row in rows { for name in row { Length { name } } };
        (cells[0][1]?, cells[..][..].err()?.step)
    }
}

#[test]
fn of_lists_in_lists_it_is_the_inner_one() {
    let row = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let rows = vec![row(&["no", "ab"]), row(&["abc", "no"])];
    let steps = vec![
        vec![Some("cells[0][0]".to_owned()), None],
        vec![None, Some("cells[1][1]".to_owned())],
    ];
    assert_eq!(done(Grid { rows }.run(&())), (2, steps));
    let rows = vec![row(&["a", "no"])];
    assert_eq!(
        failed(Grid { rows }.run(&())),
        "plan `grid` failed: its output: step `cells[0][1]` failed: there is no"
    );
}

static TRIES: AtomicU32 = AtomicU32::new(0);

/// Works the third time.
#[tool]
pub async fn third() -> Result<u32> {
    match TRIES.fetch_add(1, Ordering::SeqCst) {
        2 => Ok(3),
        _ => Err(Error::msg("not yet")),
    }
}

#[test]
fn it_is_caught_after_the_last_attempt() {
    plan! {
        Tries() -> (Result<u32, Failure>, Result<u32, Failure>) {
            #[retry(2, backoff = "1ms")] #[catch]
            step first = Third {};
            #[after(first)] #[catch]
            step then = Third {};
            (first, then)
        }
    }
    let (first, then) = done(Tries {}.run(&()));
    let failure = first.unwrap_err();
    assert_eq!((failure.attempts, failure.transient), (2, true));
    assert_eq!(then, Ok(3));
}

/// Takes forever.
#[tool]
pub async fn forever() -> Result<u64> {
    std::future::pending().await
}

/// Panics.
#[tool]
pub async fn panics() -> Result<u64> {
    panic!("upside down")
}

plan! {
    pub Kinds(items: Vec<Item>) -> Vec<Result<u64, Failure>> {
        #[catch] #[timeout("1ms")]
        step late = Forever {};
        #[catch] #[deadline("1ms")] #[retry(2)]
        step later = Forever {};
        #[catch]
        step panicked = Panics {};
        #[catch]
        step arguments = Number { id: items[3].id };
        #[catch]
        step inner = Number2 { name: "no lamp" };
        #[catch]
        step computed: u64 = items[5].id;
        [late, later, panicked, arguments, inner, computed]
    }
}

plan! {
    pub Number2(name: String) -> u64 {
        step found = Find { name };
        found.id
    }
}

#[test]
fn each_kind_of_failure_has_its_code() {
    let failures = done(Kinds { items: vec![] }.run(&()));
    let codes = failures.iter().map(|it| {
        let failure = it.as_ref().unwrap_err();
        (&*failure.step, &*failure.code, failure.transient)
    });
    assert_eq!(
        codes.collect::<Vec<_>>(),
        [
            ("late", "TIMEOUT", true),
            ("later", "DEADLINE", false),
            ("panicked", "PANIC", true),
            ("arguments", "ARGUMENTS", false),
            ("inner.found", "NOT_FOUND", false),
            ("computed", "ARGUMENTS", false),
        ]
    );
}

#[test]
fn a_failure_of_another_step_is_not_caught() {
    let plan = plan! {
        step first = Missing {};
        #[catch]
        step second = Number { id: first };
        second
    };
    for policy in [OnFailure::Stop, OnFailure::Continue, OnFailure::Cancel] {
        let (result, report) = smol::block_on(plan.run(&()).on_failure(policy).with_report());
        assert!(result.is_err());
        let second = report.step("second").unwrap().status();
        assert!(matches!(second, Status::Blocked { .. }), "{second}");
    }
}

#[test]
fn a_caught_if_without_else_may_be_none() {
    plan! {
        Perhaps(wanted: bool, name: String) -> (Result<Option<Item>, Failure>, Option<u64>) {
            #[catch]
            step found = if wanted { Find { name } };
            (found, found.ok()??.id)
        }
    }
    let run = |wanted, name: &str| {
        let name = name.to_owned();
        done(Perhaps { wanted, name }.run(&()))
    };
    assert_eq!(run(false, "lamp"), (Ok(None), None));
    assert_eq!(run(true, "lamp").1, Some(4));
    let failure = not_found("found", "there is no lamp");
    assert_eq!(run(true, "no lamp"), (Err(failure), None));
}

#[test]
fn a_tool_may_give_and_take_results() {
    let plan = plan! {
        #[catch]
        step found = Find { name: "no lamp" };
        step same = Same::<Result<Item, Failure>> { value: found };
        step code = Same::<Option<String>> { value: same.err()?.code };
        (code, same.ok())
    };
    let (code, item) = done(plan.run(&()));
    assert_eq!((code.as_deref(), item), (Some("NOT_FOUND"), None));
}

#[test]
fn as_data_it_is_the_same_plan() {
    let json = serde_json::to_value(&**NumberOf::PLAN).unwrap();
    assert_eq!(json["steps"][0]["policy"], json!({"catch": true}));
    let path = &json["steps"][1]["arguments"]["object"]["id"]["reference"]["path"];
    assert_eq!(*path, json!([{"token": "Ok", "absent": "failure"}, "id"]));
    let read: Plan = serde_json::from_value(json).unwrap();
    assert_eq!(read, **NumberOf::PLAN);
    assert_eq!(read.to_string(), NumberOf::PLAN.to_string());

    let toolbox = Toolbox::new().with::<Find>().with::<Number>();
    let run = |name: &str| smol::block_on(toolbox.run(&read, json!({"name": name}), &()));
    assert_eq!(run("lamp").unwrap(), json!(4));
    assert_eq!(
        run("no lamp").unwrap_err().to_string(),
        "plan `number_of` failed: step `second` (number): step `found` failed: there is no lamp"
    );
}

#[test]
fn it_is_printed_as_it_is_written() {
    assert_eq!(
        Described::PLAN.to_string(),
        "\
plan described -> (String, bool, Result<Item, Failure>)
  input name: String

  #[catch]
  step found = find
    name: name
    // starts at once

  step text = describe
    id:   found.ok()?.id
    name: found.ok()?.name?
    why:  found.err()?.message
    // needs found

  step is_there = found.is_ok()
    // needs found

  output [text, is_there, found]
"
    );
}
