//! Nodes of the notation: a trait with a method to write and a method to read, its implementations for basic types, and a macro that implements both
//! methods from one description of a node.

use std::fmt::Write as _;
use std::str::FromStr;
use std::time::Duration;

/// A value that has a form in the notation.
pub trait Node<'t>: Sized {
    /// Appends the value to a string.
    fn write(&self, text: &mut String);

    /// Reads a value. Returns `None` if the rest of the string starts with no such value.
    fn read(reader: &mut Reader<'t>) -> Option<Self>;
}

/// The unread part of a string.
#[derive(Clone, Copy)]
pub struct Reader<'t> {
    pub(super) rest: &'t str,
    /// The number of levels that the next value may have.
    pub(super) levels: usize,
}

impl Reader<'_> {
    /// Reads a letter of the notation, if the letter is next.
    pub(super) fn eat(&mut self, letter: &str) -> bool {
        let rest = self.rest.strip_prefix(letter);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Skips an unknown letter, so that a report begins after the letter.
    pub(super) fn unknown<T>(&mut self) -> Option<T> {
        let mut chars = self.rest.chars();
        chars.next();
        self.rest = chars.as_str();
        None
    }

    /// Reads a value that is `levels` levels deeper.
    pub(super) fn deeper<T>(
        &mut self,
        levels: usize,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        self.levels = self.levels.checked_sub(levels)?;
        let value = read(self)?;
        self.levels += levels;
        Some(value)
    }

    fn number<N: FromStr>(&mut self) -> Option<N> {
        let (digits, rest) = self.rest.split_once(' ')?;
        let number = digits.parse().ok()?;
        self.rest = rest;
        Some(number)
    }
}

