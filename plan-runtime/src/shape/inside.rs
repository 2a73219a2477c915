//! Which types are inside of a type.
//!
//! `Of::<Cons<T, Nil>>::NEW.step(types).step(types)` takes types off a list. Each step notes what the first of them is, and puts its own parts before
//! the rest, so that types without a `Shape` are looked through as well. There are several methods `step`, each of a type to which the one before dereferences, and Rust takes the
//! first that there is for the type.
//!
//! In the code of a generic type nobody knows what a parameter is. What is in it is noted under the names of types, and whoever knows the parameters has noted
//! these. A type of which nothing was noted is taken for secret; see [`search`](super::search).

use super::{Field, Shape, TypeShape};
use std::any::type_name;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::Deref;

/// The name of a type, which may be that of another one as well.
pub(crate) type Name = fn() -> &'static str;

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
        Types::default().inside(type_name::<T>)
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
#[derive(Clone, Copy, Debug)]
pub enum Known {
    /// What it says of itself.
    Shape(TypeShape),
    /// What a shape elsewhere says about it, with names that nothing has checked: if anything in it is secret, all of it is.
    Declared(TypeShape),
    /// It is another type, inside of this many lists.
    Is(usize, Name),
    /// A map.
    Map(Name, Name),
    /// These are its members.
    Members(&'static [(&'static str, Name)]),
    /// It is another type, which its crate was asked about.
    Asked(fn() -> Inside),
    /// All of it is secret.
    Secret,
    /// It says nothing of itself.
    Silent,
}

/// What is known of a type, and, where that is known, of the types in it. As this is a constant, it costs no code.
#[derive(Debug)]
pub struct TypeTree {
    name: Name,
    known: &'static [Known],
    parts: &'static [&'static TypeTree],
}

impl TypeTree {
    /// A type of which this is known.
    #[must_use]
    pub const fn new<T: ?Sized>(known: &'static [Known]) -> Self {
        Self {
            name: type_name::<T>,
            known,
            parts: &[],
        }
    }

    /// The same, with what is known of its parts.
    #[must_use]
    pub const fn with(self, parts: &'static [&'static Self]) -> Self {
        Self { parts, ..self }
    }
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

    /// All that was found out, of the types in the type of this name.
    #[must_use]
    pub fn inside(self, root: Name) -> Inside {
        Inside {
            root: root(),
            types: self,
        }
    }

    fn note_all(&mut self, tree: &TypeTree) {
        for known in tree.known {
            self.note((tree.name)(), *known);
        }
        for part in tree.parts {
            self.note_all(part);
        }
    }

    /// Notes what is known of a type of this name.
    pub(super) fn note(&mut self, name: &'static str, known: Known) {
        let all = self.known.entry(name).or_default();
        if !all.iter().any(|it| it.is_same(&known)) {
            all.push(known);
        }
    }

    /// Notes what a plan knows of a type of this name.
    pub(crate) fn declare(&mut self, name: &'static str, shape: TypeShape) {
        self.note(name, Known::Declared(shape));
    }

    /// Notes that a type in the code of a generic type says nothing, unless that is not so. It is named like this there, and if its name is another,
    /// it is one that follows from a parameter, which may say something elsewhere.
    pub fn named(&mut self, name: Name, ident: &str) {
        let name = name();
        if head(name).rsplit("::").next() == Some(ident) && !self.known.contains_key(name) {
            self.note(name, Known::Silent);
        }
    }

    /// Notes what a type says of itself that may have parameters of which nothing is known but their names. In the code of a generic type, it may be
    /// any type, such as a list, which says nothing.
    pub(crate) fn note_one(&mut self, name: Name, known: Known) {
        let says_nothing = matches!(
            known,
            Known::Silent | Known::Shape(TypeShape::Opaque) | Known::Declared(TypeShape::Opaque)
        );
        if !self.is_generic {
            self.note(name(), Known::Silent);
        }
        if !says_nothing {
            self.note(name(), known);
        }
    }
}

