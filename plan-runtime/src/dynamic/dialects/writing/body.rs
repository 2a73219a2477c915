//! The bodies of steps: calls, and the members of plan JSON instead of a call.

use super::json::{OutputJson, OutputMembers};
use super::scope::Scope;
use super::{Part, Writer};
use crate::plan::json::names::{binding, block, branch, each, looped, step as members};
use crate::plan::{
    Action, Block, Body, Bound, Branch, Condition, For, Loop, Template, Test, pattern_mistake,
};
use crate::print::short;
use std::collections::HashSet;
use std::mem::replace;

impl<'p> Writer<'p> {
    /// Adds the members of a body. Only the body of a step may be a loop or a wait.
    pub(super) fn body(&mut self, to: &mut OutputMembers<'p>, body: &'p Body, is_step: bool) {
        match body {
            Body::Action(action) => self.call(to, action),
            Body::If(branches) => {
                let branches = branches.iter().map(|branch| self.branch(branch)).collect();
                to.add(members::IF, OutputJson::List(branches));
            }
            Body::For(each) => {
                let each = self.each(each);
                to.add(members::FOR, OutputJson::Object(each));
            }
            Body::Block(block) => {
                let block = self.block(block, None);
                to.add(members::BLOCK, OutputJson::Object(block));
            }
            Body::Loop(repeat) if is_step => {
                let repeat = self.block(&repeat.round, Some(repeat));
                to.add(members::LOOP, OutputJson::Object(repeat));
            }
            Body::Await(wait) if is_step => {
                let type_name = OutputJson::from(&*wait.type_name);
                to.add(members::AWAIT, type_name);
            }
            Body::Loop(_) => self.cannot_express(self.here(), "a `loop` inside a step"),
            Body::Await(_) => self.cannot_express(self.here(), "an `await` inside a step"),
        }
    }

    fn call(&mut self, to: &mut OutputMembers<'p>, action: &'p Action) {
        let Some(tool) = &action.tool else {
            let value = action.args.plain();
            if let Template::Computed(computed) = &value {
                let construct = format!("the computed value `{}`", computed.written());
                return self.cannot_express(self.here(), construct);
            }
            let value = self.part(Part::Value, &value);
            return to.add(members::VALUE, value);
        };
        if tool.name.trim().is_empty() {
            return self.cannot_express(self.here(), "a tool without a name");
        }
        to.add(members::TOOL, tool.name.as_str().into());
        to.text("tool_description", &tool.description);
        let arguments = self.arguments(&action.args);
        to.add(self.dialect.rules().arguments, arguments);
    }

    fn branch(&mut self, given: &'p Branch) -> OutputJson<'p> {
        let around = self.scope.locals.len();
        let mut to = OutputMembers::default();
        match &given.conditions[..] {
            [] => {}
            [Condition::Holds(test)] => {
                let test = self.test(test);
                to.add(branch::CONDITION, test);
            }
            [Condition::Let { pattern, value }] => self.bind(&mut to, pattern, value),
            conditions => {
                let conditions = conditions.iter().map(|one| match one {
                    Condition::Holds(test) => self.test(test),
                    Condition::Let { pattern, value } => {
                        let mut to = OutputMembers::default();
                        self.bind(&mut to, pattern, value);
                        OutputJson::Object(to)
                    }
                });
                let conditions = conditions.collect();
                to.add(branch::CONDITIONS, OutputJson::List(conditions));
            }
        }
        let mut then = OutputMembers::default();
        self.body(&mut then, &given.body, false);
        to.add(branch::THEN, OutputJson::Object(then));
        self.scope.locals.truncate(around);
        OutputJson::Object(to)
    }

    /// Writes a condition.
    fn test(&mut self, test: &Template) -> OutputJson<'p> {
        self.part = Part::Condition;
        self.operand(&test.plain())
    }

