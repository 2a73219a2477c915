//! Tests: the form of a Rust expression as data, where the types of all that it is about allow that.

use super::Decoder;
use crate::check::closed::Answer;
use crate::check::segment;
use crate::plan::{Comparison, Form, Number, Question, Reference, Template, Test, root_name};
use crate::shape::FieldPlace;
use serde_json::Value;
use std::vec;

impl Decoder {
    /// A test, if what is known of its types says that its JSON tells the same as Rust.
    pub(super) fn test(&mut self, answers: &mut vec::IntoIter<Answer>) -> Option<Template> {
        self.deeper(|it| match it.tag() {
            b'&' => {
                let operands = it.list(|it| it.test(answers));
                Some(Test::All(operands.into_iter().collect::<Option<_>>()?).into())
            }
            b'|' => {
                let operands = it.list(|it| it.test(answers));
                Some(Test::Any(operands.into_iter().collect::<Option<_>>()?).into())
            }
            b'!' => Some(Test::Not(it.test(answers)?).into()),
            b'=' => {
                let sign = it.str();
                let how = Comparison::of_sign(sign).unwrap_or_else(|| it.bug());
                let (left, right) = (it.test(answers), it.test(answers));
                if !how.is_order() && !matches!(answers.next(), Some(Answer::Closed(true))) {
                    return None;
                }
                Some(Test::Compare([left?, right?], how).into())
            }
            b'?' => {
                let name = it.str();
                let question = Question::named(name).unwrap_or_else(|| it.bug());
                Some(Test::Ask(question, it.test(answers)?).into())
            }
            b'r' => it.place(answers).map(Template::from),
            b'v' => match (answers.next(), answers.next()) {
                (Some(Answer::Closed(closed)), Some(Answer::Json(json))) => {
                    scalar(json.filter(|_| closed)?)
                }
                _ => it.bug(),
            },
            tag => Some(it.template_of(tag, Form::Value)),
        })
    }

    /// The value that a test is about, if its place in JSON is known.
    fn place(&mut self, answers: &mut vec::IntoIter<Answer>) -> Option<Reference> {
        let (source, written) = (self.source(), self.str());
        let mut place = Some(Reference::new(source));
        let mut flattened = false;
        loop {
            let tag = self.tag();
            if tag == b';' {
                let is_closed = matches!(answers.next(), Some(Answer::Closed(true)));
                let place = place.filter(|_| is_closed && !flattened)?;
                return Some(place.said(written, Some(root_name(written))));
            }
            place = match (tag, answers.next()) {
                (b'.', Some(answer)) => {
                    let name = self.str();
                    let field = match answer {
                        Answer::Shape(shape) => segment::readable(shape, name),
                        _ => None,
                    };
                    flattened = field.is_some_and(|it| it.output == FieldPlace::Flattened);
                    match (place, field) {
                        (Some(place), Some(field)) => Some(segment::field(place, field)),
                        _ => None,
                    }
                }
                (b'#', Some(answer)) => {
                    let index = self.number();
                    let is_list = matches!(answer, Answer::Closed(true)) && !flattened;
                    place.filter(|_| is_list).map(|it| it.index(index))
                }
                (b'k', Some(answer)) => {
                    let key = self.str();
                    let is_map = matches!(answer, Answer::Closed(true)) && !flattened;
                    place.filter(|_| is_map).map(|it| it.key(key))
                }
                _ => self.bug(),
            };
        }
    }
}

/// A constant as a value of a test.
fn scalar(json: Value) -> Option<Template> {
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
