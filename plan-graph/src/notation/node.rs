//! Nodes of the notation: a trait with one direction for each side, the nodes that every notation has, and a macro that makes both
//! directions of a further node from one description.

use std::fmt::Write as _;
use std::str::FromStr;
use std::time::Duration;

/// A value that has a form in the notation.
pub trait Node<'t>: Sized {
    /// Appends the value to a string.
    fn write(&self, text: &mut String);

    /// Reads a value. Returns `None` if the string contains no such value at this place.
    fn read(reader: &mut Reader<'t>) -> Option<Self>;
}

/// The unread part of a string.
#[derive(Clone, Copy)]
pub struct Reader<'t> {
    pub(super) rest: &'t str,
    /// How many levels of nesting may follow.
    pub(super) levels: usize,
}

impl<'t> Reader<'t> {
    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(super) fn skip(&mut self) {
        let mut chars = self.rest.chars();
        chars.next();
        self.rest = chars.as_str();
    }

    /// Enters a level of nesting that `read` reads.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.levels = self.levels.checked_sub(1)?;
        let value = read(self)?;
        self.levels += 1;
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
    (@nested $($choice:tt)*) => {
        $crate::notation::node::notation!(@choice $($choice)* nested);
    };
    (@choice [$($doc:tt)*] $name:ident [$($s:ident)?] {
        $($(#[$about:meta])* $letter:literal $variant:ident $(($($field:ident: $type:ty),+))?,)*
        $(_ $other:ident($other_type:ty),)?
    } $($nested:ident)?) => {
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
                        text.push($letter);
                        $($($field.write(text);)+)?
                    })*
                    $(Self::$other(other) => <$other_type>::write(other, text),)?
                }
            }

            fn read(reader: &mut Reader<'t>) -> Option<Self> {
                let read = |reader: &mut Reader<'t>| match reader.peek()? {
                    $($letter => {
                        reader.skip();
                        Some(Self::$variant $(($(<$type>::read(reader)?),+))?)
                    })*
                    _ => $crate::notation::node::notation!(@other reader $($other)?),
                };
                $crate::notation::node::notation!(@call read reader $($nested)?)
            }
        }
    };
    (@other $reader:ident) => {{
        $reader.skip();
        None
    }};
    (@other $reader:ident $other:ident) => {
        Node::read($reader).map(Self::$other)
    };
    (@call $read:ident $reader:ident) => {
        $read($reader)
    };
    (@call $read:ident $reader:ident nested) => {
        $reader.nested($read)
    };
}

pub(super) use notation;

/// Implements [`Node`] for numbers: their digits, and a space.
macro_rules! numbers {
    ($($number:ty)*) => {
        $(impl<'t> Node<'t> for $number {
            fn write(&self, text: &mut String) {
                // Writing into a `String` cannot fail.
                let _ = write!(text, "{self} ");
            }

            fn read(reader: &mut Reader<'t>) -> Option<Self> {
                reader.number()
            }
        })*
    };
}

numbers!(usize u32 u64);

/// A string: its length in bytes, and the bytes.
impl<'t> Node<'t> for &'t str {
    fn write(&self, text: &mut String) {
        self.len().write(text);
        text.push_str(self);
    }

    fn read(reader: &mut Reader<'t>) -> Option<Self> {
        let length = reader.number()?;
        let (string, rest) = reader.rest.split_at_checked(length)?;
        reader.rest = rest;
        Some(string)
    }
}

impl<'t> Node<'t> for String {
    fn write(&self, text: &mut String) {
        self.as_str().write(text);
    }

    fn read(reader: &mut Reader<'t>) -> Option<Self> {
        <&str>::read(reader).map(Self::from)
    }
}

/// `1` or `0`.
impl<'t> Node<'t> for bool {
    fn write(&self, text: &mut String) {
        text.push(if *self { '1' } else { '0' });
    }

    fn read(reader: &mut Reader<'t>) -> Option<Self> {
        let letter = reader.peek()?;
        reader.skip();
        ['0', '1'].contains(&letter).then_some(letter == '1')
    }
}

/// Seconds and nanoseconds.
impl<'t> Node<'t> for Duration {
    fn write(&self, text: &mut String) {
        self.as_secs().write(text);
        self.subsec_nanos().write(text);
    }

    fn read(reader: &mut Reader<'t>) -> Option<Self> {
        let (seconds, nanoseconds) = Node::read(reader)?;
        (nanoseconds < 1_000_000_000).then(|| Self::new(seconds, nanoseconds))
    }
}

/// A list: its length, and the elements.
impl<'t, T: Node<'t>> Node<'t> for Vec<T> {
    fn write(&self, text: &mut String) {
        self.len().write(text);
        self.iter().for_each(|element| element.write(text));
    }

    fn read(reader: &mut Reader<'t>) -> Option<Self> {
        let length: usize = reader.number()?;
        (0..length).map(|_| T::read(reader)).collect()
    }
}

/// The value, or nothing.
impl<'t, T: Node<'t>> Node<'t> for Option<T> {
    fn write(&self, text: &mut String) {
        self.iter().for_each(|value| value.write(text));
    }

    fn read(reader: &mut Reader<'t>) -> Option<Self> {
        let before = *reader;
        let value = T::read(reader);
        if value.is_none() {
            *reader = before;
        }
        Some(value)
    }
}

impl<'t, T: Node<'t>> Node<'t> for Box<T> {
    fn write(&self, text: &mut String) {
        T::write(self, text);
    }

    fn read(reader: &mut Reader<'t>) -> Option<Self> {
        T::read(reader).map(Self::new)
    }
}

impl<'t, A: Node<'t>, B: Node<'t>> Node<'t> for (A, B) {
    fn write(&self, text: &mut String) {
        self.0.write(text);
        self.1.write(text);
    }

    fn read(reader: &mut Reader<'t>) -> Option<Self> {
        Some((A::read(reader)?, B::read(reader)?))
    }
}

/// A list that ends with `;`.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended<T>(pub Vec<T>);

impl<'t, T: Node<'t>> Node<'t> for Ended<T> {
    fn write(&self, text: &mut String) {
        self.0.iter().for_each(|element| element.write(text));
        text.push(';');
    }

    fn read(reader: &mut Reader<'t>) -> Option<Self> {
        let mut elements = Vec::new();
        while reader.peek()? != ';' {
            elements.push(T::read(reader)?);
        }
        reader.skip();
        Some(Self(elements))
    }
}

/// A list of names and values: its length, all names, and then all values.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<S, T>(pub Vec<(S, T)>);

impl<'t, S: Node<'t>, T: Node<'t>> Node<'t> for Named<S, T> {
    fn write(&self, text: &mut String) {
        self.0.len().write(text);
        self.0.iter().for_each(|(name, _)| name.write(text));
        self.0.iter().for_each(|(_, value)| value.write(text));
    }

    fn read(reader: &mut Reader<'t>) -> Option<Self> {
        let names = Vec::<S>::read(reader)?.into_iter();
        let all = names.map(|name| Some((name, T::read(reader)?)));
        all.collect::<Option<_>>().map(Self)
    }
}
