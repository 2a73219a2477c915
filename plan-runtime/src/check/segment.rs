//! The JSON form of a field: a compile-time check that the field has one, and the lookup of it while a plan is decoded.

use crate::plan::{Absent, Key, Reference, Tag};
use crate::resolve::drop_quietly;
use crate::shape::{Field, FieldPlace, Omitted, TypeShape, Variant};
use serde_json::Value;
use std::panic::catch_unwind;

/// The field of an output.
#[track_caller]
pub(super) const fn output(shape: TypeShape, ident: &'static str) -> &'static Field {
    if let TypeShape::Struct(fields) = shape
        && let Some(field) = find(fields, ident)
    {
        return field;
    }
    fail(&[
        "`",
        ident,
        "` is not in the `Shape` of its type, so a reference cannot reach it\nhelp: if a struct with `#[shape(remote = …)]` leaves it out, add it there, or write a computed value",
    ])
}

/// The field of an output, if a test can read it.
pub(super) fn readable(shape: TypeShape, ident: &str) -> Option<&'static Field> {
    let TypeShape::Struct(fields) = shape else {
        return None;
    };
    find(fields, ident).filter(|field| {
        let is_there = !matches!(field.output, FieldPlace::LeftOut(_));
        is_there && !field.opaque && !matches!(field.omitted, Omitted::Required)
    })
}

/// Checks that a reference can lead to a field of an output, and returns the field's position. `last` is `true` at the
/// end of the reference.
#[track_caller]
pub(super) const fn check(shape: TypeShape, ident: &'static str, last: bool) -> FieldPlace {
    let field = output(shape, ident);
    if field.opaque && !last {
        fail(&[
            "the value of `",
            ident,
            "` is serialized by a custom function (`#[serde(with)]`), so its content is unknown",
        ])
    }
    if matches!(field.omitted, Omitted::Required) {
        fail(&[
            "`",
            ident,
            "` may be missing: `#[serde(skip_serializing_if)]` leaves it out, and nothing says what it is then\nhelp: add `#[serde(default)]` to `",
            ident,
            "`",
        ])
    }
    match field.output {
        FieldPlace::Flattened if last => fail(&[
            "`",
            ident,
            "` is flattened (`#[serde(flatten)]`), so it is not a separate value in JSON\nhelp: refer to one of its fields",
        ]),
        FieldPlace::LeftOut(attribute) => left_out(ident, attribute),
        place => place,
    }
}

#[track_caller]
const fn left_out(ident: &str, attribute: &str) -> ! {
    fail(&[
        "`",
        ident,
        "` is not in the JSON of the output: `",
        attribute,
        "` omits it from the JSON",
    ])
}

/// Checks that a reference can lead to a field of an output, and on to its elements.
#[track_caller]
pub(super) const fn check_list(shape: TypeShape, ident: &'static str) {
    if let FieldPlace::Flattened = check(shape, ident, false) {
        fail(&[
            "`",
            ident,
            "` is flattened (`#[serde(flatten)]`), so its JSON is an object, which has no elements\nhelp: write a computed value",
        ])
    }
}

/// Checks that an array of this length has an element at the index.
#[track_caller]
pub(super) const fn within(length: usize, index: usize) {
    if index < length {
        return;
    }
    let index = Decimal::of(index);
    if length == 0 {
        fail(&[
            "`[",
            index.text(),
            "]` is past the end of the array, which is empty",
        ])
    }
    fail(&[
        "`[",
        index.text(),
        "]` is past the end of the array, which has ",
        Decimal::of(length).text(),
        if length == 1 { " element" } else { " elements" },
        "\nhelp: the last one is `[",
        Decimal::of(length - 1).text(),
        "]`",
    ])
}

/// A number in decimal digits.
struct Decimal {
    digits: [u8; 20],
    start: usize,
}

impl Decimal {
    const fn of(mut number: usize) -> Self {
        let (mut digits, mut start) = ([b'0'; 20], 20);
        loop {
            start -= 1;
            digits[start] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return Self { digits, start };
            }
        }
    }

    const fn text(&self) -> &str {
        match std::str::from_utf8(self.digits.split_at(self.start).1) {
            Ok(text) => text,
            Err(_) => "?",
        }
    }
}

/// Checks that a field in a computed value is part of its type's JSON. A field outside of the JSON would have its default value.
#[track_caller]
pub const fn written(shape: TypeShape, ident: &'static str) {
    if let TypeShape::Struct(fields) = shape
        && let Some(field) = find(fields, ident)
        && let FieldPlace::LeftOut(attribute) = field.output
    {
        left_out(ident, attribute)
    }
}

