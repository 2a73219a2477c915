//! The effects of a failed or slow step.

use super::{App, Check, Flaky, Hang, List, Said, Say, Work, Wrong};
use crate::support::{Add, Same, done, failed};
use plan_runtime::plan;
use plan_runtime::run::ManualTimer;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::Duration;

plan! {
    pub Failing(count: u32, bad: u32) -> Value {
        step all = List { count };
        #[optional]
        step optional = Check { number: 1, bad };
        #[optional]
        step whole = for item in all.all { Check { number: item.serial_number, bad } };
        #[optional(each)]
        step each = for item in all.all { Check { number: item.serial_number, bad } };
        #[optional(each)]
        step nested = for item in all.all { for index in 0..2 { Check { number: item.serial_number + index, bad } } };
        #[fallback(all.all[1].serial_number + count * 10)]
        step fallback = Check { number: 1, bad };
        #[fallback(7)]
        step literal = Check { number: 1, bad };
        #[fallback([fallback, count])]
        step of_list = for item in all.all { Check { number: item.serial_number, bad } };
        #[fallback(Said { id: format!("at {}", bad), number: optional })]
        step of_struct = Same::<Said> { value: if bad == 1 { panic!("no") } else { Said { id: "fine".into(), number: None } } };
        step told = Say { text: "told", number: optional };
        json!([optional, whole, each, nested, fallback, literal, of_list, of_struct, told.number])
    }
}

#[test]
fn what_fails() {
    assert_eq!(
        done(Failing { count: 3, bad: 9 }.run(&())),
        json!([1, [0, 1, 2], [0, 1, 2], [[0, 1], [1, 2], [2, 3]], 1, 1, [0, 1, 2], {"id": "fine", "number": null}, 1])
    );
    assert_eq!(
        done(Failing { count: 3, bad: 1 }.run(&())),
        json!([
            null, null, [0, null, 2], [[0, null], [null, 2], [2, 3]], 31, 7, [31, 3], {"id": "at 1", "number": null}, null
        ])
    );
}

plan! {
    pub Stops(count: u32, bad: u32) -> Vec<Vec<u32>> {
        step all = List { count };
        step one = for item in all.all { Check { number: item.serial_number, bad } };
        step two = for item in all.all { for index in 0..3 { Check { number: item.serial_number * 10 + index, bad } } };
        step used: usize = one.len();
        #[after(used)]
        step _last = Add { left: 1, right: 1 };
        two
    }
}

#[test]
fn a_failed_element_is_named() {
    assert_eq!(
        failed(Stops { count: 3, bad: 2 }.run(&()).concurrency(1)),
        "plan `stops` failed: step `one[2]` (check): 2 is bad (this blocked `used` and `_last`)"
    );
    let error = failed(Stops { count: 3, bad: 21 }.run(&()));
    assert!(
        error.contains("step `two[2][1]` (check): 21 is bad"),
        "{error}"
    );
}

plan! {
    pub Flakes(failures: usize) -> usize {
        #[retry(3, backoff = "1ms", max = "2ms")]
        step one = Flaky { failures };
        one
    }
}

plan! {
    pub FlakesInLoop(failures: usize) -> Vec<usize> {
        #[retry(3, backoff = "1ms", jitter = false)]
        step each = for _ in 0..2 { Flaky { failures } };
        each
    }
}

plan! { Wrongs() -> usize { #[retry(5)] step one = Wrong {}; one } }

#[test]
fn retries() {
    let app = App::default();
    assert_eq!(done(Flakes { failures: 2 }.run(&app)), 3);
    assert_eq!(
        failed(Flakes { failures: 3 }.run(&App::default())),
        "plan `flakes` failed: step `one` (flaky): attempt 3 failed"
    );
    assert_eq!(
        done(FlakesInLoop { failures: 2 }.run(&App::default())).len(),
        2
    );
    let app = App::default();
    assert_eq!(
        failed(Wrongs {}.run(&app)),
        "plan `wrongs` failed: step `one` (wrong): wrong for good"
    );
    assert_eq!(app.attempts.load(Ordering::SeqCst), 1);
}

plan! {
    pub Hangs() -> Value {
        #[timeout("10s")]
        #[retry(2, backoff = "1s", jitter = false)]
        #[optional]
        step retried = Hang {};
        #[deadline("1m 30s")]
        #[fallback("late")]
        step late = Hang {};
        #[timeout("1h")]
        #[optional(each)]
        step each = for _ in 0..3 { Hang {} };
        json!([retried, late, each])
    }
}

plan! { HangsForGood() -> String { #[timeout("5s")] step one = Hang {}; one } }

#[test]
fn time_limits() {
    let timer = ManualTimer::new();
    let output = smol::block_on(timer.skip_waits(Hangs {}.run(&()).timer(timer.clone())));
    assert_eq!(output.unwrap(), json!([null, "late", [null, null, null]]));
    assert_eq!(timer.elapsed(), Duration::from_hours(1));
    let timer = ManualTimer::new();
    let output = smol::block_on(timer.skip_waits(HangsForGood {}.run(&()).timer(timer.clone())));
    assert_eq!(
        output.unwrap_err().to_string(),
        "plan `hangs_for_good` failed: step `one` (hang): took longer than 5s"
    );
}

plan! {
    pub Bounded(count: u32) -> Vec<u32> {
        #[concurrency(1)]
        step all = for number in 0..count { Work { number } };
        all
    }
}

plan! {
    BoundedByTwo(count: u32) -> Vec<u32> {
        #[concurrency(2)]
        step all = for number in 0..count { Work { number } };
        all
    }
}

plan! { Unbounded(count: u32) -> Vec<u32> { step all = for number in 0..count { Work { number } }; all } }

#[test]
fn elements_at_once() {
    let app = App::default();
    assert_eq!(done(Bounded { count: 5 }.run(&app)), [0, 1, 2, 3, 4]);
    assert_eq!(app.most.load(Ordering::SeqCst), 1);
    assert_eq!(*app.order.lock().unwrap(), [0, 1, 2, 3, 4]);
    let app = App::default();
    assert_eq!(done(BoundedByTwo { count: 5 }.run(&app)), [0, 1, 2, 3, 4]);
    assert_eq!(app.most.load(Ordering::SeqCst), 2);
    let app = App::default();
    assert_eq!(done(Unbounded { count: 5 }.run(&app)), [0, 1, 2, 3, 4]);
    assert_eq!(app.most.load(Ordering::SeqCst), 5);
    // The element that ends last is first in the list all the same.
    assert_eq!(*app.order.lock().unwrap(), [4, 3, 2, 1, 0]);
}
