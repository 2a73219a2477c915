//! Checks that a plan fits the tools that it calls, for each output that obeys the schemas of these tools.
//!
//! # Rules
//!
//! - A reference is an error if the schema of the output allows a missing value, or a value that the argument does not accept. For example,
//!   the output is `string | null` and the argument needs a string, or the output is an `enum` with one value that the argument refuses.
//! - A value without a schema is a warning in a position that needs a type: [`Code::Unchecked`]. A schema without `required` does not describe
//!   the presence of its members, which is a warning as well.
//! - If no single form of an argument accepts each value of a reference, the reference is a warning as well. If a part of the value fits no form, the reference is an error.
//! - Bounds and lengths are compared with values of the plan and of an `enum`, and not with other outputs. Patterns and formats are not compared.
//!   `Toolbox::with_validation` checks all of them in a run.
//! - An argument that the schema does not name is an error if the schema forbids further arguments (`additionalProperties: false`), or if
//!   the name is similar to the name of a missing argument. Otherwise such an argument is a warning, because many tools read arguments
//!   that their schemas do not name.
//! - An output has the fields that its schema names, and no others, unless `additionalProperties` allows them.
//! - Null for an optional argument is equivalent to a missing argument. A call does not pass such a null, unless the type of the argument names null.
//!   Null inside of a referenced object remains.
//! - The check assumes that each index of a list exists, like Rust.
//! - A variable of a `for` or of a pattern is the element or the value that it is bound to.
//! - After `is_some(x)`, later conditions of the `if` may read `x`. The branch may not, like in Rust.
//! - If a reference with `?` or a default has a missing part, the finding is a warning. If every run would fail, the finding is an error.
//! - A default must fit the argument like a literal.
//!
//! # Files
//!
//! | files | contents |
//! |---|---|
//! | `outputs.rs`, `input.rs`, `local.rs`, `locals.rs` | the types of steps, inputs and variables |
//! | `path.rs`, `member.rs`, `unresolved.rs`, `replacement.rs` | the type at the end of a path: missing parts, defaults |
//! | `checked_value.rs`, `value/`, `reference.rs`, `left_out.rs` | the check that a literal, a reference or a merged object fits its position |
//! | `referred.rs`, `leads_nowhere.rs` | the check of all references, with the findings for missing parts |
//! | `test.rs`, `operand.rs`, `guards.rs` | tests and conditions: their operands, and values that a condition has found present |
//! | `whole_input.rs` | the check of the values of inputs before a run |
//! | `text.rs`, `list.rs` | formatted strings, the list of a `for` |
//! | `unused.rs`, `unordered.rs` | unused outputs, effects that do not wait for a check |
//! | `instead.rs`, `narrow.rs` | help in the dialect of the document |

mod checked_value;
mod guards;
mod input;
mod instead;
mod leads_nowhere;
mod left_out;
mod list;
mod local;
mod locals;
mod member;
mod narrow;
mod operand;
mod outputs;
mod path;
mod reference;
mod referred;
mod replacement;
mod test;
mod text;
mod unordered;
mod unresolved;
mod unused;
mod value;
mod whole_input;

use super::dialects::Rules;
use super::dialects::reading::MOST_NAMES;
use super::finding::{Code, Help, Note, Notes};
use super::schema::{TooMuchWork, Type, Types, Work};
use super::spans::Spans;
use super::{Contracts, Profile};
use crate::plan::{
    Action, Amount, Block, Body, Condition, Loop, Plan, Role, Segment, Source, Step, Template,
    ToolInfo,
};
use crate::resolve::describe::{quoted, short};
use checked_value::CheckedValue;
use guards::Guards;
use input::Inputs;
pub(super) use input::misfit;
pub(super) use left_out::without_nulls;
use local::Local;
use outputs::{Computed, KnownOutputs, Outputs};
use plan_graph::similar;
use serde_json::Value;
use std::ops::Range;
use std::sync::Arc;
use value::ValueCheck;
pub(super) use whole_input::unfit;

