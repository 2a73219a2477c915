//! The largest depth of nesting in plans, for compiling, building, reading, writing and running.

use super::{Absent, Block, Body, Branch, Condition, Reference, Step, Template};
use serde_json::Value;

/// The largest depth of nested values, which equals serde_json's limit for JSON.
pub(crate) const DEEPEST_VALUE: usize = 127;

/// The largest depth of nested bodies, and the largest number of local values in one body.
pub(crate) const DEEPEST_BODY: usize = 64;

/// The largest total depth of values and bodies in compiled plans. rustc does not parse deeper expressions.
pub(crate) const DEEPEST_COMPILED: usize = 512;

impl Reference {
    /// Returns the values that replace missing parts.
    pub(super) fn defaults(&self) -> impl Iterator<Item = &Value> {
        let parts = self.path.iter().filter_map(|part| match &part.absent {
            Absent::Default(value) => Some(&**value),
            Absent::Error | Absent::End | Absent::Failure => None,
        });
        parts.chain(self.otherwise.as_deref())
    }
}

impl Step {
    /// Returns `true` if bodies or values in the step are nested deeper than in plan JSON. Code that visits such a step recursively can exceed its stack.
    pub(crate) fn is_deep(&self) -> bool {
        self.is_deep_at(0)
    }

    fn is_deep_at(&self, depth: usize) -> bool {
        let given = self.policy.given.iter().map(|(_, template)| template);
        let mut policy = given.chain(self.policy.fallback.as_ref());
        is_deep_body(&self.body, depth) || policy.any(Template::is_deep)
    }
}

fn is_deep_body(body: &Body, depth: usize) -> bool {
    if depth > DEEPEST_BODY {
        return true;
    }
    let is_deep_branch = |branch: &Branch| {
        let mut conditions = branch.conditions.iter().map(Condition::template);
        conditions.any(Template::is_deep) || is_deep_body(&branch.body, depth + 1)
    };
    match body {
        Body::Action(action) => action.args.is_deep(),
        Body::If(branches) => branches.iter().any(is_deep_branch),
        Body::For(each) => each.list.is_deep() || is_deep_body(&each.body, depth + 1),
        Body::Block(block) => is_deep_block(block, depth),
        Body::Loop(repeat) => repeat.again.is_deep() || is_deep_block(&repeat.round, depth),
        Body::Await(_) => false,
    }
}

fn is_deep_block(block: &Block, depth: usize) -> bool {
    let plan = &block.plan;
    block.inputs.is_deep()
        || plan.output.value.is_deep()
        || plan.steps.iter().any(|step| step.is_deep_at(depth + 1))
}

/// Returns `true` if JSON at this depth is nested too deep.
pub(super) fn is_deep(value: &Value, depth: usize) -> bool {
    let is_deep = |part| is_deep(part, depth + 1);
    match value {
        Value::Array(items) => depth >= DEEPEST_VALUE || items.iter().any(is_deep),
        Value::Object(members) => depth >= DEEPEST_VALUE || members.values().any(is_deep),
        _ => false,
    }
}
