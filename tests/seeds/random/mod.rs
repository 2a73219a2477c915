//! Random plans, resolved by the reference implementation of each document and by a run of the project.
//!
//! A string of the arguments resolves to equal values, or a list names the difference. Each difference of the list occurs, and
//! the run then returns exactly the value that the project promises.

mod dialects;
mod draw;

use super::desk::{Answer, Desk, ids, levels};
use super::reference::placeholder_resolver;
use dialects::Seed;
use draw::{Draw, Node, Part, Step, Token, Words};
use plan_runtime::Plan;
use plan_runtime::dynamic::{Code, Dialect, Profile, Reader};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

const CASES: u64 = 400;

/// The end of a reference's path.
#[derive(Clone, Copy)]
enum Found<'v> {
    Value(&'v Value),
    /// An object lacks the key, a list is shorter, or the path leads through null.
    Missing,
    /// A string, a number, or a list has no such key.
    NoKeys,
    /// The step has no output.
    Failed,
}

fn follow<'v>(output: Option<&'v Value>, path: &[Token]) -> Found<'v> {
    let Some(mut at) = output else {
        return Found::Failed;
    };
    for token in path {
        let next = match (at, token) {
            (Value::Object(members), Token::Key(key)) => members.get(*key),
            (Value::Array(items), Token::Index(index)) => items.get(*index),
            (Value::Null, _) => None,
            _ => return Found::NoKeys,
        };
        match next {
            Some(next) => at = next,
            None => return Found::Missing,
        }
    }
    Found::Value(at)
}

/// A string with the ends of its references.
struct Case<'a> {
    profile: Profile,
    words: &'a Words,
    found: Vec<Found<'a>>,
}

impl<'a> Case<'a> {
    fn new(profile: Profile, words: &'a Words, outputs: &'a [Option<Value>]) -> Self {
        let parts: &[Part] = match words {
            Words::Parts(parts) => parts,
            Words::Near(_) => &[],
        };
        let read = |part: &'a Part| match part {
            Part::Read { step, path } => Some(follow(outputs[*step].as_ref(), path)),
            Part::Text(_) | Part::Input(_) => None,
        };
        Self {
            profile,
            words,
            found: parts.iter().filter_map(read).collect(),
        }
    }

    fn values(&self) -> impl Iterator<Item = &'a Value> {
        self.found.iter().filter_map(|found| match found {
            Found::Value(value) => Some(*value),
            _ => None,
        })
    }

    fn is_whole(&self) -> bool {
        matches!(self.words, Words::Parts(parts) if matches!(parts[..], [Part::Read { .. }]))
    }

    fn is_missing(&self) -> bool {
        self.found.iter().any(|it| matches!(it, Found::Missing))
    }

    fn has_no_keys(&self) -> bool {
        self.found.iter().any(|it| matches!(it, Found::NoKeys))
    }

    /// Two indices in a row.
    fn has_list_in_list(&self) -> bool {
        let Words::Parts(parts) = self.words else {
            return false;
        };
        parts.iter().any(|part| match part {
            Part::Read { path, .. } => path
                .windows(2)
                .any(|pair| matches!(pair, [Token::Index(_), Token::Index(_)])),
            Part::Text(_) | Part::Input(_) => false,
        })
    }

    /// The value that the project promises.
    fn promised(&self, seed: &dyn Seed, ids: &[String]) -> Option<Value> {
        let parts = match self.words {
            Words::Near(text) => return Some(text.as_str().into()),
            Words::Parts(parts) => parts,
        };
        let mut found = self.found.iter();
        let mut text = String::new();
        for part in parts {
            let value = match part {
                Part::Text(plain) => plain.as_str().into(),
                Part::Input(_) => seed.written(part, ids).into(),
                Part::Read { .. } => match found.next()? {
                    Found::Value(value) => (*value).clone(),
                    Found::Missing => seed.missing(self.profile, part, ids)?,
                    Found::NoKeys | Found::Failed => return None,
                },
            };
            if self.is_whole() {
                return Some(value);
            }
            match value {
                Value::String(value) => text += &value,
                value => text += &value.to_string(),
            }
        }
        Some(text.into())
    }
}

