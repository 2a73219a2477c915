//! Evaluates tests.

use super::Scope;
use super::describe;
use super::error::ResolveError;
use super::meter::{MEMBER, Meter, PART, deeper};
use super::node::{At, Node, Slot};
use crate::plan::{Comparison, InPlan, Question, Template, Test, is_ok};
use crate::print::{Cut, SHORT};
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Display;

/// A test, and its scope.
struct Evaluation<'a> {
    test: &'a Test,
    /// The test as a template.
    whole: &'a Template,
    scope: &'a Scope<'a>,
    depth: u16,
}

/// Evaluates a test. `whole` is its template, which contains nothing else.
pub(super) fn evaluate<'a>(
    test: &'a Test,
    whole: &'a Template,
    scope: &'a Scope<'a>,
    depth: u16,
) -> Result<Value, ResolveError> {
    let depth = deeper(depth)?;
    let it = Evaluation {
        test,
        whole,
        scope,
        depth,
    };
    it.value()
}

impl<'a> Evaluation<'a> {
    fn value(&self) -> Result<Value, ResolveError> {
        Ok(match self.test {
            Test::All(operands) => self.join(operands, false)?.into(),
            Test::Any(operands) => self.join(operands, true)?.into(),
            Test::Not(operand) => (!self.holds(operand)?).into(),
            Test::Compare([left, right], how) => {
                let (left, right) = (self.operand(left)?, self.operand(right)?);
                self.compare(&left, &right, *how)?.into()
            }
            Test::Ask(question @ (Question::IsSome | Question::IsNone), operand) => {
                self.ask(*question, &*self.if_there(operand)?)?
            }
            Test::Ask(question, operand) => self.ask(*question, &*self.operand(operand)?)?,
        })
    }

    /// Returns `true` if an operand equals `decisive`. The operands after the first such one are not evaluated.
    fn join(&self, operands: &'a [Template], decisive: bool) -> Result<bool, ResolveError> {
        for operand in operands {
            if self.holds(operand)? == decisive {
                return Ok(decisive);
            }
        }
        Ok(!decisive)
    }

    fn holds(&self, operand: &'a Template) -> Result<bool, ResolveError> {
        match &*self.operand(operand)? {
            Value::Bool(holds) => Ok(*holds),
            other => Err(self.error(&format!(
                "needs `true` or `false`, but `{}` is {}",
                self.text(operand),
                describe::value(other)
            ))),
        }
    }

