//! Values that stay on their thread, although what leads to them is `Send`.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    static VALUES: RefCell<HashMap<u64, Rc<dyn Any>>> = RefCell::default();
}

/// One count for all threads, so that a key is never that of another thread's value.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A value that its thread keeps until this is dropped. A mock has them, which is not `Send`, since what runs inside a run has to be.
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

    /// The value. A thread that ends, and any other, has none.
    pub(super) fn value(&self) -> Option<Rc<T>> {
        let value = VALUES.try_with(|values| values.borrow().get(&self.key).cloned());
        value.ok()??.downcast().ok()
    }
}

impl<T> Drop for Kept<T> {
    fn drop(&mut self) {
        // Its destructor may use others.
        let value = VALUES.try_with(|values| values.borrow_mut().remove(&self.key));
        drop(value);
    }
}
