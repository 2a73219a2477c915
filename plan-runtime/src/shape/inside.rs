//! The types inside of a type.
//!
//! `Of::<Cons<T, Nil>>::NEW.step(types).step(types)` takes types off a list. Each step records the first type, and puts the parts of that type before
//! the rest of the list, so that the search also visits the parts of types without a `Shape`. Several types have a method `step`. Each of these types
//! dereferences to the next, and Rust selects the first applicable method.
//!
//! The code of a generic type cannot name the type behind its parameter `T`. This code records facts about `T` under `type_name::<T>()`, as the code
//! that fills in `T` does, so the facts are combined. A type without any recorded fact counts as secret; see [`search`](super::search).

use super::{Field, Shape, TypeShape};
use std::any::type_name;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::Deref;

/// The name of a type. Several types may share a name.
pub(crate) type Name = fn() -> &'static str;

/// A type, with the recorded facts about the types in it.
#[derive(Debug)]
pub struct Inside {
    pub(super) root: &'static str,
    pub(crate) types: Types,
}

impl Inside {
    /// Returns a type with only its name.
    #[must_use]
    pub fn named<T: ?Sized>() -> Self {
        Types::default().inside(type_name::<T>)
    }
}

/// Recorded facts about types, by their names. Facts about two types with one name are combined.
#[derive(Debug, Default)]
pub struct Types {
    pub(super) known: BTreeMap<&'static str, Vec<Known>>,
    /// `true` in the code of a generic type, where a type without facts may have some elsewhere.
    is_generic: bool,
    /// The crate that records the facts.
    pub(super) asked_in: &'static str,
}

/// A fact about a type.
#[derive(Clone, Copy, Debug)]
pub enum Known {
    /// The type's own shape.
    Shape(TypeShape),
    /// The shape that another type declares, with unchecked names: if a part of it is secret, the whole value is.
    Declared(TypeShape),
    /// Another type, inside this number of lists.
    Is(usize, Name),
    /// A map.
    Map(Name, Name),
    /// The members of the type.
    Members(&'static [(&'static str, Name)]),
    /// Another type, whose own crate has recorded its facts.
    Asked(fn() -> Inside),
    /// A secret value.
    Secret,
    /// A type without any declaration.
    Silent,
}

/// Facts about a type, and about the types in it as far as they are available. A constant of this type costs no code.
#[derive(Debug)]
pub struct TypeTree {
    name: Name,
    known: &'static [Known],
    parts: &'static [&'static TypeTree],
}

impl TypeTree {
    /// Creates the tree of a type with these facts.
    #[must_use]
    pub const fn new<T: ?Sized>(known: &'static [Known]) -> Self {
        Self {
            name: type_name::<T>,
            known,
            parts: &[],
        }
    }

    /// Adds the trees of its parts.
    #[must_use]
    pub const fn with(self, parts: &'static [&'static Self]) -> Self {
        Self { parts, ..self }
    }
}

impl Types {
    /// Creates the facts for code in this module. `is_generic` is `true` for the code of a generic type.
    #[must_use]
    pub fn new(module: &'static str, is_generic: bool) -> Self {
        Self {
            known: BTreeMap::new(),
            is_generic,
            asked_in: module.split("::").next().unwrap_or_default(),
        }
    }

    /// Returns the recorded facts, for the type of this name.
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

    /// Records a fact about the type of this name.
    pub(super) fn note(&mut self, name: &'static str, known: Known) {
        let all = self.known.entry(name).or_default();
        if !all.iter().any(|it| it.is_same(&known)) {
            all.push(known);
        }
    }

    /// Records the shape that a plan contains for the type of this name.
    pub(crate) fn declare(&mut self, name: &'static str, shape: TypeShape) {
        self.note(name, Known::Declared(shape));
    }

    /// Records that a type in the code of a generic type declares nothing. If the type's name differs from the name in the code, the type depends on
    /// a parameter, and is checked where the parameter's type is available.
    pub fn named(&mut self, name: Name, ident: &str) {
        let name = name();
        if head(name).rsplit("::").next() == Some(ident) && !self.known.contains_key(name) {
            self.note(name, Known::Silent);
        }
    }

    /// Records a type's own declaration. Its parameters may have only names. In the code of a generic type, the type may turn out to be any type,
    /// such as a list, which declares nothing.
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

/// Returns `true` if two shapes with one name are equal. The compiler may create several copies of a shape.
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

/// Returns the path of a type's name, without its parameters.
pub(super) fn head(name: &str) -> &str {
    let end = name.find(['<', '(', '[', ' ', '&']);
    &name[..end.unwrap_or(name.len())]
}

/// A type with facts about all types inside of it, at any depth.
pub trait Searchable {
    /// The facts.
    const TREE: TypeTree;
}

/// A type with other types as parts.
pub trait HasParts {
    /// The parts of the type, before the rest of a list.
    type Parts<R>;
    /// The relation of the parts to the type.
    const ALONE: TypeTree;
}

/// A list of types: the first, and the rest.
#[allow(missing_debug_implementations)]
pub struct Cons<T: ?Sized, R>(PhantomData<fn(&T)>, PhantomData<R>);

/// The end of such a list.
#[allow(missing_debug_implementations)]
pub struct Nil;

/// Generates the questions about the types of a list. If the first type lacks facts about some types in it, the next
/// question applies.
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
    /// Returns the empty list, which has no first type.
    #[must_use]
    pub fn step(&self, _: &mut Types) -> Self {
        Self::NEW
    }
}

impl<T: Searchable + ?Sized, R> Of<Cons<T, R>> {
    /// Records a type with facts about all types in it, at any depth.
    #[must_use]
    pub fn step(&self, types: &mut Types) -> Of<R> {
        types.note_all(&T::TREE);
        Of::NEW
    }
}

impl<T: HasParts + ?Sized, R> OfParts<Cons<T, R>> {
    /// Records a type with facts about its direct parts. A part may belong to another crate, or be a type parameter.
    #[must_use]
    pub fn step(&self, types: &mut Types) -> Of<T::Parts<R>> {
        types.note_all(&T::ALONE);
        Of::NEW
    }
}

impl<T: Shape + ?Sized, R> OfShape<Cons<T, R>> {
    /// Records a type with a `Shape` from its author.
    #[must_use]
    pub fn step(&self, types: &mut Types) -> Of<R> {
        types.note_one(type_name::<T>, Known::Shape(T::SHAPE));
        Of::NEW
    }
}

impl<T: ?Sized, R> OfSilent<Cons<T, R>> {
    /// Records a type that declares nothing.
    #[must_use]
    pub fn step(&self, types: &mut Types) -> Of<R> {
        types.note_one(type_name::<T>, Known::Silent);
        Of::NEW
    }
}
