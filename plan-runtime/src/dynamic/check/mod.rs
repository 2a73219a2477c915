//! Whether a plan fits the tools that it calls, as far as their contracts say.
//!
//! What may be right is never called wrong:
//!
//! - What a schema does not say, or says in a way that is not understood, fits.
//! - Other arguments than those that a schema names are mistakes where it forbids them (`additionalProperties: false`), and where their
//!   name is nearly that of one that is not given. Otherwise they are a warning: many tools look at more than they name.
//! - An output has the fields that its schema names, and no others, unless `additionalProperties` allows them. A plan can only rely on
//!   what was promised.
//! - A field may be absent where its object's schema has a `required` that lacks it. Without any `required`, nothing is known of that.
//! - Null for an argument that need not be given is as good as not giving it.
//! - An element of a list is taken to be there, as in Rust.
//! - A variable of a `for` or of a pattern is what the list or the value gives that it is bound to. That a condition asked for something
//!   else to be there is not remembered, as rustc does not.
//! - Where a reference may end, it is a warning that it leads to nothing, unless each run fails because of it.
//! - What the plan has for a value that is missing must fit as if it was written there.

mod bounds;
mod checked_value;
mod input;
mod instead;
mod leads_nowhere;
mod local;
mod locals;
mod outputs;
mod path;
mod reference;
mod replacement;
mod test;
mod text;
mod unordered;
mod unresolved;
mod unused;
mod value;

use super::dialects::reading::MOST_NAMES;
use super::finding::{Code, Note, Notes};
use super::schema::{TooMuchWork, Type, Types, Work};
use super::spans::{Spans, Templates};
use super::{Contracts, Dialect, Profile};
use crate::plan::{
    Action, Amount, Block, Body, Condition, Loop, Plan, Role, Step, Template, ToolInfo,
};
use crate::print::{Cut, SHORT};
use crate::resolve::describe::{quoted, short};
use checked_value::{CheckedValue, ValueKind};
use input::Inputs;
pub(super) use input::misfit;
use local::Local;
use outputs::{Computed, KnownOutputs, Outputs};
use path::LeadsNowhere;
use plan_graph::similar;
use serde_json::Value;
use std::mem::replace;
use std::ops::Range;
use std::sync::Arc;
use value::ValueCheck;

/// Checks a plan against what is known of tools. The types of inputs that nobody stated follow from where they are used.
pub(super) fn check(
    plan: &Plan,
    (text, spans): (&str, &Spans),
    (dialect, profile): (Dialect, Profile),
    contracts: &Contracts,
    notes: &mut Notes,
) -> Vec<(usize, String)> {
    let work = Work::for_values(spans.templates.len());
    let nothing = Computed::new();
    let known = Outputs {
        plan,
        text,
        spans,
        dialect,
        profile,
        contracts,
        computed: &nothing,
        work: &work,
        reader: Role::Work,
        block: None,
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
    };
    for (index, step) in known.plan.steps.iter().enumerate() {
        checker.step(index, step);
    }
    checker.known.reader = Role::Work;
    if let Some(at) = known.spans.output {
        let place = around.map(|around| (Arc::clone(around), 0..0));
        checker.tests(&known.plan.output.value, at, place.as_ref());
        checker.references(&known.plan.output.value, at, place.as_ref());
    }
    if let (Some(again), Some(at)) = (again, known.spans.again) {
        let place = around.map(|around| (Arc::clone(around), 0..0));
        checker.condition(again, at, false, place.as_ref());
        checker.references(again, at, place.as_ref());
    }
    checker.unused(again);
}

/// What of the arguments of a tool does not fit its schema.
pub(super) fn check_value(tool: &str, arguments: &Value, schema: &Value) -> Vec<String> {
    let work = Work::for_values(values(arguments));
    let fit = ValueCheck::new(tool, 0..0, false, &work);
    let takes = Type::of(schema, &work);
    match fit.problems(CheckedValue::Json(arguments), &takes, true) {
        Ok(problems) => problems.into_messages(),
        Err(why) => vec![unchecked(tool, &why)],
    }
}

/// How many values a value is, with those in it.
fn values(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(values).sum(),
        Value::Object(members) => members.values().map(values).sum(),
        _ => 0,
    }
}

