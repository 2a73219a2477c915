//! What many steps of a plan have in common. A constant that is named costs rustc less than the same value written out.

use crate::Tool;
use crate::plan::{Policy, Shared, ToolInfo};
use std::borrow::Cow;

/// A tool as part of a plan.
pub trait Called: Tool {
    /// What a plan says of it.
    const TOOL: Option<Shared<ToolInfo>> = Some(Shared::Static(
        &const {
            ToolInfo {
                name: Cow::Borrowed(Self::NAME),
                description: Cow::Borrowed(Self::DESCRIPTION),
            }
        },
    ));
}

impl<T: Tool> Called for T {}

/// The policy of a step without attributes.
pub const NO_POLICY: Shared<Policy> = Shared::Static(&Policy::DEFAULT);

/// The intent of a step without one.
pub const NO_TEXT: Cow<'static, str> = Cow::Borrowed("");

/// The steps that a step needs which needs none.
pub const NO_STEPS: Cow<'static, [usize]> = Cow::Borrowed(&[]);
