//! Values that references read: their JSON, or a Rust value that is converted to JSON on demand.

use super::error::ResolveError;
use super::meter::{MemoryBudget, Meter, bytes_of};
use super::node::Node;
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
/// The value is JSON, or, in a run, the Rust value of a tool whose type [survives JSON](crate::Shape#values-that-are-handed-over)
/// unchanged. Then the JSON is built at its first use.
pub struct StoredValue {
    content: StoredContent,
    /// The Rust value that computed values have read from the JSON. Boxed twice to take one word, since nearly all
    /// stored values have none.
    read: RustValue,
    /// The size that counts toward the limits of a run.
    bytes: Cell<usize>,
}

enum StoredContent {
    Json(Value),
    /// A value with one reader, which takes it.
    Single(Box<dyn Whole>),
    Whole(Arc<dyn Whole>),
}

/// A Rust value that was read from JSON. A panic of its destructor is ignored, since the value has no more readers.
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

/// A function that clones a value.
pub type CloneFn<T> = fn(&T) -> T;

/// The functions that hand over the values of a type, from a tool to the readers of the whole output. They exist for types that JSON
/// preserves, so that both routes of a value give equal results.
pub struct HandOver<T> {
    clone: Option<CloneFn<T>>,
    may_be_null: bool,
    hold: fn(T, Self, MadeValue, Keep) -> StoredValue,
}

impl<T> Clone for HandOver<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for HandOver<T> {}

