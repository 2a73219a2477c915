//! Plans that other macros write.

use plan_runtime::{Result, plan, tool};

/// Adds.
#[tool]
async fn add(left: i64, right: i64) -> Result<i64> {
    Ok(left + right)
}

macro_rules! adding_plan {
    ($(#[$attr:meta])* $vis:vis $name:ident($input:ident: $ty:ty) by $by:expr, $step:ident => $tail:expr) => {
        plan! {
            $(#[$attr])*
            $vis $name($input: $ty) -> i64 {
                step $step = Add { left: $input, right: $by };
                step own = Add { left: $step, right: 1 };
                step computed: i64 = own + $step - $step;
                #[after(computed)]
                step text: String = format!("{computed} {}", $step);
                step used: usize = text.len() - text.len();
                step sum: i64 = $tail + computed - own + used as i64;
                sum
            }
        }
    };
}

adding_plan! {
    /// Adds two.
    #[derive(Debug)]
    pub(crate) AddTwo(number: i64) by 2, added => added * 10
}
adding_plan! { AddComputed(a: i64) by a * 2, b => b }

macro_rules! whole {
    ($($plan:tt)*) => { plan! { $($plan)* } };
}

whole! {
    Passed(a: i64) -> i64 { step b = Add { left: a, right: 1 }; step c: i64 = b + a; c }
}

macro_rules! tool_plan {
    ($tool:path, $field:ident = $value:literal) => {{
        let plan = plan! { step a = $tool { $field: $value, right: 1 }; step b: i64 = a + 1; b };
        smol::block_on(plan.run(&())).unwrap()
    }};
}

macro_rules! flow_plan {
    ($name:ident($input:ident: $ty:ty), $element:ident in $list:expr => $text:expr, $limit:literal, $condition:expr) => {
        plan! {
            $name($input: $ty, flag: bool) -> (Vec<i64>, Option<i64>, i64, Vec<Option<i64>>) {
                #[retry($limit)]
                #[concurrency($limit)]
                step own = for $element in $list { Add { left: $element, right: $text } };
                step skipped = if $condition { Add { left: 1, right: own.len() as i64 } };
                step local = for (index, number) in own.iter().enumerate() {
                    if flag { Add { left: number + index as i64, right: number } }
                };
                step $element = if let Some(skipped) = skipped { Add { left: skipped, right: 1 } } else { Add { left: 0, right: 0 } };
                #[fallback($element + 1)]
                step kept = Add { left: $element, right: 0 };
                (own, skipped, kept, local)
            }
        }
    };
}

flow_plan! { FlowMade(numbers: Vec<i64>), number in numbers => number * 2, 3, flag && numbers.len() > 1 }

whole! {
    FlowPassed(numbers: Vec<i64>) -> Vec<Option<i64>> {
        #[optional(each)]
        step each = for number in numbers { Add { left: number, right: number + 1 } };
        each
    }
}

#[test]
fn flow_out_of_macros() {
    let made = |flag| {
        let numbers = vec![1, 2];
        smol::block_on(FlowMade { numbers, flag }.run(&())).unwrap()
    };
    assert_eq!(
        made(true),
        (vec![3, 6], Some(3), 4, vec![Some(6), Some(13)])
    );
    assert_eq!(made(false), (vec![3, 6], None, 0, vec![None, None]));
    let numbers = vec![1, 2];
    assert_eq!(
        smol::block_on(FlowPassed { numbers }.run(&())).unwrap(),
        [Some(3), Some(5)]
    );
}

#[test]
fn out_of_macros() {
    assert_eq!(smol::block_on(AddTwo { number: 1 }.run(&())).unwrap(), 30);
    assert_eq!(smol::block_on(AddComputed { a: 1 }.run(&())).unwrap(), 3);
    assert_eq!(smol::block_on(Passed { a: 1 }.run(&())).unwrap(), 3);
    assert_eq!(tool_plan!(Add, left = 5), 7);
    assert_eq!(AddTwo::PLAN.step("added").unwrap().id, "added");
    let value = whole! { step a = Add { left: 1, right: 2 }; (a, a + 1) };
    assert_eq!(smol::block_on(value.run(&())).unwrap(), (3, 4));
}
