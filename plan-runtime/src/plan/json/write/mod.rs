//! Plan JSON, written.

mod policy;
mod reference;
mod step;
mod template;

use crate::plan::json::names::{input, output, plan as members};
use crate::plan::{Bound, Input, Output, Plan};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::collections::HashSet;

/// A part of a plan, to be serialized as plan JSON or printed, with names in place of indices. Without its plan, a template serializes indices
/// (`{"step": 0}`), and prints the author's names.
#[derive(Clone, Copy)]
pub(crate) struct InPlan<'a, T> {
    pub(in crate::plan) plan: Option<&'a Plan>,
    /// The names of the plan's steps and inputs, if the caller writes many parts of the plan.
    pub(in crate::plan) names: Option<&'a HashSet<&'a str>>,
    /// The patterns around the part, the outermost first, if the caller has them.
    pub(in crate::plan) locals: &'a [Bound],
    /// `true` to leave out the notation of references in the document or in `plan!`.
    pub(in crate::plan) without_notation: bool,
    pub(in crate::plan) part: T,
}

impl<'a, T> InPlan<'a, T> {
    /// Creates a part of `plan`.
    pub(crate) fn new(plan: &'a Plan, part: T) -> Self {
        let plan = Some(plan);
        Self {
            plan,
            ..Self::alone(part)
        }
    }

    /// Creates a part without its plan.
    pub(in crate::plan) fn alone(part: T) -> Self {
        Self {
            plan: None,
            names: None,
            locals: &[],
            without_notation: false,
            part,
        }
    }

    /// Leaves out the notation of references.
    pub(super) fn without_notation(self) -> Self {
        Self {
            without_notation: true,
            ..self
        }
    }

    /// Creates a part of a plan inside of this plan.
    fn inside<'b, U>(&self, plan: &'b Plan, part: U) -> InPlan<'b, U> {
        InPlan {
            without_notation: self.without_notation,
            ..InPlan::new(plan, part)
        }
    }

    /// Combines another part with the position of this one.
    pub(in crate::plan) fn of<U>(&self, part: U) -> InPlan<'a, U> {
        self.within(self.locals, part)
    }

    /// Creates another part of the plan, inside these patterns.
    pub(in crate::plan) fn within<'b, U>(&self, locals: &'b [Bound], part: U) -> InPlan<'b, U>
    where
        'a: 'b,
    {
        InPlan {
            plan: self.plan,
            names: self.names,
            locals,
            without_notation: self.without_notation,
            part,
        }
    }
}

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        InPlan::new(self, self).serialize(serializer)
    }
}

impl Serialize for InPlan<'_, &Plan> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let plan = self.part;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(members::NAME, &plan.name)?;
        entry_unless_empty(&mut map, members::DESCRIPTION, &plan.description)?;
        if !plan.inputs.is_empty() {
            map.serialize_entry(members::INPUTS, &plan.inputs)?;
        }
        let steps: Vec<_> = plan.steps.iter().map(|step| self.of(step)).collect();
        map.serialize_entry(members::STEPS, &steps)?;
        map.serialize_entry(members::OUTPUT, &self.of(&plan.output))?;
        map.end()
    }
}

fn entry_unless_empty<M: SerializeMap>(map: &mut M, key: &str, text: &str) -> Result<(), M::Error> {
    match text {
        "" => Ok(()),
        text => map.serialize_entry(key, text),
    }
}

impl Serialize for Input {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(input::NAME, &self.name)?;
        entry_unless_empty(&mut map, input::TYPE, self.stated_type())?;
        entry_unless_empty(&mut map, input::DESCRIPTION, &self.description)?;
        if !self.secrets.is_empty() {
            map.serialize_entry(input::SECRETS, &self.secrets)?;
        }
        map.end()
    }
}

impl Serialize for InPlan<'_, &Output> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        entry_unless_empty(&mut map, output::TYPE, &self.part.type_name)?;
        map.serialize_entry(output::VALUE, &self.of(&self.part.value))?;
        map.end()
    }
}
