//! What the steps of a plan that call the same tool have in common.

use super::decode::Constant;
use crate::Tool;

/// What a plan says of a tool, before it is decoded.
pub struct StaticTool {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
}

/// A tool as part of a plan.
pub trait Called: Tool {
    /// What a plan says of it.
    const TOOL: Constant = Constant::Tool(
        &StaticTool {
            name: Self::NAME,
            description: Self::DESCRIPTION,
        },
        Self::SHAPE,
    );
}

impl<T: Tool> Called for T {}
