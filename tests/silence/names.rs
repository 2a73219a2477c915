//! Names that the expansion could confuse with its own.

use plan_runtime::{Result, Shape, plan, tool};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Serialize, Deserialize, Shape, Debug, Clone)]
pub struct Odd {
    pub r#type: u8,
    pub r#struct: Option<Box<Odd>>,
    pub __c: u8,
    pub key: u8,
    pub field: u8,
    pub list: Vec<u8>,
    pub it: u8,
}

/// Gives one back.
#[tool]
async fn find_odd(r#type: u8, self_: u8, __app: u8, __step: u8, value: u8) -> Result<Odd> {
    let sum = r#type + self_ + __app + __step + value;
    Ok(Odd {
        r#type: sum,
        r#struct: None,
        __c: 1,
        key: 2,
        field: 3,
        list: vec![4],
        it: 5,
    })
}

plan! {
    pub Names(step: u8, app: u8, input: u8, r#fn: u8, __app: u8, __inputs: u8, plan: u8) -> Vec<u8> {
        step self_ = FindOdd { r#type: step, self_: app, __app, __step: input, value: r#fn };
        step args = FindOdd { r#type: self_.r#type, self_: self_.__c, __app: self_.key, __step: self_.field, value: self_.it };
        step outputs: u8 = args.list[0] + self_.r#type;
        step x: u8 = outputs + __app;
        step c: u8 = x + 1;
        step scope: u8 = c + x;
        step name: u8 = scope % 7;
        step __c: u8 = name + 1;
        step __x: u8 = __c + 1;
        step __plan: u8 = __x + __c;
        step __scope0: u8 = __plan + 1;
        step __r0: Option<Odd> = Some(args.clone());
        step __k0: u8 = __r0.as_ref().map_or(0, |__r0| __r0.key) + __scope0;
        step __v: u8 = __k0 + plan;
        step __value: String = format!("{__v} {} {}", __k0, __scope0 + 1);
        step __n0 = FindOdd { r#type: __v, self_: __c, __app: __x, __step: __k0, value: __plan };
        step r#match: u8 = __n0.key + __inputs;
        step r#if: Option<u8> = __n0.r#struct.as_ref().map(|odd| odd.key);
        step vec: Vec<u8> = vec![r#match, r#if.unwrap_or(0), *std::hint::black_box(&__value).as_bytes().first().unwrap_or(&0)];
        step request = FindOdd { r#type: vec[0], self_: 0, __app: 0, __step: 0, value: 0 };
        [request.key, __n0.r#type, c, vec[1]]
    }
}

plan! {
    pub FlowNames(step: u8, __f0: u8, each: Option<u8>, r#in: Vec<u8>) -> Vec<u8> {
        step __all = FindOdd { r#type: step, self_: 1, __app: __f0, __step: 1, value: 1 };
        step scope = for __c in __all.list { FindOdd { r#type: __c, self_: __c + 1, __app: step, __step: 1, value: 1 } };
        step all = for __x in r#in { for __r0 in [__x, step].iter() { FindOdd { r#type: __x, self_: __r0 % 9, __app: 0, __step: 0, value: __r0 } } };
        step part = if let Some(__scope0) = &each && let [r#type, ..] = &__all.list[..] { FindOdd { r#type, self_: __scope0, __app: __scope0 % 9, __step: 0, value: 0 } };
        step own = for (r#in, __plan) in __all.list.iter().zip(&r#in) { if __plan > 0 { FindOdd { r#type: r#in, self_: __plan, __app: __plan, __step: step, value: __f0 } } };
        #[fallback(__all.key + step)]
        step bound: u8 = 3;
        vec![scope[0].r#type, all[0][1].r#type, part.as_ref().map_or(0, |part| part.r#type), own[0].as_ref().map_or(0, |own| own.r#type), bound]
    }
}

#[test]
fn flow_names() {
    let plan = FlowNames {
        step: 1,
        __f0: 2,
        each: Some(3),
        r#in: vec![4],
    };
    assert_eq!(smol::block_on(plan.run(&())).unwrap(), [12, 6, 10, 15, 3]);
}

#[test]
fn names() {
    let plan = Names {
        step: 1,
        app: 2,
        input: 3,
        r#fn: 4,
        __app: 5,
        __inputs: 6,
        plan: 7,
    };
    assert_eq!(Names::PLAN.step("match").unwrap().id, "match");
    assert!(smol::block_on(plan.run(&())).unwrap().len() == 4);
}

#[test]
fn names_around() {
    // None of these is seen by the plan, or disturbs it.
    let (inbox, __plan, __c, scope) = (1, 2, 3, 4);
    let plan = plan! {
        step inbox = FindOdd { r#type: 1, self_: 1, __app: 1, __step: 1, value: 1 };
        step scope: u8 = inbox.key + 1;
        (inbox.list[0], scope, json!(inbox.r#type))
    };
    assert_eq!(smol::block_on(plan.run(&())).unwrap(), (4, 3, json!(5)));
    assert_eq!(inbox + __plan + __c + scope, 10);
}

/// Runs a plan where types are parameters.
fn in_generic<T: Into<u8> + Copy, const N: usize>(value: T) -> (Vec<u8>, Option<u8>, u8) {
    let plan = plan! {
        step odd = FindOdd { r#type: 1, self_: 1, __app: 1, __step: 1, value: 1 };
        step each = for item in odd.list { FindOdd { r#type: item, self_: item % 9, __app: 0, __step: 0, value: 0 } };
        step skipped = if odd.key > 9 { FindOdd { r#type: 1, self_: 1, __app: 1, __step: 1, value: 1 } };
        #[optional]
        #[timeout("1h")]
        step optional = FindOdd { r#type: each[0].r#type, self_: 1, __app: 1, __step: 1, value: 1 };
        #[fallback(3)]
        step fallback: u8 = each.len() as u8;
        (each[..].r#type, skipped.as_ref().map(|odd| odd.key), optional.as_ref().map_or(0, |odd| odd.r#type) + fallback)
    };
    let (mut list, skipped, sum) = smol::block_on(plan.run(&())).unwrap();
    list.extend([value.into(); N]);
    (list, skipped, sum)
}

#[test]
fn flow_in_a_generic_function() {
    assert_eq!(in_generic::<u8, 2>(7), (vec![8, 7, 7], None, 13));
}
