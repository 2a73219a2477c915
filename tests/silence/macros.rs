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