impl Known {
    fn is_same(&self, other: &Self) -> bool {
        let same = |a: Name, b: Name| a() == b();
        match (*self, *other) {
            (Self::Shape(a), Self::Shape(b)) | (Self::Declared(a), Self::Declared(b)) => {
                is_same_shape(a, b)
            }
            (Self::Is(lists, a), Self::Is(other, b)) => lists == other && same(a, b),
            (Self::Map(key, value), Self::Map(other_key, other)) => {
                same(key, other_key) && same(value, other)
            }
            (Self::Members(a), Self::Members(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && same(a.1, b.1))
            }
            (Self::Asked(a), Self::Asked(b)) => a().root == b().root,
            (Self::Silent, Self::Silent) | (Self::Secret, Self::Secret) => true,
            _ => false,
        }
    }
}

/// Whether two types of one name are the same. The compiler may have made several copies of a shape.
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

/// The path that a type is named with, without its parameters.
pub(super) fn head(name: &str) -> &str {
    let end = name.find(['<', '(', '[', ' ', '&']);
    &name[..end.unwrap_or(name.len())]
}

/// A type that knows all types inside of it, at any depth.
pub trait Searchable {
    /// What they are.
    const TREE: TypeTree;
}

/// A type that is made of other types.
pub trait HasParts {
    /// These types, before the rest of a list.
    type Parts<R>;
    /// How they are in it.
    const ALONE: TypeTree;
}

/// A list of types: the first, and the rest.
#[allow(missing_debug_implementations)]
pub struct Cons<T: ?Sized, R>(PhantomData<fn(&T)>, PhantomData<R>);

/// The end of such a list.
#[allow(missing_debug_implementations)]
pub struct Nil;

/// Asks about the types of a list. If the first does not know all types in it, the next question is asked.
macro_rules! questions {
    ($($question:ident $(, then $next:ident)?;)*) => {$(
        /// A question about a list of types.
        #[allow(missing_debug_implementations)]
        pub struct $question<L>(PhantomData<L>);

        impl<L> $question<L> {
            /// The question.
            pub const NEW: Self = Self(PhantomData);
        }

        $(
            impl<T: ?Sized, R> Deref for $question<Cons<T, R>> {
                type Target = $next<Cons<T, R>>;
                fn deref(&self) -> &Self::Target {
                    &$next::NEW
                }
            }
        )?
    )*};
}

questions! {
    Of, then OfParts;
    OfParts, then OfShape;
    OfShape, then OfDeclared;
    OfDeclared, then OfSilent;
    OfSilent;
}

impl Of<Nil> {
    /// There is no type.
    #[must_use]
    pub fn step(&self, _: &mut Types) -> Self {
        Self::NEW
    }
}

impl<T: Searchable + ?Sized, R> Of<Cons<T, R>> {
    /// A type that knows all types in it, at any depth.
    #[must_use]
    pub fn step(&self, types: &mut Types) -> Of<R> {
        types.note_all(&T::TREE);
        Of::NEW
    }
}

impl<T: HasParts + ?Sized, R> OfParts<Cons<T, R>> {
    /// A type that knows its parts. One of them may be of another crate, or, in the code of a generic type, not be known.
    #[must_use]
    pub fn step(&self, types: &mut Types) -> Of<T::Parts<R>> {
        types.note_all(&T::ALONE);
        Of::NEW
    }
}

impl<T: Shape + ?Sized, R> OfShape<Cons<T, R>> {
    /// Another type with a `Shape`, which its author has written.
    #[must_use]
    pub fn step(&self, types: &mut Types) -> Of<R> {
        types.note_one(type_name::<T>, Known::Shape(T::SHAPE));
        Of::NEW
    }
}

impl<T: ?Sized, R> OfSilent<Cons<T, R>> {
    /// A type that says nothing.
    #[must_use]
    pub fn step(&self, types: &mut Types) -> Of<R> {
        types.note_one(type_name::<T>, Known::Silent);
        Of::NEW
    }
}