impl Node {
    fn each_string<'n>(&'n self, f: &mut impl FnMut(&'n Words)) {
        match self {
            Self::String(words) => f(words),
            Self::Plain(_) => {}
            Self::List(items) => items.iter().for_each(|item| item.each_string(f)),
            Self::Object(members) => members.iter().for_each(|(_, value)| value.each_string(f)),
        }
    }

    /// Returns the value with each string replaced, or `None` if a string has no value.
    fn with(&self, f: &mut impl FnMut(&Words) -> Option<Value>) -> Option<Value> {
        match self {
            Self::String(words) => f(words),
            Self::Plain(value) => Some(value.clone()),
            Self::List(items) => items.iter().map(|item| item.with(f)).collect(),
            Self::Object(members) => {
                let members = members.iter();
                let members =
                    members.map(|(name, value)| Some(((*name).to_owned(), value.with(f)?)));
                members.collect::<Option<Map<_, _>>>().map(Value::Object)
            }
        }
    }

    fn has_near(&self) -> bool {
        let mut found = false;
        self.each_string(&mut |words| found |= matches!(words, Words::Near(_)));
        found
    }
}

/// Counts of compared strings, steps and plans.
#[derive(Default)]
struct Tally {
    equal: usize,
    /// Strings that have no value, in the document and here.
    errors: usize,
    different: BTreeMap<&'static str, usize>,
    /// Documents that the strict profile does not read.
    refused: usize,
    /// Steps whose tool was called, and steps that were not called.
    called: usize,
    uncalled: usize,
    dependencies: usize,
    levels: usize,
}

impl Tally {
    /// Compares one string with the document's resolver.
    fn compare(
        &mut self,
        seed: &dyn Seed,
        case: &Case<'_>,
        by_document: Option<Value>,
        promised: &Option<Value>,
    ) {
        if by_document == *promised {
            self.equal += usize::from(promised.is_some());
            self.errors += usize::from(promised.is_none());
            return;
        }
        let reasons = seed.differences().iter();
        let reason = reasons.clone().find(|(_, applies)| applies(case));
        let (reason, _) = reason.unwrap_or_else(|| {
            let words = case.words;
            panic!(
                "{:?}: {words:?}\n{by_document:?}\n{promised:?}",
                case.profile
            )
        });
        *self.different.entry(reason).or_default() += 1;
    }

    fn plan(&mut self, seed: &dyn Seed, profile: Profile, steps: &[Step]) {
        let ids: Vec<String> = steps.iter().map(|step| step.id.clone()).collect();
        let written: Vec<Value> = steps
            .iter()
            .map(|step| {
                step.arguments
                    .with(&mut |words| Some(seed.string(words, &ids).into()))
            })
            .map(|arguments| arguments.expect("each string is written"))
            .collect();
        let document = seed.document(&ids, &written).to_string();
        let reader = Reader::new().dialect(seed.dialect()).profile(profile);
        let read = reader.read(&document);
        if profile == Profile::Strict && steps.iter().any(|step| step.arguments.has_near()) {
            let findings = read.err().unwrap_or_else(|| panic!("{document}"));
            let is_near = |code: Code| code == Code::MalformedReference;
            assert!(findings.errors().all(|it| is_near(it.code)), "{findings}");
            self.refused += 1;
            return;
        }
        let plan = read.unwrap_or_else(|findings| panic!("{findings}\n{document}"));
        let plan = plan.into_plan();

        let mut outputs: Vec<Option<Value>> = Vec::new();
        let mut calls: BTreeMap<String, Value> = BTreeMap::new();
        for (place, step) in steps.iter().enumerate() {
            let promised = step
                .arguments
                .with(&mut |words| Case::new(profile, words, &outputs).promised(seed, &ids));
            step.arguments.each_string(&mut |words| {
                let case = Case::new(profile, words, &outputs);
                let by_document = seed.resolve(&seed.string(words, &ids), steps, &outputs);
                self.compare(seed, &case, by_document, &case.promised(seed, &ids));
            });
            let output = step.output.as_ref().filter(|_| promised.is_some());
            outputs.push(output.map(|(_, value)| value.clone()));
            self.called += usize::from(promised.is_some());
            self.uncalled += usize::from(promised.is_none());
            calls.extend(promised.map(|arguments| (format!("t{place}"), arguments)));
        }
        let answers: Vec<(String, Answer)> = steps
            .iter()
            .enumerate()
            .map(|(place, step)| {
                let answer = step.output.as_ref().map(|(_, value)| value.clone());
                (format!("t{place}"), answer.ok_or("the tool fails"))
            })
            .collect();
        let desk = Desk::new(answers.iter().map(|(tool, it)| (tool.as_str(), it.clone())));
        let inputs = plan.inputs.iter().map(|input| {
            let name = input.name.clone();
            let value = format!("{{{{PLACEHOLDER_{name}}}}}");
            (name, value.into())
        });
        let ran = desk.run(&plan, Value::Object(inputs.collect()));
        let made: BTreeMap<String, Value> = ran.calls.into_iter().collect();
        assert_eq!(made, calls, "{profile:?}\n{document}");
        self.graph(seed, &plan, &ids, &written);
    }

