//! The Rust types of tools.

use std::any::{TypeId, type_name};

/// The type of a tool that `plan!` knows, which makes no difference to what a plan says: to a plan that is read, a tool is its name.
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
