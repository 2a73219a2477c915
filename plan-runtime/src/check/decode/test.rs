//! Tests: Rust expressions as data, if the types of their operands allow it.

use super::scalar;
use super::{Text, bug};
use crate::check::closed::Answer;
use crate::check::segment;
use crate::plan::{Comparison, Number, Question, Reference, Source, Template, Test, root_name};
use crate::shape::FieldPlace;
use plan_graph::notation::{FormData, PlacePart};
use serde_json::Value;
use std::vec;

type Answers = vec::IntoIter<Answer>;

/// Makes a test, if the known facts about its types prove that its JSON has the meaning of the Rust expression.
pub(super) fn test(form: FormData<Text>, answers: &mut Answers) -> Option<Template> {
    match form {
        FormData::All(operands) => Some(Test::All(self::operands(operands, answers)?).into()),
        FormData::Any(operands) => Some(Test::Any(self::operands(operands, answers)?).into()),
        FormData::Not(form) => Some(Test::Not(test(*form, answers)?).into()),
        FormData::Compare(sign, left, right) => {
            let how = Comparison::of_sign(sign).unwrap_or_else(|| bug());
            let (left, right) = (test(*left, answers), test(*right, answers));
            if !how.is_order() && !is_closed(answers.next()) {
                return None;
            }
            Some(Test::Compare([left?, right?], how).into())
        }
        FormData::Ask(name, form) => {
            let question = Question::named(name).unwrap_or_else(|| bug());
            Some(Test::Ask(question, test(*form, answers)?).into())
        }
        FormData::Place(source, written, path) => {
            let place = place(scalar::source(source), path.0, answers)?;
            Some(place.said(written, Some(root_name(written))).into())
        }
        FormData::Constant => match (answers.next(), answers.next()) {
            (Some(Answer::Closed(closed)), Some(Answer::Json(json))) => {
                scalar_of(json.filter(|_| closed)?)
            }
            _ => bug(),
        },
        FormData::Scalar(scalar) => Some(scalar::scalar(scalar)),
    }
}

/// Makes all operands, even after a failure, because each operand removes its own answers from the list.
fn operands(operands: Vec<FormData<Text>>, answers: &mut Answers) -> Option<Vec<Template>> {
    let operands = operands.into_iter().map(|operand| test(operand, answers));
    operands.collect::<Vec<_>>().into_iter().collect()
}

fn is_closed(answer: Option<Answer>) -> bool {
    matches!(answer, Some(Answer::Closed(true)))
}

/// Returns the reference to a value. Returns `None` if the JSON form of a type on the path is unknown.
fn place(source: Source, path: Vec<PlacePart<Text>>, answers: &mut Answers) -> Option<Reference> {
    let mut place = Some(Reference::new(source));
    let mut flattened = false;
    for part in path {
        let answer = answers.next().unwrap_or_else(|| bug());
        place = match part {
            PlacePart::Field(name) => {
                let field = match answer {
                    Answer::Shape(shape) => segment::readable(shape, name),
                    _ => None,
                };
                flattened = field.is_some_and(|it| it.output == FieldPlace::Flattened);
                place
                    .zip(field)
                    .map(|(place, field)| segment::field(place, field))
            }
            PlacePart::Index(index) => {
                let is_list = is_closed(Some(answer)) && !flattened;
                place.filter(|_| is_list).map(|it| it.index(index))
            }
            PlacePart::Key(key) => {
                let is_map = is_closed(Some(answer)) && !flattened;
                place.filter(|_| is_map).map(|it| it.key(key))
            }
        };
    }
    let is_closed = is_closed(answers.next());
    place.filter(|_| is_closed && !flattened)
}

/// Converts a constant to a value of a test.
fn scalar_of(json: Value) -> Option<Template> {
    Some(match json {
        Value::Bool(value) => Template::Bool(value),
        Value::String(text) => Template::String(text),
        Value::Number(number) => Template::Number(if let Some(value) = number.as_u64() {
            Number::Unsigned(value)
        } else if let Some(value) = number.as_i64() {
            Number::Signed(value)
        } else {
            Number::Float(number.as_f64()?)
        }),
        // NaN is null, and so is infinity.
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    })
}