impl<T: Serialize + Send + Sync + 'static> HandOver<T> {
    /// Creates the functions. `clone` clones a value, if its type is `Clone`. `may_be_null` is `true` if the JSON of
    /// some value is null.
    pub(crate) fn new(clone: Option<CloneFn<T>>, may_be_null: bool) -> Self {
        Self {
            clone,
            may_be_null,
            hold: |value, how, made, keep| {
                let held = HeldValue {
                    value: Some(value),
                    clone: how.clone,
                    may_be_null: how.may_be_null,
                    json: made.json.map_or_else(OnceLock::new, OnceLock::from),
                };
                let content = match keep {
                    Keep::Single => StoredContent::Single(Box::new(held)),
                    Keep::Json | Keep::Both | Keep::Whole => StoredContent::Whole(Arc::new(held)),
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
    /// Returns the value.
    fn value(&self) -> &dyn Any;
    /// Puts a clone into the slot, if the value can be cloned.
    fn clone_to(&self, slot: &mut dyn Any);
    /// Moves the value into the slot. Returns `false` if the slot has another type.
    fn give_to(&mut self, slot: &mut dyn Any) -> bool;
    /// Moves the value into the slot, or a clone if the value has other owners. Returns the value if both are impossible.
    fn share_to(self: Arc<Self>, slot: &mut dyn Any) -> Option<Arc<dyn Whole>>;
    /// Returns the JSON, which is built at the first call.
    fn json(&self, meter: Option<&Meter<'_>>) -> Result<&Value, ResolveError>;
    /// Returns the bytes of the new JSON at the first call after its creation, and otherwise 0.
    fn take_made(&self) -> usize;
}

/// A value to hand over. A panic of its destructor is ignored.
struct HeldValue<T> {
    /// `None` after the value was moved out.
    value: Option<T>,
    clone: Option<CloneFn<T>>,
    may_be_null: bool,
    /// Boxed, since nearly none is ever made.
    json: OnceLock<Box<MadeJson>>,
}

/// The JSON of a value, if it has been built, and the size of the value.
struct MadeValue {
    json: Option<Box<MadeJson>>,
    bytes: usize,
}

/// The JSON of a value that is handed over.
struct MadeJson {
    json: Value,
    /// The size in bytes, until it is counted.
    bytes: AtomicUsize,
}

impl MadeJson {
    /// Creates the entry for JSON that was counted while it was built.
    fn counted(json: Value) -> Self {
        Self {
            json,
            bytes: AtomicUsize::new(0),
        }
    }
}

impl<T> Drop for HeldValue<T> {
    fn drop(&mut self) {
        if let Some(value) = self.value.take() {
            drop_quietly(value);
        }
    }
}

impl<T: 'static> HeldValue<T> {
    /// Returns `true` for a slot of `T`, or of an `Option<T>` that can store the value as `Some`.
    fn fits(&self, slot: &dyn Any) -> bool {
        slot.is::<Option<T>>() || !self.may_be_null && slot.is::<Option<Option<T>>>()
    }
}

/// Fills a slot that [fits](HeldValue::fits).
#[inline]
fn put<T: 'static>(value: Option<T>, slot: &mut dyn Any) {
    if let Some(slot) = slot.downcast_mut::<Option<T>>() {
        *slot = value;
    } else if let Some(slot) = slot.downcast_mut() {
        *slot = Some(value);
    }
}

impl<T: Serialize + Send + Sync + 'static> Whole for HeldValue<T> {
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
    /// Stores only JSON.
    #[inline]
    pub fn json(json: Value) -> Self {
        Self::weighed(json, 0)
    }

    /// Stores only JSON, with the size `bytes`.
    #[inline]
    pub(crate) fn weighed(json: Value, bytes: usize) -> Self {
        Self {
            content: StoredContent::Json(json),
            read: RustValue::default(),
            bytes: Cell::new(bytes),
        }
    }

    /// Sets the size to `bytes`.
    pub(crate) fn weighing(self, bytes: usize) -> Self {
        self.bytes.set(bytes);
        self
    }

    /// Stores a value, as JSON or as a Rust value, within the limit of a meter.
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
            return Ok((how.hold)(value, how, MadeValue { json, bytes }, keep));
        }
        Self::encoded(value, meter)
    }

    /// Stores the JSON of a value, within the limit of a meter.
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

    /// Stores an input, as JSON or as a Rust value.
    ///
    /// # Errors
    ///
    /// Returns an error if JSON cannot represent the input; see [`encode`].
    pub(crate) fn input<T: Serialize>(
        value: T,
        hand_over: Option<HandOver<T>>,
    ) -> Result<Self, ResolveError> {
        let meter = Meter::unlimited();
        Self::kept(value, Keep::Whole, || hand_over, &meter)
    }

    /// Stores JSON from elsewhere, within this budget.
    pub(crate) fn made(json: Value, room: MemoryBudget) -> Result<Self, ResolveError> {
        let meter = Meter::new(room, None);
        meter.charge_value(&json)?;
        Ok(Self::weighed(json, meter.spent()))
    }

    /// Stores the JSON of a value.
    ///
    /// # Errors
    ///
    /// Returns an error if JSON cannot represent the value; see [`encode`].
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, ResolveError> {
        encode(value).map(Self::json)
    }

    /// Returns the JSON, which is built now if it was not needed before.
    ///
    /// # Errors
    ///
    /// Returns an error if JSON cannot represent the value; see [`encode`]. The value was checked when it was stored, so this
    /// happens only if its `Serialize` is not deterministic.
    pub fn as_json(&self) -> Result<&Value, ResolveError> {
        self.json_within(None)
    }

    /// Returns the JSON of a value that is nothing but JSON.
    #[inline(always)]
    pub(super) fn plain_json(&self) -> Option<&Value> {
        match &self.content {
            StoredContent::Json(json) => Some(json),
            StoredContent::Single(_) | StoredContent::Whole(_) => None,
        }
    }

    /// Returns the JSON, which is built within the limit of a meter.
    #[inline]
    pub(crate) fn json_within(&self, meter: Option<&Meter<'_>>) -> Result<&Value, ResolveError> {
        match &self.content {
            StoredContent::Json(json) => Ok(json),
            StoredContent::Single(single) => single.json(meter),
            StoredContent::Whole(whole) => whole.json(meter),
        }
    }

    /// Returns the JSON, without the Rust value.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`as_json`](Self::as_json).
    pub fn into_json(self) -> Result<Value, ResolveError> {
        match self.content {
            StoredContent::Json(json) => Ok(json),
            StoredContent::Single(single) => single.json(None).cloned(),
            StoredContent::Whole(whole) => whole.json(None).cloned(),
        }
    }

    /// Returns `true` for JSON that needs no destructor.
    #[inline]
    pub(crate) fn is_scalar(&self) -> bool {
        let is_scalar = matches!(
            &self.content,
            StoredContent::Json(Value::Null | Value::Bool(_) | Value::Number(_))
        );
        // A feature of `serde_json` makes numbers of strings.
        is_scalar && !needs_drop::<Number>() && self.read.0.get().is_none()
    }

    /// Returns the size that counts toward the limits of a run.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// Counts JSON that was built since the last call, and returns its size.
    pub(crate) fn count_json(&self) -> usize {
        let Some(whole) = self.whole() else {
            return 0;
        };
        let bytes = whole.take_made();
        self.bytes.set(self.bytes() + bytes);
        bytes
    }

    /// Returns the value for another reader, or `None` if only the JSON can be shared.
    pub(crate) fn share(&self) -> Option<Self> {
        match &self.content {
            StoredContent::Json(_) | StoredContent::Single(_) => None,
            StoredContent::Whole(whole) => Some(Self {
                content: StoredContent::Whole(Arc::clone(whole)),
                read: RustValue::default(),
                bytes: self.bytes.clone(),
            }),
        }
    }

    /// Returns `true` for a Rust value.
    #[inline]
    pub(crate) fn is_whole(&self) -> bool {
        !matches!(self.content, StoredContent::Json(_))
    }

    fn whole(&self) -> Option<&dyn Whole> {
        match &self.content {
            StoredContent::Json(_) => None,
            StoredContent::Single(single) => Some(&**single),
            StoredContent::Whole(whole) => Some(&**whole),
        }
    }

    /// Returns the Rust value, if one of this type is stored.
    pub(super) fn typed<T: 'static>(&self) -> Option<&T> {
        if let Some(whole) = self.whole()
            && let Some(value) = whole.value().downcast_ref()
        {
            return Some(value);
        }
        self.read.0.get()?.downcast_ref()
    }

    /// Returns the Rust value, which is read from the JSON if necessary.
    pub(super) fn read<T: DeserializeOwned + Send + 'static>(
        &self,
        meter: Option<&Meter<'_>>,
    ) -> Result<Option<&T>, ResolveError> {
        if let Some(value) = self.typed() {
            return Ok(Some(value));
        }
        if self.read.0.get().is_none() {
            let json = self.json_within(meter)?;
            let value = T::deserialize(Node::of_value(json, meter))?;
            let _ = self.read.0.set(Box::new(Box::new(value)));
        }
        Ok(self.typed())
    }

    /// Puts a clone of the Rust value into the slot, if the value has this type and can be cloned.
    pub(super) fn clone_to<T: 'static>(&self, slot: &mut Option<T>) {
        if let Some(whole) = self.whole() {
            whole.clone_to(slot);
        }
    }

    /// Moves the Rust value into the slot, if it has this type and is unshared or can be cloned. Returns itself otherwise.
    #[inline]
    pub(super) fn take_to<T: 'static>(self, slot: &mut Option<T>) -> Option<Self> {
        let content = match self.content {
            StoredContent::Single(mut single) => {
                if single.give_to(slot) {
                    return None;
                }
                StoredContent::Single(single)
            }
            StoredContent::Whole(whole) => StoredContent::Whole(whole.share_to(slot)?),
            StoredContent::Json(json) => StoredContent::Json(json),
        };
        Some(Self { content, ..self })
    }
}

impl fmt::Debug for StoredValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("StoredValue");
        match &self.content {
            StoredContent::Json(json) => debug.field("json", json),
            StoredContent::Single(_) | StoredContent::Whole(_) => debug.field("whole", &true),
        };
        debug.finish_non_exhaustive()
    }
}

/// Drops a value with a destructor of the author's, which may panic. If the drop of the panic's payload panics as well, that
/// second payload leaks.
#[cold]
pub(crate) fn drop_quietly<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value)))
        && let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(payload)))
    {
        std::mem::forget(payload);
    }
}
