//! A member that nothing reads, beside those that are read, in each object of a document in each dialect.

use plan_runtime::dynamic::{Code, Dialect, Finding, Profile, Reader, Severity};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Words that people write for a member of another name, or that other languages have.
const WORDS: [&str; 24] = [
    "undoes",
    "allways",
    "aftr",
    "polcy",
    "dependOn",
    "retryCont",
    "tiemout",
    "else",
    "elif",
    "otherwise",
    "finally",
    "reasoning",
    "comment",
    "note",
    "priority",
    "if_not",
    "onSuccess",
    "retries",
    "max_attempts",
    "depends_on",
    "$schema",
    "Tool",
    "",
    "x",
];

/// A plan that has an object of each kind, as a tool plan.
fn story() -> Value {
    let call = json!({"tool": "t", "arguments": {"x": {"y": [1]}}});
    let block =
        json!({"steps": [{"id": "i", "tool": "t", "arguments": {"x": "$ref:x"}}], "tail": call});
    json!({
        "name": "p",
        "description": "All.",
        "steps": [
            {
                "id": "a", "intent": "Read.", "tool": "t", "arguments": {}, "tool_description": "Reads.",
                "policy": {"attempts": 3, "backoff": "1s", "max": "2s", "jitter": false, "timeout": "1s", "deadline": "9s"}
            },
            {"id": "u", "tool": "t", "arguments": {"x": "$ref:a"}, "undo": "a"},
            {"id": "z", "tool": "t", "arguments": {}, "always": true},
            {
                "id": "b",
                "if": [
                    {"condition": {"all": [{"not": "$ref:a.x"}, {"compare": ["$ref:a.n", "<", 3]}]}, "then": call},
                    {"pattern": "Some(x)", "value": "$ref:a.y", "then": call},
                    {"all": [{"any": ["$ref:a.x", {"is_empty": "$ref:a.l"}]}, {"pattern": "Some(x)", "value": "$ref:a.y"}], "then": {"value": "$ref:x"}},
                    {"then": {"if": [{"condition": {"is_some": "$ref:a.y"}, "then": call}]}}
                ]
            },
            {
                "id": "c",
                "for": {"pattern": "x", "list": "$ref:a.l", "body": {"for": {"pattern": "y", "list": "$ref:x.l", "body": {"block": block}}}},
                "policy": {"concurrency": 2, "optional": "each"}
            },
            {
                "id": "d",
                "loop": {"last": "x", "steps": [{"id": "i", "tool": "t", "arguments": {"x": "$ref:x"}}], "value": "$ref:i", "while": {"is_some": "$ref:i.next"}},
                "policy": {"at_most": 3, "every": "1s", "collect": true}
            },
            {"id": "e", "await": "String", "policy": {"fallback": "none", "deadline": "1m"}, "after": ["b"]},
            {"id": "f", "value": {"k": "$ref:c"}, "policy": {"catch": true}}
        ]
    })
}

/// A document with the objects that only plan JSON has.
fn of_plan_json() -> Value {
    let path = json!(["x", {"token": "0", "absent": {"default": {"free": 1}}, "optional": true}, {"token": "y", "absent": "end"}]);
    json!({
        "name": "q",
        "description": "All.",
        "inputs": [{"name": "n", "type": "T", "description": "A value.", "secrets": ["/s"]}],
        "steps": [
            {
                "id": "a",
                "tool": {"name": "t", "description": "Reads.", "secret_arguments": ["/s"], "secret_output": [""]},
                "arguments": {"merge": [
                    {"object": {
                        "x": {"reference": {"input": "n", "path": path, "else": {"free": 1}}},
                        "y": {"text": ["a", {"value": {"reference": {"input": "n", "pointer": ""}}, "spec": ">8"}]}
                    }},
                    {"object": {"z": {"reference": {"input": "n", "path": [{"each": "element"}], "optional": true}}}}
                ]}
            },
            {
                "id": "b",
                "for": {
                    "pattern": "x",
                    "list": {"computed": {"written": "n.l", "reads": [{"input": "n"}]}},
                    "body": {"tool": {"name": "t"}, "arguments": {"reference": {"local": 0, "pointer": ""}}}
                }
            }
        ],
        "output": {"type": "u8", "value": {"reference": {"step": "a", "pointer": "/x"}}}
    })
}

