//! `Debug` output in which all characters are visible. `Debug` of the standard library escapes most invisible characters, but not all.

use super::Safe;
use std::fmt::{Debug, Formatter, Result, Write};

/// A function that writes `Debug` output.
struct By<F>(F);

impl<F: Fn(&mut Formatter<'_>) -> Result> Debug for By<F> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        (self.0)(f)
    }
}

/// Writes `Debug` output with escapes for invisible characters.
pub(crate) fn visibly(
    f: &mut Formatter<'_>,
    write: impl Fn(&mut Formatter<'_>) -> Result,
) -> Result {
    if f.alternate() {
        write!(Safe::lines(f), "{:#?}", By(write))
    } else {
        write!(Safe::lines(f), "{:?}", By(write))
    }
}

/// Implements `Debug` like `#[derive(Debug)]`, with escapes for invisible characters. The input is a whole struct, or the name and the fields of a type. The variants of an enum
/// with a value come first, then the variants without fields, and then the variants with named fields.
macro_rules! visible_debug {
    ($(#[$meta:meta])* pub struct $type:ident $(<$life:lifetime>)? {
        $($(#[$attribute:meta])* $access:vis $field:ident: $of:ty),+ $(,)?
    }) => {
        $(#[$meta])*
        pub struct $type $(<$life>)? {
            $($(#[$attribute])* $access $field: $of,)+
        }
        $crate::print::visible_debug!(struct $type $(<$life>)? { $($field),+ });
    };
    (struct $type:ident $(<$life:lifetime>)? { $($(#[$attribute:meta])* $field:ident),+ $(,)? }) => {
        impl $(<$life>)? std::fmt::Debug for $type $(<$life>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $crate::print::visibly(f, |f| {
                    let mut debug = f.debug_struct(stringify!($type));
                    $($(#[$attribute])* debug.field(stringify!($field), &self.$field);)+
                    debug.finish()
                })
            }
        }
    };
    (enum $type:ident {
        $($valued:ident(_)),*; $($unit:ident),*; $($named:ident { $($field:ident),+ }),*
    }) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $crate::print::visibly(f, |f| match self {
                    $(Self::$valued(it) => f.debug_tuple(stringify!($valued)).field(it).finish(),)*
                    $(Self::$unit => f.write_str(stringify!($unit)),)*
                    $(Self::$named { $($field),+ } => f
                        .debug_struct(stringify!($named))
                        $(.field(stringify!($field), $field))+
                        .finish(),)*
                })
            }
        }
    };
}
pub(crate) use visible_debug;
