//! Which types are inside of a type.
//!
//! `of::<Cons<T, Nil>>().step(types).step(types)` takes types off a list. Each step notes what the first of them is, and puts its own parts before
//! the rest, so that types without a `Shape` are looked through as well. As with [`Probe`](super::probe::Probe), Rust takes the first answer that a type has; here they are in
//! the order of the references that each is a method of.
//!
//! In the code of a generic type nobody knows what a parameter is. What is in it is noted under the names of types, and whoever knows the parameters has noted
//! these. A type of which nothing was noted is taken for secret; see [`search`](super::search).

use super::parts::{HasParts, Searchable};
use super::search::head;
use super::{Field, Shape, TypeShape};
use crate::check::HasShape;
use std::any::type_name;
use std::collections::BTreeMap;
use std::marker::PhantomData;

/// A type, and what is known of the types in it.
#[derive(Debug)]
pub struct Inside {
    pub(super) root: &'static str,
    pub(crate) types: Types,
}

impl Inside {
    /// A type of which nothing is known here but its name.
    #[must_use]
    pub fn named<T: ?Sized>() -> Self {
        Self::new::<T>(Types::default())
    }

    /// A type, with what was found out about it.
    #[must_use]
    pub fn new<T: ?Sized>(types: Types) -> Self {
        Self {
            root: type_name::<T>(),
            types,
        }
    }
}

/// What is known of types, by their names. Of two types with one name it is what is known of either.
#[derive(Debug, Default)]
pub struct Types {
    pub(super) known: BTreeMap<&'static str, Vec<Known>>,
    /// Whether this is code of a generic type, where a type that says nothing may say more elsewhere.
    is_generic: bool,
    /// The crate that asks.
    pub(super) asked_in: &'static str,
}

/// What is known of a type.
#[derive(Clone, Debug)]
pub(super) enum Known {
    /// What it says of itself.
    Shape(TypeShape),
    /// What is said of it elsewhere, with names that nothing has checked: if anything in it is secret, all of it is.
    Declared(TypeShape),
    /// It is another type, inside of this many lists.
    Is(usize, &'static str),
    /// A map.
    Map(&'static str, &'static str),
    /// These are its members.
    Members(Vec<(&'static str, &'static str)>),
    /// All of it is secret.
    Secret,
    /// It says nothing of itself.
    Silent,
}

impl Types {
    /// Types that code in this module asks about, which is that of a generic type or not.
    #[must_use]
    pub fn new(module: &'static str, is_generic: bool) -> Self {
        Self {
            known: BTreeMap::new(),
            is_generic,
            asked_in: module.split("::").next().unwrap_or_default(),
        }
    }

    pub(super) fn note<T: ?Sized>(&mut self, known: Known) {
        note(&mut self.known, type_name::<T>(), known);
    }

    /// Notes what a plan knows of a type of this name.
    pub(crate) fn declare(&mut self, name: &'static str, shape: TypeShape) {
        note(&mut self.known, name, Known::Declared(shape));
    }

    /// Notes what a type says of itself.
    pub fn shape<T: Shape + ?Sized>(&mut self) {
        self.note::<T>(Known::Shape(T::SHAPE));
    }

    /// Notes that a type in the code of a generic type says nothing, unless that is not so. It is named like this there, and if its name is another,
    /// it is one that follows from a parameter, which may say something elsewhere.
    pub fn named<T: ?Sized>(&mut self, ident: &str) {
        let name = type_name::<T>();
        if head(name).rsplit("::").next() == Some(ident) && !self.known.contains_key(name) {
            self.note::<T>(Known::Silent);
        }
    }

    /// Notes that the JSON of a type is that of another.
    pub fn same<T: ?Sized, U: ?Sized>(&mut self) {
        self.note::<T>(Known::Is(0, type_name::<U>()));
    }

    /// Notes that all of a type is secret.
    pub fn secret<T: ?Sized>(&mut self) {
        self.note::<T>(Known::Secret);
    }
}

/// Notes what is known of a type of this name.
pub(super) fn note(
    types: &mut BTreeMap<&'static str, Vec<Known>>,
    name: &'static str,
    known: Known,
) {
    let all = types.entry(name).or_default();
    if !all.iter().any(|it| it.is_same(&known)) {
        all.push(known);
    }
}

impl Known {
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Shape(a), Self::Shape(b)) | (Self::Declared(a), Self::Declared(b)) => {
                is_same_shape(*a, *b)
            }
            (Self::Is(lists, a), Self::Is(other, b)) => (lists, a) == (other, b),
            (Self::Map(key, value), Self::Map(other_key, other)) => {
                (key, value) == (other_key, other)
            }
            (Self::Members(a), Self::Members(b)) => a == b,
            (Self::Silent, Self::Silent) | (Self::Secret, Self::Secret) => true,
            _ => false,
        }
    }
}