/// Documents without a finding.
fn documents() -> Vec<(Dialect, Value)> {
    let text = story().to_string();
    let story_plan = Reader::new().read(&text);
    let story_plan = story_plan.unwrap_or_else(|found| panic!("{found}"));
    let plan_json = serde_json::to_value(story_plan.plan()).unwrap();
    let recorded = |text: &str| serde_json::from_str(text).unwrap();
    let documents = vec![
        (Dialect::PlanJson, plan_json),
        (Dialect::ToolPlan, story()),
        (
            Dialect::Blueprint,
            recorded(include_str!("unknown/blueprint.json")),
        ),
        (
            Dialect::ActionPlan,
            recorded(include_str!("unknown/action_plan.json")),
        ),
        (Dialect::PlanJson, of_plan_json()),
    ];
    for (dialect, document) in &documents {
        let text = document.to_string();
        let read = Reader::new().dialect(*dialect).read(&text);
        let read = read.unwrap_or_else(|found| panic!("{found} in {document:#}"));
        assert!(read.warnings().is_empty(), "{}", read.warnings());
    }
    documents
}

/// The objects of a document that have members of a language, and not those of an author.
fn objects(dialect: Dialect, node: &Value, at: &str, found: &mut Vec<String>) {
    let data: &[&str] = match dialect {
        Dialect::PlanJson => &["else", "default", "secrets"],
        // Templates of these dialects have the author's members.
        _ => &[
            "arguments",
            "params",
            "value",
            "fallback",
            "inputs",
            "output",
        ],
    };
    match node {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                objects(dialect, item, &format!("{at}/{index}"), found);
            }
        }
        Value::Object(members) => {
            found.push(at.to_owned());
            for (name, member) in members {
                let below = format!("{at}/{name}");
                match member {
                    Value::Object(members)
                        if dialect == Dialect::PlanJson
                            && matches!(name.as_str(), "object" | "inputs") =>
                    {
                        for (name, value) in members {
                            objects(dialect, value, &format!("{below}/{name}"), found);
                        }
                    }
                    _ if data.contains(&name.as_str()) => {}
                    _ => objects(dialect, member, &below, found),
                }
            }
        }
        _ => {}
    }
}

fn object<'a>(document: &'a mut Value, at: &str) -> &'a mut Map<String, Value> {
    let node = document.pointer_mut(at).unwrap();
    node.as_object_mut().unwrap()
}

/// Names that differ from this one by one edit, at a letter of this number or at the end.
fn misspelled(name: &str, letter: usize) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let index = letter % letters.len();
    let edited = |edit: &dyn Fn(&mut Vec<char>)| {
        let mut letters = letters.clone();
        edit(&mut letters);
        letters.into_iter().collect::<String>()
    };
    let all = [
        format!("{name}s"),
        edited(&|it| {
            it.remove(index);
        }),
        edited(&|it| it.insert(index, letters[index])),
        edited(&|it| it[index] = 'q'),
        edited(&|it| it.swap(index, (index + 1) % letters.len())),
    ];
    all.into_iter().filter(|it| it != name).collect()
}

/// Returns the findings about a member, and all other findings.
fn found(
    dialect: Dialect,
    profile: Profile,
    document: &Value,
    name: &str,
) -> (Vec<Finding>, Vec<Finding>) {
    let text = document.to_string();
    let reader = Reader::new().dialect(dialect).profile(profile);
    let findings = match reader.read(&text) {
        Ok(document) => document.warnings().clone(),
        Err(findings) => findings,
    };
    let key = json!(name).to_string();
    findings
        .iter()
        .cloned()
        .partition(|it| it.code == Code::UnknownMember && text[it.label.span.clone()] == key)
}

