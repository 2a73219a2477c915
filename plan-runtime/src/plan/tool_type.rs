//! The Rust types of tools.

use std::any::{TypeId, type_name};

/// The Rust type of a tool of `plan!`, which does not affect the equality of plans: in a plan from JSON, a tool has only a name.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ToolType(pub(crate) Option<(TypeId, &'static str)>);

impl ToolType {
    pub(crate) fn of<T: 'static>() -> Self {
        Self(Some((TypeId::of::<T>(), type_name::<T>())))
    }

    pub(crate) fn id(self) -> Option<TypeId> {
        self.0.map(|(id, _)| id)
    }
}

impl PartialEq for ToolType {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for ToolType {}