    /// Returns the value of an operand, or null for an absent value.
    fn operand(&self, operand: &'a Template) -> Result<Cow<'a, Value>, ResolveError> {
        let at = Node::in_scope(At::Template(operand), self.scope, self.depth);
        at.settle(&Slot::default())?.look()
    }

    /// Returns the value of an operand, or null for a missing value.
    fn if_there(&self, operand: &'a Template) -> Result<Cow<'a, Value>, ResolveError> {
        super::or_null(operand, self.operand(operand))
    }

    fn compare(&self, left: &Value, right: &Value, how: Comparison) -> Result<bool, ResolveError> {
        let meter = self.scope.meter();
        if !how.is_order() {
            return Ok(equal(left, right, meter)? == (how == Comparison::Equal));
        }
        let order = order(left, right, meter)?.ok_or_else(|| {
            self.error(&format!(
                "compares {} with {}, which have no order",
                describe::value(left),
                describe::value(right)
            ))
        })?;
        Ok(how.holds(order))
    }

    fn ask(&self, question: Question, value: &Value) -> Result<Value, ResolveError> {
        let wrong = |expected: &str| {
            let found = describe::value(value);
            self.error(&format!("needs {expected}, but found {found}"))
        };
        let outcome = || {
            let wrong = || wrong("a `Result`, an object with a member `Ok` or `Err`");
            is_ok(value).ok_or_else(wrong)
        };
        let length = || match value {
            Value::String(text) => Ok(text.len()),
            Value::Array(items) => Ok(items.len()),
            Value::Object(members) => Ok(members.len()),
            _ => Err(wrong("a string, a list or an object")),
        };
        Ok(match question {
            Question::IsSome => (!value.is_null()).into(),
            Question::IsNone => value.is_null().into(),
            Question::IsOk => outcome()?.into(),
            Question::IsErr => (!outcome()?).into(),
            Question::IsEmpty => (length()? == 0).into(),
            Question::Len => length()?.into(),
        })
    }

    /// Returns the beginning of a template's notation, which may be as long as the plan.
    fn text<'t>(&self, template: &'t Template) -> impl Display
    where
        'a: 't,
    {
        Cut(InPlan::new(self.scope.plan(), template), SHORT)
    }

    #[cold]
    fn error(&self, what: &str) -> ResolveError {
        ResolveError::new(format!("`{}` {what}", self.text(self.whole)))
    }
}

/// Returns `true` if two values are equal: numbers by value, objects independently of the order of their members.
fn equal(left: &Value, right: &Value, meter: Option<&Meter<'_>>) -> Result<bool, ResolveError> {
    Ok(match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            compare_numbers(left, right).map_or_else(|| left == right, Ordering::is_eq)
        }
        (Value::String(left), Value::String(right)) => {
            left.len() == right.len() && {
                read(meter, left.len())?;
                left == right
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            if left.len() != right.len() {
                return Ok(false);
            }
            for (left, right) in left.iter().zip(right) {
                read(meter, PART)?;
                if !equal(left, right, meter)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Object(left), Value::Object(right)) => {
            if left.len() != right.len() {
                return Ok(false);
            }
            for (name, left) in left {
                read(meter, MEMBER + name.len())?;
                let Some(right) = right.get(name) else {
                    return Ok(false);
                };
                if !equal(left, right, meter)? {
                    return Ok(false);
                }
            }
            true
        }
        (left, right) => left == right,
    })
}

/// Returns the order of two numbers, of two strings, or of two booleans.
fn order(
    left: &Value,
    right: &Value,
    meter: Option<&Meter<'_>>,
) -> Result<Option<Ordering>, ResolveError> {
    Ok(match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        (Value::String(left), Value::String(right)) => {
            read(meter, left.len().min(right.len()))?;
            Some(left.cmp(right))
        }
        (Value::Number(left), Value::Number(right)) => compare_numbers(left, right),
        _ => None,
    })
}

/// Counts bytes that are read, if there is a meter.
fn read(meter: Option<&Meter<'_>>, bytes: usize) -> Result<(), ResolveError> {
    meter.map_or(Ok(()), |meter| meter.read(bytes))
}

/// Returns the exact order of two numbers. Returns `None` if one is beyond 64 bits.
fn compare_numbers(left: &Number, right: &Number) -> Option<Ordering> {
    let (left, right) = (ExactNumber::of(left)?, ExactNumber::of(right)?);
    match (left, right) {
        (ExactNumber::Integer(left), ExactNumber::Integer(right)) => Some(left.cmp(&right)),
        (ExactNumber::Float(left), ExactNumber::Float(right)) => left.partial_cmp(&right),
        (ExactNumber::Integer(left), ExactNumber::Float(right)) => compare_with_float(left, right),
        (ExactNumber::Float(left), ExactNumber::Integer(right)) => {
            compare_with_float(right, left).map(Ordering::reverse)
        }
    }
}

enum ExactNumber {
    Integer(i128),
    Float(f64),
}

impl ExactNumber {
    fn of(number: &Number) -> Option<Self> {
        let unsigned = number.as_u64().map(i128::from);
        let integer = unsigned.or_else(|| number.as_i64().map(i128::from));
        let float = || number.as_f64().map(Self::Float);
        integer.map(Self::Integer).or_else(float)
    }
}

