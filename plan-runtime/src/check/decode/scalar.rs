//! Values without parts, and the sources of references.

use super::{Text, bug};
use crate::plan::{Number, Source, Template};
use plan_graph::notation::{ScalarData, SourceData};

pub(super) fn scalar(scalar: ScalarData<Text>) -> Template {
    match scalar {
        ScalarData::Null => Template::Null,
        ScalarData::False => Template::Bool(false),
        ScalarData::True => Template::Bool(true),
        ScalarData::Unsigned(number) => Template::Number(Number::Unsigned(number)),
        ScalarData::Negative(magnitude) => {
            Template::Number(Number::Signed(0_i64.wrapping_sub_unsigned(magnitude)))
        }
        ScalarData::Float(digits) => {
            let float = digits.parse().unwrap_or_else(|_| bug());
            Template::Number(Number::Float(float))
        }
        ScalarData::String(string) => Template::String(string.into()),
    }
}

pub(super) fn source(source: SourceData) -> Source {
    match source {
        SourceData::Step(step) => Source::Step(step),
        SourceData::Input(input) => Source::Input(input),
        SourceData::Local(frame) => Source::Local(frame),
    }
}
