//! The check of tests and conditions.

use super::Checker;
use super::guards::Guards;
use super::operand::{Operand, operand};
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::json_node::outside;
use crate::dynamic::schema::{Type, Types};
use crate::plan::{Comparison, Question, Source, Template, Test, outcome_of};
use crate::resolve::describe::short;
use serde_json::Value;

/// The kinds of values with an order.
const ORDERED: [Types; 3] = [Types::NUMBER, Types::STRING, Types::BOOL];

/// Returns the message for an operand of a comparison that may have no value.
fn no_value(sign: &str, operand: &Operand<'_>, why: &str) -> String {
    let written = operand.found.as_ref().map(|(it, _)| short(&it.text()));
    let written = written.unwrap_or_default();
    format!("`{sign}` needs two values, but `{written}` may have no value: {why}")
}

/// Returns the kinds of values with a length.
fn measured() -> Types {
    Types::STRING.or(Types::LIST).or(Types::OBJECT)
}

impl<'a> Checker<'a, '_> {
    /// Checks a condition. The guards are the values that are present.
    pub(super) fn condition(&mut self, template: &'a Template, at: usize, guards: &Guards<'a>) {
        if let Template::Test(test) = template
            && !self.known.is_broken(at)
        {
            self.test(test, at, guards);
        }
        let Some(operand) = operand(template, at, self.known) else {
            return;
        };
        let expected = (
            "a condition is `true` or `false`",
            Types::BOOL,
            Code::WrongType,
        );
        let shown = &operand.shown;
        self.expect(expected, &operand, at, guards, |_, is_absent| {
            Some(match template {
                _ if is_absent => format!(
                    r#"write `{{"all": [{{"is_some": {shown}}}, {shown}]}}`, which is false if the value is missing"#
                ),
                Template::Text(_) | Template::String(_) => {
                    r#"a condition is a reference, or a test such as `{"compare": […, ">", …]}`"#
                        .to_owned()
                }
                _ if operand.types.overlaps(Types::BOOL) => format!(
                    r#"compare the value with `true`: `{{"compare": [{shown}, "==", true]}}`"#
                ),
                _ => format!(r#"compare the value: `{{"compare": [{shown}, "==", …]}}`"#),
            })
        });
    }

    /// Checks the tests in a template that is not a condition.
    pub(super) fn tests(&mut self, template: &'a Template, at: usize) {
        let known = self.known;
        if known.is_broken(at) {
            return;
        }
        if let Template::Test(test) = template {
            return self.test(test, at, &Guards::default());
        }
        for (part, at) in template.parts().zip(known.spans.templates.parts(at)) {
            self.tests(part, at);
        }
    }

    /// Checks the operands of a test.
    pub(super) fn test(&mut self, test: &'a Test, at: usize, guards: &Guards<'a>) {
        let known = self.known;
        let places: Vec<usize> = known.spans.templates.parts(at).collect();
        let operands = test.operands().iter().zip(places);
        match test {
            Test::All(_) | Test::Any(_) | Test::Not(_) => {
                // An operand counts only if the operands before it have not decided.
                let mut guards = guards.clone();
                for (operand, at) in operands {
                    self.condition(operand, at, &guards);
                    guards.add(operand, matches!(test, Test::All(_)));
                }
                return;
            }
            Test::Compare(..) | Test::Ask(..) => {
                for (operand, at) in operands {
                    if let Template::Test(test) = operand
                        && !known.is_broken(at)
                    {
                        self.test(test, at, guards);
                    }
                }
            }
        }
        let mut places = known.spans.templates.parts(at);
        let mut next = |template| operand(template, places.next()?, known);
        match test {
            Test::Compare([left, right], how) => {
                let (left, right) = (next(left), next(right));
                self.comparison(*how, [left, right], at, guards);
            }
            Test::Ask(question, asked) => {
                if let Some(asked) = next(asked) {
                    self.question(*question, &asked, at, guards);
                }
            }
            Test::All(_) | Test::Any(_) | Test::Not(_) => {}
        }
    }

    fn comparison(
        &mut self,
        how: Comparison,
        operands: [Option<Operand<'a>>; 2],
        at: usize,
        guards: &Guards<'a>,
    ) {
        let sign = how.sign();
        let words = |operand: &Option<Operand<'a>>| match operand {
            Some(operand) => operand.words.clone(),
            None => "a value".to_owned(),
        };
        let (left, right) = (words(&operands[0]), words(&operands[1]));
        let types = |operand: &Option<Operand<'a>>| match operand {
            Some(operand) => operand.types,
            None => Types::ALL,
        };
        // Numbers compare, whether they are integers or not.
        let kinds = |types: Types| {
            if types.overlaps(Types::NUMBER) {
                types.or(Types::NUMBER)
            } else {
                types
            }
        };
        let both = kinds(types(&operands[0])).and(kinds(types(&operands[1])));
        if !how.is_order() {
            let mut all = operands.iter().flatten();
            if let Some((why, it)) = all.find_map(|it| Some((it.breaks(guards)?, it))) {
                let message = no_value(sign, it, why);
                let help = self.ask_first(&it.shown, Some(at));
                return self.report(Code::MaybeAbsent, at, message, help);
            }
            if let [Some(left), Some(right)] = &operands
                && let Some((never, help)) = left.never(right).or_else(|| right.never(left))
            {
                let always = how == Comparison::NotEqual;
                let message = format!("the comparison is always {always}: {never}");
                let note = Note::error(Code::NotAllowed, self.known.place(at), message);
                return self.add(note.into_warning().help(help));
            }
            let absent = |operand: &Option<Operand<'a>>| {
                operand.as_ref().is_none_or(|operand| {
                    operand.null.is_some() || operand.types.overlaps(Types::NULL)
                })
            };
            if both.is_empty() && !(absent(&operands[0]) && absent(&operands[1])) {
                let always = how == Comparison::NotEqual;
                let message = format!(
                    "the comparison is always {always}: `{sign}` compares {left} with {right}"
                );
                let note = Note::error(Code::WrongType, self.known.place(at), message);
                let help =
                    "compare values of one kind; values of two kinds are never equal".to_owned();
                self.add(note.into_warning().help(help));
            }
            let all = operands.iter().flatten();
            return all.for_each(|operand| self.presence(operand, guards));
        }
        if !ORDERED.iter().any(|kind| both.overlaps(*kind)) {
            let message = format!("`{sign}` compares {left} with {right}, which have no order");
            let help = "compare two numbers, or two strings";
            return self.report(Code::WrongType, at, message, help);
        }
        let all = operands.iter().flatten();
        if let Some(operand) = all.clone().find(|it| it.is_unstated()) {
            let what = format!("`{sign}` compares two numbers, or two strings");
            let is_one = |kind: &&Types| both.without(**kind).is_empty();
            let takes = ORDERED.iter().find(is_one).copied();
            return self.unstated(&what, takes.unwrap_or(Types::ALL), operand);
        }
        let is_of = |kind: &Types| all.clone().all(|it| it.beside(*kind).is_none());
        if !ORDERED.iter().any(is_of) {
            let message = format!("`{sign}` compares {left} with {right}, which may have no order");
            let help = "compare two numbers, or two strings";
            return self.report(Code::WrongType, at, message, help);
        }
        let mut absent = all.clone();
        if let Some((why, it)) = absent.find_map(|it| Some((it.absent(guards)?, it))) {
            let message = no_value(sign, it, why);
            let help = self.ask_first(&it.shown, Some(at));
            self.report(Code::MaybeAbsent, at, message, help);
        } else {
            all.for_each(|operand| self.presence(operand, guards));
        }
    }

    fn question(
        &mut self,
        question: Question,
        asked: &Operand<'a>,
        at: usize,
        guards: &Guards<'a>,
    ) {
        let (takes, expected, help) = match question {
            Question::IsSome | Question::IsNone => {
                let is = question == Question::IsSome;
                return self.sure(&format!("the test is always {is}"), asked, at);
            }
            Question::IsOk | Question::IsErr => {
                return self.outcome(question.name(), asked, at, guards);
            }
            Question::IsEmpty | Question::Len => (
                measured(),
                "a string, a list or an object",
                "to test if a value is present, write `is_some`",
            ),
        };
        self.needs(question.name(), (takes, expected, help), asked, at, guards);
    }

    /// Checks the value of a `let`.
    pub(super) fn pattern(
        &mut self,
        pattern: &str,
        value: &'a Template,
        at: usize,
        guards: &Guards<'a>,
    ) {
        let Some(asked) = operand(value, at, self.known) else {
            return;
        };
        let name = short(pattern);
        if outcome_of(pattern, value).is_some() {
            self.outcome(&name, &asked, at, guards);
        } else {
            self.sure(&format!("`{name}` always matches"), &asked, at);
        }
    }

    /// Warns about a question for a value that is never absent.
    fn sure(&mut self, always: &str, asked: &Operand<'a>, at: usize) {
        let found = asked.found.as_ref().filter(|_| asked.is_sure);
        let Some((reference, _)) = found else { return };
        let written = short(&reference.text());
        let message = format!("{always}: `{written}` is never absent");
        let note = Note::error(Code::WrongType, self.known.place(at), message);
        let help = format!("use `{}` without a test", asked.shown);
        self.add(note.into_warning().help(help));
    }

    fn outcome(&mut self, name: &str, asked: &Operand<'a>, at: usize, guards: &Guards<'a>) {
        let whole = asked.found.as_ref().map(|(it, _)| *it);
        let help = match whole.filter(|it| it.path.is_empty()).map(|it| it.source) {
            Some(source @ Source::Step(index)) => {
                let id = self.known.plan.name_of(source).unwrap_or_default();
                let step = (self.known.rules.step)(index, id);
                format!(r#"add `"catch": true` to the `policy` of {step}"#)
            }
            _ => r#"only the output of a step with `"catch": true` is a `Result`"#.to_owned(),
        };
        let is_object =
            asked.types.overlaps(Types::OBJECT) && asked.beside(Types::OBJECT).is_none();
        if is_object && !asked.may_be_result {
            let message = format!(
                "`{name}` needs a `Result`, but the value is {}",
                asked.words
            );
            return self.report(Code::WrongType, at, message, help);
        }
        let needs = (Types::OBJECT, "a `Result`", &*help);
        self.needs(name, needs, asked, at, guards);
    }

    /// Checks that a value has one of these kinds, and is present.
    fn needs(
        &mut self,
        name: &str,
        (takes, expected, help): (Types, &str, &str),
        asked: &Operand<'a>,
        at: usize,
        guards: &Guards<'a>,
    ) {
        let what = format!("`{name}` needs {expected}");
        let expected = (&*what, takes, Code::WrongType);
        self.expect(expected, asked, at, guards, |it, is_absent| {
            let shown = &asked.shown;
            if !is_absent {
                Some(help.to_owned())
            } else if asked.place == it.known.place(at) {
                let pattern = Value::from(name);
                Some(format!(
                    r#"first test if the value is present: `"all": [{{"is_some": {shown}}}, {{"pattern": {pattern}, "value": {shown}}}]`"#
                ))
            } else {
                let is_condition = name != Question::Len.name();
                Some(it.ask_first(shown, is_condition.then_some(at)))
            }
        });
    }

    /// Expects a present value of these kinds. `help` has `true` for a value that may be absent.
    pub(super) fn expect(
        &mut self,
        (what, takes, code): (&str, Types, Code),
        operand: &Operand<'a>,
        at: usize,
        guards: &Guards<'a>,
        help: impl FnOnce(&Self, bool) -> Option<String>,
    ) {
        let written = operand.found.as_ref().map(|(it, _)| it.text());
        let written = written.map_or("the value".into(), |it| format!("`{}`", short(&it)));
        let but = |is: &str| format!("{what}, but {written} {is}");
        if !operand.types.overlaps(takes) {
            let is = but(&format!("is {}", operand.words));
            self.report(code, at, is, help(self, false));
        } else if operand.is_unstated() {
            let takes = Some(takes).filter(|it| *it == Types::BOOL);
            self.unstated(what, takes.unwrap_or(Types::ALL), operand);
        } else if let Some(kinds) = operand.beside(takes) {
            let may_be = but(&format!("may be {kinds}"));
            self.report(Code::WrongType, at, may_be, help(self, false));
        } else if let Some(why) = operand.absent(guards) {
            let message = but(&format!("may have no value: {why}"));
            self.report(Code::MaybeAbsent, at, message, help(self, true));
        } else {
            self.presence(operand, guards);
        }
    }

    /// Reports a value whose presence no schema states.
    fn presence(&mut self, operand: &Operand<'a>, guards: &Guards<'a>) {
        let Some((reference, part)) = operand.unstated(guards) else {
            return;
        };
        let place = operand.place.clone();
        self.add(self.known.reference(reference).presence(place, part));
    }

    /// Reports a value without a type, or gives an input the only kind that fits.
    fn unstated(&mut self, what: &str, takes: Types, operand: &Operand<'a>) {
        let Some((reference, _)) = &operand.found else {
            return;
        };
        let place = operand.place.clone();
        let written = short(&reference.text());
        if let Some(input) = self.known.reference(reference).untyped_input()
            && takes != Types::ALL
        {
            let whose = format!("`{written}`");
            return self.inputs.expect(input, &Type::plain(takes), place, whose);
        }
        let message = format!("{what}, but `{written}` may be anything");
        let note = self.known.unchecked(place, message);
        self.add(note.help(self.known.reference(reference).stating()));
    }

    /// Returns the help for a condition at this place, or for a part of a condition, whose operand may be absent.
    fn ask_first(&self, shown: &str, condition: Option<usize>) -> String {
        let test = condition.and_then(|at| self.known.text.get(self.known.place(at)));
        let test = test.and_then(outside);
        let test = test.unwrap_or_else(|| "…".to_owned());
        format!(
            r#"first test if the value is present: `{{"all": [{{"is_some": {shown}}}, {test}]}}`"#
        )
    }
}
