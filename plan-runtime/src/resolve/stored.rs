//! Values that references read: their JSON, or a Rust value of which JSON is made when something needs it.

use super::error::ResolveError;
use super::meter::{MemoryBudget, Meter, bytes_of};
use super::value::InValue;
use super::{check_within, encode, encode_within};
use crate::plan::Keep;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value};
use std::any::Any;
use std::cell::{Cell, OnceCell};
use std::fmt;
use std::mem::needs_drop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// A value that references read.
///
/// It is JSON, or, in a run, the value that a tool gave, if its type [comes back](crate::Shape#values-that-are-handed-over) from JSON as it
/// was. Then its JSON is made once something needs it.
pub struct StoredValue {
    content: Content,
    /// What computed values have read from the JSON. Boxed twice, since nearly all have none: so it takes one word.
    read: RustValue,
    /// What it counts toward the limits of a run.
    bytes: Cell<usize>,
}

enum Content {
    Json(Value),
    /// For one reader, which takes it.
    Single(Box<dyn Whole>),
    Whole(Arc<dyn Whole>),
}

/// A Rust value that is read from JSON. What its destructor panics about is lost: nothing reads the value any more.
#[derive(Default)]
struct RustValue(OnceCell<Box<Box<dyn Any + Send>>>);

impl Drop for RustValue {
    #[inline]
    fn drop(&mut self) {
        if let Some(value) = self.0.take() {
            drop_quietly(value);
        }
    }
}

/// What clones a value.
pub type CloneFn<T> = fn(&T) -> T;

/// How values of a type are handed over, from a tool to those that read all of its output. There is one for each type that comes back from
/// JSON as it was, so that it does not matter which way a value goes.
pub struct HandOver<T> {
    clone: Option<CloneFn<T>>,
    may_be_null: bool,
    hold: fn(T, Self, Made, Keep) -> StoredValue,
}

impl<T> Clone for HandOver<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for HandOver<T> {}

impl<T: Serialize + Send + Sync + 'static> HandOver<T> {
    /// `clone` clones a value, if its type is `Clone`. `may_be_null` says whether the JSON of some value is null.
    pub(crate) fn new(clone: Option<CloneFn<T>>, may_be_null: bool) -> Self {
        Self {
            clone,
            may_be_null,
            hold: |value, how, made, keep| {
                let held = Held {
                    value: Some(value),
                    clone: how.clone,
                    may_be_null: how.may_be_null,
                    json: made.json.map_or_else(OnceLock::new, OnceLock::from),
                };
                let content = match keep {
                    Keep::Single => Content::Single(Box::new(held)),
                    Keep::Json | Keep::Both | Keep::Whole => Content::Whole(Arc::new(held)),
                };
                StoredValue {
                    content,
                    read: RustValue::default(),
                    bytes: Cell::new(made.bytes),
                }
            },
        }
    }
}

/// A value that is handed over, with its type erased. The slots are `Option`s: one of another type gets nothing.
trait Whole: Send + Sync {
    /// The value.
    fn value(&self) -> &dyn Any;
    /// Puts a clone into the slot, if the value can be cloned.
    fn clone_to(&self, slot: &mut dyn Any);
    /// Puts the value into the slot, and says whether it has.
    fn give_to(&mut self, slot: &mut dyn Any) -> bool;
    /// Puts the value into the slot, or a clone if somebody else has the value, too. Gives it back if neither can be done.
    fn share_to(self: Arc<Self>, slot: &mut dyn Any) -> Option<Arc<dyn Whole>>;
    /// Its JSON, which is made if it was not made before.
    fn json(&self, meter: Option<&Meter<'_>>) -> Result<&Value, ResolveError>;
    /// The bytes of its JSON, once after it was made.
    fn take_made(&self) -> usize;
}

/// A value that is handed over. What its destructor panics about is lost.
struct Held<T> {
    /// It is there until it is given away.
    value: Option<T>,
    clone: Option<CloneFn<T>>,
    may_be_null: bool,
    /// Boxed, since nearly none is ever made.
    json: OnceLock<Box<MadeJson>>,
}

/// What was made of a value when it was looked through, and what the value counts.
struct Made {
    json: Option<Box<MadeJson>>,
    bytes: usize,
}

/// The JSON of a value that is handed over.
struct MadeJson {
    json: Value,
    /// Its bytes, until they are counted.
    bytes: AtomicUsize,
}

impl MadeJson {
    /// JSON that was counted when it was made.
    fn counted(json: Value) -> Self {
        Self {
            json,
            bytes: AtomicUsize::new(0),
        }
    }
}

impl<T> Drop for Held<T> {
    fn drop(&mut self) {
        if let Some(value) = self.value.take() {
            drop_quietly(value);
        }
    }
}

impl<T: 'static> Held<T> {
    /// Whether a slot is for a `T`, or for an `Option<T>` that a `T` makes `Some`.
    fn fits(&self, slot: &dyn Any) -> bool {
        slot.is::<Option<T>>() || !self.may_be_null && slot.is::<Option<Option<T>>>()
    }
}

