//! Steps inside a step.

use super::{reader, said};
use plan_runtime::Plan;
use plan_runtime::dynamic::DocumentLimits;
use plan_runtime::plan::{Body, Executable};

/// A plan with a step before a block, in which these are the members.
fn block(members: &str) -> String {
    format!(
        r#"{{"name": "p", "inputs": [{{"name": "city"}}], "steps": [
  {{"id": "page", "tool": {{"name": "fetch"}}}},
  {{"id": "b", "block": {{{members}}}}}
]}}"#
    )
}

/// A plan with such a block, which is written and read again: what is printed of it, and the names of its inputs.
fn read(members: &str) -> (String, Vec<String>) {
    let document = block(members);
    let document = match reader().read(&document) {
        Ok(document) => document,
        Err(findings) => panic!("{findings} of {document}"),
    };
    let plan = document.plan();
    assert_eq!(Executable::new(plan).mistake(), None);
    let written = serde_json::to_string(plan).unwrap();
    let again: Plan = serde_json::from_str(&written).unwrap();
    assert_eq!(&again, plan);
    assert_eq!(again.to_string(), plan.to_string());
    let Body::Block(block) = &plan.steps[1].body else {
        panic!("{plan}");
    };
    let inputs = block.plan.inputs.iter().map(|input| input.name.clone());
    let text = plan.to_string();
    let start = text.find("  step b").unwrap();
    (text[start..].to_owned(), inputs.collect())
}

#[track_caller]
fn becomes(members: &str, printed: &str, inputs: &[&str]) {
    let (text, names) = read(members);
    assert_eq!(text, format!("{printed}    // needs page\n"));
    assert_eq!(names, inputs);
}

#[test]
fn what_is_around_a_block_becomes_its_inputs() {
    // In the order of their first references, each once.
    becomes(
        r#""steps": [{"id": "a", "value": [{"reference": {"step": "page", "pointer": "/x"}}, {"reference": {"input": "city", "pointer": ""}}, {"reference": {"step": "page", "pointer": ""}}]}], "value": {"reference": {"step": "a", "pointer": ""}}"#,
        "  step b = {\n    step a = [page.x, city, page]\n    a\n  }\n",
        &["page", "city"],
    );
    // As written, and beside the declared ones.
    becomes(
        r#""inputs": {"page": {"reference": {"step": "page", "pointer": ""}}}, "steps": [{"id": "a", "value": [{"reference": {"input": "city", "pointer": ""}}, {"reference": {"step": "page", "pointer": "/x"}}, {"reference": {"input": "page", "pointer": ""}}]}]"#,
        "  step b = {\n    step a = [city, page.x, page]\n  }\n",
        &["page", "city"],
    );
    // Through several levels.
    becomes(
        r#""steps": [{"id": "a", "block": {"steps": [{"id": "c", "block": {"steps": [], "value": [{"reference": {"input": "city", "pointer": ""}}, {"reference": {"step": "page", "pointer": ""}}]}}, {"id": "d", "value": {"reference": {"step": "page", "pointer": ""}}}]}}]"#,
        "  step b = {\n    step a = {\n      step c = {\n        [city, page]\n      }\n      step d = page\n    }\n  }\n",
        &["city", "page"],
    );
    // The sources of a computed value.
    becomes(
        r#""steps": [{"id": "a", "value": {"computed": {"written": "page + city", "reads": [{"step": "page"}, {"input": "city"}]}}}]"#,
        "  step b = {\n    step a = page + city\n  }\n",
        &["page", "city"],
    );
    // The sources of a policy's amounts.
    becomes(
        r#""steps": [{"id": "a", "tool": {"name": "t"}, "policy": {"attempts": {"reference": {"input": "city", "pointer": ""}}, "fallback": {"reference": {"step": "page", "pointer": ""}}}}]"#,
        "  step b = {\n    #[retry(city)]\n    #[fallback(page)]\n    step a = t\n  }\n",
        &["city", "page"],
    );
}

