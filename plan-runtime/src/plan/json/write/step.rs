//! Steps, and their bodies.

use super::reference::Named;
use super::{InPlan, entry_unless_empty};
use crate::plan::json::names::{
    awaited, binding, block, branch, each, looped, step as members, tool,
};
use crate::plan::{Block, Body, Branch, Condition, For, Loop, Role, Source, Step, Template};
use serde::ser::{Error as _, Serialize, SerializeMap, Serializer};
use serde_json::Value;

impl Serialize for InPlan<'_, &Step> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let step = self.part;
        map.serialize_entry(members::ID, &step.id)?;
        entry_unless_empty(&mut map, members::INTENT, &step.intent)?;
        match step.role {
            Role::Work => {}
            Role::Undo(undone) => {
                let undone = self.of(Named(Source::Step(undone)));
                map.serialize_entry(members::UNDO, &undone)?;
            }
            Role::Always => map.serialize_entry(members::ALWAYS, &true)?,
        }
        self.write_body(&mut map, &step.body)?;
        let after = step.only_after();
        if !after.is_empty() {
            let after: Vec<_> = after
                .into_iter()
                .map(|place| self.of(Named(Source::Step(place))))
                .collect();
            map.serialize_entry(members::AFTER, &after)?;
        }
        if !step.policy.is_default() {
            map.serialize_entry(members::POLICY, &self.of(&*step.policy))?;
        }
        map.end()
    }
}

impl<T> InPlan<'_, T> {
    fn write_body<M: SerializeMap>(&self, map: &mut M, body: &Body) -> Result<(), M::Error> {
        match body {
            Body::Action(action) => match &action.tool {
                Some(info) => {
                    let mut written = serde_json::Map::new();
                    written.insert(tool::NAME.into(), Value::from(info.name.as_str()));
                    if !info.description.is_empty() {
                        let description = Value::from(info.description.as_str());
                        written.insert(tool::DESCRIPTION.into(), description);
                    }
                    for (name, secrets) in [
                        (tool::SECRET_ARGUMENTS, &info.secret_arguments),
                        (tool::SECRET_OUTPUT, &info.secret_output),
                    ] {
                        if !secrets.is_empty() {
                            written.insert(name.into(), secrets.pointers().into());
                        }
                    }
                    map.serialize_entry(members::TOOL, &written)?;
                    map.serialize_entry(members::ARGUMENTS, &self.of(&action.args))
                }
                None => map.serialize_entry(members::VALUE, &self.of(&action.args)),
            },
            Body::If(branches) => {
                let branches: Vec<_> = branches.iter().map(|branch| self.of(branch)).collect();
                map.serialize_entry(members::IF, &branches)
            }
            Body::For(each) => map.serialize_entry(members::FOR, &self.of(&**each)),
            Body::Block(block) => map.serialize_entry(members::BLOCK, &self.of(&**block)),
            Body::Loop(repeat) => map.serialize_entry(members::LOOP, &self.of(&**repeat)),
            Body::Await(wait) if wait.secrets.is_empty() => {
                map.serialize_entry(members::AWAIT, &wait.type_name)
            }
            Body::Await(wait) => {
                let mut written = serde_json::Map::new();
                written.insert(awaited::TYPE.into(), Value::from(&*wait.type_name));
                written.insert(awaited::SECRETS.into(), wait.secrets.pointers().into());
                map.serialize_entry(members::AWAIT, &written)
            }
        }
    }
}

/// The body of a branch or of a `for`, as an object of its own.
impl Serialize for InPlan<'_, &Body> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        self.write_body(&mut map, self.part)?;
        map.end()
    }
}

impl Serialize for InPlan<'_, &For> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let For {
            pattern,
            list,
            body,
        } = self.part;
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry(each::PATTERN, pattern)?;
        map.serialize_entry(each::LIST, &self.of(list))?;
        map.serialize_entry(each::BODY, &self.of(body))?;
        map.end()
    }
}

impl Serialize for InPlan<'_, &Block> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.write_block(&mut map, false)?;
        map.end()
    }
}

impl InPlan<'_, &Block> {
    /// Writes the members of a block. The first input of a round is the value of the previous round.
    fn write_block<M: SerializeMap>(&self, map: &mut M, is_round: bool) -> Result<(), M::Error> {
        let plan = &self.part.plan;
        let Some(mut reads) = self.part.reads() else {
            return Err(M::Error::custom(
                "a block with inputs that it does not declare",
            ));
        };
        if is_round && !reads.is_empty() {
            reads.remove(0);
        }
        let inside = self.inside(plan, ());
        if !reads.is_empty() {
            let reads = Reads(reads.into_iter().map(|(name, it)| (name, self.of(it))));
            map.serialize_entry(block::INPUTS, &reads)?;
        }
        let steps = self.part.named_steps().iter();
        let steps: Vec<_> = steps.map(|step| inside.of(step)).collect();
        map.serialize_entry(block::STEPS, &steps)?;
        match (self.part.tail(), self.part.value()) {
            (Some(tail), _) => map.serialize_entry(block::TAIL, &inside.of(tail)),
            (None, Some(value)) => map.serialize_entry(block::VALUE, &inside.of(value)),
            (None, None) => Ok(()),
        }
    }
}

impl Serialize for InPlan<'_, &Loop> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Loop { round, last, again } = self.part;
        let mut map = serializer.serialize_map(None)?;
        if let Some(last) = round.plan.inputs.first().filter(|_| *last) {
            map.serialize_entry(looped::LAST, &last.name)?;
        }
        self.of(round).write_block(&mut map, *last)?;
        map.serialize_entry(looped::WHILE, &self.inside(&round.plan, again))?;
        map.end()
    }
}

/// The inputs of a block, by name.
struct Reads<I>(I);

impl<'t, I> Serialize for Reads<I>
where
    I: Iterator<Item = (&'t str, InPlan<'t, &'t Template>)> + Clone,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.clone())
    }
}

impl Serialize for InPlan<'_, &Branch> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.part.conditions[..] {
            [] => {}
            [Condition::Holds(test)] => {
                map.serialize_entry(branch::CONDITION, &self.of(test))?;
            }
            [Condition::Let { pattern, value }] => {
                map.serialize_entry(branch::PATTERN, pattern)?;
                map.serialize_entry(branch::VALUE, &self.of(value))?;
            }
            conditions => {
                let all: Vec<_> = conditions.iter().map(|one| self.of(one)).collect();
                map.serialize_entry(branch::CONDITIONS, &all)?;
            }
        }
        map.serialize_entry(branch::THEN, &self.of(&self.part.body))?;
        map.end()
    }
}

/// Writes a condition as one of several.
impl Serialize for InPlan<'_, &Condition> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.part {
            Condition::Holds(test) => self.of(test).serialize(serializer),
            Condition::Let { pattern, value } => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry(binding::PATTERN, pattern)?;
                map.serialize_entry(binding::VALUE, &self.of(value))?;
                map.end()
            }
        }
    }
}