/// Fills a slot that [fits](Held::fits).
#[inline]
fn put<T: 'static>(value: Option<T>, slot: &mut dyn Any) {
    if let Some(slot) = slot.downcast_mut::<Option<T>>() {
        *slot = value;
    } else if let Some(slot) = slot.downcast_mut() {
        *slot = Some(value);
    }
}

impl<T: Serialize + Send + Sync + 'static> Whole for Held<T> {
    fn value(&self) -> &dyn Any {
        match &self.value {
            Some(value) => value,
            None => &(),
        }
    }

    fn clone_to(&self, slot: &mut dyn Any) {
        if let (Some(clone), Some(value)) = (self.clone, &self.value)
            && self.fits(slot)
        {
            put(Some(clone(value)), slot);
        }
    }

    fn give_to(&mut self, slot: &mut dyn Any) -> bool {
        let fits = self.fits(slot) && self.value.is_some();
        if fits {
            put(self.value.take(), slot);
        }
        fits
    }

    fn share_to(self: Arc<Self>, slot: &mut dyn Any) -> Option<Arc<dyn Whole>> {
        if !self.fits(slot) {
            return Some(self);
        }
        match Arc::try_unwrap(self) {
            Ok(mut held) => {
                held.give_to(slot);
                None
            }
            Err(held) if held.clone.is_some() => {
                held.clone_to(slot);
                None
            }
            Err(held) => Some(held),
        }
    }

    fn json(&self, meter: Option<&Meter<'_>>) -> Result<&Value, ResolveError> {
        if let Some(made) = self.json.get() {
            return Ok(&made.json);
        }
        let json = match &self.value {
            Some(value) => encode_within(value, meter)?,
            None => Value::Null,
        };
        let made = self.json.get_or_init(|| {
            let bytes = AtomicUsize::new(bytes_of(&json));
            Box::new(MadeJson { json, bytes })
        });
        Ok(&made.json)
    }

    fn take_made(&self) -> usize {
        let made = self.json.get();
        made.map_or(0, |made| made.bytes.swap(0, Ordering::Relaxed))
    }
}

impl StoredValue {
    /// Holds the JSON alone.
    #[inline]
    pub fn json(json: Value) -> Self {
        Self::weighed(json, 0)
    }

    /// Holds the JSON alone, which counts `bytes`.
    #[inline]
    pub(crate) fn weighed(json: Value, bytes: usize) -> Self {
        Self {
            content: Content::Json(json),
            read: RustValue::default(),
            bytes: Cell::new(bytes),
        }
    }

    /// The same, which counts `bytes`.
    pub(crate) fn weighing(self, bytes: usize) -> Self {
        self.bytes.set(bytes);
        self
    }

    /// Holds a value, as JSON or as a Rust value, as far as a meter goes.
    #[inline]
    pub(crate) fn kept<T: Serialize>(
        value: T,
        keep: Keep,
        hand_over: impl FnOnce() -> Option<HandOver<T>>,
        meter: &Meter<'_>,
    ) -> Result<Self, ResolveError> {
        let before = meter.spent();
        let hand_over = match keep {
            Keep::Json => None,
            Keep::Both | Keep::Whole | Keep::Single => hand_over(),
        };
        if let Some(how) = hand_over {
            let json = if keep == Keep::Both {
                let json = encode_within(&value, Some(meter))?;
                Some(Box::new(MadeJson::counted(json)))
            } else {
                check_within(&value, Some(meter))?;
                None
            };
            let bytes = meter.spent() - before;
            return Ok((how.hold)(value, how, Made { json, bytes }, keep));
        }
        Self::encoded(value, meter)
    }

    /// Holds the JSON of a value, as far as a meter goes.
    #[inline(always)]
    pub(crate) fn encoded<T: Serialize>(value: T, meter: &Meter<'_>) -> Result<Self, ResolveError> {
        let before = meter.spent();
        let json = encode_within(&value, Some(meter));
        if needs_drop::<T>() {
            drop_quietly(value);
        }
        match json {
            Ok(json) => Ok(Self::weighed(json, meter.spent() - before)),
            Err(error) => Err(error),
        }
    }

    /// Holds an input, as JSON or as a Rust value.
    ///
    /// # Errors
    ///
    /// Where JSON cannot hold it; see [`encode`].
    pub(crate) fn input<T: Serialize>(
        value: T,
        hand_over: Option<HandOver<T>>,
    ) -> Result<Self, ResolveError> {
        let meter = Meter::unlimited();
        Self::kept(value, Keep::Whole, || hand_over, &meter)
    }

    /// Holds JSON that somebody else made, where there is no more room than this.
    pub(crate) fn made(json: Value, room: MemoryBudget) -> Result<Self, ResolveError> {
        let meter = Meter::new(room, None);
        meter.charge_value(&json)?;
        Ok(Self::weighed(json, meter.spent()))
    }

    /// Holds the JSON of a value.
    ///
    /// # Errors
    ///
    /// Where JSON cannot hold the value; see [`encode`].
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, ResolveError> {
        encode(value).map(Self::json)
    }

