//! Steps inside a step.

use super::{limited, reader, said, say};
use plan_runtime::Plan;
use plan_runtime::dynamic::DocumentLimits;
use plan_runtime::plan::{Body, Executable};
use std::time::Duration;

/// A plan with a step before a block, in which these are the members.
fn block(members: &str) -> String {
    format!(
        r#"{{"name": "p", "inputs": [{{"name": "city"}}], "steps": [
  {{"id": "page", "tool": {{"name": "fetch"}}}},
  {{"id": "b", "block": {{{members}}}}}
]}}"#
    )
}

#[test]
fn what_is_wrong_in_a_block() {
    say(
        block,
        &[
            (r#""steps": {}"#, "error[wrong-kind]: `steps` is an object, but must be a list
  --> 3:34 in step `b`
"),
            (r#""step": []"#, "error[unknown-member]: unknown member `step` in `block`
  --> 3:25 in step `b`
   = help: did you mean `steps`?
"),
            (r#""steps": [{"id": "a"}]"#, "error[missing-member]: the step does nothing
  --> 3:35 in step `b.a`
   = help: add a `tool` with its `arguments`, or a `value`, an `if`, a `for` or a `block`
"),
            (r#""steps": [{"id": "a", "tool": {"name": "t"}, "arguments": {"object": {"x": {"reference": {"step": "pgae", "pointer": ""}}}}}]"#, "error[unknown-step]: there is no step `pgae`
  --> 3:123 in step `b.a`
   = help: a step with a similar name exists: `page`
"),
            (r#""steps": [{"id": "a", "value": {"reference": {"input": "cty", "pointer": ""}}}]"#, "error[unknown-input]: there is no input `cty`
  --> 3:80 in step `b.a`
   = help: an input with a similar name exists: `city`
"),
            (r#""steps": [{"id": "a", "value": {"reference": {"step": "city", "pointer": ""}}}]"#, "error[unknown-step]: `city` is an input, not a step
  --> 3:79 in step `b.a`
"),
            (r#""steps": [{"id": "a", "value": {"reference": {"input": "a", "pointer": ""}}}]"#, "error[unknown-input]: `a` is a step, not an input
  --> 3:80 in step `b.a`
"),
            (r#""steps": [{"id": "a", "value": {"reference": {"local": 0, "pointer": ""}}}]"#, "error[unknown-local]: there is no local value 0 here
  --> 3:80 in step `b.a`
   = help: only a `for` or a `pattern` around the reference has local values
"),
            (r#""steps": [{"id": "a", "value": 1}, {"id": "a", "value": 1}]"#, "error[duplicate-id]: two steps have the id `a`
  --> 3:67 in step `b`
   = note: 3:42: the first one is here
   = help: give one of the two steps another id, because a reference could mean both
"),
            (r#""steps": [{"id": "page", "value": 1}]"#, "error[duplicate-id]: the step `page` has the name of a step or a value outside its block
  --> 3:42 in step `b`
   = note: 2:10: the other `page` is here
   = help: rename one of the two names, because a reference could mean both
"),
            (r#""steps": [{"id": "city", "value": 1}]"#, "error[duplicate-id]: the step `city` has the name of a step or a value outside its block
  --> 3:42 in step `b`
   = note: 1:35: the other `city` is here
   = help: rename one of the two names, because a reference could mean both
"),
            (r#""inputs": {"x": {"reference": {"step": "page", "pointer": ""}}}, "steps": [{"id": "x", "value": 1}]"#, "error[duplicate-id]: the step `x` has the name of an input
  --> 3:107 in step `b`
   = note: 3:36: the input is here
   = help: steps and inputs need different names: rename one of them
"),
            (r#""steps": [{"id": "a", "value": {"reference": {"step": "c", "pointer": ""}}}, {"id": "c", "value": {"reference": {"step": "a", "pointer": "/x"}}}]"#, "error[cycle]: steps wait for one another: `a` → `c` → `a`
  --> 3:56 in step `b.a`: `a` needs `c`
   = note: 3:123: `c` needs `a`
   = help: remove one of these references, or use a value that does not depend on the step
"),
            (r#""steps": [{"id": "a", "value": {"reference": {"step": "b", "pointer": ""}}}]"#, "error[cycle]: step `b` waits for itself
  --> 3:79 in step `b`: `b` needs `b`
   = help: remove one of these references, or use a value that does not depend on the step
"),
            (r#""steps": [{"id": "a", "value": 1, "after": ["page"]}]"#, "error[unknown-step]: `page` is a step outside of this block
  --> 3:69 in step `b.a`
   = help: `after` can name only steps of the same block; to wait for a step outside, put `after` on the step that contains the block
"),
            (r#""steps": [{"id": "a", "undo": "page", "tool": {"name": "t"}}]"#, "error[unknown-step]: `page` is a step outside of this block
  --> 3:55 in step `b.a`
   = help: write the undo step outside of the block, beside the step to undo
"),
            (r#""steps": [{"id": "a", "always": true, "value": 1}], "value": {"reference": {"step": "a", "pointer": ""}}"#, "error[role]: the value of the block refers to `a`, which runs later
  --> 3:86 in step `b`
   = help: only always steps can refer to `a`
"),
            (r#""inputs": [], "steps": [{"id": "a", "value": {"reference": {"input": "x", "pointer": ""}}}]"#, "error[wrong-kind]: `inputs` is a list, but must be an object
  --> 3:35 in step `b`
"),
            (r#""inputs": {"": 1, "x": {"refernce": 1}}, "steps": [{"id": "a", "value": {"reference": {"input": "x", "pointer": ""}}}]"#, "error[empty-name]: the name of an input is empty
  --> 3:36 in step `b`

error[unknown-member]: `refernce` is not a kind of template
  --> 3:49 in step `b`
   = help: did you mean `reference`?
"),
            (r#""inputs": {"page": {"reference": {"input": "city", "pointer": ""}}}, "steps": [{"id": "a", "value": {"reference": {"step": "page", "pointer": ""}}}]"#, "error[unknown-step]: `page` is an input, not a step
  --> 3:148 in step `b.a`
"),
            (r#""steps": [], "tail": {"value": 1}, "value": 1"#, "error[wrong-kind]: the block has both a `tail` and a `value`
  --> 3:60 in step `b`
   = note: 3:46: the `tail` is here
   = help: the value of a block is its `tail`: remove one of them
"),
            (r#""steps": [], "tail": {"id": "x", "tool": {"name": "t"}}"#, "error[unknown-member]: unknown member `id` in the `tail` of a block
  --> 3:47 in step `b._`
   = help: the members of the `tail` of a block are `tool`, `arguments`, `value`, `if`, `for`, `block`
"),
            (r#""steps": [], "tail": 1"#, "error[wrong-kind]: the `tail` of a block is `1`, but must be an object
  --> 3:46 in step `b._`
"),
            (r#""steps": [{"id": "_", "value": 1}], "tail": {"tool": {"name": "t"}}"#, "error[duplicate-id]: two steps have the id `_`
  --> 3:69 in step `b`
   = note: 3:42: the first one is here
   = help: give one of the two steps another id, because a reference could mean both
"),
            (r#""steps": [{"id": "a", "block": {"steps": [{"id": "c", "block": {"steps": [{"id": "d", "tool": 1}]}}]}}]"#, "error[wrong-kind]: `tool` is `1`, but must be an object
  --> 3:119 in step `b.a.c.d`
"),
            (r#""steps": [{"id": "a", "value": 1, "policy": {"optional": "each"}}]"#, "error[not-allowed]: `optional` is `each`, which is for the elements of a `for`
  --> 3:82 in step `b.a`
   = help: remove `optional`
"),
        ],
    );
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

/// Returns a document with the members in a loop over pairs, whose second local value is that of an `if let`.
fn in_flow(members: &str) -> String {
    format!(
        r#"{{"name": "p", "inputs": [{{"name": "q"}}], "steps": [
  {{"id": "b", "for": {{"pattern": "(k, v)", "list": {{"reference": {{"input": "q", "pointer": ""}}}}, "body": {{"if": [{{"pattern": "Some(x)", "value": 1, "then": {{"block": {{
{members}}}}}}}]}}}}}}
]}}"#
    )
}

#[test]
fn what_is_wrong_with_local_values_around_a_block() {
    say(
        in_flow,
        &[
            (r#""steps": [], "value": {"reference": {"local": 2, "pointer": ""}}"#, "error[unknown-local]: there is no local value 2 here
  --> 3:47 in step `b`
   = help: there are 2: 0 is the outermost, 1 the innermost
"),
            (r#""steps": [], "value": {"reference": {"local": 0, "pointer": ""}}"#, "error[unknown-local]: this reads a local value for which its pattern has no name, but only for `k` and `v`
  --> 3:37 in step `b`
   = help: the pattern `x` names the whole value, and `(a, b)` the parts of a pair
"),
            (r#""steps": [], "value": {"reference": {"input": "w", "pointer": ""}}"#, "error[unknown-input]: there is no input `w`
  --> 3:47 in step `b`
   = help: the only input is `q`
"),
            (r#""steps": [], "value": {"reference": {"step": "v", "pointer": ""}}"#, "error[unknown-step]: there is no step `v`
  --> 3:46 in step `b`
   = help: the only step is `b`
"),
            (r#""steps": [{"id": "v", "value": {"reference": {"local": 0, "pointer": "/1"}}}]"#, "error[duplicate-id]: the reference reads `v` from outside the block, but a step of the block has this name
  --> 3:46 in step `b.v`
   = help: rename one of the two names, because a reference could mean both
"),
            (r#""inputs": {"v": 1}, "steps": [], "value": {"reference": {"local": 0, "pointer": "/1"}}"#, "error[duplicate-id]: the reference reads `v` from outside the block, but an input of the block has this name
  --> 3:57 in step `b`
   = help: rename one of the two names, because a reference could mean both
"),
            (r#""steps": [{"id": "a", "for": {"pattern": "v", "list": [], "body": {"value": {"reference": {"input": "v", "pointer": ""}}}}}]"#, "error[duplicate-id]: the reference reads `v`, but an enclosing pattern defines another `v`
  --> 3:91 in step `b.a`
   = help: rename one of the two names, because a reference could mean both
"),
        ],
    );
}

#[test]
fn limits_count_what_is_in_blocks() {
    let three = block(
        r#""steps": [{"id": "c", "value": 1}, {"id": "d", "value": 2}], "tail": {"value": 3}"#,
    );
    limited(
        |limits| limits.steps = 4,
        &three,
        "error[limit-passed]: the plan has more than 4 steps, those in blocks included
  --> 3:94 in step `b`: this step exceeds the limit
   = help: if the document is right, raise `DocumentLimits::steps`
",
    );
    let mut limits = DocumentLimits::default();
    limits.steps = 5;
    assert!(reader().limits(limits).read(&three).is_ok());
    let reference = r#"{"reference": {"step": "page", "pointer": ""}}"#;
    let references = block(&format!(
        r#""steps": [], "value": [{reference}, {reference}]"#
    ));
    limited(
        |limits| limits.references = 1,
        &references,
        "error[limit-passed]: the plan has more than 1 reference
  --> 3:110 in step `b`: the first reference over the limit
   = help: if the document is right, raise `DocumentLimits::references`
",
    );
    let attempts = r#""steps": [{"id": "c", "tool": {"name": "t"}, "policy": {"attempts": 9, "deadline": "9h"}}]"#;
    let short = |limits: &mut DocumentLimits| {
        limits.attempts = 3;
        limits.time = Duration::from_secs(60);
    };
    limited(
        short,
        &block(attempts),
        "error[limit-passed]: `attempts` asks for 9 attempts, but a step may have at most 3
  --> 3:93 in step `b.c`
   = help: if the document is right, raise `DocumentLimits::attempts`

error[limit-passed]: `deadline` is 9h, but may be at most 1m
  --> 3:108 in step `b.c`
   = help: if the document is right, raise `DocumentLimits::time`
",
    );
    let name = r#""inputs": {"longer": 1}, "steps": []"#;
    limited(
        |limits| limits.name = 5,
        &block(name),
        "error[limit-passed]: the name of an input has 6 bytes, and at most 5 are read
  --> 3:36 in step `b`
   = help: if the document is right, raise `DocumentLimits::name`
",
    );
    let nested = r#""steps": [], "tail": {"if": [{"then": {"block": {"steps": []}}}]}"#;
    limited(
        |limits| limits.depth = 2,
        &block(nested),
        "error[limit-passed]: conditions, loops and blocks are nested more than 2 levels deep
  --> 3:73 in step `b._`
   = help: if the document is right, raise `DocumentLimits::depth`
",
    );
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