    /// Writes a test, or an operand of a test.
    fn operand(&mut self, operand: &Template) -> OutputJson<'p> {
        let test = match operand {
            Template::Test(test) => test,
            Template::Object(_) => {
                // An object in a condition is a test, or a `let`.
                self.cannot_express(self.at(""), "an object in a condition");
                return OutputJson::Null;
            }
            other => return self.part(Part::Condition, other),
        };
        let mut operands: Vec<_> = test.operands().iter().map(|it| self.operand(it)).collect();
        if let Test::Compare(_, how) = &**test {
            operands.insert(1, how.sign().into());
        }
        let written = match (&**test, operands.pop()) {
            (Test::Not(_) | Test::Ask(..), Some(only)) => only,
            (_, last) => OutputJson::List(operands.into_iter().chain(last).collect()),
        };
        let mut to = OutputMembers::default();
        to.add(test.kind(), written);
        OutputJson::Object(to)
    }

    /// Writes a `let`, and adds its local value to the enclosing ones.
    fn bind(&mut self, to: &mut OutputMembers<'p>, pattern: &'p str, value: &Template) {
        to.add(binding::PATTERN, pattern.into());
        let written = self.part(Part::Condition, &value.plain());
        to.add(binding::VALUE, written);
        self.bound(pattern, value, true);
    }

    fn bound(&mut self, pattern: &str, value: &Template, in_if: bool) {
        if pattern_mistake(pattern, value, in_if).is_some() {
            let construct = format!("the pattern `{}`", short(pattern));
            self.cannot_express(self.here(), construct);
        }
        self.scope.locals.push(Bound::pattern(pattern, value));
    }

    fn each(&mut self, given: &'p For) -> OutputMembers<'p> {
        let around = self.scope.locals.len();
        let mut to = OutputMembers::default();
        to.add(each::PATTERN, OutputJson::from(&*given.pattern));
        let list = self.part(Part::List, &given.list.plain());
        to.add(each::LIST, list);
        self.bound(&given.pattern, &given.list, false);
        let mut body = OutputMembers::default();
        self.body(&mut body, &given.body, false);
        to.add(each::BODY, OutputJson::Object(body));
        self.scope.locals.truncate(around);
        to
    }

    /// Writes a block, which may be the round of a loop. It lists all inputs, so that no name inside belongs to a value outside.
    fn block(&mut self, given: &'p Block, repeat: Option<&'p Loop>) -> OutputMembers<'p> {
        let mut to = OutputMembers::default();
        let Some(reads) = given.reads() else {
            self.cannot_express(self.here(), "a block with inputs that it does not declare");
            return to;
        };
        let last = repeat.is_some_and(|repeat| repeat.last) && !reads.is_empty();
        let (mut inputs, mut inside) = (OutputMembers::default(), Scope::of(&given.plan));
        let mut seen = HashSet::new();
        for (index, (name, value)) in reads.into_iter().enumerate() {
            if name.trim().is_empty() {
                self.cannot_express(self.here(), "an input of a block with an empty name");
            }
            if !seen.insert(name) {
                let construct = format!("two inputs of a block with the name `{name}`");
                self.cannot_express(self.here(), construct);
            }
            let value = value.plain();
            let is_own = last && index == 0;
            if is_own || self.scope.is_last(&value) {
                inside.last.insert(index);
            }
            if is_own {
                to.add(looped::LAST, name.into());
                continue;
            }
            self.part = Part::Reads;
            let mut path = name.to_owned();
            self.name(&path, name);
            let value = self.template(&mut path, &value);
            inputs.add(name, value);
        }
        if !inputs.is_empty() {
            to.add(block::INPUTS, OutputJson::Object(inputs));
        }
        self.around.push(replace(&mut self.scope, inside));
        self.roles();
        let steps = given.named_steps();
        let written = (0..steps.len()).map(|index| OutputJson::Object(self.step(index)));
        let written = written.collect();
        to.add(block::STEPS, OutputJson::List(written));
        if let Some(tail) = given.tail() {
            self.begin(steps.len());
            let mut body = OutputMembers::default();
            self.body(&mut body, tail, false);
            to.add(block::TAIL, OutputJson::Object(body));
            self.scope.current = None;
        } else if let Some(value) = given.value() {
            let value = self.part(Part::Value, &value.plain());
            to.add(block::VALUE, value);
        }
        if let Some(repeat) = repeat {
            let again = self.test(&repeat.again);
            to.add(looped::WHILE, again);
        }
        if let Some(around) = self.around.pop() {
            self.scope = around;
        }
        to
    }
}
