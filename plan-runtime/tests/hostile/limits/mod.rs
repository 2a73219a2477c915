//! How much memory and work reading takes.

mod documents;

use documents::{Shape, shapes};
use plan_runtime::dynamic::{Contract, Contracts, Document, Findings, Limits, Reader};
use serde_json::json;

/// The largest limits that there are.
const UNLIMITED: Limits = Limits {
    bytes: usize::MAX,
    steps: usize::MAX,
    depth: usize::MAX,
    string: usize::MAX,
    name: usize::MAX,
    values: 4_096,
};

/// What reading takes beyond 20 times the document, whatever it is.
const CONSTANT: u64 = 512 << 10;

fn read<'t>(shape: &Shape, text: &'t str, tools: &Contracts) -> Result<Document<'t>, Findings> {
    Reader::new()
        .dialect(shape.dialect)
        .tools(tools)
        .limits(UNLIMITED)
        .read(text)
}

/// The most memory that reading has at once.
fn peak(shape: &Shape, text: &str, tools: &Contracts) -> u64 {
    let measured = allocation_counter::measure(|| drop(read(shape, text, tools)));
    measured.bytes_max
}

#[test]
fn measure() {
    let tools = Contracts::new();
    let checked = Contracts::from_iter([Contract::new("t")
        .arguments(json!({"type": "object", "properties": {"x": {}}}))
        .output(json!({"type": "object", "properties": {"x": {}}}))]);
    let only = std::env::var("ONLY").unwrap_or_default();
    let size: usize = std::env::var("SIZE").map_or(200_000, |size| size.parse().unwrap());
    for shape in shapes().iter().filter(|shape| shape.name.contains(&only)) {
        let text = shape.of(size);
        for (name, tools) in [("", &tools), ("checked", &checked)] {
            let start = std::time::Instant::now();
            let peak = peak(shape, &text, tools);
            let time = start.elapsed();
            let of = peak.saturating_sub(CONSTANT) as f64 / text.len() as f64;
            if of > 20.0 || time.as_millis() > 2500 {
                println!(
                    "{of:5.1} {time:9.2?} {:9} {} {name}",
                    text.len(),
                    shape.name
                );
            }
        }
    }
}
