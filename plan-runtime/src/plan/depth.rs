//! How deep plans are nested at most, whether they are compiled, built, read, written or run.

use super::{Absent, Reference, Template};
#[cfg(feature = "dynamic")]
use super::{Block, Body, Branch, Condition, Step};
use serde_json::Value;

/// How deep values are nested at most. It is that of JSON texts in serde_json.
pub(crate) const DEEPEST_VALUE: usize = 127;

/// How deep bodies are nested at most, and how many local values there are at most in one.
pub(crate) const DEEPEST_BODY: usize = 64;

/// How deep the values and bodies of compiled plans are nested together. rustc does not parse an expression of this depth.
pub(crate) const DEEPEST_COMPILED: usize = 512;

impl Template {
    /// Whether plan JSON has it as it is, however deep it is in others.
    pub(super) fn is_scalar(&self) -> bool {
        matches!(
            self,
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_)
        )
    }

    /// Whether values are nested deeper in it than they may be.
    #[cfg(feature = "dynamic")]
    pub(crate) fn is_deep(&self) -> bool {
        self.is_deep_at(0)
    }

    #[cfg(feature = "dynamic")]
    fn is_deep_at(&self, depth: usize) -> bool {
        if self.is_scalar() {
            return false;
        }
        let has_deep_default = match self {
            Self::Reference(reference) => reference.defaults().any(|it| is_deep(it, 0)),
            _ => false,
        };
        let mut parts = self.parts();
        depth >= DEEPEST_VALUE || has_deep_default || parts.any(|part| part.is_deep_at(depth + 1))
    }
}

impl Reference {
    /// What it is where something is missing.
    pub(super) fn defaults(&self) -> impl Iterator<Item = &Value> {
        let parts = self.path.iter().filter_map(|part| match &part.absent {
            Absent::Default(value) => Some(&**value),
            Absent::Error | Absent::End | Absent::Failure => None,
        });
        parts.chain(self.otherwise.as_deref())
    }
}

#[cfg(feature = "dynamic")]
impl Step {
    /// Whether bodies or values are nested deeper in it than they may be.
    pub(crate) fn is_deep(&self) -> bool {
        self.is_deep_at(0)
    }

    fn is_deep_at(&self, depth: usize) -> bool {
        let given = self.policy.given.iter().map(|(_, template)| template);
        let mut policy = given.chain(self.policy.fallback.as_ref());
        is_deep_body(&self.body, depth) || policy.any(Template::is_deep)
    }
}

#[cfg(feature = "dynamic")]
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

#[cfg(feature = "dynamic")]
fn is_deep_block(block: &Block, depth: usize) -> bool {
    let plan = &block.plan;
    block.inputs.is_deep()
        || plan.output.value.is_deep()
        || plan.steps.iter().any(|step| step.is_deep_at(depth + 1))
}

/// Whether JSON at this depth is nested deeper than values may be.
pub(super) fn is_deep(value: &Value, depth: usize) -> bool {
    let is_deep = |part| is_deep(part, depth + 1);
    match value {
        Value::Array(items) => depth >= DEEPEST_VALUE || items.iter().any(is_deep),
        Value::Object(members) => depth >= DEEPEST_VALUE || members.values().any(is_deep),
        _ => false,
    }
}
