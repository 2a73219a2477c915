//! Findings about variables, compared with runs of the plan in each dialect.

use crate::checks::random::Random;
use crate::checks::runs::{coin, fits, fitting, schema};
use crate::checks::variables::{DIALECTS, Root, call, document, reference, text};
use plan_runtime::Error;
use plan_runtime::dynamic::{
    Code, Contract, Contracts, Dialect, Finding, Reader, Severity, Toolbox,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const NAMES: [&str; 2] = ["x", "y"];

/// The construct that binds a variable.
#[derive(Clone, Debug)]
enum Binder {
    /// `for x in …`
    Element,
    /// `for (k, x) in …`, or `for (x, k) in …`
    Pair(usize),
    /// `if let Some(x) = …`
    Some,
    /// `if let Ok(x) = …` or its like, of the first step, which catches its failures.
    Side(&'static str),
}

/// A variable, the construct that binds it, and the value that it takes apart: a variable by its index, or the first
/// step, and a path into it.
#[derive(Clone, Debug)]
struct Bound {
    name: &'static str,
    binder: Binder,
    of: Option<usize>,
    path: Vec<&'static str>,
    /// There is a block around the variable which is not around the one before.
    in_block: bool,
}

/// A call in the scope of some variables, whose argument is a part of a variable, or a string with that part in it.
#[derive(Clone, Debug)]
struct Case {
    bound: Vec<Bound>,
    of: usize,
    path: Vec<&'static str>,
    in_text: bool,
    catches: bool,
}

/// Forbids other members in all objects, since their values would be unknown, and all unlisted members are alike.
fn closed(schema: &mut Value) {
    if let Some(items) = schema.get_mut("items") {
        closed(items);
    }
    if schema["properties"].is_object() {
        schema["additionalProperties"] = json!(false);
        let mut a = schema["properties"]["a"].clone();
        closed(&mut a);
        schema["properties"] = json!({"a": a, "b": a});
    }
}

/// A path that mostly leads somewhere, and the schema there.
fn path(random: &mut Random, schema: &Value) -> (Vec<&'static str>, Value) {
    let (mut path, mut at) = (Vec::new(), schema.clone());
    while !coin(random, 3) && path.len() < 3 {
        let part = match at["type"].as_str() {
            Some("object") if !coin(random, 12) => ["a", "b"][random.below(2)],
            Some("array") if !coin(random, 12) => ["0", "1"][random.below(2)],
            _ if coin(random, 3) => ["a", "0", "c"][random.below(3)],
            _ => break,
        };
        path.push(part);
        at = match part {
            "a" | "b" => at["properties"]["a"].clone(),
            _ => at["items"].clone(),
        };
    }
    (path, at)
}

fn case(random: &mut Random, schema: &Value) -> Case {
    let catches = coin(random, 4);
    let mut bound: Vec<Bound> = Vec::new();
    // The schema of each variable.
    let mut known: Vec<Value> = Vec::new();
    for place in 0..1 + random.below(3) {
        let name = NAMES[random.below(2)];
        // A hidden variable is never read.
        let seen: Vec<usize> = seen(&bound);
        let of = (!seen.is_empty() && !coin(random, 5)).then(|| seen[random.below(seen.len())]);
        let of = of.or_else(|| (place > 0).then(|| seen.last().copied()).flatten());
        if of.is_none() && catches {
            let side = ["Ok", "Err"][random.below(2)];
            bound.push(Bound {
                name,
                binder: Binder::Side(side),
                of,
                path: Vec::new(),
                in_block: false,
            });
            known.push(if side == "Ok" {
                schema.clone()
            } else {
                // The members of a failure are not alike.
                json!({"type": "string", "is": "failure"})
            });
            continue;
        }
        let (path, mut at) = self::path(random, of.map_or(schema, |of| &known[of]));
        let binder = match at["type"].as_str() {
            Some("object") => {
                [Binder::Pair(random.below(2)), Binder::Some][random.below(2)].clone()
            }
            Some("array") => {
                [Binder::Element, Binder::Element, Binder::Some][random.below(3)].clone()
            }
            // Some of its values would be right and some wrong, so that a run tells nothing.
            _ if at["is"] == "part of a failure" => Binder::Some,
            _ => {
                [Binder::Some, Binder::Some, Binder::Some, Binder::Element][random.below(4)].clone()
            }
        };
        at = match &binder {
            Binder::Element if at["is"] == "failure" => json!({"is": "part of a failure"}),
            Binder::Element => at["items"].clone(),
            Binder::Pair(0) => json!({"type": "string"}),
            Binder::Pair(_) => at["properties"]["a"].clone(),
            Binder::Some => {
                if at.is_object() {
                    at["nullable"] = json!(false);
                }
                at
            }
            Binder::Side(_) => at,
        };
        let in_block = place > 0 && coin(random, 4);
        bound.push(Bound {
            name,
            binder,
            of,
            path,
            in_block,
        });
        known.push(at);
    }
    let seen = seen(&bound);
    let of = seen[random.below(seen.len())];
    let (path, _) = self::path(random, &known[of]);
    let in_text = coin(random, 3);
    Case {
        bound,
        of,
        path,
        in_text,
        catches,
    }
}

/// The variables that none after them hides.
fn seen(bound: &[Bound]) -> Vec<usize> {
    let hidden = |place: usize| {
        bound[place + 1..]
            .iter()
            .any(|it| it.name == bound[place].name)
    };
    (0..bound.len()).filter(|place| !hidden(*place)).collect()
}

impl Case {
    /// A reference that is written where this number of variables are bound.
    fn reference(&self, dialect: Dialect, of: Option<usize>, path: &[&str], here: usize) -> Value {
        let Some(of) = of else {
            return reference(dialect, Root::First, path);
        };
        let block = (0..here)
            .rposition(|place| self.bound[place].in_block)
            .unwrap_or(0);
        let name = self.bound[of].name;
        let root = if of < block {
            Root::Around(name)
        } else {
            Root::Variable(name, of - block)
        };
        // By its number, it is the whole pair.
        match (&self.bound[of].binder, root) {
            (Binder::Pair(at), Root::Variable(..)) if dialect == Dialect::PlanJson => {
                let path: Vec<&str> = [["0", "1"][*at]]
                    .into_iter()
                    .chain(path.iter().copied())
                    .collect();
                reference(dialect, root, &path)
            }
            _ => reference(dialect, root, path),
        }
    }

    /// Returns `true` if a pattern may check a value that is read elsewhere. Like rustc, the check does not remember
    /// that.
    fn asks_first(&self) -> bool {
        let reads = self.bound.iter().map(|it| (it.of, &it.path));
        let reads: Vec<_> = reads.chain([(Some(self.of), &self.path)]).collect();
        let mut asked = self.bound.iter().enumerate();
        asked.any(|(place, it)| {
            let mut others = reads
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != place);
            matches!(it.binder, Binder::Some) && others.any(|(_, read)| read.0 == it.of)
        })
    }

    fn document(&self, dialect: Dialect) -> Option<String> {
        let argument = self.reference(dialect, Some(self.of), &self.path, self.bound.len());
        let argument = if self.in_text {
            text(dialect, &argument)?
        } else {
            argument
        };
        let mut body = call(dialect, "take", json!({"x": argument}));
        for (place, bound) in self.bound.iter().enumerate().rev() {
            let Bound { name, binder, .. } = bound;
            let here = if bound.in_block { place + 1 } else { place };
            let mut value = self.reference(dialect, bound.of, &bound.path, place);
            if bound.in_block {
                // The block reads the operand of the construct.
                value = self.reference(dialect, bound.of, &bound.path, here);
            }
            body = match binder {
                Binder::Element => json!({"for": {"pattern": name, "list": value, "body": body}}),
                Binder::Pair(at) => {
                    let pattern = [format!("({name}, k)"), format!("(k, {name})")][*at].clone();
                    json!({"for": {"pattern": pattern, "list": value, "body": body}})
                }
                Binder::Some => {
                    json!({"if": [{"pattern": format!("Some({name})"), "value": value, "then": body}]})
                }
                Binder::Side(side) => {
                    json!({"if": [{"pattern": format!("{side}({name})"), "value": value, "then": body}]})
                }
            };
            if bound.in_block {
                body = json!({"block": {"steps": [], "tail": body}});
            }
        }
        let mut first = call(dialect, "make", json!({}));
        if self.catches {
            first["policy"] = json!({"catch": true});
        }
        Some(document(dialect, first, body))
    }
}

fn found(text: &str, tools: &Contracts) -> Vec<Finding> {
    match Reader::new().tools(tools).read(text) {
        Ok(document) => document.warnings().to_vec(),
        Err(findings) => findings.to_vec(),
    }
}

/// Runs a plan whose first step returns this output, or fails. Returns `true` if a call succeeds, and `true` if the run fails or writes null into a
/// string.
fn run(text: &str, output: Option<Value>, takes: &Value) -> (bool, bool) {
    let calls = Arc::new(Mutex::new((false, false)));
    let (takes, seen) = (takes.clone(), Arc::clone(&calls));
    let toolbox = Toolbox::<()>::new()
        .with_fn(Contract::new("make"), move |_| {
            let output = output.clone();
            async move { output.ok_or_else(|| Error::permanent("no")) }
        })
        .with_fn(Contract::new("take"), move |given: Value| {
            let x = &given["x"];
            let is_null = x.as_str().is_some_and(|text| text == "Hello null");
            let is_right = fits(x, &takes) && !is_null;
            let mut seen = seen.lock().unwrap();
            seen.0 |= is_right;
            seen.1 |= is_null;
            async move {
                if is_right || is_null {
                    Ok(Value::Null)
                } else {
                    Err(Error::permanent("no"))
                }
            }
        });
    let document = Reader::new().read(text).unwrap();
    let failed = smol::block_on(toolbox.run(document.plan(), (), &())).is_err();
    let (succeeded, null) = *calls.lock().unwrap();
    (succeeded, failed || null)
}

const RUNS: usize = 24;
const MORE_RUNS: usize = 2_000;

/// Counts of cases: without an error, with an absent value whose absence the plan allows, with an absent value, and
/// with another error.
static KINDS: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];

