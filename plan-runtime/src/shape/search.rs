//! The search for the secret parts of a type's JSON.

use super::inside::{Inside, Known, Types, head};
use super::{Field, FieldPlace, Secrets, TypeShape};

/// Returns the secrets of a type's JSON, as written with `output`, or as read. The caller contributes facts about some types
/// in it.
pub(crate) fn secrets(shape: TypeShape, known: Types, output: bool) -> Secrets {
    TypeSearch::new(known, output).shape(shape).bounded()
}

/// Returns the secrets of a type with the facts of its own crate.
pub(crate) fn secrets_inside(inside: Inside, known: Types, output: bool) -> Secrets {
    TypeSearch::new(known, output).inside(inside).bounded()
}

/// The largest number of visits to a type whose JSON is that of another type. The limit matters only for a type that contains itself without a struct
/// in between, and such a type has no JSON. A struct in between ends the search.
const TIMES: usize = 8;

struct TypeSearch {
    output: bool,
    /// The recorded facts about types, and the crate that recorded the current type.
    types: Types,
    /// The enclosing structs, by the addresses of their fields: the result for a struct that contains itself, and
    /// `true` if it does.
    open: Vec<(*const Field, Secrets, bool)>,
    /// The enclosing types whose parameters are being searched, or whose JSON is that of another type.
    names: Vec<&'static str>,
}

impl TypeSearch {
    fn new(known: Types, output: bool) -> Self {
        Self {
            output,
            types: known,
            open: Vec::new(),
            names: Vec::new(),
        }
    }

    fn inside(&mut self, inside: Inside) -> Secrets {
        let Inside { root, types } = inside;
        let around = std::mem::replace(&mut self.types.asked_in, types.asked_in);
        for (name, all) in types.known {
            for known in all {
                self.types.note(name, known);
            }
        }
        let found = self.named(root);
        self.types.asked_in = around;
        found
    }

    /// Returns the secrets of the type with this name. A type without facts may contain secrets, unless its name
    /// belongs to a harmless type.
    fn named(&mut self, name: &'static str) -> Secrets {
        let Some(known) = self.types.known.get(name).cloned() else {
            return if paths(name).all(is_harmless) {
                Secrets::NONE
            } else {
                Secrets::whole()
            };
        };
        let mut found = Secrets::NONE;
        for known in known {
            found.add(match known {
                Known::Shape(shape) => self.shape(shape),
                Known::Declared(shape) => self.shape(shape).as_one(),
                Known::Is(lists, inner) => {
                    let inner = self.named(inner());
                    (0..lists).fold(inner, |inner, _| inner.in_list())
                }
                // Keys are not masked.
                Known::Map(key, _) if !self.named(key()).is_empty() => Secrets::whole(),
                Known::Map(_, value) => self.named(value()).in_list(),
                Known::Members(members) => {
                    let mut all = Secrets::NONE;
                    for (member, ty) in members {
                        all.add(self.named(ty()).under(*member));
                    }
                    all
                }
                Known::Asked(ask) => self.within(name, TIMES, |it| it.inside(ask())),
                Known::Secret => Secrets::whole(),
                Known::Silent => self.within(name, 1, |it| it.parameters(name)),
            });
        }
        found
    }

    /// Returns the secrets found at the type of this name, or no secrets at the limit of visits.
    fn within(
        &mut self,
        name: &'static str,
        most: usize,
        find: impl FnOnce(&mut Self) -> Secrets,
    ) -> Secrets {
        if self.names.iter().filter(|it| **it == name).count() == most {
            return Secrets::NONE;
        }
        self.names.push(name);
        let found = find(self);
        self.names.pop();
        found
    }

    /// Returns the secrets of a type without declarations: if a type in its name is or may be secret, the whole value
    /// is.
    fn parameters(&mut self, name: &'static str) -> Secrets {
        let mut paths = paths(name);
        let owner = paths.next().map_or("", crate_of);
        let is_secret = paths.any(|path| {
            let all: Vec<_> = self
                .types
                .known
                .keys()
                .copied()
                .filter(|it| head(it) == path)
                .collect();
            if all.is_empty() {
                // A crate that declares nothing about a generic type declares nothing about its own types in the parameters either.
                let is_of_owner = crate_of(path) == owner && owner != self.types.asked_in;
                return !is_harmless(path) && !is_of_owner;
            }
            all.into_iter().any(|it| !self.named(it).is_empty())
        });
        if is_secret {
            Secrets::whole()
        } else {
            Secrets::NONE
        }
    }

    fn shape(&mut self, shape: TypeShape) -> Secrets {
        match shape {
            TypeShape::Opaque => Secrets::NONE,
            TypeShape::Struct(fields) => self.recursive(fields, Self::fields),
            // The position of a field depends on the variant.
            TypeShape::Enum(_, variants) => {
                let mut found = Secrets::NONE;
                for variant in variants {
                    found.add(self.recursive(variant.fields, Self::fields).as_one());
                }
                found
            }
        }
    }

    /// Searches a struct. If a struct with a secret contains itself, the whole inner value is secret.
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
                let value = self.inside(inside());
                // The positions of the secrets in the value are unknown.
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

/// Returns the paths in the name of a type, outermost first: `a::Page`, `alloc::vec::Vec`, `a::Card` in
/// `a::Page<alloc::vec::Vec<a::Card>>`.
fn paths(name: &'static str) -> impl Iterator<Item = &'static str> {
    name.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
        .filter(|path| !path.is_empty())
}

fn crate_of(path: &str) -> &str {
    path.split("::").next().unwrap_or_default()
}

/// Returns `true` for the path of a type without secrets of its own: a primitive type, and types of the standard library and of
/// `serde_json`.
fn is_harmless(path: &str) -> bool {
    let known = ["core", "alloc", "std", "serde_json"];
    !path.contains("::") || known.contains(&crate_of(path))
}