/// Puts a member beside those of an object, and expects one error, at this member.
fn refused(dialect: Dialect, document: &Value, at: &str, name: &str, value: Value) {
    let mut document = document.clone();
    object(&mut document, at).insert(name.to_owned(), value);
    let (unknown, others) = found(dialect, Profile::Strict, &document, name);
    let severities: Vec<_> = unknown.iter().map(|it| it.severity).collect();
    assert_eq!(
        severities,
        [Severity::Error],
        "`{name}` at {at} in {dialect:?}: {others:?}"
    );
    assert!(
        others.is_empty(),
        "`{name}` at {at} in {dialect:?}: {others:?}"
    );
}

/// Expects a finding in the compat profile, which may ignore the member, but never silently.
fn reported(dialect: Dialect, document: &Value, at: &str, name: &str, value: Value) {
    let mut document = document.clone();
    object(&mut document, at).insert(name.to_owned(), value);
    let (unknown, _) = found(dialect, Profile::Compat, &document, name);
    assert_eq!(unknown.len(), 1, "`{name}` at {at} in {dialect:?}");
}

/// Returns `true` if an object with these members may have this member.
fn is_known(members: &Map<String, Value>, name: &str) -> bool {
    let is_reference = members.contains_key("pointer") || members.contains_key("path");
    members.contains_key(name) || (is_reference && name == "else")
}

#[test]
fn a_misspelled_member_is_an_error() {
    let values = [json!(null), json!(false), json!("a"), json!([])];
    let mut count = 0;
    for (dialect, document) in documents() {
        let mut all = Vec::new();
        objects(dialect, &document, "", &mut all);
        let mut seen = BTreeSet::new();
        for at in all {
            let members = document.pointer(&at).unwrap().as_object().unwrap();
            if !seen.insert(members.keys().collect::<Vec<_>>()) {
                continue;
            }
            let letter = count;
            let misspelled = members.iter().flat_map(|(name, value)| {
                let all = misspelled(name, letter).into_iter();
                all.map(move |wrong| (wrong, value))
            });
            let words = WORDS.into_iter().zip(values.iter().cycle());
            let words = words.skip(letter % 3).step_by(3);
            let words = words.map(|(word, value)| (word.to_owned(), value));
            for (name, value) in misspelled.chain(words) {
                if !is_known(members, &name) {
                    count += 1;
                    if count % 8 == 0 {
                        reported(dialect, &document, &at, &name, value.clone());
                    }
                    refused(dialect, &document, &at, &name, value.clone());
                }
            }
        }
    }
    assert!(count > 1_000, "{count}");
}

/// A member is read under its own name, so that nothing else is missing.
#[test]
fn a_name_without_a_letter_has_one_finding() {
    let (mut count, mut wrong) = (0, String::new());
    for (dialect, document) in documents() {
        let mut all = Vec::new();
        objects(dialect, &document, "", &mut all);
        let mut seen = BTreeSet::new();
        for at in all {
            let members = document.pointer(&at).unwrap().as_object().unwrap();
            if !seen.insert(members.keys().collect::<Vec<_>>()) {
                continue;
            }
            for (name, letter) in members
                .keys()
                .flat_map(|it| (0..it.len()).map(move |at| (it, at)))
            {
                let mut short = name.clone();
                short.remove(letter);
                // A name of one letter is similar to no name.
                if short.len() < 2 || members.contains_key(&short) {
                    continue;
                }
                count += 1;
                let mut document = document.clone();
                let members = object(&mut document, &at);
                let value = members.remove(name).unwrap();
                members.insert(short.clone(), value);
                let (unknown, others) = found(dialect, Profile::Strict, &document, &short);
                let help: Vec<_> = unknown.iter().filter_map(|it| it.help.as_deref()).collect();
                if help != [format!("did you mean `{name}`?")] || !others.is_empty() {
                    wrong += &format!("`{short}` at {at} in {dialect:?}: {help:?} {others:?}\n");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count > 500, "{count}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_word_that_no_dialect_knows_is_an_error(word in "[a-zA-Z_ ]{8,20}|[^a-z]{1,8}", object in any::<prop::sample::Index>(), document in 0..5_usize) {
        let (dialect, document) = &documents()[document];
        let mut all = Vec::new();
        objects(*dialect, document, "", &mut all);
        let at = &all[object.index(all.len())];
        refused(*dialect, document, at, &word, json!([1]));
    }
}
