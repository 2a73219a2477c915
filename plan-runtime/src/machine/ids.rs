//! The ids of the machine, and [`Table`], a vector with a typed index.

use std::ops::{Index, IndexMut};

/// An id that is an index of a table.
pub(super) trait Id: Copy {
    fn index(self) -> usize;
    fn from_index(index: usize) -> Self;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $seen:vis struct $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $seen struct $name(pub(super) u32);

        impl $name {
            /// Returns the id as an index.
            #[inline]
            $seen const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl Id for $name {
            #[inline]
            fn index(self) -> usize {
                Self::index(self)
            }

            fn from_index(index: usize) -> Self {
                Self(index as u32)
            }
        }
    )*};
}

ids! {
    /// A step in the tables. Each element, round and attempt of its scope runs the step under the same id, in its own [`StepSlot`].
    pub struct StepId;

    /// An index of the arena: one run of a step. A driver keeps the output of a step under its slot.
    pub struct StepSlot;

    /// An opened scope: the plan itself, a block, a round or a called plan.
    pub struct ScopeId;

    /// A call, a wait or a timer that a driver has started. The id of a plain call is its slot.
    pub struct CallId;

    /// A row of the table of scopes.
    pub(super) struct RowId;

    /// A row of the table of bodies.
    pub(super) struct BodyId;

    /// A row of the table of steps that are not plain.
    pub(super) struct ColdId;

    /// The run of a step that is not plain.
    pub(super) struct RunId;

    /// The row of an attempt in the run of its step. The number of an attempt differs from its row: the first attempt of each element has the number
    /// 1.
    pub(super) struct AttemptId;
}

/// The number of an error. The driver keeps the error, and the machine returns the number in failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ErrorId(pub u32);

impl AttemptId {
    /// No attempt: the run of the step itself.
    pub(super) const NONE: Self = Self(u32::MAX);
}

impl ScopeId {
    /// The scope of the whole plan.
    pub const ROOT: Self = Self(0);
}

/// A vector that one kind of id indexes. `add` reuses free rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table<I, T> {
    pub(super) rows: Vec<T>,
    pub(super) free: Vec<I>,
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<I: Id, T> Table<I, T> {
    /// Adds a row. A `u32` can count the rows: [`Capacity`](super::Capacity) limits the scopes and the slots of a run, `count_elements` limits the
    /// elements, and so the attempts, of a step, and `number` limits the tables of a plan.
    pub(super) fn add(&mut self, row: T) -> I {
        if let Some(id) = self.free.pop() {
            self[id] = row;
            return id;
        }
        // Most tables of attempts have one row.
        if self.rows.is_empty() {
            self.rows.reserve_exact(1);
        }
        self.rows.push(row);
        I::from_index(self.rows.len() - 1)
    }

    /// Removes all rows and keeps their memory.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.free.clear();
    }

    pub(super) fn get(&self, id: I) -> Option<&T> {
        self.rows.get(id.index())
    }
}

impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, id: I) -> &T {
        &self.rows[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for Table<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.rows[id.index()]
    }
}
