//! The notations of each plan.

use crate::corpus::model::{Argument, Calls, Corpus, Given, Part, Plan, Reference, Step};
use crate::corpus::names::{pascal_case, snake_case};
use crate::corpus::random::Random;
use crate::corpus::types::Type;
use crate::corpus::write::{self, Way};
use std::collections::BTreeSet;
use std::fmt::Write;

pub(crate) const TOOLS: &str = "::corpus_tools";

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Form {
    /// The item form, steps in the corpus' order, `..` for the arguments that are left out.
    Item,
    /// The expression form, with `None` for the arguments that are left out.
    Expression,
    /// The item form, steps and arguments in another order.
    Shuffled,
    /// The second half of the steps as a plan of its own, which is a step of the first.
    Nested,
}

impl Form {
    pub(crate) const ALL: [Form; 4] = [Form::Item, Form::Expression, Form::Shuffled, Form::Nested];

    pub(crate) fn package(self) -> String {
        format!("corpus_{}", snake_case(&format!("{self:?}")))
    }
}

/// A plan whose arguments are written out.
pub(crate) struct Written {
    pub name: String,
    pub intent: String,
    pub inputs: String,
    pub output: String,
    pub steps: Vec<WrittenStep>,
    pub tail: String,
}

#[derive(Clone)]
pub(crate) struct WrittenStep {
    pub intent: String,
    pub after: Vec<String>,
    pub optional: bool,
    pub name: String,
    pub tool: String,
    pub arguments: Vec<WrittenArgument>,
    /// The arguments that are left out.
    pub left_out: Vec<String>,
    /// The source code that replaces them.
    pub rest: Option<String>,
    /// The index in the plan.
    pub index: usize,
}

#[derive(Clone)]
pub(crate) struct WrittenArgument {
    pub argument: Argument,
    pub given: Given,
    pub name: String,
    pub text: String,
    pub way: Way,
}

/// The module of a plan in this form, or why the plan has no such form.
pub(crate) fn module(corpus: &Corpus, plan: &Plan, form: Form) -> Result<String, String> {
    let text = match form {
        Form::Item => written(corpus, plan)?.item(),
        Form::Expression => {
            if !plan.inputs.is_empty() {
                return Err("the expression form has no inputs".to_owned());
            }
            let mut plan = written(corpus, plan)?;
            plan.steps.iter_mut().for_each(WrittenStep::say_none);
            plan.expression()
        }
        Form::Shuffled => {
            let mut plan = written(corpus, plan)?;
            plan.shuffle();
            plan.item()
        }
        Form::Nested => {
            let (inner, outer) = nest(corpus, plan)?;
            written(corpus, &inner)?.item() + "\n" + &written(corpus, &outer)?.item()
        }
    };
    Ok(header() + &text)
}

pub(crate) fn header() -> String {
    "use ::corpus_tools::*;\nuse ::plan_runtime::plan;\n\n".to_owned()
}

/// Writes the arguments of all steps.
pub(crate) fn written(corpus: &Corpus, plan: &Plan) -> Result<Written, String> {
    let mut steps = Vec::new();
    for (index, step) in plan.steps.iter().enumerate() {
        let (tool, known) = match &step.calls {
            Calls::Tool(tool) => (
                corpus.tools[*tool].rust.clone(),
                &*corpus.tools[*tool].arguments,
            ),
            Calls::Plan(name, arguments, _) => (name.clone(), &**arguments),
        };
        let mut arguments = Vec::new();
        for (name, given) in &step.arguments {
            let at = |why: String| format!("{}.{name}: {why}", step.name);
            let unknown = || at(format!("{tool} has no such argument"));
            let argument = known
                .iter()
                .find(|argument| argument.json == *name)
                .ok_or_else(unknown)?;
            let (text, way) = match given {
                Given::Literal(value) => (
                    write::literal(&corpus.structs, value, &argument.ty, TOOLS).map_err(at)?,
                    Way::Direct,
                ),
                Given::Reference(reference) => {
                    let source = corpus
                        .source(plan, &reference.root)
                        .ok_or_else(|| at(format!("no step {}", reference.root)))?;
                    write::reference(&corpus.structs, &source, reference, argument).map_err(at)?
                }
            };
            let name = argument.ident.clone();
            arguments.push(WrittenArgument {
                argument: argument.clone(),
                given: given.clone(),
                name,
                text,
                way,
            });
        }
        let left_out: Vec<&Argument> = known
            .iter()
            .filter(|argument| {
                !step
                    .arguments
                    .iter()
                    .any(|(name, _)| *name == argument.json)
            })
            .collect();
        if let Some(missing) = left_out.iter().find(|argument| !argument.ty.present().1) {
            return Err(format!("{}: {tool} requires `{}`", step.name, missing.json));
        }
        steps.push(WrittenStep {
            intent: format!("Calls {tool}."),
            after: step.after.iter().cloned().collect(),
            optional: false,
            name: step.name.clone(),
            rest: (!left_out.is_empty()).then(|| "..".to_owned()),
            left_out: left_out
                .iter()
                .map(|argument| argument.ident.clone())
                .collect(),
            tool,
            arguments,
            index,
        });
    }
    let last = plan.steps.last().ok_or("no steps")?;
    let inputs = plan
        .inputs
        .iter()
        .map(|(name, ty)| format!("{name}: {}", corpus.structs.rust(ty, TOOLS)));
    Ok(Written {
        name: pascal_case(&plan.id),
        intent: plan.intent.split_whitespace().collect::<Vec<_>>().join(" "),
        inputs: inputs.collect::<Vec<_>>().join(", "),
        output: corpus.structs.rust(&corpus.output(last), TOOLS),
        steps,
        tail: last.name.clone(),
    })
}

