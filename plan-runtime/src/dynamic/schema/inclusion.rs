//! The check that each value of one type is a value of another type.
//!
//! Kinds, presence, listed values, elements and members are compared, and the bounds and lengths of known values. Patterns and formats are not compared.

use super::mismatch::{Mismatch, Reason};
use super::work::Pair;
use super::{Element, Form, Presence, Property, TooMuchWork, Type, Types, Work};
use crate::resolve::describe;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Maximum nesting of two types in a comparison.
const MOST_NESTED: usize = 128;

/// The start of a key, unlike the keys of types.
const PART: usize = 10;

/// The first mismatch, if there is one.
pub(super) type Found = Result<Option<Mismatch>, TooMuchWork>;

impl Type<'_> {
    /// Returns the first part of these values that another type does not accept. Null is not compared if it is `nullable` there.
    ///
    /// A recursive type fits another recursive type, unless a part does not fit.
    ///
    /// # Errors
    ///
    /// Returns an error if one of the types is unknown, or if the comparison is too much work.
    pub(in crate::dynamic) fn mismatch(
        &self,
        takes: &Type<'_>,
        nullable: bool,
        work: &Work,
    ) -> Found {
        work.spend(1 + self.known()?.cost() + takes.known()?.cost())?;
        // The keys of types that no schema has are addresses of temporary values.
        let is_of_schema = |form: &Form<'_>| matches!(form, Form::All(_));
        let pair = self
            .forms()
            .iter()
            .all(is_of_schema)
            .then(|| (self.key(), takes.key(), nullable));
        if let Some(found) = pair
            .as_ref()
            .and_then(|pair| work.compared.borrow().get(pair).cloned())
        {
            return Ok(found);
        }
        let mut inclusion = Inclusion {
            work,
            depth: 0,
            seen: HashMap::new(),
            order: Vec::new(),
            kept: Vec::new(),
            in_case: false,
        };
        let found = inclusion.types(self, takes, nullable)?;
        if let Some(pair) = pair {
            work.compared.borrow_mut().insert(pair, found.clone());
        }
        Ok(found)
    }
}

pub(super) struct Inclusion<'w> {
    pub(super) work: &'w Work,
    depth: usize,
    /// The results of pairs of types. A pair fits while it is being compared.
    seen: HashMap<Rc<Pair>, Option<Mismatch>>,
    /// The pairs whose results rely on the assumption that other pairs fit, in the order of their comparison.
    order: Vec<Rc<Pair>>,
    /// Literals whose addresses are in `seen`.
    pub(super) kept: Vec<Rc<Value>>,
    /// The compared value is a case of a larger value.
    pub(super) in_case: bool,
}

/// The first certain mismatch, or else the first mismatch.
#[derive(Default)]
pub(super) struct First(pub(super) Option<Mismatch>);

impl First {
    /// Returns a certain mismatch, and stores an uncertain one.
    pub(super) fn certain(&mut self, found: Option<Mismatch>) -> Option<Mismatch> {
        let found = found?;
        if !found.is_unknown() {
            return Some(found);
        }
        self.0.get_or_insert(found);
        None
    }
}