/// Checks that a key in a flattened field is not the name of an adjacent field. Returns `true` if the field adds no part to the
/// path.
#[track_caller]
pub(super) const fn not_beside(shape: TypeShape, ident: &'static str, key: &'static str) -> bool {
    let place = output(shape, ident).output;
    let (FieldPlace::Flattened, TypeShape::Struct(mut fields)) = (place, shape) else {
        return matches!(place, FieldPlace::Inner);
    };
    while let [field, others @ ..] = fields {
        if let FieldPlace::Key(name) = field.output
            && equal(name.as_bytes(), key.as_bytes())
        {
            fail(&[
                "in JSON, `",
                key,
                "` may belong to the field `",
                field.ident,
                "` instead of the flattened field `",
                ident,
                "` (`#[serde(flatten)]`)\nhelp: refer to `",
                field.ident,
                "`, or write a computed value",
            ])
        }
        fields = others;
    }
    true
}

/// The state of a reference at a flattened field, which has no value of its own in JSON.
#[derive(Clone, Copy)]
pub enum Flattened {
    No,
    Yes,
    /// A flattened field that may be absent, before a `?`. If it is absent, its fields are missing.
    Asked,
}

impl Flattened {
    /// Moves to a field. `asked` is `true` if a `?` follows the field. Checks that the JSON distinguishes a field that was left
    /// out from an absent flattened field around it.
    #[track_caller]
    pub(super) const fn enter(self, field: &Field, asked: bool) -> Self {
        let entered = match field.output {
            FieldPlace::Flattened => match self {
                Self::No => Self::Yes,
                _ => self,
            },
            FieldPlace::Inner => self,
            _ => Self::No,
        };
        match (self, entered, field.omitted) {
            (Self::Asked, Self::No, Omitted::Default(_)) => fail(&[
                "if the JSON has no `",
                field.ident,
                "`, then `",
                field.ident,
                "` has its default, or the enclosing flattened value (`#[serde(flatten)]`) is absent\nhelp: write a computed value",
            ]),
            (_, Self::Yes, _) if asked => Self::Asked,
            _ => entered,
        }
    }
}

/// Extends the reference by a field that [`output`] found. A newtype's field and a flattened field add nothing to the
/// path.
pub(super) fn field(reference: Reference, field: &Field) -> Reference {
    let reference = match field.output {
        FieldPlace::Key(name) => reference.key(name),
        FieldPlace::Index(index) => reference.index(index),
        FieldPlace::Inner | FieldPlace::Flattened | FieldPlace::LeftOut(_) => return reference,
    };
    reference.absent(match field.omitted {
        Omitted::Never | Omitted::Required => Absent::Error,
        Omitted::Null => Absent::Default(Box::new(Value::Null)),
        // A default is computed once for the plan: a plan is data, so printing, comparing and copying it runs no code of the
        // author. A default that panics counts as missing, since other references of the plan may still be useful.
        Omitted::Default(default) => match catch_unwind(default) {
            Ok(value) => Absent::Default(Box::new(value)),
            Err(payload) => {
                drop_quietly(payload);
                Absent::Error
            }
        },
    })
}

/// Returns the position of a literal's field. `variant` is the last name of the literal's path.
#[track_caller]
pub(super) const fn argument(
    shape: TypeShape,
    variant: &'static str,
    ident: &'static str,
    is_tool: bool,
) -> FieldPlace {
    match place(shape, variant, ident, is_tool) {
        place @ (FieldPlace::Key(_) | FieldPlace::Flattened | FieldPlace::Inner) => place,
        FieldPlace::Index(_) => fail(&[
            "`",
            ident,
            "` is an element of a tuple: write the value as `",
            variant,
            "(…)`",
        ]),
        FieldPlace::LeftOut(attribute) => fail(&[
            "`",
            ident,
            "` would be lost: `",
            attribute,
            "` leaves it out when the value is read from JSON",
        ]),
    }
}

/// Returns the key for a position that [`argument`] found.
pub(super) fn key(place: FieldPlace) -> Key {
    match place {
        FieldPlace::Key(name) => Key::Name(name.into()),
        FieldPlace::Flattened => Key::Flattened,
        FieldPlace::Inner | FieldPlace::Index(_) | FieldPlace::LeftOut(_) => Key::Inner,
    }
}

/// Checks that the element of a tuple literal with this index is read from JSON.
#[track_caller]
pub(super) const fn element(
    shape: TypeShape,
    variant: &'static str,
    ident: &'static str,
    is_tool: bool,
) {
    if let FieldPlace::LeftOut(attribute) = place(shape, variant, ident, is_tool) {
        fail(&[
            "field `",
            ident,
            "` would be lost: `",
            attribute,
            "` leaves it out when the value is read from JSON",
        ])
    }
}