/// Makes types of a table, and implements [`Node`] for each of them. A `record` is the sequence of its fields. A `choice` is the letter of a variant and its fields,
/// or the last variant without a letter. A `nested` choice is one level deeper than its surroundings.
macro_rules! notation {
    ($($(#[$doc:meta])* $kind:ident $name:ident $(<$s:ident>)? { $($inside:tt)* })*) => {
        $($crate::notation::node::notation!(@$kind [$(#[$doc])*] $name [$($s)?] { $($inside)* });)*
    };
    (@choice $($choice:tt)*) => { $crate::notation::node::notation!(@enum 0, $($choice)*); };
    (@nested $($choice:tt)*) => { $crate::notation::node::notation!(@enum 1, $($choice)*); };
    (@record [$($doc:tt)*] $name:ident [$($s:ident)?] {
        $($(#[$about:meta])* $field:ident: $type:ty,)*
    }) => {
        $($doc)*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name $(<$s>)? { $($(#[$about])* pub $field: $type,)* }

        impl<'t $(, $s: Node<'t>)?> Node<'t> for $name $(<$s>)? {
            fn write(&self, text: &mut String) {
                $(self.$field.write(text);)*
            }

            fn read(reader: &mut Reader<'t>) -> Option<Self> {
                Some(Self { $($field: Node::read(reader)?,)* })
            }
        }
    };
    (@enum $levels:literal, [$($doc:tt)*] $name:ident [$($s:ident)?] {
        $($(#[$about:meta])* $letter:literal $variant:ident $(($($field:ident: $type:ty),+))?,)*
        $(_ $other:ident($other_type:ty),)?
    }) => {
        $($doc)*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name $(<$s>)? {
            $($(#[$about])* $variant $(($($type),+))?,)*
            $(#[doc = "A value of another choice."] $other($other_type),)?
        }

        impl<'t $(, $s: Node<'t>)?> Node<'t> for $name $(<$s>)? {
            fn write(&self, text: &mut String) {
                match self {
                    $(Self::$variant $(($($field),+))? => {
                        text.push_str($letter);
                        $($($field.write(text);)+)?
                    })*
                    $(Self::$other(other) => <$other_type>::write(other, text),)?
                }
            }

            fn read(reader: &mut Reader<'t>) -> Option<Self> {
                reader.deeper($levels, |reader| {
                    $(if reader.eat($letter) {
                        return Some(Self::$variant $(($(<$type>::read(reader)?),+))?);
                    })*
                    $crate::notation::node::notation!(@other reader $($other)?)
                })
            }
        }
    };
    (@other $reader:ident) => { $reader.unknown() };
    (@other $reader:ident $other:ident) => { Node::read($reader).map(Self::$other) };
}

pub(super) use notation;

/// Implements [`Node`] for types by the expressions that write and read a value.
macro_rules! nodes {
    ($($(#[$doc:meta])* [$($parameter:tt)*] $type:ty:
        |$value:ident, $text:ident| $write:expr,
        |$reader:ident| $read:expr;
    )*) => {
        $($(#[$doc])* impl<'t, $($parameter)*> Node<'t> for $type {
            fn write(&self, $text: &mut String) {
                let $value = self;
                $write;
            }

            fn read($reader: &mut Reader<'t>) -> Option<Self> {
                $read
            }
        })*
    };
}

nodes! {
    /// A number: its digits, and a space. Writing into a `String` cannot fail.
    [] usize: |number, text| _ = write!(text, "{number} "), |reader| reader.number();
    [] u32: |number, text| _ = write!(text, "{number} "), |reader| reader.number();
    [] u64: |number, text| _ = write!(text, "{number} "), |reader| reader.number();
    /// A string: its length in bytes, and the bytes.
    [] &'t str:
        |string, text| {
            string.len().write(text);
            text.push_str(string);
        },
        |reader| {
            let length = reader.number()?;
            let (string, rest) = reader.rest.split_at_checked(length)?;
            reader.rest = rest;
            Some(string)
        };
    [] String: |string, text| string.as_str().write(text), |reader| <&str>::read(reader).map(Self::from);
    [] bool:
        |flag, text| text.push(if *flag { '1' } else { '0' }),
        |reader| if reader.eat("1") { Some(true) } else { reader.eat("0").then_some(false) };
    /// Seconds and nanoseconds.
    [] Duration:
        |time, text| (time.as_secs(), time.subsec_nanos()).write(text),
        |reader| {
            let (seconds, nanoseconds) = Node::read(reader)?;
            (nanoseconds < 1_000_000_000).then(|| Self::new(seconds, nanoseconds))
        };
    /// A list: its length, and the elements.
    [T: Node<'t>] Vec<T>:
        |list, text| {
            list.len().write(text);
            list.iter().for_each(|element| element.write(text));
        },
        |reader| {
            let length: usize = reader.number()?;
            (0..length).map(|_| T::read(reader)).collect()
        };
    /// The value, or nothing.
    [T: Node<'t>] Option<T>:
        |value, text| value.iter().for_each(|value| value.write(text)),
        |reader| {
            let before = *reader;
            let value = T::read(reader);
            if value.is_none() {
                *reader = before;
            }
            Some(value)
        };
    [T: Node<'t>] Box<T>: |value, text| T::write(value, text), |reader| T::read(reader).map(Self::new);
    [A: Node<'t>, B: Node<'t>] (A, B):
        |pair, text| {
            pair.0.write(text);
            pair.1.write(text);
        },
        |reader| Some((A::read(reader)?, B::read(reader)?));
    [T: Node<'t>] Ended<T>:
        |list, text| {
            list.0.iter().for_each(|element| element.write(text));
            text.push(';');
        },
        |reader| {
            let mut elements = Vec::new();
            while !reader.eat(";") {
                elements.push(T::read(reader)?);
            }
            Some(Self(elements))
        };
    [S: Node<'t>, T: Node<'t>] Named<S, T>:
        |list, text| {
            list.0.len().write(text);
            list.0.iter().for_each(|(name, _)| name.write(text));
            list.0.iter().for_each(|(_, value)| value.write(text));
        },
        |reader| {
            let names = Vec::<S>::read(reader)?.into_iter();
            let all = names.map(|name| Some((name, T::read(reader)?)));
            all.collect::<Option<_>>().map(Self)
        };
}

/// A list that ends with `;`.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended<T>(pub Vec<T>);

/// A list of names and values: its length, all names, and then all values.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<S, T>(pub Vec<(S, T)>);
