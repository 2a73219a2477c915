//! What the steps of a plan that call the same tool have in common.

use super::decode::Constant;
use crate::Tool;
use crate::plan::ToolInfo;
use std::borrow::Cow;

/// A tool as part of a plan.
pub trait Called: Tool {
    /// What a plan says of it.
    const TOOL: Constant = Constant::Tool(
        &const {
            ToolInfo {
                name: Cow::Borrowed(Self::NAME),
                description: Cow::Borrowed(Self::DESCRIPTION),
            }
        },
        Self::SHAPE,
    );
}

impl<T: Tool> Called for T {}
