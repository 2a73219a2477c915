//! The types of the variables of a `for` and of patterns.

use super::local::Local;
use super::outputs::{KnownReference, Outputs};
use super::path::{Given, LeadsNowhere, follow};
use super::replacement::{Replacement, literal, weight};
use crate::dynamic::schema::{Type, Types, member_of};
use crate::plan::{Bound, Condition, Entry, For, Key, Path, Segment, Source, Template, outcome_of};
use crate::print::{Cut, SHORT};
use crate::resolve::describe::short;
use serde_json::Value;
use std::mem::take;

/// Maximum number of elements of a literal list that are checked separately.
const MOST_ELEMENTS: usize = 64;
/// Maximum size of such an element.
const LARGEST_ELEMENT: usize = 64;

/// Maximum size of the type of a value that the plan composes.
const LARGEST: usize = 4096;

impl<'a, 'c> Outputs<'a, 'c> {
    /// Returns the number of local values in scope.
    pub(super) fn depth(&self) -> usize {
        self.locals.map_or(0, |innermost| innermost.depth + 1)
    }

    fn local(&self, depth: usize) -> Option<&'c Local<'a, 'c>> {
        let mut locals = std::iter::successors(self.locals, |local| local.around);
        locals.find(|local| local.depth == depth)
    }

    /// Returns the type of a local value.
    pub(super) fn of_local(&self, depth: usize) -> Option<Given<'a>> {
        self.local(depth).map(|local| local.given.clone())
    }

    /// Returns `true` if a variable in scope has this name.
    pub(super) fn is_bound(&self, name: &str) -> bool {
        let mut locals = std::iter::successors(self.locals, |local| local.around);
        locals.any(|local| local.bound.binds(name))
    }

    /// Returns the plan with one more local value in scope.
    pub(super) fn with<'d>(self, local: &'d Local<'a, 'd>) -> Outputs<'a, 'd>
    where
        'c: 'd,
    {
        Outputs {
            locals: Some(local),
            ..self
        }
    }

    fn bind(self, given: Given<'a>, pattern: &'a str, bound: Bound) -> Local<'a, 'c> {
        Local {
            given: Given {
                lost: None,
                ..given
            },
            pattern,
            bound,
            depth: self.depth(),
            around: self.locals,
        }
    }

    /// Returns the local value of a `for` whose list may have this place.
    pub(super) fn element(self, each: &'a For, at: Option<usize>) -> Local<'a, 'c> {
        let bound = Bound::pattern(&each.pattern, &each.list);
        let given = match &each.list {
            Template::List(items) => self.of_items(&each.pattern, items, at),
            list => self.of_elements(list),
        };
        self.bind(given, &each.pattern, bound)
    }

    /// Returns an element of a list, or a pair of a name and a member of an object.
    fn of_elements(self, list: &'a Template) -> Given<'a> {
        let given = self.of_template(list);
        let mut element = Given::typed(given.ty.iterated(self.work));
        // Such a list has no elements, or has a finding.
        if element.ty.types().is_empty() && given.replaced.is_empty() {
            element.ty = Type::trusted();
        }
        if element.ty.says_null() {
            let list = match list {
                Template::Reference(reference) => short(&reference.text()),
                list => Cut(list, SHORT).to_string(),
            };
            element.absent = Some(format!("an element of `{list}` may be null"));
        }
        for other in given.replaced {
            match other.lists.checked_sub(1) {
                Some(lists) => element.replaced.push(Replacement { lists, ..other }),
                None => {
                    let items: Vec<Value> = match &other.value {
                        Value::Array(items) => items.clone(),
                        Value::Object(members) => {
                            let pair = |(name, value): (&String, &Value)| {
                                [name.as_str().into(), value.clone()]
                            };
                            members.iter().map(pair).map(Value::from_iter).collect()
                        }
                        _ => Vec::new(),
                    };
                    for item in items {
                        element.replace(other.with(item));
                    }
                }
            }
        }
        element
    }

    /// Returns an element of a literal list.
    fn of_items(self, pattern: &str, items: &'a [Template], at: Option<usize>) -> Given<'a> {
        let mut element = Given::typed(Type::none());
        let mut places = at.map(|at| self.spans.templates.parts(at));
        for (index, item) in items.iter().enumerate() {
            let at = places.as_mut().and_then(Iterator::next);
            let mut room = LARGEST_ELEMENT;
            let literal = literal(item, &mut room);
            match literal.filter(|_| index < MOST_ELEMENTS) {
                Some(value) => element.replaced.push(Replacement {
                    value,
                    lists: 0,
                    when: format!("`{}` is element [{index}] of the list", short(pattern)),
                    place: at.map(|at| self.place(at)),
                }),
                None => {
                    let item = self.of_template(item);
                    element.ty = element.ty.or(item.in_value());
                }
            }
        }
        if element.ty.forms().len() > 1 {
            element.ty = element.ty.once();
        }
        if element.ty.says_null() {
            element.absent = Some("an element of the list may be null".to_owned());
        }
        element
    }

    /// Returns the local value that a pattern binds.
    pub(super) fn bound(self, pattern: &'a str, value: &'a Template) -> Local<'a, 'c> {
        let bound = Bound::pattern(pattern, value);
        let Given {
            ty,
            replaced,
            present,
            ..
        } = self.of_template(value);
        let mut given = match outcome_of(pattern, value) {
            None => Given {
                replaced,
                present,
                ..Given::typed(ty.present())
            },
            Some(_) if ty.beyond().is_some() => Given::typed(ty),
            Some(side) => {
                let mut given = Given::typed(ty.side(side));
                for other in replaced {
                    if let Some(value) = other.value.get(side) {
                        given.replace(other.with(value.clone()));
                    }
                }
                given
            }
        };
        if given.ty.says_null() {
            let name = bound.names().next().unwrap_or(pattern);
            given.absent = Some(may_be_null(name));
        }
        self.bind(given, pattern, bound)
    }

    /// Calls a function with the local values that the conditions of a branch bind.
    pub(super) fn within<T>(
        self,
        conditions: &'a [Condition],
        then: &mut dyn FnMut(Outputs<'a, '_>) -> T,
    ) -> T {
        let Some((first, rest)) = conditions.split_first() else {
            return then(self);
        };
        match first {
            Condition::Let { pattern, value } if self.may_bind() => {
                let local = self.bound(pattern, value);
                self.with(&local).within(rest, then)
            }
            _ => self.within(rest, then),
        }
    }

    /// Returns `true` if another local value is within the limit, beyond which the reader reports an error.
    pub(super) fn may_bind(&self) -> bool {
        self.depth() < crate::plan::depth::DEEPEST_BODY
    }

    /// Returns the type of a template's value.
    pub(super) fn of_template(&self, template: &'a Template) -> Given<'a> {
        let given = self.of_parts(template);
        if given.ty.cost() > LARGEST && !matches!(template, Template::Reference(_)) {
            return Given::typed(Type::any());
        }
        given
    }

    fn of_parts(&self, template: &'a Template) -> Given<'a> {
        let types = match template {
            Template::Reference(reference) => {
                return match self.reference(reference).found() {
                    Ok(given) => Given {
                        lost: None,
                        ..given
                    },
                    Err(LeadsNowhere::Lost(_)) => Given::trusted(),
                    Err(LeadsNowhere::Unknown(why)) => Given::typed(Type::unknown(why)),
                };
            }
            Template::List(items) => {
                let mut elements = Vec::with_capacity(items.len().min(LARGEST));
                let mut cost = 0;
                for item in items {
                    let element = self.of_template(item).in_value();
                    cost += element.cost();
                    if cost > LARGEST || element.is_deep() {
                        return Given::typed(Type::plain(Types::LIST));
                    }
                    elements.push(element);
                }
                return Given::typed(Type::tuple(elements));
            }
            Template::Object(entries) => {
                return Given::typed(self.of_entries(entries, &|_, it| (it.in_value(), false)));
            }
            Template::Bool(_) | Template::Number(_) | Template::String(_) => {
                let mut room = usize::MAX;
                let value = literal(template, &mut room).unwrap_or_default();
                return Given::typed(Type::literal(value));
            }
            Template::Text(_) => Types::STRING,
            Template::Test(test) if test.is_bool() => Types::BOOL,
            Template::Test(_) => Types::INTEGER,
            // A part of the document that could not be read is null as well.
            Template::Null if !self.is_whole => return Given::trusted(),
            Template::Null => {
                let mut null = Given::typed(Type::none());
                null.nullable("the plan contains null at this position".to_owned());
                return null;
            }
            Template::Tagged(..) | Template::Computed(_) => return Given::trusted(),
        };
        Given::typed(Type::plain(types))
    }

    /// Returns the type of an object whose named members have these types. With `true`, a null member is left out, so an earlier part may have the member.
    pub(super) fn of_entries(
        &self,
        entries: &'a [Entry],
        named: &dyn Fn(&'a Template, Given<'a>) -> (Type<'a>, bool),
    ) -> Type<'a> {
        let (mut parts, mut members) = (Vec::new(), Vec::new());
        let mut cost = 0;
        for entry in entries {
            let value = self.of_template(&entry.value);
            let value = match &entry.key {
                Key::Name(name) => match named(&entry.value, value) {
                    (value, true) => {
                        let earlier = member_of(Type::merged(&parts).forms(), name);
                        value.present().or(earlier.unwrap_or_else(Type::any))
                    }
                    (value, false) => value,
                },
                Key::Flattened => value.in_value(),
                Key::Inner => return Type::any(),
            };
            cost += value.cost();
            if cost > LARGEST || value.is_deep() {
                return Type::plain(Types::OBJECT);
            }
            match &entry.key {
                Key::Name(_) if value.forms().is_empty() => {}
                Key::Name(name) => members.push((name.as_str(), value)),
                _ => parts.extend([Type::members(take(&mut members)), value]),
            }
        }
        let members = Type::members(members);
        if parts.is_empty() {
            return members;
        }
        parts.push(members);
        Type::merged(&parts)
    }
}

impl<'a, 'r> KnownReference<'a, 'r> {
    /// Returns the pattern that binds the first variable of a reference.
    pub(super) fn pattern(&self) -> Option<&'a str> {
        match self.reference.source {
            Source::Local(depth) => Some(self.known.local(depth)?.pattern),
            Source::Step(_) | Source::Input(_) => None,
        }
    }

    /// Returns the first variable of a reference, and the number of path parts that its pattern takes apart.
    pub(super) fn variable(&self) -> Option<(&'r str, usize)> {
        let Self { known, reference } = *self;
        let Source::Local(depth) = reference.source else {
            return None;
        };
        let (name, rest) = known.local(depth)?.bound.start(reference.path())?;
        Some((name, reference.path.len() - rest.segments.len()))
    }

    /// Returns the value at the start of a reference's path, and the number of path parts that the pattern takes apart.
    fn start(&self) -> Result<(Given<'a>, usize), LeadsNowhere<'a>> {
        let Self { known, reference } = *self;
        // Without fuel, no schema is opened.
        known.work.spend(1)?;
        let given = known.given(reference.source);
        let replaced = given.replaced.iter().map(|other| weight(&other.value));
        known
            .work
            .spend(given.ty.cost() + replaced.sum::<usize>())?;
        // The problems on the way to the source have findings.
        let given = Given {
            absent: given.absent,
            replaced: given.replaced,
            present: given.present,
            ..Given::typed(given.ty)
        };
        let Some((name, skipped)) = self.variable().filter(|(_, it)| *it > 0) else {
            return Ok((given, 0));
        };
        let part = Path {
            optional: false,
            segments: &reference.path[..skipped],
            otherwise: None,
        };
        let mut part = follow(given, (part, 0), known.work)?;
        if part.ty.says_null() {
            part.absent = Some(may_be_null(name));
        }
        Ok((part, skipped))
    }

    /// Returns the value of a reference.
    pub(super) fn found(&self) -> Result<Given<'a>, LeadsNowhere<'a>> {
        self.follow(&self.reference.path)
    }

    /// Returns the value at this path from the start of a reference.
    pub(super) fn follow(&self, path: &[Segment]) -> Result<Given<'a>, LeadsNowhere<'a>> {
        let (given, skipped) = self.start()?;
        let part = skipped.checked_sub(1).and_then(|last| path.get(last));
        let rest = Path {
            optional: part.map_or(self.reference.optional, |part| part.optional),
            segments: path.get(skipped..).unwrap_or_default(),
            ..self.reference.path()
        };
        follow(given, (rest, skipped), self.known.work)
    }

    /// Returns the untyped input that the reference reads as a whole.
    pub(super) fn untyped_input(&self) -> Option<usize> {
        match self.reference.source {
            Source::Input(index) if self.reference.path.is_empty() => match self.known.block {
                Some(reads) => reads.get(index)?.untyped,
                None => self.known.is_untyped(index).then_some(index),
            },
            _ => None,
        }
    }
}

impl<'a> Given<'a> {
    /// Returns the type as a part of a larger value, in which a missing value is null.
    pub(super) fn in_value(self) -> Type<'a> {
        let ty = self.replaced.into_iter().fold(self.ty, |all, other| {
            let value = of_value(other.value);
            all.or((0..other.lists).fold(value, |ty, _| Type::list(ty)))
        });
        match self.absent {
            _ if ty.types().is_empty() => Type::any(),
            Some(_) => ty.nullable(),
            None => ty,
        }
    }
}

/// Returns the type of a value of the plan.
fn of_value(value: Value) -> Type<'static> {
    match value {
        Value::Array(items) => Type::tuple(items.into_iter().map(of_value).collect()),
        other => Type::literal(other),
    }
}

fn may_be_null(name: &str) -> String {
    format!("the variable `{}` may be null", short(name))
}