/// Blocks of the same names beside each other, and of the names of patterns.
#[test]
fn names_of_blocks_beside_each_other() {
    becomes(
        r#""steps": [{"id": "c", "value": {"reference": {"step": "page", "pointer": ""}}}, {"id": "d", "block": {"steps": [{"id": "x", "value": 1}], "tail": {"tool": {"name": "t"}}}}, {"id": "e", "block": {"steps": [{"id": "x", "value": 1}], "tail": {"tool": {"name": "t"}}}}], "tail": {"block": {"steps": [], "tail": {"tool": {"name": "t"}}}}"#,
        "  step b = {\n    step c = page\n    step d = {\n      step x = 1\n      t\n    }\n    step e = {\n      step x = 1\n      t\n    }\n    {\n      t\n    }\n  }\n",
        &["page"],
    );
}

#[test]
fn local_values_around_a_block_become_its_inputs() {
    for (pattern, body, printed) in [
        (
            "url",
            r#""value": {"reference": {"local": 0, "pointer": "/x"}}"#,
            "url.x",
        ),
        (
            "url",
            r#""value": {"reference": {"input": "url", "pointer": "/x"}}"#,
            "url.x",
        ),
        (
            "(key, value)",
            r#""value": [{"reference": {"local": 0, "pointer": "/1/id"}}, {"reference": {"input": "key", "pointer": ""}}, {"reference": {"input": "value", "pointer": "/id"}}]"#,
            "[value.id, key, value.id]",
        ),
        (
            "url",
            r#""value": {"computed": {"written": "url + 1", "reads": [{"local": 0}]}}"#,
            "url + 1",
        ),
    ] {
        let members = format!(
            r#""steps": [], "tail": {{"for": {{"pattern": "{pattern}", "list": {{"reference": {{"step": "page", "pointer": ""}}}}, "body": {{"block": {{"steps": [], {body}}}}}}}}}"#
        );
        let text = format!(
            "  step b = {{\n    for {pattern} in page {{\n      {{\n        {printed}\n      }}\n    }}\n  }}\n"
        );
        becomes(&members, &text, &["page"]);
    }
    // Those of the block come first.
    becomes(
        r#""steps": [], "tail": {"for": {"pattern": "url", "list": {"reference": {"step": "page", "pointer": ""}}, "body": {"block": {"steps": [], "tail": {"for": {"pattern": "word", "list": {"reference": {"local": 0, "pointer": ""}}, "body": {"value": [{"reference": {"local": 0, "pointer": ""}}, {"reference": {"input": "url", "pointer": ""}}]}}}}}}}"#,
        "  step b = {\n    for url in page {\n      {\n        for word in url {\n          [word, url]\n        }\n      }\n    }\n  }\n",
        &["page"],
    );
}

#[test]
fn limits_count_what_is_in_blocks() {
    let three = block(
        r#""steps": [{"id": "c", "value": 1}, {"id": "d", "value": 2}], "tail": {"value": 3}"#,
    );
    let mut limits = DocumentLimits::default();
    limits.steps = 5;
    assert!(reader().limits(limits).read(&three).is_ok());
}

/// Blocks in each other, the innermost of which reads something of the outermost.
fn nested(levels: usize) -> String {
    let inner = r#""steps": [], "value": {"reference": {"step": "page", "pointer": ""}}"#;
    let mut members = inner.to_owned();
    for level in 1..levels {
        members = format!(r#""steps": [{{"id": "s{level}", "block": {{{members}}}}}]"#);
    }
    block(&members)
}

#[test]
fn blocks_are_nested_as_deep_as_bodies() {
    let plan: Plan = serde_json::from_str(&nested(64)).unwrap();
    assert_eq!(Executable::new(&plan).mistake(), None);
    let written = serde_json::to_string(&plan).unwrap();
    assert_eq!(reader().read(&written).unwrap().plan(), &plan);
    assert!(plan.to_string().contains("page"));
    let deeper = nested(65);
    assert!(said(reader(), &deeper).contains("nested more than 64 levels deep"));
    assert!(serde_json::from_str::<Plan>(&deeper).is_err());
}

/// Each reference makes an input of all blocks around it, which is found again.
#[test]
fn many_references_through_many_blocks_take_no_longer() {
    let page = r#"{"reference": {"step": "page", "pointer": ""}}"#;
    let list = vec![page; 20_000].join(", ");
    let mut members = format!(r#""steps": [], "value": [{list}]"#);
    for level in 0..40 {
        members = format!(r#""steps": [{{"id": "s{level}", "block": {{{members}}}}}]"#);
    }
    let document = block(&members);
    assert!(reader().read(&document).is_ok());
}
