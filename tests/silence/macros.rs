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

/// Returns a plan with captured tokens of each kind in each position of a value.
macro_rules! fragments {
    ($name:ident($x:ident, $y:ident), $number:expr, $holds:expr, $ty:ty, $literal:literal, $ident:ident, $block:block, $path:path) => {
        plan! {
            $name($x: Option<i64>, $y: i64) -> (Vec<i64>, $ty) {
                step argument = Add { left: $number, right: $literal };
                step first = Add { right: $literal, left: $block };
                step text: String = format!("{} {}", $number, $literal);
                step list: Vec<i64> = [$number, $literal, $block].to_vec();
                step some: Option<$ty> = Some($number);
                step typed: $ty = $number;
                step made: $ty = <$ty>::from($number) + $literal;
                step parsed: $ty = "5".parse::<$ty>().unwrap_or($literal) + ($number as $ty);
                step empty: Vec<$ty> = Vec::<$ty>::new();
                step $ident: i64 = $block;
                step tool = $path { left: $ident, right: $number };
                step branch = if $holds { Add { left: 1, right: $number } } else { Add { left: $literal, right: $block } };
                step both = if $holds && $y > 0 { Add { left: 1, right: 1 } } else { $path { left: $number, right: 1 } };
                step bound = if let Some(found) = Some($number) { Add { left: found, right: $y } };
                step chosen = match $number { 1 => Add { left: 1, right: 1 }, _ => Add { left: $number, right: $block } };
                step each = for number in [$number, $literal] { Add { left: number, right: $number } };
                #[at_most(2)]
                step again = loop { step once = Add { left: $number, right: $literal }; once } while $holds && $y > 100 && $x.is_none();
                #[fallback($number)]
                #[retry(2)]
                step kept = Add { left: $block, right: $ident };
                step json: serde_json::Value = serde_json::json!({ "a": $number, "b": [$literal, $block] });
                step sums: Vec<i64> = vec![
                    argument, first, text.len() as i64, list.len() as i64, some.unwrap_or(0), typed, made, parsed, empty.len() as i64, $ident, tool,
                    branch, both, bound.unwrap_or(0), chosen, each[0] + each[1], again, kept, json["b"].as_array().map_or(0, Vec::len) as i64,
                ];
                (sums, $number)
            }
        }
    };
}

fragments! { Calls(x, y), Some(y).unwrap_or(2), Some(1) == x, i64, 3, name, { let z = y; z + 1 }, Add }
fragments! { Methods(x, y), x.unwrap_or(y).abs(), x.is_some(), i64, 3, name, { let z = y; z + 1 }, self::Add }
fragments! { Operators(x, y), y + 1, y > 0 && x.is_none(), i64, 3, name, { let z = y; z }, crate::macros::Add }
fragments! { Variants(x, y), Ok::<i64, String>(5).unwrap_or(y), Ok::<i64, i64>(y) == Ok(1), i64, 3, name, { let z = Some(y); z.unwrap_or(0) }, Add }
fragments! { Names(x, y), y, x == Some(1), i64, 3, name, { let z = y; z }, Add }
fragments! { Branches(x, y), if y > 0 { 1 } else { y }, matches!(x, Some(1)), i64, 3, name, { let z = y; match z { 0 => 1, _ => z } }, Add }

/// A type that is no path alone.
macro_rules! of_type {
    ($ty:ty, $value:expr) => {{
        let plan = plan! { step a: $ty = $value; step b: $ty = <$ty>::new(); step c: usize = $ty::new().len() + a.len() + b.len(); c };
        smol::block_on(plan.run(&())).unwrap()
    }};
}

#[test]
fn fragments_in_each_position() {
    let (x, y) = (Some(1), 4);
    let last = |(sums, last): (Vec<i64>, i64)| (sums.len(), last);
    assert_eq!(
        last(smol::block_on(Calls { x, y }.run(&())).unwrap()),
        (19, 4)
    );
    assert_eq!(
        last(smol::block_on(Methods { x, y }.run(&())).unwrap()),
        (19, 1)
    );
    assert_eq!(
        last(smol::block_on(Operators { x, y }.run(&())).unwrap()),
        (19, 5)
    );
    assert_eq!(
        last(smol::block_on(Variants { x, y }.run(&())).unwrap()),
        (19, 5)
    );
    assert_eq!(
        last(smol::block_on(Names { x, y }.run(&())).unwrap()),
        (19, 4)
    );
    assert_eq!(
        last(smol::block_on(Branches { x, y }.run(&())).unwrap()),
        (19, 1)
    );
    assert_eq!(of_type!(Vec<u8>, vec![1]), 1);
    assert_eq!(of_type!(String, "ab".to_owned()), 2);
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