#[test]
fn what_is_found_of_variables_is_what_fails() {
    let counts = || {
        let [right, asked, absent, wrong] = KINDS.each_ref().map(|it| it.load(Ordering::Relaxed));
        [right, asked + absent, wrong]
    };
    // An absent value is rare.
    for _ in 0..20 {
        each_finding_of_variables_is_what_fails();
        if !counts().contains(&0) {
            return;
        }
    }
    panic!("{:?}", counts());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::common::cases(20, 80), ..ProptestConfig::default() })]

    /// If a finding is about a variable, no call succeeds, or a run fails for a possibly absent variable. Without findings, no run
    /// fails.
    fn each_finding_of_variables_is_what_fails(seed in any::<u64>()) {
        let mut random = Random(seed);
        let mut made = schema(&mut random, 3);
        closed(&mut made);
        let case = case(&mut random, &made);
        let kinds = ["integer", "string", "array", "object"];
        let mut kinds: Vec<_> = kinds.into_iter().filter(|_| coin(&mut random, 2)).collect();
        if case.in_text || kinds.is_empty() {
            kinds = vec!["string"];
        }
        let takes = json!({ "type": kinds });
        let tools = Contracts::from_iter([
            Contract::new("make").output(made.clone()),
            Contract::new("take").arguments(json!({"type": "object", "properties": {"x": takes}, "required": ["x"]})),
        ]);
        let mut codes: Option<Vec<Code>> = None;
        for dialect in DIALECTS {
            let Some(text) = case.document(dialect) else { continue };
            let findings = found(&text, &tools);
            let all = format!("{dialect:?}\n{made}\n{takes}\n{text}\n{findings:#?}");
            let mut errors: Vec<Code> = findings.iter().filter(|it| it.severity == Severity::Error).map(|it| it.code).collect();
            errors.sort_unstable_by_key(|code| code.to_string());
            // All dialects have equal errors.
            let others = codes.get_or_insert_with(|| errors.clone());
            prop_assert_eq!(&*others, &errors, "{}", all);

            let may_be_absent = errors.iter().all(|code| *code == Code::MaybeAbsent);
            let (mut succeeded, mut failed) = (false, false);
            let mut runs = |count: usize, random: &mut Random, until: &dyn Fn(bool, bool) -> bool| {
                for _ in 0..count {
                    if until(succeeded, failed) {
                        break;
                    }
                    let fails = case.catches && coin(random, 2);
                    let output = (!fails).then(|| fitting(random, &made));
                    let (succeeds, fails) = run(&text, output, &takes);
                    (succeeded, failed) = (succeeded || succeeds, failed || fails);
                }
                (succeeded, failed)
            };
            let kind = match () {
                () if errors.is_empty() => 0,
                () if may_be_absent && case.asks_first() => 1,
                () if may_be_absent => 2,
                () => 3,
            };
            KINDS[kind].fetch_add(1, Ordering::Relaxed);
            if errors.is_empty() {
                let (_, failed) = runs(RUNS, &mut random, &|_, failed| failed);
                prop_assert!(!failed, "a run fails\n{all}");
            } else if may_be_absent && case.asks_first() {
                continue;
            } else if may_be_absent {
                let (_, failed) = runs(MORE_RUNS, &mut random, &|_, failed| failed);
                prop_assert!(failed, "no run fails\n{all}");
            } else {
                let (succeeded, _) = runs(RUNS, &mut random, &|succeeded, _| succeeded);
                prop_assert!(!succeeded, "a call succeeds\n{all}");
            }
        }
    }
}