/// Compares an integer of at most 65 bits with a float.
fn compare_with_float(integer: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    // Beyond the range of an `i128`, the cast returns the smallest or the largest `i128`. No integer of JSON is so small or so large.
    let whole = float.trunc();
    Some(integer.cmp(&(whole as i128)).then_with(|| {
        let rest = whole.partial_cmp(&float);
        rest.unwrap_or(Ordering::Equal)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns all decimals of a number: `true` for a negative number, its whole part, and the digits after the point.
    fn decimals(number: &Number) -> (bool, String, String) {
        let text = match number.as_f64() {
            Some(float) if number.is_f64() => format!("{float:.1100}"),
            _ => number.to_string(),
        };
        let (is_negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, &*text),
        };
        let (whole, rest) = digits.split_once('.').unwrap_or((digits, ""));
        let rest = rest.trim_end_matches('0');
        let whole = whole.trim_start_matches('0');
        let is_zero = whole.is_empty() && rest.is_empty();
        (is_negative && !is_zero, whole.to_owned(), rest.to_owned())
    }

    fn order_of_decimals(left: &Number, right: &Number) -> Ordering {
        let (left, right) = (decimals(left), decimals(right));
        let sizes =
            |(_, whole, rest): &(bool, String, String)| (whole.len(), whole.clone(), rest.clone());
        let by_size = sizes(&left).cmp(&sizes(&right));
        right
            .0
            .cmp(&left.0)
            .then(if left.0 { by_size.reverse() } else { by_size })
    }

    fn number() -> impl Strategy<Value = Number> {
        let float = |float: f64| Number::from_f64(float).unwrap_or_else(|| 0.into());
        // Near a power of two, a float can equal an integer, or differ by little.
        let near = (0..70_u32, -3..4_i64, any::<bool>());
        let near = near.prop_map(move |(power, more, is_float)| {
            let power = 2_f64.powi(power as i32);
            if is_float {
                float(power + more as f64 / 2.0)
            } else {
                Number::from((power as u64).saturating_add_signed(more))
            }
        });
        prop_oneof![
            any::<u64>().prop_map(Number::from),
            any::<i64>().prop_map(Number::from),
            (-3..4_i64).prop_map(Number::from),
            any::<f64>().prop_map(float),
            any::<i64>().prop_map(move |number| float(number as f64)),
            any::<u64>().prop_map(move |number| float(number as f64)),
            (-9..9_i8).prop_map(move |number| float(f64::from(number) / 4.0)),
            near.clone(),
            near.prop_map(move |number| match number.as_u64() {
                Some(number) => Number::from((number as i64).wrapping_neg()),
                None => float(-number.as_f64().unwrap_or_default()),
            }),
            prop::sample::select(vec![-0.0, f64::MAX, f64::MIN, 5e-324, 1e300]).prop_map(float),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn numbers_compare_exactly(left in number(), right in number()) {
            let order = order_of_decimals(&left, &right);
            prop_assert_eq!(compare_numbers(&left, &right), Some(order));
            let is_equal = equal(&left.into(), &right.into(), None);
            prop_assert_eq!(is_equal.ok(), Some(order.is_eq()));
        }
    }

    #[test]
    fn values_of_two_kinds_have_no_order() {
        let values = [
            Value::Null,
            false.into(),
            1.into(),
            "1".into(),
            Value::Array(Vec::new()),
            Value::Object(serde_json::Map::new()),
        ];
        for (left_at, left) in values.iter().enumerate() {
            for (right_at, right) in values.iter().enumerate() {
                let is_same = left_at == right_at;
                assert_eq!(
                    equal(left, right, None).ok(),
                    Some(is_same),
                    "{left} {right}"
                );
                let is_ordered = is_same && (1..4).contains(&left_at);
                let order = order(left, right, None).ok().flatten();
                assert_eq!(order.is_some(), is_ordered, "{left} {right}");
            }
        }
        let one: Value = serde_json::from_str(r#"{"a": 1, "b": [2.0]}"#).unwrap_or_default();
        let other: Value = serde_json::from_str(r#"{"b": [2], "a": 1.0}"#).unwrap_or_default();
        assert!(equal(&one, &other, None).is_ok_and(|it| it) && !one.is_null());
    }
}
