//! A plan out of its JSON, up to the first mistake.

mod body;
mod reference;
mod template;

use super::names;
use super::text::Json;
use super::value::{Result, Value, WithPlace, wrong};
use crate::plan::{Bound, Input, Output, Plan, Template, ToolInfo};
use crate::print::Line;
use crate::print::short;
#[cfg(not(feature = "dynamic"))]
use serde::de::{Deserialize, Deserializer, Error as _};
use std::collections::HashMap;
use std::sync::Arc;

#[cfg(not(feature = "dynamic"))]
impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        plan(&Json::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A template outside of a plan has places for names.
#[cfg(not(feature = "dynamic"))]
impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        template(&Json::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// The plan that a text is.
pub(super) fn plan(json: &Json<'_>) -> std::result::Result<Plan, String> {
    let mut reader = FirstMistakeReader {
        names: Some(KnownNames::default()),
        ..FirstMistakeReader::default()
    };
    let read = Value::of(&json.text).and_then(|value| reader.plan(value));
    read.map_err(|mistake| Line(mistake).to_string())
}

/// The template that a text is.
pub(super) fn template(json: &Json<'_>) -> std::result::Result<Template, String> {
    let read =
        Value::of(&json.text).and_then(|value| FirstMistakeReader::default().template(value, 0));
    read.map_err(|mistake| Line(mistake).to_string())
}

/// Reads a plan or a part of one.
#[derive(Default)]
struct FirstMistakeReader {
    /// The names of the plan; `None` outside of a plan, where places are written instead.
    names: Option<KnownNames>,
    /// The local values around what is read.
    locals: Vec<Bound>,
    /// One for all steps that say the same of a tool.
    tools: HashMap<String, Arc<ToolInfo>>,
}

#[derive(Default)]
struct KnownNames {
    inputs: HashMap<String, usize>,
    steps: HashMap<String, usize>,
}

impl FirstMistakeReader {
    fn plan(&mut self, value: Value<'_>) -> Result<Plan> {
        let top = value.object("the plan", names::plan::ALL)?;
        let name = top.required(names::plan::NAME, "the plan")?;
        let name = name.string("the name of the plan").at(names::plan::NAME)?;
        let description = top.string(names::plan::DESCRIPTION)?;
        let mut known = KnownNames::default();
        let mut inputs = Vec::new();
        for (index, value) in top.items(names::plan::INPUTS)?.into_iter().enumerate() {
            inputs.push(
                input(value, index, &mut known)
                    .at(index)
                    .at(names::plan::INPUTS)?,
            );
        }
        // Steps may refer to later ones, so all ids come first.
        let values = top.items(names::plan::STEPS)?;
        for (index, value) in values.iter().enumerate() {
            declare(*value, index, &mut known)
                .at(index)
                .at(names::plan::STEPS)?;
        }
        self.names = Some(known);
        let mut steps = Vec::with_capacity(values.len());
        for (index, value) in values.into_iter().enumerate() {
            steps.push(self.step(value).at(index).at(names::plan::STEPS)?);
        }
        let output = match top.given(names::plan::OUTPUT) {
            Some(value) => self.output(value).at(names::plan::OUTPUT)?,
            None => Output {
                type_name: "".into(),
                value: Template::Null,
            },
        };
        let plan = Plan {
            name,
            description: description.into(),
            inputs,
            steps,
            output,
        };
        if let Some(&first) = plan.cycles().first().and_then(|cycle| cycle.first()) {
            let id = &plan.steps[first].id;
            return wrong(format!("step `{}` waits for itself", short(id)))
                .at(first)
                .at(names::plan::STEPS);
        }
        Ok(plan)
    }

    fn output(&mut self, value: Value<'_>) -> Result<Output> {
        let members = value.object("the output", names::output::ALL)?;
        Ok(Output {
            type_name: members.string(names::output::TYPE)?.into(),
            value: match members.get(names::output::VALUE) {
                Some(value) => self.template(value, 0).at(names::output::VALUE)?,
                None => Template::Null,
            },
        })
    }
}

fn input(value: Value<'_>, index: usize, known: &mut KnownNames) -> Result<Input> {
    let members = value.object("an input", names::input::ALL)?;
    let name = members.name(names::input::NAME, "an input")?;
    if known.inputs.insert(name.clone(), index).is_some() {
        return wrong(format!("two inputs have the name `{}`", short(&name)))
            .at(names::input::NAME);
    }
    Ok(Input {
        name,
        type_name: members.string(names::input::TYPE)?.into(),
        description: members.string(names::input::DESCRIPTION)?.into(),
    })
}

/// Makes a step known by its id.
fn declare(value: Value<'_>, index: usize, known: &mut KnownNames) -> Result<()> {
    let id = value.members("a step")?.name(names::step::ID, "the step")?;
    if known.inputs.contains_key(&id) {
        return wrong(format!(
            "the step `{}` has the name of an input",
            short(&id)
        ))
        .at(names::step::ID);
    }
    if known.steps.contains_key(&id) {
        return wrong(format!("two steps have the id `{}`", short(&id))).at(names::step::ID);
    }
    known.steps.insert(id, index);
    Ok(())
}
