//! Which parts of a type's JSON are secret.

use super::inside::{Inside, Known, Types, head};
use super::{Field, FieldPlace, Secrets, TypeShape};

/// What is secret of a type's JSON: as it is written, with `output`, or as it is read. Some types in it are known to who asks.
pub(crate) fn secrets(shape: TypeShape, known: Types, output: bool) -> Secrets {
    Search::new(known, output).shape(shape).bounded()
}

/// The same of a type, with what its own crate knows.
pub(crate) fn secrets_inside(inside: Inside, known: Types, output: bool) -> Secrets {
    Search::new(known, output).inside(inside).bounded()
}

/// How often a type is looked at whose JSON is that of another. If it is inside of itself, there is a struct in between, which ends the search, or it has no JSON.
const TIMES: usize = 8;

struct Search {
    output: bool,
    /// What is known of types so far, and the crate that asks about the one that is looked at.
    types: Types,
    /// The types around, by the places of their fields: what to say of one that is met again, and whether one was.
    open: Vec<(*const Field, Secrets, bool)>,
    /// The types around of which the parameters are looked at, or the types that their JSON is of.
    names: Vec<&'static str>,
}

impl Search {
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

    /// A type of which nothing was noted may be any, unless its name says that it has no secrets.
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

    /// What is found at a type of this name; nothing if it is already looked at this number of times.
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

    /// A type that says nothing of itself: if anything is secret of the types in its name, or may be, all of it is.
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
                // A crate that says nothing of a type says nothing of the types in it, whether or not it has parameters.
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
                let value = self.inside(inside());
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

/// The paths in the name of a type, outermost first: `a::Page`, `alloc::vec::Vec`, `a::Card` in `a::Page<alloc::vec::Vec<a::Card>>`.
fn paths(name: &'static str) -> impl Iterator<Item = &'static str> {
    name.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
        .filter(|path| !path.is_empty())
}

fn crate_of(path: &str) -> &str {
    path.split("::").next().unwrap_or_default()
}

/// Whether a type of this path has no secrets of its own: a word of the language, and types of the standard library and of `serde_json`.
fn is_harmless(path: &str) -> bool {
    let known = ["core", "alloc", "std", "serde_json"];
    !path.contains("::") || known.contains(&crate_of(path))
}