impl Inclusion<'_> {
    pub(super) fn types(&mut self, given: &Type<'_>, takes: &Type<'_>, nullable: bool) -> Found {
        if self.depth == MOST_NESTED {
            return Err(TooMuchWork::Work);
        }
        self.work
            .spend(1 + given.known()?.cost() + takes.known()?.cost())?;
        let pair = Rc::new((given.key(), takes.key(), nullable));
        if pair.0 == pair.1 {
            return Ok(None);
        }
        self.depth += 1;
        let found = self.once(pair, |it| it.forms(given, takes, nullable));
        self.depth -= 1;
        found
    }

    /// Compares a pair once.
    fn once(&mut self, pair: Rc<Pair>, compare: impl FnOnce(&mut Self) -> Found) -> Found {
        if let Some(found) = self.seen.get(&pair) {
            return Ok(found.clone());
        }
        let before = self.order.len();
        self.order.push(Rc::clone(&pair));
        self.seen.insert(Rc::clone(&pair), None);
        let found = compare(self)?;
        if found.as_ref().is_some_and(|it| !it.is_unknown()) {
            // Only a certain mismatch is one without the assumption that this pair fits.
            for pair in self.order.drain(before..) {
                self.seen.remove(&pair);
            }
        }
        self.seen.insert(pair, found.clone());
        Ok(found)
    }

    fn forms(&mut self, given: &Type<'_>, takes: &Type<'_>, nullable: bool) -> Found {
        let mut first = First::default();
        let shared = given.types().without(Types::NULL).overlaps(takes.types());
        let same: HashSet<Vec<usize>> = takes.forms().iter().map(Form::key).collect();
        // A schema may bound values of any kind.
        let is_known =
            |form: &&Form<'_>| form.counts() || matches!(form, Form::Literal(_) | Form::Tuple(_));
        let is_free = takes.forms().iter().any(Form::is_free);
        for form in given.forms() {
            if same.contains(&form.key()) || (is_free && !is_known(&form)) {
                continue;
            }
            let found = self.form(form, takes, nullable)?;
            if let Some(mut found) = first.certain(found) {
                if let Reason::Bound { always, .. } = &mut found.reason {
                    *always &= given.forms().len() == 1;
                }
                if let (
                    Reason::Kind {
                        given: kinds,
                        always,
                        ..
                    },
                    "",
                ) = (&mut found.reason, &*found.place)
                    && !shared
                {
                    *kinds = given.types();
                    *always = true;
                }
                return Ok(Some(found));
            }
        }
        Ok(first.0)
    }

    fn form(&mut self, form: &Form<'_>, takes: &Type<'_>, nullable: bool) -> Found {
        if let Form::Trusted = form {
            return Ok(None);
        }
        if let Form::Literal(value) = form {
            return self.values([&**value], takes, nullable);
        }
        let types = form.types();
        if form.counts() {
            let null = types.overlaps(Types::NULL).then_some(&Value::Null);
            let is_value = |it: &&Value| !it.is_null() && types.overlaps(Types::of(it));
            let values = form.allowed().filter(is_value).chain(null);
            return self.values(values, takes, nullable);
        }
        let mut first = First::default();
        let is_open = types == Types::ALL;
        if is_open {
            first.certain(Some(Mismatch::of(Reason::Unstated)));
        }
        for kind in Types::KINDS {
            let part = types.and(kind);
            let is_skipped = match kind {
                Types::NULL => nullable || is_open,
                Types::OBJECT => is_open && form.names().is_empty(),
                _ => is_open,
            };
            if part.is_empty() || is_skipped {
                continue;
            }
            let found = self.kind(form, part, takes)?;
            if let Some(found) = first.certain(found) {
                return Ok(Some(found));
            }
        }
        Ok(first.0)
    }

    /// Compares the values of these kinds.
    fn kind(&mut self, form: &Form<'_>, part: Types, takes: &Type<'_>) -> Found {
        self.work.spend(takes.width())?;
        let others = takes.forms().iter();
        let mut others: Vec<_> = others.filter(|it| it.types().overlaps(part)).collect();
        let all = |forms: &mut dyn Iterator<Item = &&Form<'_>>| {
            forms.fold(Types::NONE, |all, form| all.or(form.types()))
        };
        let refused = part.without(all(&mut others.iter()));
        if !refused.is_empty() {
            return Ok(Some(Mismatch::of(Reason::Kind {
                given: refused,
                takes: takes.words(),
                always: false,
            })));
        }
        if part == Types::LIST || part == Types::OBJECT {
            // The parts of a value of the plan are compared without the values that a form lists.
            if !matches!(form, Form::Members(_) | Form::Tuple(_)) {
                others.retain(|it| !it.counts());
                if others.is_empty() {
                    return Ok(Some(Mismatch::of(Reason::Listed(part))));
                }
            }
            let mut keys = others.iter().map(|it| it.key()).collect::<Vec<_>>();
            keys.sort_unstable();
            let pair = (of_part(form, part), keys.concat(), false);
            return self.once(Rc::new(pair), |it| it.parts(form, part, &others));
        }
        let listed = part.without(all(&mut others.iter().filter(|it| !it.counts())));
        let values: &[Value] = match listed {
            Types::NONE => return Ok(None),
            Types::NULL => &[Value::Null],
            Types::BOOL => &[Value::Bool(true), Value::Bool(false)],
            _ => return Ok(Some(Mismatch::of(Reason::Listed(listed)))),
        };
        self.values(values, takes, false)
    }

    /// Compares lists or objects, which one of these forms has to accept.
    fn parts(&mut self, form: &Form<'_>, part: Types, others: &[&Form<'_>]) -> Found {
        let mut nearest: Option<Mismatch> = None;
        if others.len() > 1
            && let Some(refused) = self.refused(form, part, others)?
        {
            return Ok(Some(refused));
        }
        for other in others {
            self.work
                .spend(1 + form.schemas().len() + other.schemas().len())?;
            let pair = (of_part(form, part), other.key(), true);
            let found = self.once(Rc::new(pair), |it| {
                if part == Types::LIST {
                    it.lists(form, other)
                } else {
                    it.objects(form, other, None)
                }
            });
            let Some(found) = found? else { return Ok(None) };
            let is_nearer = |best: &Mismatch| {
                let depth = |it: &Mismatch| (it.is_unknown(), it.place.len());
                depth(&found) > depth(best)
            };
            if nearest.as_ref().is_none_or(is_nearer) {
                nearest = Some(found);
            }
        }
        if others.len() > 1
            && part == Types::OBJECT
            && let Some(tagged) = self.tagged(form, others)?
        {
            nearest = tagged;
        }
        match nearest {
            Some(nearest) if others.len() > 1 && !nearest.is_unknown() => {
                self.together(form, part, others, nearest)
            }
            nearest => Ok(nearest),
        }
    }

    /// Compares two objects except for one member.
    pub(super) fn objects(
        &mut self,
        given: &Form<'_>,
        takes: &Form<'_>,
        but: Option<&str>,
    ) -> Found {
        let required = takes.required();
        let sure: HashSet<&str> = given.required().into_iter().collect();
        let names = given.names();
        self.work.spend(required.len() + sure.len() + names.len())?;
        let mut first = First::default();
        for name in &required {
            let missing = |always| {
                let name = (*name).to_owned();
                Mismatch::of(Reason::Missing { name, always })
            };
            let property = given.property(name);
            if let Property::Type(ty) = &property {
                self.work.spend(ty.cost())?;
            }
            let found = match property {
                Property::Closed | Property::Unlisted => Some(missing(true)),
                Property::Type(ty) if ty.forms().is_empty() || ty.types().is_empty() => {
                    Some(missing(true))
                }
                Property::Open => Some(Mismatch::of(Reason::Presence((*name).to_owned()))),
                Property::Type(_) if sure.contains(name) => None,
                Property::Type(_) => match given.presence_of_optional(name) {
                    Presence::Sure => None,
                    Presence::Maybe => Some(missing(false)),
                    Presence::Unknown => Some(Mismatch::of(Reason::Presence((*name).to_owned()))),
                },
            };
            if let Some(found) = first.certain(found) {
                return Ok(Some(found));
            }
        }
        for name in names.iter().filter(|name| Some(**name) != but) {
            let Property::Type(part) = given.property(name) else {
                continue;
            };
            if part.types().is_empty() {
                continue;
            }
            let found = match takes.property(name) {
                Property::Type(ty) if !ty.types().is_empty() => {
                    self.types(&part, &ty, false)?.map(|it| it.in_member(name))
                }
                Property::Type(_) | Property::Closed => {
                    Some(Mismatch::of(Reason::Extra((*name).to_owned())))
                }
                Property::Open | Property::Unlisted => None,
            };
            if let Some(found) = first.certain(found) {
                return Ok(Some(found));
            }
        }
        let found = self.others(given, takes, &names)?;
        Ok(first.certain(found).or(first.0))
    }

    /// Compares the members that the given object does not name.
    pub(super) fn others(&mut self, given: &Form<'_>, takes: &Form<'_>, names: &[&str]) -> Found {
        let rest = match given.rest() {
            Property::Closed | Property::Unlisted => return Ok(None),
            Property::Open => Type::any(),
            Property::Type(rest) => rest,
        };
        let known: HashSet<&str> = names.iter().copied().collect();
        let of_takes = takes.names();
        self.work.spend(of_takes.len())?;
        let mut first = First::default();
        for name in of_takes.into_iter().filter(|name| !known.contains(name)) {
            if let Property::Type(ty) = takes.property(name) {
                let found = self.types(&rest, &ty, false)?.map(|it| it.in_member(name));
                if let Some(found) = first.certain(found) {
                    return Ok(Some(found));
                }
            }
        }
        let found = match takes.rest() {
            Property::Closed => Some(Mismatch::of(Reason::Unstated)),
            Property::Type(ty) => self.types(&rest, &ty, false)?,
            Property::Open | Property::Unlisted => None,
        };
        Ok(first.certain(found).or(first.0))
    }

    pub(super) fn lists(&mut self, given: &Form<'_>, takes: &Form<'_>) -> Found {
        if let Form::Tuple(elements) = given
            && let Some(bound) = takes.bound_of_list(elements.len())
        {
            return Ok(Some(Mismatch::of(Reason::Bound {
                value: describe::list(elements.len()),
                bound,
                always: true,
            })));
        }
        let mut first = First::default();
        let alike = given.first_elements().max(takes.first_elements());
        for index in 0..=alike {
            let Element::Type(part) = given.element(Some(index)) else {
                break;
            };
            let ty = match takes.element(Some(index)) {
                Element::Type(ty) => ty,
                // Lengths are compared only if elements have schemas of their own.
                Element::Beyond(_) if alike == 0 => break,
                Element::Beyond(most) => {
                    let is_sure = index < given.first_elements();
                    let longer = Mismatch::of(Reason::Longer { most, is_sure });
                    return Ok(first.certain(Some(longer)).or(first.0));
                }
            };
            let place = if index == alike {
                "[..]".to_owned()
            } else {
                format!("[{index}]")
            };
            let found = self.types(&part, &ty, false)?.map(|it| it.behind(place));
            if let Some(found) = first.certain(found) {
                return Ok(Some(found));
            }
        }
        Ok(first.0)
    }
}

/// Returns the key of the lists or the objects of a form.
fn of_part(form: &Form<'_>, part: Types) -> Vec<usize> {
    let mut key = vec![PART, part.bits()];
    form.push_key(&mut key);
    key
}
