//! The constant of a tool in a plan, which all steps with this tool share.

use super::decode::{Constant, StaticTool};
use crate::Tool;
use crate::plan::ToolType;
use crate::shape::inside::Inside;

/// A tool as part of a plan.
pub trait Called: Tool + 'static {
    /// The tool's constant in a plan.
    const TOOL: Constant = Constant::Tool(
        &StaticTool {
            name: Self::NAME,
            description: Self::DESCRIPTION,
            output: Self::OUTPUT,
            plan: Self::PLAN,
            hands_over: || Self::hand_over().is_some(),
            of: ToolType::of::<Self>,
        },
        Self::SHAPE,
        Inside::named::<Self>,
    );
}

impl<T: Tool + 'static> Called for T {}