/// Says that it is not known whether the arguments of a tool fit.
fn unchecked(tool: &str, why: &TooMuchWork) -> String {
    let why = match why {
        TooMuchWork::Work => "its schema and its arguments take too many comparisons".to_owned(),
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
    /// The step that the block is in, if it is one.
    around: Option<&'n Arc<str>>,
}

/// How far the check of a step has come.
struct Way {
    /// The place of its next template.
    at: usize,
    /// Whether a condition was asked before, so that what comes next may not be.
    guarded: bool,
}

/// The name of a step that is checked, and where its tool is named.
type StepPlace = (Arc<str>, Range<usize>);

impl<'a> Checker<'a, '_> {
    /// A step, by its id and those of the steps around it.
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
        let place = &(self.path(step), spans.tool.range());
        self.known.reader = step.role;
        // Its templates come one after the other, those of the policy last.
        let mut way = Way {
            at: spans.templates(),
            guarded: false,
        };
        self.body(&step.body, &mut way, place);
        let templates = &self.known.spans.templates;
        let mut at = way.at;
        for (amount, template) in &step.policy.given {
            self.references(template, at, Some(place));
            self.amount(*amount, template, at, &place.0);
            at = templates.after(at);
        }
        if let Some(fallback) = &step.policy.fallback {
            self.tests(fallback, at, Some(place));
            self.references(fallback, at, Some(place));
        }
    }

    fn body(&mut self, body: &'a Body, way: &mut Way, place: &StepPlace) {
        match body {
            Body::Action(action) => {
                self.action(action, way.at, place);
                self.tests(&action.args, way.at, Some(place));
                self.passed(&action.args, way, place);
            }
            Body::Block(block) => {
                self.block(block, None, way.at, &place.0);
                self.passed(&block.inputs, way, place);
            }
            Body::Loop(repeat) => {
                self.block(&repeat.round, Some(repeat), way.at, &place.0);
                self.passed(&repeat.round.inputs, way, place);
            }
            Body::If(branches) => {
                for branch in branches {
                    self.branch(&branch.conditions, &branch.body, way, place);
                }
            }
            Body::For(each) => {
                let at = way.at;
                self.tests(&each.list, at, Some(place));
                self.list(&each.list, at, &place.0);
                self.passed(&each.list, way, place);
                if !self.known.may_bind() {
                    return self.body(&each.body, way, place);
                }
                let local = self.known.element(each, Some(at));
                self.within(&local).body(&each.body, way, place);
            }
            Body::Await(_) => {}
        }
    }

    /// A branch with what is left of its conditions.
    fn branch(
        &mut self,
        conditions: &'a [Condition],
        body: &'a Body,
        way: &mut Way,
        place: &StepPlace,
    ) {
        for (index, condition) in conditions.iter().enumerate() {
            // The first condition is always asked.
            let guarded = replace(&mut way.guarded, true);
            match condition {
                Condition::Holds(template) => {
                    self.condition(template, way.at, guarded, Some(place));
                    self.passed(template, way, place);
                }
                Condition::Let { pattern, value } => {
                    self.tests(value, way.at, Some(place));
                    self.outcome_pattern(pattern, value, way.at, guarded, Some(place));
                    self.passed(value, way, place);
                    if self.known.may_bind() {
                        let local = self.known.bound(pattern, value);
                        let mut inside = self.within(&local);
                        return inside.branch(&conditions[index + 1..], body, way, place);
                    }
                }
            }
        }
        self.body(body, way, place);
    }

    /// The same with one more local value.
    fn within<'b>(&'b mut self, local: &'b Local<'a, 'b>) -> Checker<'b, 'b> {
        Checker {
            known: self.known.with(local),
            notes: self.notes,
            inputs: self.inputs,
            around: self.around,
        }
    }

    /// Goes on after a template, once it is known that its references lead somewhere.
    fn passed(&mut self, template: &'a Template, way: &mut Way, place: &StepPlace) {
        self.references(template, way.at, Some(place));
        way.at = self.known.spans.templates.after(way.at);
    }

    /// What a `for` iterates over, which is a list or an object.
    fn list(&mut self, template: &Template, at: usize, step: &Arc<str>) {
        let known = self.known;
        let Template::Reference(reference) = template else {
            return self.written_list(template, at, step);
        };
        let Some(found) = known.found(reference).ok().filter(|_| !known.is_broken(at)) else {
            return;
        };
        let types = found.ty.types();
        if types.is_empty()
            || types.overlaps(Types::LIST.or(Types::OBJECT))
            || !found.replaced.is_empty()
        {
            let Some(absent) = found.absent else { return };
            let written = short(&reference.text());
            let message =
                format!("a `for` needs a list, but `{written}` may lead to nothing: {absent}");
            let note = Note::error(Code::MaybeAbsent, known.place(at), message);
            let note = note.help(known.instead_of_list(reference));
            return self.notes.append(note.into(), Some(step));
        }
        let (written, words) = (short(&reference.text()), found.ty.words());
        let message =
            format!("a `for` iterates over a list or an object, but `{written}` is {words}");
        let note = Note::error(Code::ListOrElement, known.place(at), message);
        let help = known.list_around(reference);
        self.notes.append(note.help(help).into(), Some(step));
    }

    /// The same for a value that the plan writes itself.
    fn written_list(&mut self, template: &Template, at: usize, step: &Arc<str>) {
        let value = CheckedValue::Template(template, at, self.known);
        let kind = value.kind();
        if matches!(kind, ValueKind::Unknown)
            || kind.types().overlaps(Types::LIST.or(Types::OBJECT))
        {
            return;
        }
        let message = format!(
            "a `for` iterates over a list or an object, but this is {}",
            value.words()
        );
        let note = Note::error(Code::WrongType, self.known.place(at), message);
        let help = match template {
            Template::Null => "refer to a list, or write one: `[a, b]`".to_owned(),
            _ => format!(
                "refer to a list, or write one: `[{}]`",
                Cut(template, SHORT)
            ),
        };
        self.notes.append(note.help(help).into(), Some(step));
    }

    /// An amount of a policy, which is a number or a time.
    fn amount(&mut self, amount: Amount, template: &Template, at: usize, step: &Arc<str>) {
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
        let Ok(found) = known.found(reference) else {
            return;
        };
        let (whose, ty) = (known.whose(reference), found.ty);
        let types = ty.types();
        if types.is_empty() || types.overlaps(takes) {
            return;
        }
        let message = format!(
            "`{}` is {what}, but {whose} is {}",
            amount.name(),
            ty.words()
        );
        let note = Note::error(Code::WrongType, known.place(at), message);
        self.notes.append(note.into(), Some(step));
    }

    /// A block that reads what is at this place.
    fn block(&mut self, block: &'a Block, repeat: Option<&'a Loop>, at: usize, step: &Arc<str>) {
        let known = self.known;
        let Some(spans) = known.spans.block(at) else {
            return;
        };
        let last = repeat.and_then(|repeat| known.last(repeat));
        let (reads, nothing) = (known.block_inputs(block, last), Computed::new());
        let inside = known.inside(block, spans, &reads, &nothing);
        let again = repeat.map(|repeat| &repeat.again);
        check_steps(inside, self.notes, self.inputs, Some(step), again);
    }

    fn action(&mut self, action: &'a Action, at: usize, step: &StepPlace) {
        let Some(tool) = &action.tool else { return };
        let Some(contract) = self.known.contracts.get(&tool.name) else {
            return self.unknown_tool(tool, step);
        };
        let Some(schema) = &contract.arguments else {
            return;
        };
        let arguments = CheckedValue::Template(&action.args, at, self.known);
        let takes = Type::of(schema, self.known.work);
        let fit = ValueCheck::new(&tool.name, step.1.clone(), true, self.known.work);
        let fit = fit.of_call(self.known.place(at));
        let problems = fit.problems(arguments, &takes, true).and_then(|problems| {
            if self.known.has_untyped() {
                fit.inputs(arguments, &takes, self.inputs)?;
            }
            Ok(problems)
        });
        let problems = problems.unwrap_or_else(|why| {
            let message = unchecked(&tool.name, &why);
            Note::error(Code::LimitPassed, step.1.clone(), message).into()
        });
        self.notes.append(problems, Some(&step.0));
    }

    /// Says which references in the template at this place lead nowhere.
    fn references(&mut self, template: &'a Template, at: usize, step: Option<&StepPlace>) {
        let known = self.known;
        each(template, at, &known.spans.templates, &mut |at, part| {
            if let Template::Text(_) = part {
                return self.text(part, at, step);
            }
            let Template::Reference(reference) = part else {
                return;
            };
            if known.is_broken(at) {
                return;
            }
            let step = step.map(|step| &step.0);
            let why = match known.found(reference) {
                Ok(found) => {
                    // Where an argument can not do without it, that was said.
                    let lost = found
                        .lost
                        .filter(|_| !self.notes.has_error(&known.place(at)));
                    if let Some(lost) = lost {
                        let note = known.lost(at, reference, &lost).into_warning();
                        self.notes.append(note.into(), step);
                    }
                    found.ty.beyond().cloned()
                }
                Err(LeadsNowhere::Lost(lost)) => {
                    let note = known.lost(at, reference, &lost);
                    return self.notes.append(note.into(), step);
                }
                Err(LeadsNowhere::Unknown(why)) => Some(why),
            };
            let why = why.filter(|_| !known.is_unknown_around(reference.source));
            let Some(why) = why else { return };
            let whose = known.whose(reference);
            let why = match why {
                TooMuchWork::Work => "the schema of its output is too large".to_owned(),
                TooMuchWork::Target(target) => refers("the schema of its output", &target),
            };
            let message = format!("{whose} cannot be checked: {why}");
            let note = Note::error(Code::LimitPassed, known.place(at), message);
            self.notes.append(note.into(), step);
        });
    }

    fn unknown_tool(&mut self, tool: &ToolInfo, (id, place): &StepPlace) {
        let names = || self.known.contracts.names();
        let looks = self.known.work.may_compare(names().len());
        let meant = looks.then(|| similar(&tool.name, names())).flatten();
        let help = match meant {
            Some(meant) => Some(format!("a tool with a similar name exists: `{meant}`")),
            None if (1..=MOST_NAMES).contains(&names().len()) => {
                Some(format!("the tools are {}", quoted(names())))
            }
            None => None,
        };
        let message = format!("there is no tool `{}`", short(&tool.name));
        let note = Note::error(Code::UnknownTool, place.clone(), message);
        self.notes.push(note.help(help).step(id));
    }
}

/// Hands over the template at a place and all that is in it, each with its place.
fn each<'a>(
    template: &'a Template,
    at: usize,
    spans: &Templates,
    f: &mut impl FnMut(usize, &'a Template),
) {
    f(at, template);
    for (part, at) in template.parts().zip(spans.parts(at)) {
        each(part, at, spans, f);
    }
}
