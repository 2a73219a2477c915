//! The kind of object that contains a member.

use crate::plan::json::names::{block, branch, each, looped, plan, policy, step};

/// The objects of a document that have members with equivalents in other languages, in other objects or under other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    Plan,
    Step,
    /// A body inside a step, such as the `then` of a branch.
    Body,
    Policy,
    Branch,
    For,
    Block,
    Loop,
}

impl Holder {
    /// Returns the kind of the object with these members, if it has a kind.
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