/// Checks a plan against the contracts of its tools. The type of an input without a stated type follows from its uses.
pub(super) fn check(
    plan: &Plan,
    (text, spans): (&str, &Spans),
    (rules, profile): (&'static Rules, Profile),
    contracts: &Contracts,
    notes: &mut Notes,
) -> Vec<(usize, String)> {
    let work = Work::for_values(spans.templates.len());
    let nothing = Computed::new();
    let known = Outputs {
        plan,
        text,
        spans,
        rules,
        profile,
        contracts,
        computed: &nothing,
        work: &work,
        reader: Role::Work,
        block: None,
        is_whole: !spans.is_broken(),
        locals: None,
    };
    let mut inputs = Inputs::default();
    check_steps(known, notes, &mut inputs, None, None);
    inputs.types(plan, notes)
}

/// Checks the steps and the output of a plan, or of a block in this step.
fn check_steps(
    known: Outputs<'_, '_>,
    notes: &mut Notes,
    inputs: &mut Inputs,
    around: Option<&Arc<str>>,
    again: Option<&Template>,
) {
    let computed = known.compute();
    let mut checker = Checker {
        known: Outputs {
            computed: &computed,
            ..known
        },
        notes,
        inputs,
        around,
        step: None,
    };
    for (index, step) in known.plan.steps.iter().enumerate() {
        checker.step(index, step);
    }
    checker.known.reader = Role::Work;
    checker.step = around.map(|around| (Arc::clone(around), 0..0));
    if let Some(at) = known.spans.output {
        checker.tests(&known.plan.output.value, at);
        checker.references(&known.plan.output.value, at);
    }
    if let (Some(again), Some(at)) = (again, known.spans.again) {
        checker.condition(again, at, &Guards::default());
        match again {
            Template::Reference(reference) => {
                checker.reference(reference, at, true);
            }
            _ => checker.references(again, at),
        }
    }
    checker.unused(again);
}

/// Returns the problems of arguments that do not fit a schema.
pub(super) fn check_value(tool: &str, arguments: &Value, schema: &Value) -> Vec<String> {
    let work = Work::for_values(values(arguments));
    let mut fit = ValueCheck::new(tool, 0..0, false, &work);
    let takes = Type::of(schema, &work);
    match fit.in_call(CheckedValue::Json(arguments), &takes) {
        Ok(problems) => problems.into_messages(),
        Err(why) => vec![unchecked(tool, &why)],
    }
}

/// Returns the number of values in a value.
fn values(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(values).sum(),
        Value::Object(members) => members.values().map(values).sum(),
        _ => 0,
    }
}

/// Returns the message for arguments that cannot be checked.
fn unchecked(tool: &str, why: &TooMuchWork) -> String {
    let why = match why {
        TooMuchWork::Work => "its arguments and its schema are too large for the check".to_owned(),
        TooMuchWork::Target(target) => refers("its schema", target),
    };
    format!("`{}` cannot be checked: {why}", short(tool))
}

fn refers(schema: &str, target: &str) -> String {
    format!(
        "{schema} refers to `{}`, which does not exist",
        short(target)
    )
}

struct Checker<'a, 'n> {
    known: KnownOutputs<'a>,
    notes: &'n mut Notes,
    inputs: &'n mut Inputs,
    /// The step of the block.
    around: Option<&'n Arc<str>>,
    /// The step that is checked, and the place of its tool.
    step: Option<StepPlace>,
}

/// The progress of the check of a step.
#[derive(Clone)]
struct StepWalk<'a> {
    /// The place of its next template.
    at: usize,
    /// The values that are present in the next branch.
    guards: Guards<'a>,
}

/// The name of a step that is checked, and where its tool is named.
type StepPlace = (Arc<str>, Range<usize>);

