//! Which parts of a type's JSON are secret, and how the secrets of the types inside of it are found.
//!
//! `of::<T>().open().open().end()` takes lists, maps and options off `T` and says the shape of the type in them. Rust prefers what a type
//! has itself over what a trait gives it, as with [`Probe`](super::probe::Probe): so a type that is neither says nothing, under whatever name.

use super::{Field, FieldPlace, Secrets, Shape, TypeShape};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

/// The shape of a type, and how many lists or maps are around it.
#[derive(Clone, Copy, Debug)]
pub struct Inside {
    lists: usize,
    shape: TypeShape,
    /// The shape was written down by hand, for a type that may be written otherwise: if anything in it is secret, all of it is.
    elsewhere: bool,
}

impl Inside {
    /// Nothing that is known to be secret.
    pub const UNKNOWN: Self = Self {
        lists: 0,
        shape: TypeShape::Opaque,
        elsewhere: false,
    };

    /// What is secret of a value, if that much is secret of the names that its shape has.
    fn whole_if_elsewhere(self, found: Secrets) -> Secrets {
        if self.elsewhere {
            found.as_one()
        } else {
            found
        }
    }
}

/// Asks about `T`, which is inside of this many lists.
pub struct Of<T: ?Sized>(usize, PhantomData<T>);

/// Asks about a type.
#[must_use]
pub fn of<T: ?Sized>() -> Of<T> {
    Of(0, PhantomData)
}

/// The answers where `T` has nothing special about it.
pub trait NotInside: Sized {
    /// What is in it: itself.
    #[must_use]
    fn open(self) -> Self {
        self
    }

    /// Nothing is known.
    fn end(&self) -> Inside {
        Inside::UNKNOWN
    }
}

impl<T: ?Sized> NotInside for Of<T> {}

impl<T: Shape + ?Sized> Of<T> {
    /// What the type says of itself.
    pub fn end(self) -> Inside {
        Inside {
            lists: self.0,
            shape: T::SHAPE,
            elsewhere: false,
        }
    }
}

impl<T> Of<T> {
    /// The answer where `#[shape(remote = …)]` declares the shape.
    pub(crate) fn declared(self, shape: TypeShape) -> Inside {
        Inside {
            lists: self.0,
            shape,
            elsewhere: true,
        }
    }
}

macro_rules! open {
    ($($lists:literal: $({$($generics:tt)*} $ty:ty),*;)*) => {$($(
        impl<T, $($generics)*> Of<$ty> {
            /// What is in it.
            #[must_use]
            pub fn open(self) -> Of<T> {
                Of(self.0 + $lists, PhantomData)
            }
        }
    )*)*};
}

open! {
    0: {} Option<T>, {} Box<T>, {} Rc<T>, {} Arc<T>;
    1: {} Vec<T>, {} VecDeque<T>, {} BTreeSet<T>, {S} HashSet<T, S>, {} [T], {const N: usize} [T; N],
        {K} BTreeMap<K, T>, {K, S} HashMap<K, T, S>;
}

impl<T: ToOwned> Of<Cow<'_, T>> {
    /// What is in it.
    #[must_use]
    pub fn open(self) -> Of<T> {
        Of(self.0, PhantomData)
    }
}

/// What is secret of a type's JSON: as it is written, with `output`, or as it is read.
pub(crate) fn secrets(shape: TypeShape, output: bool) -> Secrets {
    let mut search = Search {
        output,
        open: Vec::new(),
    };
    search.shape(shape).bounded()
}

/// The same for the values inside of a type.
pub(crate) fn secrets_inside(inside: Inside, output: bool) -> Secrets {
    let found = secrets(inside.shape, output);
    let found = inside.whole_if_elsewhere(found);
    (0..inside.lists).fold(found, |found, _| found.in_list())
}

struct Search {
    output: bool,
    /// The types around, by the places of their fields: what to say of one that is met again, and whether one was.
    open: Vec<(*const Field, Secrets, bool)>,
}

impl Search {
    fn shape(&mut self, shape: TypeShape) -> Secrets {
        match shape {
            TypeShape::Opaque => Secrets::NONE,
            TypeShape::Struct(fields) => self.recursive(fields, Self::fields),
            // Which variant it is decides where a field is.
            TypeShape::Enum(_, variants) => {
                let mut found = Secrets::NONE;
                for variant in variants {
                    found.add(self.recursive(variant.fields, Self::fields).as_one());
                }
                found
            }
        }
    }

    /// If a type with a secret contains itself, all of the inner one is secret.
    fn recursive(
        &mut self,
        fields: &'static [Field],
        search: fn(&mut Self, &'static [Field]) -> Secrets,
    ) -> Secrets {
        let place = fields.as_ptr();
        if let Some((_, inner, again)) = self.open.iter_mut().find(|it| it.0 == place) {
            *again = true;
            return inner.clone();
        }
        let mut inner = Secrets::NONE;
        loop {
            self.open.push((place, inner.clone(), false));
            let found = search(self, fields);
            let again = self.open.pop().is_some_and(|(_, _, again)| again);
            if !again || found.is_empty() || !inner.is_empty() {
                return found;
            }
            inner = Secrets::whole();
        }
    }

    fn fields(&mut self, fields: &'static [Field]) -> Secrets {
        let mut found = Secrets::NONE;
        for field in fields {
            let place = if self.output {
                field.output
            } else {
                field.argument
            };
            if let FieldPlace::LeftOut(_) = place {
                continue;
            }
            let opaque = if self.output {
                field.opaque
            } else {
                field.opaque_argument
            };
            let value = if field.secret {
                Secrets::whole()
            } else if let Some(inside) = field.inside {
                let inside = inside();
                let value = inside.whole_if_elsewhere(self.shape(inside.shape));
                let value = (0..inside.lists).fold(value, |value, _| value.in_list());
                // Nobody knows where in the value they are.
                if opaque { value.as_one() } else { value }
            } else {
                continue;
            };
            found.add(match place {
                FieldPlace::Key(key) => value.under(key),
                FieldPlace::Index(index) => value.under(index.to_string()),
                FieldPlace::Flattened if field.secret => Secrets::whole(),
                _ => value,
            });
        }
        found
    }
}
