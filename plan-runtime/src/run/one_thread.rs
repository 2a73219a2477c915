//! Values that stay on their thread, with `Send` handles.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    static VALUES: RefCell<HashMap<u64, Rc<dyn Any>>> = RefCell::default();
}

/// The counter of all threads, so that values of different threads have different keys.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A handle to a value in thread-local storage, which drops the value with itself. The values inside a mock are not `Send`, and the
/// contents of a run must be.
pub(super) struct Kept<T> {
    key: u64,
    of: PhantomData<fn() -> T>,
}

impl<T: 'static> Kept<T> {
    pub(super) fn new(value: T) -> Self {
        let key = NEXT.fetch_add(1, Ordering::Relaxed);
        VALUES.with_borrow_mut(|values| values.insert(key, Rc::new(value)));
        Self {
            key,
            of: PhantomData,
        }
    }

    /// Returns the value. Returns `None` on another thread, and on a thread that ends.
    pub(super) fn value(&self) -> Option<Rc<T>> {
        let value = VALUES.try_with(|values| values.borrow().get(&self.key).cloned());
        value.ok()??.downcast().ok()
    }
}

impl<T> Drop for Kept<T> {
    fn drop(&mut self) {
        // The value's destructor may use other values of the thread.
        let value = VALUES.try_with(|values| values.borrow_mut().remove(&self.key));
        drop(value);
    }
}
