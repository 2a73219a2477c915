//! `hostile [bytes] [word]`: what documents cost that have one thing in large numbers, and how that grows where they grow to twice their size.
//! With a word, only of the shapes whose name has it. Instructions are counted by valgrind.
//!
//! The last column is the time of 1 MB for a reader with the limits that it has by default.
//!
//! `hostile count <stage> <bytes> <shape>` does the work of one cell, and `hostile time [word]` measures only the times of 1 MB.

#[path = "../../../../plan-runtime/tests/hostile/limits/documents/mod.rs"]
mod documents;

use documents::{Case, Shape, shapes};
use plan_runtime::dynamic::{Contracts, Document, Findings, DocumentLimits, Reader};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The operations on a document. The later ones include reading.
const STAGES: [&str; 4] = ["read", "print", "write", "rust"];

/// The largest limits that there are, so that no document is refused for its size.
const UNLIMITED: DocumentLimits = DocumentLimits::DEFAULT
    .bytes(usize::MAX)
    .steps(usize::MAX)
    .depth(usize::MAX)
    .string(usize::MAX)
    .name(usize::MAX)
    .values(usize::MAX)
    .inputs(usize::MAX)
    .references(usize::MAX);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["count", stage, bytes, name] = arguments[..] {
        let shape = shapes().into_iter().find(|shape| shape.name == name);
        let case = shape.unwrap().of(bytes.parse().unwrap());
        let tools = case.tools();
        work(&case, &tools, stage, UNLIMITED);
        return;
    }
    if let ["time", ref word @ ..] = arguments[..] {
        let word = word.first().copied().unwrap_or_default();
        for shape in shapes().iter().filter(|shape| shape.name.contains(word)) {
            let times = STAGES.map(|stage| format!(" {:.0} ms |", time(shape, stage) * 1e3));
            println!("| {} |{}", shape.name, times.concat());
        }
        return;
    }
    let bytes = arguments
        .first()
        .map_or(1 << 20, |bytes| bytes.parse().unwrap());
    let word = arguments.get(1).copied().unwrap_or_default();
    println!("| document | stage | bytes | instructions a byte | growth | 1 MB |");
    println!("|---|---|---:|---:|---:|---:|");
    for shape in shapes().iter().filter(|shape| shape.name.contains(word)) {
        for stage in STAGES {
            print(shape, stage, bytes);
        }
    }
}

/// Prints a row, where the work is enough to be measured.
fn print(shape: &Shape, stage: &str, bytes: usize) {
    let [before, after] = [bytes / 2, bytes].map(|bytes| {
        let all = instructions(shape, stage, bytes);
        all.saturating_sub(instructions(shape, "none", bytes))
    });
    if after < 1_000_000 {
        return;
    }
    let [half, case] = [bytes / 2, bytes].map(|bytes| shape.of(bytes));
    // For two documents whose sizes have no exact factor of two.
    let sizes = case.size() as f64 / half.size() as f64;
    println!(
        "| {} | {stage} | {} | {:.0} | {:.2} × | {:.0} ms |",
        shape.name,
        case.size(),
        after as f64 / case.size() as f64,
        2.0 * after as f64 / before as f64 / sizes,
        time(shape, stage) * 1e3
    );
}

/// Returns the number of instructions of this program for one cell, without the instructions of its start and end.
fn instructions(shape: &Shape, stage: &str, bytes: usize) -> u64 {
    let output = Command::new("valgrind")
        .args([
            "--tool=cachegrind",
            "--cache-sim=no",
            "--cachegrind-out-file=/dev/null",
        ])
        .arg(std::env::current_exe().unwrap())
        .args(["count", stage, &bytes.to_string(), &shape.name])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let (_, count) = said.split_once("refs:").unwrap();
    let count = count.lines().next().unwrap().trim().replace(',', "");
    count.parse().unwrap()
}

/// Returns the shortest of several times for 1 MB, in seconds.
fn time(shape: &Shape, stage: &str) -> f64 {
    let case = shape.of(1_000_000);
    let tools = case.tools();
    let times = (0..3).map(|_| work(&case, &tools, stage, DocumentLimits::DEFAULT));
    times.fold(f64::INFINITY, f64::min)
}

/// Executes a stage, and returns its time.
fn work(case: &Case, tools: &Contracts, stage: &str, limits: DocumentLimits) -> f64 {
    let start = Instant::now();
    let reader = Reader::new().dialect(case.dialect).tools(tools);
    let read = || reader.clone().limits(limits).read(&case.text);
    match stage {
        "none" => {}
        "read" => drop(read()),
        "print" => print_all(read()),
        "write" => write_all(read()),
        _ => drop(read().map(|document| plan_rust::to_rust(document.plan()))),
    }
    start.elapsed().as_secs_f64()
}

fn print_all(read: Result<Document<'_>, Findings>) {
    let findings = match read {
        Ok(document) => {
            let plan = document.plan();
            let _ = (
                plan.to_string(),
                plan.mermaid().to_string(),
                plan.dot().to_string(),
            );
            document.warnings().clone()
        }
        Err(findings) => findings,
    };
    let _ = (findings.to_string(), findings.render("plan.json"));
}

fn write_all(read: Result<Document<'_>, Findings>) {
    let Ok(document) = read else { return };
    let plan = document.plan();
    let json = serde_json::to_string(plan).unwrap();
    let _ = serde_json::from_str::<plan_runtime::Plan>(&json);
    drop(plan.to_blueprint());
}
