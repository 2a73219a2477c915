//! The memory, the work and the depth of reading.

mod depth;
mod documents;

use documents::{Case, Shape, shapes};
use plan_runtime::dynamic::{Code, Contracts, Document, DocumentLimits, Findings, Reader};

/// The largest limits that there are, but for those of values.
const UNLIMITED: DocumentLimits = DocumentLimits::DEFAULT
    .bytes(usize::MAX)
    .steps(usize::MAX)
    .depth(usize::MAX)
    .string(usize::MAX)
    .name(usize::MAX)
    .values(4_096)
    .inputs(usize::MAX)
    .references(usize::MAX);

/// The memory of reading in addition to 20 times the document, for any document.
const CONSTANT: u64 = 1 << 20;

/// The additional memory of a comparison with a schema, which caches results for a limited number of values.
const REMEMBERED: u64 = 8 << 20;

fn read<'t>(case: &'t Case, tools: &Contracts) -> Result<Document<'t>, Findings> {
    Reader::new()
        .dialect(case.dialect)
        .tools(tools)
        .limits(UNLIMITED)
        .read(&case.text)
}

/// A document of n bytes takes at most 20 n bytes and a constant, including its findings. The printed findings are bounded as well.
#[test]
fn memory_grows_with_the_document() {
    for shape in some(shapes()) {
        let bytes = crate::common::amount(16_000, 40_000);
        let case = shape.of(bytes);
        let tools = case.tools();
        let mut printed = 0;
        let measured = allocation_counter::measure(|| {
            let read = read(&case, &tools);
            allocation_counter::opt_out(|| {
                printed = read
                    .map_or_else(|it| it.to_string(), |it| it.warnings().to_string())
                    .len();
            });
        });
        let name = &shape.name;
        let constant = if name.ends_with("(schema)") {
            REMEMBERED
        } else {
            CONSTANT
        };
        let most = 20 * case.size() as u64 + constant;
        assert!(
            measured.bytes_max <= most,
            "{name}: {} of {most}",
            measured.bytes_max
        );
        assert!(printed <= 1 << 20, "{name}: {printed} bytes are printed");
    }
}

/// Returns one shape in three in the quick form.
fn some(shapes: Vec<Shape>) -> impl Iterator<Item = Shape> {
    shapes.into_iter().step_by(crate::common::amount(3, 1))
}

/// Documents whose values are compared with each part of a schema, or with each name. The comparisons have a limit of their own,
/// which small documents do not reach: the bench `hostile` counts the cost of large ones.
const PRODUCTS: [&str; 6] = [
    "allOf of many (schema)",
    "an output of many forms (schema)",
    "many values of many forms (schema)",
    "many values of many tags (schema)",
    "misspelled arguments of a closed schema (schema)",
    "unknown tools (schema)",
];

/// Twice the document is twice the work, as far as allocations tell.
#[test]
fn work_grows_with_the_document() {
    let mut grown = Vec::new();
    let shapes = some(shapes());
    for shape in shapes.filter(|shape| !PRODUCTS.contains(&&*shape.name)) {
        let [some, more] = [4_000, 8_000].map(|bytes| {
            let case = shape.of(bytes);
            let tools = case.tools();
            let measured = allocation_counter::measure(|| drop(read(&case, &tools)));
            measured.count_total as f64 / case.size() as f64
        });
        if more > 1.5 * some + 0.1 {
            grown.push(format!("{}: {some} and {more} for each byte", shape.name));
        }
    }
    assert!(grown.is_empty(), "{}", grown.join("\n"));
}

