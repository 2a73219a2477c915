//! Compares recordings of the real resolvers of the dialects with this library.
//!
//! Each case runs in both profiles. Its outcome equals the recorded one, or is in a table with the reason for the difference. The
//! recordings are in the folder `PLAN_CORPORA`, or in `../shared/corpora` beside the workspace. Without them, each of these tests
//! prints that it is skipped.

mod action_plans;
mod blueprints;
mod calls;
mod graphs;
mod pointers;
mod tool_plans;

use crate::common::skips;
use plan_runtime::dynamic::{Dialect, Profile, Reader};
use plan_runtime::resolve::{Scope, StoredValue, resolve};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;

/// Returns the content of a file of the corpora.
fn corpus(file: &str) -> Option<String> {
    let folder = skips::unless("conformance", skips::corpora())?;
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path);
    Some(text.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

fn json(file: &str) -> Option<Value> {
    corpus(file).map(|text| serde_json::from_str(&text).expect("the corpus is JSON"))
}

/// Prints a line even if the test passes.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the output of a tool that returns a string: the value of JSON, or the string.
pub(crate) fn json_or_text(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

const PROFILES: [Profile; 2] = [Profile::Strict, Profile::Compat];

/// The outcome of a case.
#[derive(Clone, Debug)]
enum Outcome {
    Value(Value),
    Error(String),
}

impl PartialEq for Outcome {
    /// Implementations word errors differently.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Value(one), Self::Value(other)) => same(one, other),
            (Self::Error(_), Self::Error(_)) => true,
            _ => false,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "{value}"),
            Self::Error(error) => {
                write!(f, "error: {}", error.trim_end().replace('\n', "\n        "))
            }
        }
    }
}

/// Returns the recorded outcome of one of several implementations.
fn recorded(case: &Value, by: &str) -> Outcome {
    let recorded = &case[by];
    match recorded.get("error") {
        Some(error) => Outcome::Error(text(error).to_owned()),
        None => Outcome::Value(recorded["value"].clone()),
    }
}

/// Returns `true` for equal values, where `5` and `5.0` are equal.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, value)| other.get(key).is_some_and(|other| same(value, other)))
        }
        _ => one == other,
    }
}

/// Reads a document, and resolves the arguments of its last step from outputs under the ids of the others.
fn arguments(
    dialect: Dialect,
    profile: Profile,
    document: &str,
    outputs: &BTreeMap<String, Value>,
) -> Outcome {
    let reader = Reader::new().dialect(dialect).profile(profile);
    let plan = match reader.read(document) {
        Ok(document) => document.into_plan(),
        Err(findings) => return Outcome::Error(findings.to_string()),
    };
    let held: Vec<Option<StoredValue>> = plan
        .steps
        .iter()
        .map(|step| {
            outputs
                .get(step.id.as_str())
                .cloned()
                .map(StoredValue::json)
        })
        .collect();
    // An input that is not given is null, which only the lenient profile has references for.
    let inputs: Vec<StoredValue> = plan
        .inputs
        .iter()
        .map(|_| StoredValue::json(Value::Null))
        .collect();
    let last = plan
        .steps
        .last()
        .and_then(|step| step.action())
        .expect("a step calls a tool");
    match resolve::<Value>(&last.args, &Scope::new(&plan, &inputs, &held)) {
        Ok(value) => Outcome::Value(value),
        Err(error) => Outcome::Error(error.to_string()),
    }
}

/// The reasons for differences from the recorded outcomes, by the names of the cases. A reason without a profile is for
/// both.
type Reasons = &'static [(&'static str, Option<Profile>, &'static str)];

/// Counts outcomes, and fails where one differs without a reason, or a reason has no case.
struct Tally {
    what: &'static str,
    reasons: Reasons,
    used: Vec<bool>,
    equal: usize,
    different: usize,
    unexplained: Vec<String>,
    /// The number of outcomes that equal those of each implementation.
    alike: BTreeMap<&'static str, usize>,
}

impl Tally {
    fn new(what: &'static str, reasons: Reasons) -> Self {
        Self {
            what,
            reasons,
            used: vec![false; reasons.len()],
            equal: 0,
            different: 0,
            unexplained: Vec::new(),
            alike: BTreeMap::new(),
        }
    }

    fn add(
        &mut self,
        case: &str,
        profile: Profile,
        equal: bool,
        recorded: &dyn fmt::Display,
        ours: &dyn fmt::Display,
    ) {
        let reason = self
            .reasons
            .iter()
            .position(|(name, only, _)| *name == case && only.is_none_or(|only| only == profile));
        match (equal, reason) {
            (true, _) => self.equal += 1,
            (false, Some(reason)) => {
                self.used[reason] = true;
                self.different += 1;
            }
            (false, None) => self.unexplained.push(format!(
                "{case} ({profile:?})\n    recorded {recorded}\n    ours     {ours}"
            )),
        }
    }

    /// Adds a case that several implementations ran. The first two are the deployed ones.
    fn add_of_three(
        &mut self,
        case: &Value,
        by: [&'static str; 3],
        profile: Profile,
        ours: &Outcome,
    ) {
        let equal = by.map(|by| recorded(case, by) == *ours);
        for (by, equal) in by.iter().zip(equal) {
            *self.alike.entry(by).or_default() += usize::from(equal);
        }
        let all = by.map(|by| format!("{by}: {}", recorded(case, by)));
        let all = all.join("\n             ");
        self.add(
            text(&case["name"]),
            profile,
            equal[0] || equal[1],
            &all,
            ours,
        );
    }

    fn finish(self) {
        let Self {
            what,
            equal,
            different,
            ..
        } = self;
        for (by, count) in &self.alike {
            say(&format!("    as {by}: {count}"));
        }
        let failing = self.unexplained.len();
        say(&format!(
            "{what}: {equal} equal, {different} different on purpose, {failing} failing"
        ));
        assert!(
            self.unexplained.is_empty(),
            "{what}:\n{}",
            self.unexplained.join("\n")
        );
        let idle: Vec<&str> = self
            .reasons
            .iter()
            .zip(&self.used)
            .filter(|(_, used)| !**used)
            .map(|((name, ..), _)| *name)
            .collect();
        assert!(
            idle.is_empty(),
            "{what}: these reasons are for nothing: {}",
            idle.join(", ")
        );
    }
}
