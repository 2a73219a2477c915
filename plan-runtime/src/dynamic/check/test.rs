//! Whether tests are about values that they can be about, and conditions are `true` or `false`.

use super::Checker;
use super::StepPlace;
use super::checked_value::{CheckedValue, ValueKind};
use super::outputs::KnownOutputs;
use crate::dynamic::finding::{Code, Note};
use crate::dynamic::schema::Types;
use crate::plan::{Comparison, Question, Template, Test, outcome_of};
use crate::print::{Cut, SHORT};
use crate::resolve::describe::short;

/// What is known of a value that a test is about.
struct Operand {
    types: Types,
    /// Why it may be null or absent.
    null: Option<String>,
    /// What it is, in words.
    words: String,
    /// How the document has it.
    shown: String,
}

/// The values that have an order among their kind.
fn ordered() -> Types {
    Types::NUMBER.or(Types::STRING).or(Types::BOOL)
}

/// The values that have a length.
fn measured() -> Types {
    Types::STRING.or(Types::LIST).or(Types::OBJECT)
}

impl<'a> Checker<'a, '_> {
    /// Checks what has to be `true` or `false`. Where it is `guarded`, a run may come here only if nothing is absent.
    pub(super) fn condition(
        &mut self,
        template: &'a Template,
        at: usize,
        guarded: bool,
        step: Option<&StepPlace>,
    ) {
        if let Template::Test(test) = template
            && !self.known.is_broken(at)
        {
            self.test(test, at, guarded, step);
        }
        let Some(operand) = operand(template, at, self.known) else {
            return;
        };
        let text = Cut(template, SHORT);
        if !operand.types.overlaps(Types::BOOL) {
            let message = format!(
                "a condition is `true` or `false`, but `{text}` is {}",
                operand.words
            );
            let shown = &operand.shown;
            let help = match template {
                Template::Text(_) | Template::String(_) => {
                    let meant = self.known.condition(template);
                    let meant = meant.unwrap_or_else(|| r#"{"compare": [a, ">", b]}"#.to_owned());
                    format!("a condition is not written as text: `{meant}`")
                }
                _ => {
                    format!(r#"say what it is compared with: `{{"compare": [{shown}, "==", b]}}`"#)
                }
            };
            self.report(Code::WrongType, at, message, help, step);
        } else if let Some(why) = operand.null.filter(|_| !guarded) {
            let message =
                format!("a condition is `true` or `false`, but `{text}` may be absent: {why}");
            let shown = &operand.shown;
            let help = format!(
                r#"write `{{"all": [{{"is_some": {shown}}}, {shown}]}}`, which is false where it is absent"#
            );
            self.report(Code::MaybeAbsent, at, message, help, step);
        }
    }

    /// Checks the tests in a template that is not a condition.
    pub(super) fn tests(&mut self, template: &'a Template, at: usize, step: Option<&StepPlace>) {
        let known = self.known;
        if known.is_broken(at) {
            return;
        }
        if let Template::Test(test) = template {
            return self.test(test, at, false, step);
        }
        for (part, at) in template.parts().zip(known.spans.templates.parts(at)) {
            self.tests(part, at, step);
        }
    }

    /// Checks the values that a test is about.
    pub(super) fn test(
        &mut self,
        test: &'a Test,
        at: usize,
        guarded: bool,
        step: Option<&StepPlace>,
    ) {
        let known = self.known;
        let places: Vec<usize> = known.spans.templates.parts(at).collect();
        let operands = test.operands().iter().zip(places);
        match test {
            Test::All(_) | Test::Any(_) | Test::Not(_) => {
                // What comes after the first may not be asked.
                for (index, (operand, at)) in operands.enumerate() {
                    self.condition(operand, at, guarded || index > 0, step);
                }
                return;
            }
            Test::Compare(..) | Test::Ask(..) => {
                for (operand, at) in operands {
                    if let Template::Test(test) = operand
                        && !known.is_broken(at)
                    {
                        self.test(test, at, guarded, step);
                    }
                }
            }
        }
        let mut places = known.spans.templates.parts(at);
        let mut next = |template| operand(template, places.next()?, known);
        match test {
            Test::Compare([left, right], how) => {
                let (left, right) = (next(left), next(right));
                self.comparison(*how, [left, right], at, guarded, step);
            }
            Test::Ask(question, asked) => {
                if let Some(asked) = next(asked) {
                    self.question(*question, &asked, at, guarded, step);
                }
            }
            Test::All(_) | Test::Any(_) | Test::Not(_) => {}
        }
    }

    fn comparison(
        &mut self,
        how: Comparison,
        operands: [Option<Operand>; 2],
        at: usize,
        guarded: bool,
        step: Option<&StepPlace>,
    ) {
        let sign = how.sign();
        let words = |operand: &Option<Operand>| match operand {
            Some(operand) => operand.words.clone(),
            None => "a value".to_owned(),
        };
        let (left, right) = (words(&operands[0]), words(&operands[1]));
        let types = |operand: &Option<Operand>| match operand {
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
            let absent = |operand: &Option<Operand>| {
                operand.as_ref().is_none_or(|operand| {
                    operand.null.is_some() || operand.types.overlaps(Types::NULL)
                })
            };
            if both.is_empty() && !(absent(&operands[0]) && absent(&operands[1])) {
                let always = how == Comparison::NotEqual;
                let message =
                    format!("this is always {always}: `{sign}` compares {left} with {right}");
                let note = Note::error(Code::WrongType, self.known.place(at), message);
                let help = "values of two kinds are never equal".to_owned();
                self.add(note.into_warning().help(help), step);
            }
            return;
        }
        if !both.overlaps(ordered()) {
            let message = format!("`{sign}` compares {left} with {right}, which have no order");
            let help = "compare two numbers, or two strings".to_owned();
            return self.report(Code::WrongType, at, message, help, step);
        }
        let mut absent = operands.into_iter().flatten();
        let absent = absent.find_map(|it| Some((it.null?, it.shown)));
        if let Some((why, shown)) = absent.filter(|_| !guarded) {
            let message =
                format!("`{sign}` compares {left} with {right}, one of which may be absent: {why}");
            self.report(Code::MaybeAbsent, at, message, ask_first(&shown), step);
        }
    }

    fn question(
        &mut self,
        question: Question,
        asked: &Operand,
        at: usize,
        guarded: bool,
        step: Option<&StepPlace>,
    ) {
        let (takes, expected, help) = match question {
            Question::IsSome | Question::IsNone => return,
            Question::IsOk | Question::IsErr => {
                return self.outcome(question.name(), asked, at, guarded, step);
            }
            Question::IsEmpty | Question::Len => (
                measured(),
                "a string, a list or an object",
                "to ask whether a value is there, write `is_some`",
            ),
        };
        self.needs(
            question.name(),
            (takes, expected, help),
            asked,
            at,
            guarded,
            step,
        );
    }

    /// Checks the value of a `let` whose pattern is `Ok(…)` or `Err(…)`.
    pub(super) fn outcome_pattern(
        &mut self,
        pattern: &str,
        value: &'a Template,
        at: usize,
        guarded: bool,
        step: Option<&StepPlace>,
    ) {
        if outcome_of(pattern, value).is_some()
            && let Some(asked) = operand(value, at, self.known)
        {
            self.outcome(&short(pattern), &asked, at, guarded, step);
        }
    }

    fn outcome(
        &mut self,
        name: &str,
        asked: &Operand,
        at: usize,
        guarded: bool,
        step: Option<&StepPlace>,
    ) {
        let help = r#"a step whose policy has `"catch": true` gives one"#;
        let needs = (Types::OBJECT, "a `Result`", help);
        self.needs(name, needs, asked, at, guarded, step);
    }

    /// Checks that a value is of these kinds, and there.
    fn needs(
        &mut self,
        name: &str,
        (takes, expected, help): (Types, &str, &str),
        asked: &Operand,
        at: usize,
        guarded: bool,
        step: Option<&StepPlace>,
    ) {
        if !asked.types.overlaps(takes) {
            let message = format!("`{name}` needs {expected}, but this is {}", asked.words);
            self.report(Code::WrongType, at, message, help.to_owned(), step);
        } else if let Some(why) = asked.null.as_ref().filter(|_| !guarded) {
            let message = format!("`{name}` needs {expected}, but this may be absent: {why}");
            self.report(
                Code::MaybeAbsent,
                at,
                message,
                ask_first(&asked.shown),
                step,
            );
        }
    }

    fn report(
        &mut self,
        code: Code,
        at: usize,
        message: String,
        help: String,
        step: Option<&StepPlace>,
    ) {
        let note = Note::error(code, self.known.place(at), message);
        self.add(note.help(help), step);
    }

    fn add(&mut self, note: Note, step: Option<&StepPlace>) {
        self.notes.append(note.into(), step.map(|step| &step.0));
    }
}

fn ask_first(shown: &str) -> String {
    format!(r#"ask first whether it is there: `{{"all": [{{"is_some": {shown}}}, …]}}`"#)
}

/// What is known of a value; `None` where it may be anything.
fn operand<'a>(template: &'a Template, at: usize, known: KnownOutputs<'a>) -> Option<Operand> {
    let value = CheckedValue::Template(template, at, known);
    let words = value.words();
    Some(match value.kind() {
        ValueKind::Unknown => return None,
        ValueKind::Reference(reference, given) => {
            let types = given.ty.types();
            if types == Types::ALL || types.is_empty() || !given.replaced.is_empty() {
                return None;
            }
            let says_null = || format!("`{}` may be null", short(&reference.text()));
            let null = given.ty.says_null().then(says_null);
            Operand {
                types,
                null: given.absent.or(null),
                words,
                shown: known.as_operand(Some(reference)),
            }
        }
        kind => Operand {
            types: kind.types(),
            null: None,
            words,
            shown: known.as_operand(None),
        },
    })
}
