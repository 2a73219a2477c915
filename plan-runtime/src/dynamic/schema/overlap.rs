//! Whether what one schema allows can be allowed by another.

use super::{Element, Form, Property, TooMuchWork, Type, Types, Work};
use std::collections::HashSet;
use std::rc::Rc;

/// How deep two types are compared that do not repeat themselves.
const MOST_NESTED: usize = 128;

/// How two types differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dynamic) enum Clash {
    /// No value is of both.
    Kind,
    /// The kinds fit, but the allowed values are others.
    Values,
    /// Both are lists or objects, and what is in them differs.
    Inside,
}

impl Type<'_> {
    /// How these values clash with those that another type allows; `None` where at least one of them may fit.
    ///
    /// That both allow null is not enough. A type that contains itself fits another that does, unless something else clashes.
    ///
    /// # Errors
    ///
    /// Where nobody knows one of the types, or there is too much work to compare them.
    pub(in crate::dynamic) fn clash(
        &self,
        takes: &Type<'_>,
        work: &Work,
    ) -> Result<Option<Clash>, TooMuchWork> {
        let mut comparison = Comparison {
            work,
            depth: 0,
            seen: HashSet::new(),
            order: Vec::new(),
        };
        comparison.types(self, takes)
    }
}

struct Comparison<'w> {
    work: &'w Work,
    depth: usize,
    /// The types that are compared, or were found to fit while these were.
    seen: HashSet<Pair>,
    /// The same, in the order in which they were met.
    order: Vec<Pair>,
}

/// The keys of two types.
type Pair = Rc<(Vec<usize>, Vec<usize>)>;

impl Comparison<'_> {
    fn spend(&self, work: usize) -> Result<(), TooMuchWork> {
        self.work.spend(work)
    }

    fn types(&mut self, given: &Type<'_>, takes: &Type<'_>) -> Result<Option<Clash>, TooMuchWork> {
        if self.depth == MOST_NESTED {
            return Err(TooMuchWork::Work);
        }
        self.spend(1 + given.known()?.cost() + takes.known()?.cost())?;
        let values = given.types().without(Types::NULL);
        if values.is_empty() {
            let fits = given.types().is_empty() || takes.types().overlaps(Types::NULL);
            return Ok((!fits).then_some(Clash::Kind));
        }
        if !values.overlaps(takes.types()) {
            return Ok(Some(Clash::Kind));
        }
        let pair = Rc::new((given.key(), takes.key()));
        if !self.seen.insert(Rc::clone(&pair)) {
            return Ok(None);
        }
        let before = self.order.len();
        self.order.push(pair);
        self.depth += 1;
        let clash = self.forms(given, takes);
        self.depth -= 1;
        if let Ok(Some(_)) = clash {
            // What was found since then may have relied on it.
            for pair in self.order.drain(before..) {
                self.seen.remove(&pair);
            }
        }
        clash
    }

    fn forms(&mut self, given: &Type<'_>, takes: &Type<'_>) -> Result<Option<Clash>, TooMuchWork> {
        let mut nearest = Clash::Kind;
        for form in given.forms() {
            for other in takes.forms() {
                match self.pair(form, other)? {
                    None => return Ok(None),
                    Some(Clash::Kind) => {}
                    Some(clash) => nearest = clash,
                }
            }
        }
        Ok(Some(nearest))
    }

    fn pair(&mut self, given: &Form<'_>, takes: &Form<'_>) -> Result<Option<Clash>, TooMuchWork> {
        self.spend(1 + given.schemas().len() + takes.schemas().len())?;
        let shared = given.types().and(takes.types()).without(Types::NULL);
        if shared.is_empty() {
            return Ok(Some(Clash::Kind));
        }
        if given.counts() && takes.counts() && !self.work.shares(given, takes)? {
            return Ok(Some(Clash::Values));
        }
        let inside = match shared {
            Types::LIST => match (given.element(None), takes.element(None)) {
                (Element::Type(given), Element::Type(takes)) => {
                    self.types(&given, &takes)?.is_some()
                }
                _ => false,
            },
            Types::OBJECT => self.objects(given, takes)?,
            _ => false,
        };
        Ok(inside.then_some(Clash::Inside))
    }

    /// Whether a member clashes that is always there or must be. A member too many does no harm to most that read objects.
    fn objects(&mut self, given: &Form<'_>, takes: &Form<'_>) -> Result<bool, TooMuchWork> {
        let required: HashSet<&str> = takes.required().into_iter().collect();
        let sure = given.required();
        self.spend(required.len() + sure.len())?;
        let also = sure.iter().filter(|name| !required.contains(*name));
        for name in takes.required().iter().chain(also) {
            let clashes = match (given.property(name), takes.property(name)) {
                (Property::Closed, _) => required.contains(name),
                (Property::Type(given), Property::Type(takes)) => {
                    self.types(&given, &takes)?.is_some()
                }
                _ => false,
            };
            if clashes {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