/// With raised limits, reading accepts the content of a realistic document of that size.
#[test]
fn many_values_are_read_if_they_are_not_the_shortest() {
    let plan =
        |list: &str| format!(r#"[{{"id": "s", "tool": "t", "arguments": {{"x": [{list}]}}}}]"#);
    let read =
        |text: &str, limits: DocumentLimits| Reader::new().limits(limits).read(text).map(drop);
    read(
        &plan(&vec!["1"; 4_000].join(",")),
        DocumentLimits::default(),
    )
    .unwrap();
    read(
        &plan(&vec!["123.456"; 100_000].join(",")),
        DocumentLimits::default(),
    )
    .unwrap();
    let short = plan(&vec!["1"; 100_000].join(","));
    let findings = read(&short, DocumentLimits::default()).unwrap_err();
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].code, Code::LimitPassed);
    assert_eq!(
        findings[0].message,
        "the document has more than 41390 values, the limit for its length"
    );
    let values = 200_000;
    read(&short, DocumentLimits::DEFAULT.values(values)).unwrap();
}

#[test]
fn names_have_a_limit() {
    let long = "x".repeat(1_025);
    let right = "x".repeat(1_024);
    let plan = |id: &str, tool: &str, input: &str| {
        format!(
            r#"[{{"id": "{id}", "tool": "{tool}", "arguments": {{"a": "{{{{PLACEHOLDER_{input}}}}}"}}}}]"#
        )
    };
    let plan_json = |id: &str, tool: &str, input: &str, ty: &str| {
        format!(
            r#"{{"name": "p", "inputs": [{{"name": "{input}", "type": "{ty}"}}], "steps": [{{"id": "{id}", "tool": {{"name": "{tool}"}}}}]}}"#
        )
    };
    let id = format!("{}y", &right[1..]);
    Reader::new().read(&plan(&id, &right, &right)).unwrap();
    Reader::new()
        .read(&plan_json(&id, &right, &right, &right))
        .unwrap();
    for text in [
        plan(&long, "t", "i"),
        plan("s", &long, "i"),
        plan("s", "t", &long),
        plan_json(&long, "t", "i", "u8"),
        plan_json("s", &long, "i", "u8"),
        plan_json("s", "t", &long, "u8"),
        plan_json("s", "t", "i", &long),
    ] {
        let findings = Reader::new().read(&text).unwrap_err();
        assert_eq!(findings.len(), 1, "{findings}");
        assert_eq!(findings[0].code, Code::LimitPassed, "{findings}");
        assert!(
            findings[0]
                .message
                .ends_with("has 1025 bytes, but the limit is 1024")
        );
    }
}

/// A plan whose first thousand findings are warnings is refused all the same.
#[test]
fn errors_are_found_after_many_warnings() {
    let step =
        |at: usize| format!(r#"{{"id": "s{at}", "tool": "t", "arguments": {{"x": "${{s0.x}}"}}}}"#);
    let mut steps: Vec<String> = (0..1_000).map(step).collect();
    let text = format!("[{}]", steps.join(","));
    let document = Reader::new().read(&text).unwrap();
    assert_eq!(document.warnings().len(), 257);
    assert!(!document.warnings().has_errors());

    steps.push(r#"{"id": "last", "tool": 1, "arguments": {}}"#.to_owned());
    let text = format!("[{}]", steps.join(","));
    let findings = Reader::new().read(&text).unwrap_err();
    assert_eq!(findings.errors().count(), 1);
    assert_eq!(
        findings.errors().next().unwrap().step.as_deref(),
        Some("last")
    );
    let rest = &findings[findings.len() - 1].message;
    assert_eq!(rest, "the document has at least 745 more warnings");
}

/// A line is truncated around its own position, regardless of related positions.
#[cfg(feature = "diagnostics")]
#[test]
fn long_lines_are_cut() {
    let step = r#"{"id": "a", "tool": "t", "arguments": {}}"#;
    let other = r#"{"id": "b", "tool": "t", "arguments": {"x": ""}}"#;
    let long = other.replace("\"\"", &format!("\"{}\"", "y".repeat(1 << 20)));
    for text in [
        format!("[{step}, {long},\n{step}]"),
        format!(
            "[{long}, {step},\n{step}, {}]",
            long.replace("\"b\"", "\"c\"")
        ),
    ] {
        let findings = Reader::new().read(&text).unwrap_err();
        assert_eq!(findings[0].code, Code::DuplicateId);
        let rendered = findings.render("plan.json");
        assert!(rendered.len() < 10_000, "{} bytes", rendered.len());
    }
}
