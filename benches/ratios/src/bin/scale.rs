//! `scale plan <steps>`, `scale chain <steps>`, `scale large <bytes>`: numbers, in a process of their own, with a counting allocator.

use plan_ratios::cases::running::{One, UNLIMITED, Zero, block_on};
use plan_ratios::cases::shapes;
use plan_runtime::dynamic::{Contract, Reader, Toolbox};
use plan_runtime::run::Limits;
use plan_runtime::{Result, tool};
use serde_json::{Value, json};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn more(bytes: usize) {
    let now = NOW.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(now, Relaxed);
}

// SAFETY: it counts, and leaves the rest to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        more(size);
        NOW.fetch_sub(layout.size(), Relaxed);
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Calls a function. Returns its time in nanoseconds, its peak memory in bytes beyond the memory used before, and its
/// output.
fn watch<T>(of: impl FnOnce() -> T) -> (f64, usize, T) {
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let start = Instant::now();
    let given = of();
    let took = start.elapsed().as_nanos() as f64;
    (took, PEAK.load(Relaxed) - before, given)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let size: usize = arguments[2].parse().unwrap();
    match &*arguments[1] {
        "plan" => plan(size),
        "chain" => chain(size),
        _ => large(size),
    }
}

fn say(numbers: &[f64]) {
    for number in numbers {
        println!("{number}");
    }
}

/// Measures a plan whose steps each refer to one of the 64 steps before. Prints numbers per step, each right after its
/// measurement, since a later measurement may take too long: the size of the document in bytes, the time and the peak memory of
/// reading, of a run and of a check, and the memory of the plan.
fn plan(steps: usize) {
    let mut random = 1_u64;
    let mut needs = shapes::chain(steps);
    for (step, needs) in needs.iter_mut().enumerate().skip(1) {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        needs[0] = step - 1 - (random >> 33) as usize % step.min(64);
    }
    let text = shapes::json(&needs);
    drop(needs);
    let number = || json!({ "type": "integer", "minimum": 0 });
    let toolbox = Toolbox::<()>::new()
        .with_fn(
            Contract::new("zero")
                .arguments(json!({ "type": "object" }))
                .output(number()),
            |_| async { Ok(json!(1)) },
        )
        .with_fn(
            Contract::new("one")
                .arguments(
                    json!({ "type": "object", "properties": { "a": number() }, "required": ["a"] }),
                )
                .output(number()),
            |mut arguments| async move { Ok(arguments["a"].take()) },
        );
    let typed = Toolbox::<()>::new().with::<Zero>().with::<One>();

    // The measurements of a small plan exclude one-time work, such as the first allocations.
    if steps <= 10_000 {
        let document = Reader::new().limits(UNLIMITED).read(&text).unwrap();
        let _ = document.check(toolbox.contracts());
        block_on(typed.run(document.plan(), (), &()).limits(Limits::DEFAULT)).unwrap();
    }
    let before = NOW.load(Relaxed);
    let kept = || NOW.load(Relaxed) - before;
    let of = steps as f64;
    let (read, peak_read, document) =
        watch(|| Reader::new().limits(UNLIMITED).read(&text).unwrap());
    let there = kept();
    say(&[text.len() as f64 / of, read / of, peak_read as f64 / of]);
    let (run, peak_run, output) =
        watch(|| block_on(typed.run(document.plan(), (), &()).limits(Limits::DEFAULT)).unwrap());
    assert_eq!(output[format!("s{}", steps - 1)], 1);
    drop(output);
    say(&[run / of, (there + peak_run) as f64 / of]);
    let (check, peak_check, findings) = watch(|| document.check(toolbox.contracts()));
    assert!(!findings.has_errors(), "{findings}");
    say(&[check / of, (there + peak_check) as f64 / of]);
    let plan = document.into_plan();
    drop(findings);
    say(&[kept() as f64 / of]);
    drop(plan);
}

/// Gives a text of 10 KB.
#[tool]
async fn enlarge(before: String) -> Result<String> {
    Ok(format!("{:>10000}", before.len()))
}

/// Gives the first text.
#[tool]
async fn begin() -> Result<String> {
    Ok("x".repeat(10_000))
}

/// Prints the time per step, the peak memory in addition to the memory before the run, and the size of all outputs.
fn chain(steps: usize) {
    let mut text = String::from(r#"{"steps": [{"id": "s0", "tool": "begin", "arguments": {}}"#);
    for step in 1..steps {
        text.push_str(&format!(
            r#", {{"id": "s{step}", "tool": "enlarge", "arguments": {{"before": "$ref:s{}"}}}}"#,
            step - 1
        ));
    }
    text.push_str(&format!(r#"], "output_steps": ["s{}"]}}"#, steps - 1));
    let plan = Reader::new()
        .limits(UNLIMITED)
        .read(&text)
        .unwrap()
        .into_plan();
    let toolbox = Toolbox::<()>::new().with::<Begin>().with::<Enlarge>();
    let (took, peak, _) = watch(|| block_on(toolbox.run(&plan, (), &()).limits(Limits::DEFAULT)).unwrap());
    say(&[took / steps as f64, peak as f64, steps as f64 * 1e4]);
}

/// Measures one output from which 1,000 steps each take a string of some bytes. Prints the time per step, the peak memory, the size of
/// the output, and the time and the peak memory of the step that returns it.
fn large(bytes: usize) {
    const STEPS: usize = 1_000;
    let toolbox = Toolbox::<()>::new()
        .with_fn(Contract::new("large"), |arguments: Value| async move {
            let each = arguments["each"].as_u64().unwrap() as usize;
            let item =
                |n: usize| json!({ "id": format!("item-{n:06}"), "content": "x".repeat(each) });
            Ok((0..STEPS).map(item).collect())
        })
        .with_fn(Contract::new("take"), |arguments: Value| async move {
            Ok(json!(arguments["id"].as_str().unwrap().len()))
        });
    let mut text = format!(
        r#"{{"steps": [{{"id": "large", "tool": "large", "arguments": {{"each": {}}}}}"#,
        bytes / STEPS
    );
    let alone = format!(
        r#"{text}, {{"id": "s0", "tool": "take", "arguments": {{"id": "$ref:large.0.id"}}}}], "output_steps": ["s0"]}}"#
    );
    for step in 0..STEPS {
        text.push_str(&format!(r#", {{"id": "s{step}", "tool": "take", "arguments": {{"id": "$ref:large.{step}.id"}}}}"#));
    }
    text.push_str(r#"], "output_steps": ["s0"]}"#);
    let run = |text: &str| {
        let plan = Reader::new()
            .limits(UNLIMITED)
            .read(text)
            .unwrap()
            .into_plan();
        let (took, peak, _) = watch(|| block_on(toolbox.run(&plan, (), &()).limits(Limits::DEFAULT)).unwrap());
        (took, peak as f64)
    };
    let (alone, alone_peak) = run(&alone);
    let (took, peak) = run(&text);
    say(&[took / STEPS as f64, peak, bytes as f64, alone, alone_peak]);
}
