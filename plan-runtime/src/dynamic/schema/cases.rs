//! The cases of a type: each value of the type is of one case.

use super::{Element, Form, Presence, Property, Schema, Type, Types};
use serde_json::{Value, json};
use std::sync::LazyLock;

static LISTS: LazyLock<Value> = LazyLock::new(|| json!({"type": "array"}));
static OBJECTS: LazyLock<Value> = LazyLock::new(|| json!({"type": "object"}));

/// Maximum number of cases of a part, and of combinations.
pub(super) const MOST_CASES: usize = 512;

/// Maximum nesting of the parts that are taken apart.
const MOST_NESTED: usize = 8;

/// A case of a part of a value.
#[derive(Clone)]
pub(super) struct Case<'a> {
    /// `None` for a missing member.
    pub(super) ty: Option<Type<'a>>,
    /// A form accepts all values of the case or none.
    pub(super) is_exact: bool,
}

/// Returns each combination of cases, and whether all of its cases are exact; `None` for too many.
fn product<'a>(
    parts: impl Iterator<Item = Vec<Case<'a>>>,
) -> Option<Vec<(Vec<Option<Type<'a>>>, bool)>> {
    let mut all = vec![(Vec::new(), true)];
    for part in parts {
        if all.len() * part.len() > MOST_CASES {
            return None;
        }
        let with = |(before, is_exact): &(Vec<Option<Type<'a>>>, bool)| {
            let each = part.iter().map(|case| {
                let all = [&before[..], std::slice::from_ref(&case.ty)].concat();
                (all, *is_exact && case.is_exact)
            });
            each.collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    Some(all)
}

/// Returns the cases of a type. Without a depth, lists and objects are not taken apart.
pub(super) fn cases<'a>(ty: &Type<'a>, depth: Option<usize>) -> Vec<Case<'a>> {
    let exact = |ty| Case {
        ty: Some(ty),
        is_exact: true,
    };
    let mut all = Vec::new();
    for form in ty.forms() {
        let types = form.types();
        if form.counts() {
            let values = form.allowed().filter(|it| types.overlaps(Types::of(it)));
            let values = values.filter(|it| !it.is_null()).take(MOST_CASES + 1);
            all.extend(values.cloned().map(|it| exact(Type::literal(it))));
            if types.overlaps(Types::NULL) {
                all.push(exact(Type::plain(Types::NULL)));
            }
        } else if types == Types::ALL || matches!(form, Form::Literal(_)) {
            all.push(exact(Type::form(form.clone())));
        } else {
            for kind in Types::KINDS.map(|kind| types.and(kind)) {
                match kind {
                    Types::NONE => {}
                    Types::BOOL => {
                        all.extend([true, false].map(|it| exact(Type::literal(it.into()))));
                    }
                    Types::LIST | Types::OBJECT => {
                        let apart = depth.and_then(|depth| apart(form, kind, depth));
                        all.extend(apart.unwrap_or_else(|| {
                            vec![Case {
                                is_exact: false,
                                ..exact(Type::form(only(form, kind)))
                            }]
                        }));
                    }
                    kind => all.push(exact(Type::plain(kind))),
                }
            }
        }
    }
    if all.len() > MOST_CASES {
        let is_exact = false;
        return vec![Case {
            is_exact,
            ..exact(ty.clone())
        }];
    }
    all
}

/// Returns the values of a form that are of one kind.
fn only<'a>(form: &Form<'a>, kind: Types) -> Form<'a> {
    match form {
        Form::All(schemas) if form.types() != kind => {
            let at = if kind == Types::LIST {
                &*LISTS
            } else {
                &*OBJECTS
            };
            let root = at;
            let kinds = schemas.first().map(|first| Schema { root, at, ..*first });
            Form::All(schemas.iter().copied().chain(kinds).collect())
        }
        Form::Plain(_) => Form::Plain(kind),
        form => form.clone(),
    }
}

/// Returns the cases of the lists or of the objects of a form; `None` for too many.
fn apart<'a>(form: &Form<'a>, kind: Types, depth: usize) -> Option<Vec<Case<'a>>> {
    if depth == MOST_NESTED {
        return None;
    }
    let cases = |part: &Type<'a>| cases(part, Some(depth + 1));
    let (names, parts) = if kind == Types::LIST {
        let first = form.first_elements();
        if first == 0 {
            // A list may contain each case of its element at once.
            let ty = Some(Type::form(only(form, kind)));
            let is_exact = true;
            return Some(vec![Case { ty, is_exact }]);
        }
        let mut parts = Vec::new();
        for index in 0..first {
            let Element::Type(part) = form.element(Some(index)) else {
                return None;
            };
            parts.push(cases(&part));
        }
        matches!(form.element(Some(first)), Element::Beyond(_)).then_some((None, parts))?
    } else {
        let names = form.names();
        let mut parts = Vec::new();
        for name in &names {
            let mut all = match form.property(name) {
                Property::Type(part) => cases(&part),
                _ => Vec::new(),
            };
            if form.presence(name) != Presence::Sure {
                all.push(Case {
                    ty: None,
                    is_exact: form.presence(name) == Presence::Maybe,
                });
            }
            parts.push(all);
        }
        (Some(names), parts)
    };
    let whole = |parts: Vec<Option<Type<'a>>>| match &names {
        None => Type::tuple(parts.into_iter().flatten().collect()),
        Some(names) => {
            let members = names.iter().copied().zip(parts).collect();
            Type::form(Form::Narrowed(Box::new(only(form, kind)), members))
        }
    };
    let all = product(parts.into_iter())?.into_iter();
    let case = |(parts, is_exact)| Case {
        ty: Some(whole(parts)),
        is_exact,
    };
    Some(all.map(case).collect())
}
