//! The results of encoding: the JSON of a value, or only its weight.

use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The name of a member.
pub(super) type Name = Cow<'static, str>;

/// The result of an encoder for a value, and the weights of values.
pub(super) trait Made: Sized {
    /// The weight of an object with members, in addition to its members.
    const OBJECT: usize;
    /// `true` if the encoder only inspects the value.
    const IS_NOTHING: bool;
    /// The elements of a list.
    type Items;
    /// The members of an object.
    type Members: Default;

    /// Returns the weight of a scalar of `T`, in addition to its weight as a part. Every value without text and parts is at least as
    /// large as a `u8`.
    fn weight_of<T>() -> usize;
    /// Returns the weight of a sequence of bytes.
    fn weight_of_bytes(length: usize) -> usize;
    /// Returns the weight of a member, in addition to its value.
    fn weight_of_member(name: &Name) -> usize;
    fn null() -> Self;
    /// Returns `true` if the value is null. Returns `false` if this type cannot tell.
    fn is_null(&self) -> bool;
    fn scalar(value: impl Into<Value>) -> Self;
    fn text(text: &str) -> Self;
    fn bytes(bytes: &[u8]) -> Self;
    fn json(value: Value) -> Self;
    /// Creates a list with capacity for this number of elements.
    fn items(length: usize) -> Self::Items;
    fn push(items: &mut Self::Items, item: Self);
    fn count(items: &Self::Items) -> usize;
    fn list(items: Self::Items) -> Self;
    fn is_empty(members: &Self::Members) -> bool;
    /// Returns the name as an error if the object has a member with it.
    fn insert(members: &mut Self::Members, name: Name, value: Self) -> Result<(), Name>;
    /// Inserts a field. Returns `false` if the object has a member with this name.
    fn insert_field(members: &mut Self::Members, name: &'static str, value: Self) -> bool;
    fn object(members: Self::Members) -> Self;
    /// Creates an object with one member.
    fn tagged(name: &'static str, value: Self) -> Self;
}

impl Made for Value {
    const OBJECT: usize = super::OBJECT;
    const IS_NOTHING: bool = false;
    type Items = Vec<Self>;
    type Members = Map<String, Self>;

    fn weight_of<T>() -> usize {
        0
    }

    fn weight_of_bytes(length: usize) -> usize {
        super::PART.saturating_mul(length)
    }

    fn weight_of_member(name: &Name) -> usize {
        super::MEMBER + name.len()
    }

    fn null() -> Self {
        Self::Null
    }

    fn is_null(&self) -> bool {
        self.is_null()
    }

    fn scalar(value: impl Into<Value>) -> Self {
        value.into()
    }

    fn text(text: &str) -> Self {
        Self::from(text)
    }

    fn bytes(bytes: &[u8]) -> Self {
        Self::from(bytes)
    }

    fn json(value: Value) -> Self {
        value
    }

    fn items(length: usize) -> Vec<Self> {
        Vec::with_capacity(length)
    }

    fn push(items: &mut Vec<Self>, item: Self) {
        items.push(item);
    }

    fn count(items: &Vec<Self>) -> usize {
        items.len()
    }

    fn list(items: Vec<Self>) -> Self {
        Self::Array(items)
    }

    fn is_empty(members: &Self::Members) -> bool {
        members.is_empty()
    }

    fn insert(members: &mut Self::Members, name: Name, value: Self) -> Result<(), Name> {
        // The comparison comes first, so that no existing member is overwritten.
        if members.contains_key(&*name) {
            return Err(name);
        }
        members.insert(name.into_owned(), value);
        Ok(())
    }

    fn insert_field(members: &mut Self::Members, name: &'static str, value: Self) -> bool {
        Self::insert(members, name.into(), value).is_ok()
    }

    fn object(members: Self::Members) -> Self {
        Self::Object(members)
    }

    fn tagged(name: &'static str, value: Self) -> Self {
        Self::Object(Map::from_iter([(name.to_owned(), value)]))
    }
}

/// The result for a value that is handed over in Rust: encoding finds the parts that JSON cannot represent, and
/// computes the weight.
pub(super) struct Nothing;

/// The names of the members of an object. Most objects have few.
#[derive(Default)]
pub(super) struct Names {
    few: [&'static str; FEW],
    count: usize,
    /// A bit for each name in the set, so that most new names need no comparison.
    marks: u64,
    more: Option<BTreeSet<Name>>,
}

const FEW: usize = 8;

/// Returns a bit of 64, equal for equal names, and mostly different for different names.
#[inline(always)]
fn mark(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let [first, last] = [bytes.first(), bytes.last()].map(|byte| byte.copied().unwrap_or(0));
    let sum = bytes.len() as u64 + 7 * u64::from(first) + 29 * u64::from(last);
    1 << (sum % 64)
}

impl Made for Nothing {
    const OBJECT: usize = 0;
    const IS_NOTHING: bool = true;
    type Items = usize;
    type Members = Names;

    fn weight_of<T>() -> usize {
        size_of::<T>().max(1)
    }

    fn weight_of_bytes(length: usize) -> usize {
        length
    }

    fn weight_of_member(name: &Name) -> usize {
        match name {
            // The name of a field is part of the program.
            Cow::Borrowed(_) => 0,
            Cow::Owned(name) => super::PART + name.len(),
        }
    }

    fn null() -> Self {
        Self
    }

    // In types that are handed over, `Some` contains only values that are not null.
    fn is_null(&self) -> bool {
        false
    }

    fn scalar(_: impl Into<Value>) -> Self {
        Self
    }

    fn text(_: &str) -> Self {
        Self
    }

    fn bytes(_: &[u8]) -> Self {
        Self
    }

    fn json(_: Value) -> Self {
        Self
    }

    fn items(_: usize) -> usize {
        0
    }

    fn push(items: &mut usize, Self: Self) {
        *items += 1;
    }

    fn count(items: &usize) -> usize {
        *items
    }

    fn list(_: usize) -> Self {
        Self
    }

    fn is_empty(members: &Names) -> bool {
        members.marks == 0
    }

    fn insert(members: &mut Names, name: Name, Self: Self) -> Result<(), Name> {
        let mark = mark(&name);
        if members.marks & mark != 0 && members.contains(&name) {
            return Err(name);
        }
        members.marks |= mark;
        match name {
            Cow::Borrowed(name) if members.count < FEW => {
                members.few[members.count] = name;
                members.count += 1;
            }
            name => {
                members.more.get_or_insert_default().insert(name);
            }
        }
        Ok(())
    }

    // The function is inlined into the code that serializes a struct, where the name is a constant, so the compiler computes the mark.
    #[inline(always)]
    fn insert_field(members: &mut Names, name: &'static str, Self: Self) -> bool {
        let mark = mark(name);
        if members.marks & mark != 0 || members.count >= FEW {
            return Self::insert(members, name.into(), Self).is_ok();
        }
        members.marks |= mark;
        members.few[members.count] = name;
        members.count += 1;
        true
    }

    #[inline(always)]
    fn object(_: Names) -> Self {
        Self
    }

    fn tagged(_: &'static str, Self: Self) -> Self {
        Self
    }
}

impl Names {
    #[inline(never)]
    fn contains(&self, name: &Name) -> bool {
        let more = self.more.as_ref();
        self.few[..self.count].contains(&&**name) || more.is_some_and(|more| more.contains(name))
    }
}

#[cfg(test)]
mod tests {
    use super::{Made, Names, Nothing};

    /// More names than the inline array holds, many of them with equal marks.
    const NAMES: [&str; 14] = [
        "a", "b", "", "abc", "adc", "aec", "ä", "name", "nose", "none", "from", "to", "subject",
        "text",
    ];

    #[test]
    fn a_name_is_there_once_of_whatever_kind() {
        for repeated in 0..NAMES.len() {
            let mut names = Names::default();
            assert!(Nothing::is_empty(&names));
            for (place, name) in NAMES.into_iter().enumerate() {
                let is_new = match place % 3 {
                    0 => Nothing::insert(&mut names, name.to_owned().into(), Nothing).is_ok(),
                    _ => Nothing::insert_field(&mut names, name, Nothing),
                };
                assert!(is_new, "{name}");
                assert!(!Nothing::is_empty(&names));
                let seen = NAMES[repeated.min(place)];
                assert!(!Nothing::insert_field(&mut names, seen, Nothing), "{seen}");
                assert!(Nothing::insert(&mut names, seen.into(), Nothing).is_err());
            }
        }
    }
}