/// Checks that all fields but these can be left out.
#[track_caller]
pub(super) const fn rest(shape: TypeShape, given: &[&str]) {
    let TypeShape::Struct(fields) = shape else {
        return;
    };
    let mut i = 0;
    while i < given.len() {
        // rustc reports a name that is not a field, and one error has one message.
        if find(fields, given[i]).is_none() {
            return;
        }
        i += 1;
    }
    let mut i = 0;
    while i < fields.len() {
        let field = fields[i];
        let mut named = false;
        let mut j = 0;
        while j < given.len() {
            named = named || equal(given[j].as_bytes(), field.ident.as_bytes());
            j += 1;
        }
        let read = !matches!(field.argument, FieldPlace::LeftOut(_));
        if field.required && read && !named {
            fail(&[
                "`..` leaves out `",
                field.ident,
                "`, which is required\nhelp: write `",
                field.ident,
                ": …`, or make `",
                field.ident,
                "` optional: an `Option`, or `#[serde(default)]`",
            ])
        }
        i += 1;
    }
}

/// Returns the representation of a variant in a nested literal.
#[track_caller]
pub(super) const fn tag(shape: TypeShape, variant: &'static str) -> Tag {
    let TypeShape::Enum(tagging, variants) = shape else {
        return Tag::None;
    };
    let Some(found) = find_variant(variants, variant) else {
        return Tag::None;
    };
    match found.argument {
        Ok(_) if found.untagged => Tag::Variant(crate::shape::Tagging::Untagged, found.ident),
        Ok(name) => Tag::Variant(tagging, name),
        Err(attribute) => fail(&[
            "`",
            variant,
            "` cannot be read from JSON: `",
            attribute,
            "` leaves the variant out",
        ]),
    }
}

#[track_caller]
const fn place(
    shape: TypeShape,
    variant: &'static str,
    ident: &'static str,
    is_tool: bool,
) -> FieldPlace {
    let fields = match shape {
        TypeShape::Struct(fields) => fields,
        TypeShape::Enum(_, variants) => match find_variant(variants, variant) {
            Some(variant) => variant.fields,
            None => &[],
        },
        TypeShape::Opaque => &[],
    };
    match find(fields, ident) {
        // For an argument of a tool, the message is at the tool.
        Some(field) if field.opaque && field.opaque_argument && !is_tool => fail(&[
            "`",
            ident,
            "` has `#[serde(with)]`, which changes its JSON, so a literal cannot be checked\nhelp: write a function that returns the value, and call it",
        ]),
        Some(field) => field.argument,
        None => fail(&[
            "`",
            ident,
            "` is not in the `Shape` of its type\nhelp: if a struct with `#[shape(remote = …)]` leaves it out, add it there",
        ]),
    }
}

const fn find(mut fields: &'static [Field], ident: &str) -> Option<&'static Field> {
    let ident = ident.as_bytes();
    while let [field, others @ ..] = fields {
        if equal(field.ident.as_bytes(), ident) {
            return Some(field);
        }
        fields = others;
    }
    None
}

const fn find_variant(mut variants: &'static [Variant], ident: &str) -> Option<&'static Variant> {
    let ident = ident.as_bytes();
    while let [variant, others @ ..] = variants {
        if equal(variant.ident.as_bytes(), ident) {
            return Some(variant);
        }
        variants = others;
    }
    None
}

/// Returns `true` for equal names. At compile time, calls (including those of `len`) cost most, and statements come second.
const fn equal(mut a: &[u8], mut b: &[u8]) -> bool {
    while let [a1, a2, a3, a4, more_of_a @ ..] = a {
        let [b1, b2, b3, b4, more_of_b @ ..] = b else {
            return false;
        };
        if *a1 != *b1 || *a2 != *b2 || *a3 != *b3 || *a4 != *b4 {
            return false;
        }
        (a, b) = (more_of_a, more_of_b);
    }
    match (a, b) {
        ([a1, a2, a3], [b1, b2, b3]) => *a1 == *b1 && *a2 == *b2 && *a3 == *b3,
        ([a1, a2], [b1, b2]) => *a1 == *b1 && *a2 == *b2,
        ([a], [b]) => *a == *b,
        ([], []) => true,
        _ => false,
    }
}

/// Ends the compile-time evaluation with a message from these pieces.
#[track_caller]
pub(super) const fn fail(pieces: &[&str]) -> ! {
    let mut buffer = [0_u8; 512];
    let mut length = 0;
    let mut i = 0;
    while i < pieces.len() {
        let piece = pieces[i].as_bytes();
        if length + piece.len() > buffer.len() {
            break;
        }
        let (_, rest) = buffer.split_at_mut(length);
        rest.split_at_mut(piece.len()).0.copy_from_slice(piece);
        length += piece.len();
        i += 1;
    }
    match std::str::from_utf8(buffer.split_at(length).0) {
        Ok(message) => panic!("{}", message),
        Err(_) => panic!("a reference cannot be looked up"),
    }
}