impl WrittenStep {
    /// Names the arguments that are left out.
    fn say_none(&mut self) {
        self.rest = self.rest.take().map(|_| {
            self.left_out
                .iter()
                .map(|name| format!("{name}: None, "))
                .collect()
        });
    }

    fn text(&self, indent: &str) -> String {
        let mut text = format!("{indent}/// {}\n", self.intent);
        if !self.after.is_empty() {
            let _ = writeln!(text, "{indent}#[after({})]", self.after.join(", "));
        }
        if self.optional {
            let _ = writeln!(text, "{indent}#[optional]");
        }
        let _ = writeln!(text, "{indent}step {} = {} {{", self.name, self.tool);
        for argument in &self.arguments {
            let shorthand = argument.name == argument.text;
            let line = if shorthand {
                argument.name.clone()
            } else {
                format!("{}: {}", argument.name, argument.text)
            };
            let _ = writeln!(text, "{indent}    {line},");
        }
        if let Some(rest) = &self.rest {
            let _ = writeln!(text, "{indent}    {}", rest.trim_end());
        }
        let _ = writeln!(text, "{indent}}};\n");
        text
    }
}

impl Written {
    pub(crate) fn item(&self) -> String {
        let Self {
            name,
            intent,
            inputs,
            output,
            tail,
            ..
        } = self;
        let steps: String = self
            .steps
            .iter()
            .map(|step| step.text("        "))
            .collect();
        format!(
            "plan! {{\n    /// {intent}\n    pub {name}({inputs}) -> {output} {{\n{steps}        {tail}\n    }}\n}}\n"
        )
    }

    pub(crate) fn expression(&self) -> String {
        let steps: String = self
            .steps
            .iter()
            .map(|step| step.text("        "))
            .collect();
        let Self { intent, tail, .. } = self;
        format!(
            "/// {intent}\npub fn make() {{\n    let plan = plan! {{\n{steps}        {tail}\n    }};\n    let _ = plan;\n}}\n"
        )
    }

    /// Brings steps and arguments into another order, always the same.
    pub(crate) fn shuffle(&mut self) {
        let mut random = Random::from(&*self.name);
        random.shuffle(&mut self.steps);
        for step in &mut self.steps {
            random.shuffle(&mut step.arguments);
        }
    }
}

/// Makes the second half of a plan a plan of its own: what it refers to in the first half are its inputs.
fn nest(corpus: &Corpus, plan: &Plan) -> Result<(Plan, Plan), String> {
    if plan.steps.len() < 2 {
        return Err("one step cannot be halved".to_owned());
    }
    let (first, second) = plan.steps.split_at(plan.steps.len() / 2);
    let is_inside = |name: &str| second.iter().any(|step| step.name == name);
    let mut inputs: Vec<(Reference, String, Type)> = Vec::new();
    let mut inner = Plan {
        id: format!("{}-rest", plan.id),
        intent: plan.intent.clone(),
        inputs: Vec::new(),
        steps: second.to_vec(),
    };
    let mut after = BTreeSet::new();
    for step in &mut inner.steps {
        after.extend(step.after.iter().filter(|name| !is_inside(name)).cloned());
        step.after.retain(|name| is_inside(name));
        for (_, given) in &mut step.arguments {
            let Given::Reference(reference) = given else {
                continue;
            };
            if is_inside(&reference.root) {
                continue;
            }
            let name = match inputs.iter().find(|(known, ..)| known == reference) {
                Some((_, name, _)) => name.clone(),
                None => {
                    let source = corpus
                        .source(plan, &reference.root)
                        .ok_or_else(|| format!("no step {}", reference.root))?;
                    let ty = write::walk(&corpus.structs, &source, reference)?.ty;
                    let name = input_name(reference);
                    inputs.push((reference.clone(), name.clone(), ty));
                    name
                }
            };
            *reference = Reference {
                root: name,
                path: Vec::new(),
            };
        }
    }
    inner.inputs = inputs
        .iter()
        .map(|(_, name, ty)| (name.clone(), ty.clone()))
        .collect();
    let output = corpus.output(second.last().ok_or("no steps")?);
    let arguments = inputs.iter().map(|(_, name, ty)| Argument {
        json: name.clone(),
        ident: name.clone(),
        ty: ty.clone(),
    });
    let mut outer = plan.clone();
    outer.steps = first.to_vec();
    outer.inputs.retain(|(name, _)| {
        outer
            .steps
            .iter()
            .any(|step| step.references().any(|reference| reference.root == *name))
            || inputs.iter().any(|(reference, ..)| reference.root == *name)
    });
    outer.steps.push(Step {
        name: "rest".to_owned(),
        calls: Calls::Plan(pascal_case(&inner.id), arguments.collect(), output),
        arguments: inputs
            .iter()
            .map(|(reference, name, _)| (name.clone(), Given::Reference(reference.clone())))
            .collect(),
        after,
    });
    Ok((inner, outer))
}

fn input_name(reference: &Reference) -> String {
    let mut name = reference.root.clone();
    for part in &reference.path {
        match part {
            Part::Key(key) => name = format!("{name}_{}", snake_case(key)),
            Part::Index(index) => name = format!("{name}_{index}"),
            Part::Each => name += "_each",
        }
    }
    name
}
