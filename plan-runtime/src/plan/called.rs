//! The tools that a plan calls.

use super::{BodyPart, Plan, ToolInfo};
use std::any::TypeId;
use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

/// The tools that the actions of a plan call, each once, including actions in blocks.
#[derive(Debug, Default)]
pub(crate) struct CalledTools {
    pub(crate) tools: Vec<Arc<ToolInfo>>,
    /// The number of the tool for each action and block, by its number.
    numbers: Vec<Option<ToolNumber>>,
    /// `true` if the plan contains the type of each tool, so that tools with equal numbers have equal types.
    are_typed: bool,
}

/// The number of a tool among the called tools of a plan, starting at 1.
pub(crate) type ToolNumber = NonZeroU32;

impl CalledTools {
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut called = Self {
            are_typed: true,
            numbers: Vec::with_capacity(plan.steps.len()),
            ..Self::default()
        };
        let mut known: HashMap<(Option<TypeId>, &str), ToolNumber> = HashMap::new();
        for step in &plan.steps {
            step.body.visit_all(&mut |part| {
                let tool = match part {
                    BodyPart::Action(action) => action.tool.as_ref(),
                    BodyPart::Block(_) => None,
                    BodyPart::Condition(_) | BodyPart::List(_) => return,
                };
                called.numbers.push(tool.and_then(|tool| {
                    let key = (tool.of.id(), &*tool.name);
                    if let Some(number) = known.get(&key) {
                        return Some(*number);
                    }
                    called.are_typed &= key.0.is_some();
                    called.tools.push(Arc::clone(tool));
                    let number = ToolNumber::new(u32::try_from(called.tools.len()).ok()?)?;
                    known.insert(key, number);
                    Some(number)
                }));
            });
        }
        called
    }

    /// Returns `true` if actions of one number call one implementation, by its type or by its name.
    pub(crate) fn are_told_apart(&self, is_by_type: bool) -> bool {
        self.are_typed || !is_by_type
    }

    /// Returns the number of the tool that an action calls.
    #[inline]
    pub(crate) fn number(&self, action: usize) -> Option<ToolNumber> {
        *self.numbers.get(action)?
    }
}
