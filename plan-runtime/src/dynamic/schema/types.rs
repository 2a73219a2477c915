//! Sets of kinds of JSON values.

use serde_json::Value;

/// A set of kinds of JSON values. An integer is a number, so both have a bit in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dynamic) struct Types(u8);

impl Types {
    pub(in crate::dynamic) const NONE: Self = Self(0);
    pub(in crate::dynamic) const NULL: Self = Self(1);
    pub(in crate::dynamic) const BOOL: Self = Self(2);
    pub(in crate::dynamic) const INTEGER: Self = Self(4);
    const FRACTION: Self = Self(8);
    pub(in crate::dynamic) const NUMBER: Self = Self(4 | 8);
    pub(in crate::dynamic) const STRING: Self = Self(16);
    pub(in crate::dynamic) const LIST: Self = Self(32);
    pub(in crate::dynamic) const OBJECT: Self = Self(64);
    pub(in crate::dynamic) const ALL: Self = Self(127);

    /// Each kind; all numbers are one kind.
    pub(super) const KINDS: [Self; 6] = [
        Self::OBJECT,
        Self::LIST,
        Self::STRING,
        Self::NUMBER,
        Self::BOOL,
        Self::NULL,
    ];

    pub(in crate::dynamic) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(in crate::dynamic) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(in crate::dynamic) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) fn bits(self) -> usize {
        self.0.into()
    }

    pub(in crate::dynamic) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(in crate::dynamic) fn overlaps(self, other: Self) -> bool {
        !self.and(other).is_empty()
    }

    /// Returns the kinds of a name in JSON Schema. An unknown name means any value.
    pub(super) fn named(name: &str) -> Self {
        match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOL,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::LIST,
            "object" => Self::OBJECT,
            _ => Self::ALL,
        }
    }

    /// Returns the kinds of a value. `1.0` is an integer and a number.
    pub(in crate::dynamic) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOL,
            Value::Number(number) if number.is_f64() => Self::of_float(number.as_f64()),
            Value::Number(_) => Self::INTEGER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::LIST,
            Value::Object(_) => Self::OBJECT,
        }
    }

    pub(in crate::dynamic) fn of_float(value: Option<f64>) -> Self {
        match value {
            Some(value) if value.fract() != 0.0 => Self::FRACTION,
            _ => Self::NUMBER,
        }
    }

    /// `a string or a list`.
    pub(in crate::dynamic) fn words(self) -> String {
        self.join(&[
            (Self::STRING, "a string"),
            (Self::NUMBER, "a number"),
            (Self::INTEGER, "an integer"),
            (Self::FRACTION, "a number"),
            (Self::BOOL, "`true` or `false`"),
            (Self::LIST, "a list"),
            (Self::OBJECT, "an object"),
            (Self::NULL, "null"),
        ])
    }

    /// Returns the plural of one kind, such as `strings`.
    pub(super) fn plural(self) -> Option<&'static str> {
        Some(match self {
            Self::STRING => "strings",
            Self::NUMBER => "numbers",
            Self::INTEGER => "integers",
            Self::BOOL => "booleans",
            Self::LIST => "lists",
            Self::OBJECT => "objects",
            _ => return None,
        })
    }

    fn join(mut self, names: &[(Self, &str)]) -> String {
        if self == Self::ALL {
            return "anything".to_owned();
        }
        let mut words = Vec::new();
        for (types, name) in names {
            if self.and(*types) == *types {
                words.push(*name);
                self = self.without(*types);
            }
        }
        match words.as_slice() {
            [] => "nothing".to_owned(),
            [one] => (*one).to_owned(),
            [first @ .., last] => format!("{} or {last}", first.join(", ")),
        }
    }
}
