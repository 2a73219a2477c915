//! Names and strings with a meaning to the drawing programs.

use super::{Statement, count, drawn, keep, statements};
use plan_runtime::Plan;
use serde_json::{Value, json};

const HOSTILE: &[&str] = &[
    "end",
    "graph",
    "subgraph",
    "node",
    "edge",
    "digraph",
    "strict",
    "class",
    "click",
    "style",
    "default",
    "o",
    "x",
    "flowchart",
    "",
    " ",
    "\"",
    "\\",
    "\\\"",
    "a\"]; evil -> x [label=\"",
    "\"]\nend\nsubgraph x",
    "a\nb",
    "a\r\nb",
    "\0",
    "\u{1b}[31m",
    "<b>bold</b>",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "&lt;",
    "&amp;",
    "&#34;",
    "#quot;",
    "#35;",
    "\\N",
    "\\G",
    "\\l",
    "%%{init: {}}%%",
    "%% comment",
    "`code`",
    "**strong**",
    "_em_",
    "1. list",
    "- list",
    "> quote",
    "# heading",
    "[link](https://a.example)",
    "https://a.example",
    "$$x^2$$",
    "|pipe|",
    "{{x}}",
    "-->",
    "---",
    ":::class",
    "größe",
    "名前",
    "😀",
    "\u{202e}abc",
    "\u{feff}",
    "\u{ffff}",
    "\u{2028}",
    "@{ shape: x }",
    "A-B",
    "accTitle: x",
];

fn plan(text: &str) -> Value {
    let odd = format!("odd {text}");
    // Names are never empty.
    let name = if text.trim().is_empty() { "n" } else { text };
    json!({
        "name": text,
        "description": text,
        "inputs": [{"name": name, "type": text}],
        "steps": [
            {"id": odd, "intent": text, "tool": {"name": name, "description": text}, "arguments": {"object": {
                text: {"reference": {"input": name, "pointer": ""}}}}},
            {"id": "list", "intent": text, "for": {
                "pattern": text, "list": {"computed": {"written": text, "reads": [{"step": odd}]}},
                "body": {"tool": {"name": name}, "arguments": {"object": {"x": {"reference": {"local": 0, "pointer": ""}}}}}},
             "policy": {"optional": "each", "fallback": text}},
            {"id": "value", "value": {"computed": {"written": text, "reads": [{"step": odd}]}}},
            {"id": "choice", "after": ["value"], "if": [
                {"condition": {"computed": {"written": text, "reads": [{"step": "list"}]}},
                 "then": {"tool": {"name": name}, "arguments": {"object": {}}}},
                {"then": {"value": text}}
            ]}
        ],
        "output": {"type": text, "value": {"reference": {"step": "choice", "pointer": ""}}}
    })
}

#[test]
fn texts_stay_texts() {
    for (number, text) in HOSTILE.iter().enumerate() {
        let json = plan(text);
        let plan: Plan =
            serde_json::from_value(json).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        let (mermaid, dot) = drawn(&plan);
        let found = statements(&mermaid);
        let counts =
            [Statement::Node, Statement::Group, Statement::Edge].map(|it| count(&found, it));
        assert_eq!(counts, [10, 2, 9], "{text:?}\n{mermaid}");
        keep(&format!("hostile-{number:02}"), &mermaid, &dot);
    }
}

#[test]
fn keywords_as_names() {
    let steps: Vec<Value> = HOSTILE[..14]
        .iter()
        .map(|name| json!({"id": name, "tool": {"name": name}, "arguments": {"object": {}}}))
        .collect();
    let plan: Plan = serde_json::from_value(json!({"name": "graph", "steps": steps})).unwrap();
    let (mermaid, dot) = drawn(&plan);
    assert!(
        mermaid.contains("  step_end[\"○ end = end\"]\n"),
        "{mermaid}"
    );
    assert!(
        dot.contains("  step_subgraph [label=\"○ subgraph = subgraph\"];\n"),
        "{dot}"
    );
    keep("keywords", &mermaid, &dot);
}

#[test]
fn plans_that_no_one_would_write() {
    use plan_runtime::plan::{Action, Body, Input, Output, Reference, Source, Step, Template};
    let reference = |source| Template::Reference(Reference::new(source));
    // Steps with one name, which need themselves and missing steps.
    let sources = [
        Source::Step(0),
        Source::Step(7),
        Source::Input(7),
        Source::Local(0),
    ];
    let body = |body| match body {
        0 => Body::If(Vec::new()),
        _ => Action::value(sources.map(reference).to_vec()).into(),
    };
    let step = |number| {
        let mut step = Step::new("a", body(number));
        step.after = vec![0, number, 9];
        step
    };
    let mut plan = Plan::new("");
    plan.inputs = vec![Input::new("a", ""); 2];
    plan.steps = (0..4).map(step).collect();
    plan.output = Output::new(reference(Source::Step(9)));
    let (mermaid, dot) = drawn(&plan);
    keep("odd", &mermaid, &dot);
}