/// Whether two types of one name are the same. The compiler may have made several copies of what a type says of itself.
fn is_same_shape(a: TypeShape, b: TypeShape) -> bool {
    match (a, b) {
        (TypeShape::Opaque, TypeShape::Opaque) => true,
        (TypeShape::Struct(a), TypeShape::Struct(b)) => are_same_fields(a, b),
        (TypeShape::Enum(_, a), TypeShape::Enum(_, b)) => {
            a.len() == b.len()
                && a.iter()
                    .zip(b)
                    .all(|(a, b)| a.ident == b.ident && are_same_fields(a.fields, b.fields))
        }
        _ => false,
    }
}

fn are_same_fields(a: &'static [Field], b: &'static [Field]) -> bool {
    let root = |field: &Field| field.inside.map(|inside| inside().root);
    std::ptr::eq(a, b)
        || a.len() == b.len()
            && a.iter().zip(b).all(|(a, b)| {
                a.ident == b.ident
                    && (a.output, a.argument) == (b.output, b.argument)
                    && (a.secret, a.opaque, a.opaque_argument)
                        == (b.secret, b.opaque, b.opaque_argument)
                    && root(a) == root(b)
            })
}

/// A list of types: the first, and the rest.
#[allow(missing_debug_implementations)]
pub struct Cons<T: ?Sized, R>(PhantomData<(R, fn(&T))>);

/// The end of such a list.
#[allow(missing_debug_implementations)]
pub struct Nil;

/// The types that are to be looked at.
#[allow(missing_debug_implementations)]
pub struct Of<L>(PhantomData<L>);

/// Asks about the types of a list.
#[must_use]
pub const fn of<L>() -> Of<L> {
    Of(PhantomData)
}

/// A type that knows all types in it, at any depth; or no type.
pub trait StepSearchable {
    /// What remains.
    type Rest;
    /// Notes them all.
    fn step(&self, types: &mut Types) -> Of<Self::Rest>;
}

impl<T: Searchable + ?Sized, R> StepSearchable for &&&&Of<Cons<T, R>> {
    type Rest = R;
    fn step(&self, types: &mut Types) -> Of<R> {
        T::search(types);
        of()
    }
}

impl StepSearchable for &&&&Of<Nil> {
    type Rest = Nil;
    fn step(&self, _: &mut Types) -> Of<Nil> {
        of()
    }
}

/// A type that knows its parts. One of them may be of another crate, or, in the code of a generic type, not be known.
pub trait StepParts {
    /// The parts, and what remains.
    type Rest;
    /// Notes how the parts are in it.
    fn step(&self, types: &mut Types) -> Of<Self::Rest>;
}

impl<T: HasParts + ?Sized, R> StepParts for &&&Of<Cons<T, R>> {
    type Rest = T::Parts<R>;
    fn step(&self, types: &mut Types) -> Of<T::Parts<R>> {
        T::describe(types);
        of()
    }
}

/// Another type with a `Shape`, which its author has written.
pub trait StepShape {
    /// What remains.
    type Rest;
    /// Notes it.
    fn step(&self, types: &mut Types) -> Of<Self::Rest>;
}

impl<T: Shape + ?Sized, R> StepShape for &&Of<Cons<T, R>> {
    type Rest = R;
    fn step(&self, types: &mut Types) -> Of<R> {
        match T::SHAPE {
            TypeShape::Opaque => StepSilent::step(&of::<Cons<T, R>>(), types),
            shape => {
                // Its parameters are in its name alone.
                if !types.is_generic {
                    types.note::<T>(Known::Silent);
                }
                types.note::<T>(Known::Shape(shape));
                of()
            }
        }
    }
}

/// A type whose fields `#[shape(remote = …)]` declares.
pub trait StepDeclared<By> {
    /// What remains.
    type Rest;
    /// Notes what is declared.
    fn step(&self, types: &mut Types) -> Of<Self::Rest>;
}

impl<T: HasShape<By>, R, By> StepDeclared<By> for &Of<Cons<T, R>> {
    type Rest = R;
    fn step(&self, types: &mut Types) -> Of<R> {
        types.note::<T>(Known::Silent);
        types.note::<T>(Known::Declared(T::SHAPE));
        of()
    }
}

/// A type that says nothing.
pub trait StepSilent {
    /// What remains.
    type Rest;
    /// Notes that, if it is one of which nothing will be known.
    fn step(&self, types: &mut Types) -> Of<Self::Rest>;
}

impl<T: ?Sized, R> StepSilent for Of<Cons<T, R>> {
    type Rest = R;
    fn step(&self, types: &mut Types) -> Of<R> {
        if !types.is_generic {
            types.note::<T>(Known::Silent);
        }
        of()
    }
}