    /// Compares the dependencies, the levels and the inputs.
    fn graph(&mut self, seed: &dyn Seed, plan: &Plan, of_steps: &[String], written: &[Value]) {
        let mut has_hyphen = false;
        for (id, arguments) in of_steps.iter().zip(written) {
            let Some(by_document) = seed.dependencies(arguments) else {
                return;
            };
            let all: BTreeSet<String> = ids(plan.dependencies(id))
                .into_iter()
                .map(Into::into)
                .collect();
            // The document's pattern for dependencies does not match ids with a hyphen, though its resolver takes them.
            let (found, lost): (BTreeSet<_>, BTreeSet<_>) =
                all.into_iter().partition(|id| !id.contains('-'));
            has_hyphen |= !lost.is_empty();
            assert_eq!(by_document, found, "{arguments}");
            self.dependencies += found.len();
        }
        if has_hyphen {
            *self.different.entry(HYPHEN).or_default() += 1;
            return;
        }
        if seed.dialect() == Dialect::ActionPlan {
            let list: Vec<Value> = of_steps
                .iter()
                .zip(written)
                .map(|(id, arguments)| json!({"id": id, "arguments": arguments}))
                .collect();
            let by_document = placeholder_resolver::get_execution_levels(&list);
            assert_eq!(by_document.map(|levels| json!(levels)), Ok(levels(plan)));
            let names = plan.inputs.iter().map(|input| input.name.clone());
            let by_document = placeholder_resolver::find_user_placeholders(&list.into());
            assert_eq!(names.collect::<Vec<_>>(), by_document);
            self.levels += 1;
        }
    }
}

const HYPHEN: &str = "the document's dependencies miss ids with a hyphen";

fn compared(seed: &dyn Seed) -> Tally {
    let mut tally = Tally::default();
    for number in 0..CASES {
        let steps = draw::steps(&mut Draw(number), &seed.forms());
        for profile in [Profile::Strict, Profile::Compat] {
            tally.plan(seed, profile, &steps);
        }
    }
    let counts = &tally.different;
    for (reason, _) in seed.differences() {
        let count = counts.get(reason).copied().unwrap_or_default();
        assert!(count >= 20, "{count} times: {reason}");
    }
    eprintln!(
        "{}: {} strings are equal, {} errors, {counts:?}, {} documents refused, {} steps called, {} not, {} dependencies, {} levels",
        seed.dialect(),
        tally.equal,
        tally.errors,
        tally.refused,
        tally.called,
        tally.uncalled,
        tally.dependencies,
        tally.levels,
    );
    assert!(
        tally.equal > 1_000 && tally.errors > 50,
        "{} {}",
        tally.equal,
        tally.errors
    );
    assert!(tally.called > 500 && tally.uncalled > 100);
    assert!(tally.refused > 20);
    tally
}

#[test]
fn tool_plans_resolve_as_plan_reference_resolver() {
    let tally = compared(&dialects::PlanReferenceResolver);
    assert!(tally.dependencies > 500);
}

#[test]
fn blueprints_resolve_as_step_reference_resolver() {
    compared(&dialects::StepReferenceResolver);
}

#[test]
fn action_plans_resolve_as_placeholder_resolver() {
    let tally = compared(&dialects::PlaceholderResolver);
    assert!(tally.dependencies > 500 && tally.levels > 200);
    assert!(tally.different[HYPHEN] > 50);
}
