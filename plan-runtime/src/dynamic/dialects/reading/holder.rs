//! What kind of object a member is in.

use crate::plan::json::names::{block, branch, each, looped, plan, policy, step};

/// The objects of a document in which members have a meaning that other languages write elsewhere, or under other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    Plan,
    Step,
    /// What is in another step, such as the `then` of a branch.
    Body,
    Policy,
    Branch,
    For,
    Block,
    Loop,
}

impl Holder {
    /// The object that has these members, if it is one of those.
    pub(super) fn of(known: &[&str]) -> Option<Self> {
        let all = [
            (policy::ALL, Self::Policy),
            (branch::ALL, Self::Branch),
            (each::ALL, Self::For),
            (block::ALL, Self::Block),
            (looped::ALL, Self::Loop),
        ];
        if let Some((_, holder)) = all.iter().find(|(members, _)| *members == known) {
            return Some(*holder);
        }
        let has = |name: &str| known.contains(&name);
        match () {
            () if has(step::TOOL) && has(step::ID) => Some(Self::Step),
            () if has(step::TOOL) && !has(plan::NAME) => Some(Self::Body),
            () if has(plan::STEPS) || has("plan") => Some(Self::Plan),
            () => None,
        }
    }
}