impl<'a> Checker<'a, '_> {
    /// Returns the id of a step after the ids of the enclosing steps.
    fn path(&self, step: &Step) -> Arc<str> {
        match self.around {
            Some(around) => format!("{around}.{}", short(&step.id)).into(),
            None => step.id.as_str().into(),
        }
    }

    fn step(&mut self, index: usize, step: &'a Step) {
        let spans = self.known.spans.steps.get(index);
        let Some(spans) = spans.filter(|spans| !spans.broken) else {
            return;
        };
        self.step = Some((self.path(step), spans.tool.range()));
        self.known.reader = step.role;
        // The templates of the policy follow those of the body.
        let mut way = StepWalk {
            at: spans.templates(),
            guards: Guards::default(),
        };
        self.body(&step.body, &mut way);
        let templates = &self.known.spans.templates;
        let mut at = way.at;
        for (amount, template) in &step.policy.given {
            self.references(template, at);
            self.amount(*amount, template, at);
            at = templates.after(at);
        }
        if let Some(fallback) = &step.policy.fallback {
            self.tests(fallback, at);
            self.references(fallback, at);
        }
    }

    fn body(&mut self, body: &'a Body, way: &mut StepWalk<'a>) {
        match body {
            Body::Action(action) => {
                self.action(action, way.at);
                self.tests(&action.args, way.at);
                self.passed(&action.args, way);
            }
            Body::Block(block) => {
                self.block(block, None, way.at);
                self.passed(&block.inputs, way);
            }
            Body::Loop(repeat) => {
                self.block(&repeat.round, Some(repeat), way.at);
                self.passed(&repeat.round.inputs, way);
            }
            Body::If(branches) => {
                let outside = way.guards.clone();
                let mut failed = outside.clone();
                for branch in branches {
                    way.guards = failed.clone();
                    self.branch(&branch.conditions, &branch.body, way);
                    if let [Condition::Holds(only)] = &*branch.conditions {
                        failed.add(only, false);
                    }
                }
                way.guards = outside;
            }
            Body::For(each) => {
                let at = way.at;
                self.tests(&each.list, at);
                self.list(&each.list, at);
                self.passed(&each.list, way);
                if !self.known.may_bind() {
                    return self.body(&each.body, way);
                }
                let local = self.known.element(each, Some(at));
                let mut inside = way.clone();
                self.within(&local).body(&each.body, &mut inside);
                way.at = inside.at;
            }
            Body::Await(_) => {}
        }
    }

    /// Checks a branch from this condition on.
    fn branch(&mut self, conditions: &'a [Condition], body: &'a Body, way: &mut StepWalk<'a>) {
        for (index, condition) in conditions.iter().enumerate() {
            match condition {
                Condition::Holds(template) => {
                    self.condition(template, way.at, &way.guards);
                    self.passed_if_there(template, way);
                    way.guards.add(template, true);
                }
                Condition::Let { pattern, value } => {
                    self.tests(value, way.at);
                    self.pattern(pattern, value, way.at, &way.guards);
                    self.passed_if_there(value, way);
                    way.guards.add_value(value);
                    if self.known.may_bind() {
                        let local = self.known.bound(pattern, value);
                        let (mut checker, mut inside) = (self.within(&local), way.clone());
                        checker.branch(&conditions[index + 1..], body, &mut inside);
                        way.at = inside.at;
                        return;
                    }
                }
            }
        }
        self.body(body, way);
    }

    /// Returns the checker with one more local value in scope.
    fn within<'b>(&'b mut self, local: &'b Local<'a, 'b>) -> Checker<'b, 'b> {
        Checker {
            known: self.known.with(local),
            notes: self.notes,
            inputs: self.inputs,
            around: self.around,
            step: self.step.clone(),
        }
    }

    /// Checks the references of a condition or of a pattern's value, which may be missing.
    fn passed_if_there(&mut self, template: &'a Template, way: &mut StepWalk<'a>) {
        match template {
            Template::Reference(reference) => {
                let is_each = reference.path.iter().any(Segment::is_each);
                self.reference(reference, way.at, !is_each);
                way.at = self.known.spans.templates.after(way.at);
            }
            _ => self.passed(template, way),
        }
    }

    /// Checks the references of a template, and moves to the next one.
    fn passed(&mut self, template: &'a Template, way: &mut StepWalk<'a>) {
        self.references(template, way.at);
        way.at = self.known.spans.templates.after(way.at);
    }

    /// Checks an amount of a policy: a number or a time.
    fn amount(&mut self, amount: Amount, template: &Template, at: usize) {
        let known = self.known;
        if known.is_broken(at) {
            return;
        }
        let (what, takes) = match amount {
            Amount::Attempts | Amount::Concurrency | Amount::AtMost => ("a number", Types::INTEGER),
            Amount::Backoff | Amount::Max | Amount::Timeout | Amount::Deadline | Amount::Every => {
                ("a duration", Types::STRING.or(Types::OBJECT))
            }
        };
        let Template::Reference(reference) = template else {
            return;
        };
        // A policy that reads a step has an error.
        let is_input = matches!(reference.source, Source::Input(_));
        let read = known.reference(reference);
        let Some(found) = read.found().ok().filter(|_| is_input) else {
            return;
        };
        let name = format!("`{}`", amount.name());
        if let Some(input) = read.untyped_input() {
            let ty = Type::plain(takes.without(Types::OBJECT));
            return self.inputs.expect(input, &ty, known.place(at), name);
        }
        let (whose, ty) = (read.whose(), found.ty);
        let types = ty.types();
        if types.without(takes).is_empty() || ty.is_trusted() || ty.beyond().is_some() {
            return;
        }
        let note = if types == Types::ALL {
            let message = format!("{name} is {what}, but {whose} may be anything");
            let note = known.unchecked(known.place(at), message);
            note.help(read.stating())
        } else {
            let message = format!("{name} is {what}, but {whose} is {}", ty.words());
            Note::error(Code::WrongType, known.place(at), message)
        };
        self.add(note);
    }

    /// Checks a block whose inputs have this place.
    fn block(&mut self, block: &'a Block, repeat: Option<&'a Loop>, at: usize) {
        let known = self.known;
        let Some(spans) = known.spans.block(at) else {
            return;
        };
        let reads = match repeat {
            Some(repeat) => known.round_inputs(repeat),
            None => known.block_inputs(block, None),
        };
        let nothing = Computed::new();
        let inside = known.inside(block, spans, &reads, &nothing);
        let again = repeat.map(|repeat| &repeat.again);
        let around = self.step.as_ref().map(|(step, _)| step);
        check_steps(inside, self.notes, self.inputs, around, again);
    }

    fn action(&mut self, action: &'a Action, at: usize) {
        let (Some(tool), Some((step, place))) = (&action.tool, self.step.clone()) else {
            return;
        };
        let Some(contract) = self.known.contracts.get(&tool.name) else {
            return self.unknown_tool(tool, place);
        };
        let Some(schema) = &contract.arguments else {
            return;
        };
        let arguments = CheckedValue::Template(&action.args, at, self.known);
        let takes = Type::of(schema, self.known.work);
        let mut fit = ValueCheck::new(&tool.name, place.clone(), true, self.known.work);
        fit.arguments = self.known.place(at);
        let problems = fit.in_call(arguments, &takes).and_then(|problems| {
            if self.known.has_untyped() {
                fit.inputs(arguments, &takes, self.inputs)?;
            }
            Ok(problems)
        });
        let problems = problems.unwrap_or_else(|why| {
            Note::error(Code::LimitPassed, place, unchecked(&tool.name, &why)).into()
        });
        self.notes.append(problems, Some(&step));
    }

    fn unknown_tool(&mut self, tool: &ToolInfo, place: Range<usize>) {
        let names = || self.known.contracts.names();
        let looks = self.known.work.may_compare(names().len());
        let meant = looks.then(|| similar(&tool.name, names())).flatten();
        let help = match meant {
            Some(meant) => Some(format!("did you mean `{meant}`?")),
            None if (1..=MOST_NAMES).contains(&names().len()) => {
                Some(format!("the tools are {}", quoted(names())))
            }
            None => None,
        };
        let message = format!("there is no tool `{}`", short(&tool.name));
        self.add(Note::error(Code::UnknownTool, place, message).help(help));
    }

    /// Adds an error about the template with the index `at`, with its help.
    fn report(&mut self, code: Code, at: usize, message: impl Into<String>, help: impl Help) {
        self.add(Note::error(code, self.known.place(at), message).help(help));
    }

    /// Adds a note on the step that is checked.
    fn add(&mut self, note: Note) {
        self.notes.push(match &self.step {
            Some((step, _)) => note.step(step),
            None => note,
        });
    }
}