    /// The JSON, which is made now if it was not needed before.
    ///
    /// # Errors
    ///
    /// Where the value's `Serialize` says something else than when the value was stored, and JSON cannot hold it; see [`encode`].
    pub fn as_json(&self) -> Result<&Value, ResolveError> {
        self.json_within(None)
    }

    /// Returns the JSON of a value that is nothing but JSON.
    #[inline(always)]
    pub(super) fn plain_json(&self) -> Option<&Value> {
        match &self.content {
            Content::Json(json) => Some(json),
            Content::Single(_) | Content::Whole(_) => None,
        }
    }

    /// The same, as far as a meter goes.
    #[inline]
    pub(crate) fn json_within(&self, meter: Option<&Meter<'_>>) -> Result<&Value, ResolveError> {
        match &self.content {
            Content::Json(json) => Ok(json),
            Content::Single(single) => single.json(meter),
            Content::Whole(whole) => whole.json(meter),
        }
    }

    /// The JSON, without the Rust value.
    ///
    /// # Errors
    ///
    /// As those of [`as_json`](Self::as_json).
    pub fn into_json(self) -> Result<Value, ResolveError> {
        match self.content {
            Content::Json(json) => Ok(json),
            Content::Single(single) => single.json(None).cloned(),
            Content::Whole(whole) => whole.json(None).cloned(),
        }
    }

    /// Returns `true` for JSON that needs no destructor.
    #[inline]
    pub(crate) fn is_scalar(&self) -> bool {
        let is_scalar = matches!(
            &self.content,
            Content::Json(Value::Null | Value::Bool(_) | Value::Number(_))
        );
        // A feature of `serde_json` makes numbers of strings.
        is_scalar && !needs_drop::<Number>() && self.read.0.get().is_none()
    }

    /// What it counts toward the limits of a run.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// Counts JSON that was made meanwhile, and says how much that is.
    pub(crate) fn count_json(&self) -> usize {
        let Some(whole) = self.whole() else {
            return 0;
        };
        let bytes = whole.take_made();
        self.bytes.set(self.bytes() + bytes);
        bytes
    }

    /// The same value for another reader; `None` if only its JSON can be had.
    pub(crate) fn share(&self) -> Option<Self> {
        match &self.content {
            Content::Json(_) | Content::Single(_) => None,
            Content::Whole(whole) => Some(Self {
                content: Content::Whole(Arc::clone(whole)),
                read: RustValue::default(),
                bytes: self.bytes.clone(),
            }),
        }
    }

    /// Whether it is a Rust value.
    #[inline]
    pub(crate) fn is_whole(&self) -> bool {
        !matches!(self.content, Content::Json(_))
    }

    fn whole(&self) -> Option<&dyn Whole> {
        match &self.content {
            Content::Json(_) => None,
            Content::Single(single) => Some(&**single),
            Content::Whole(whole) => Some(&**whole),
        }
    }

    /// The Rust value, where one of this type is there.
    pub(super) fn typed<T: 'static>(&self) -> Option<&T> {
        if let Some(whole) = self.whole()
            && let Some(value) = whole.value().downcast_ref()
        {
            return Some(value);
        }
        self.read.0.get()?.downcast_ref()
    }

    /// The same, read from the JSON if it is not there.
    pub(super) fn read<T: DeserializeOwned + Send + 'static>(
        &self,
        meter: Option<&Meter<'_>>,
    ) -> Result<Option<&T>, ResolveError> {
        if let Some(value) = self.typed() {
            return Ok(Some(value));
        }
        if self.read.0.get().is_none() {
            let json = self.json_within(meter)?;
            let value = T::deserialize(InValue::whole(json, meter))?;
            let _ = self.read.0.set(Box::new(Box::new(value)));
        }
        Ok(self.typed())
    }

    /// Puts a clone of the Rust value into the slot, where one of this type is handed over that can be cloned.
    pub(super) fn clone_to<T: 'static>(&self, slot: &mut Option<T>) {
        if let Some(whole) = self.whole() {
            whole.clone_to(slot);
        }
    }

    /// Puts the Rust value into the slot, if one of this type is handed over that nobody else has, or that can be cloned; gives itself back otherwise.
    #[inline]
    pub(super) fn take_to<T: 'static>(self, slot: &mut Option<T>) -> Option<Self> {
        let content = match self.content {
            Content::Single(mut single) => {
                if single.give_to(slot) {
                    return None;
                }
                Content::Single(single)
            }
            Content::Whole(whole) => Content::Whole(whole.share_to(slot)?),
            Content::Json(json) => Content::Json(json),
        };
        Some(Self { content, ..self })
    }
}

impl fmt::Debug for StoredValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("StoredValue");
        match &self.content {
            Content::Json(json) => debug.field("json", json),
            Content::Single(_) | Content::Whole(_) => debug.field("whole", &true),
        };
        debug.finish_non_exhaustive()
    }
}

/// Drops what has a destructor of the author's, which may panic. So may that of the panic's payload, which is left alone then.
#[cold]
pub(crate) fn drop_quietly<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value)))
        && let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(payload)))
    {
        std::mem::forget(payload);
    }
}
