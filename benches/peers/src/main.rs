//! `plan-peers [steps]`: other libraries on the same graphs. Building a graph is not measured, running it is.

#[path = "../../../plan-runtime/benches/cases/mod.rs"]
mod cases;
#[path = "../../ratios/src/handing.rs"]
#[allow(dead_code)]
mod handing;
mod peers;
#[path = "../../ratios/src/table.rs"]
#[allow(dead_code)]
mod table;

use cases::running::{ByHand, block_on, dynamic, plan, typed};
use cases::shapes::{SHAPES, shape};
use std::time::{Duration, Instant};
use plan_runtime::plan::Executable;
use table::{ns, row, target, times, title};

type Once<'a> = Box<dyn FnMut() -> Duration + 'a>;

fn timed<T>(of: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    let given = of();
    let took = start.elapsed();
    drop(given);
    took
}

fn main() {
    // Some peers drop a chain by recursion.
    let run = std::thread::Builder::new()
        .stack_size(1 << 30)
        .spawn(all)
        .unwrap();
    run.join().unwrap();
}

/// A chain of steps that pass on a value of three texts as a whole.
fn values(steps: usize) {
    let plan = handing::chain(steps);
    let plan = Executable::new(&plan);
    let mut cases: [Once<'_>; 3] = [
        Box::new(|| timed(|| handing::handed(&plan))),
        Box::new(|| timed(|| handing::through_json(&plan))),
        peers::chain_of_values(steps),
    ];
    let mut best = [Duration::MAX; 3];
    for _ in 0..12 {
        for (case, best) in cases.iter_mut().zip(&mut best) {
            *best = case().min(*best);
        }
    }
    let [ours, json, other] = best.map(|best| best.as_nanos() as f64 / steps as f64);
    title(
        &format!("Chain of whole values, {steps} steps"),
        &["", "a step", "`async_dag`", "to it", "at most", "met"],
    );
    for (what, ours, most) in [
        ("handed over", ours, table::Target::AtMost(1.2)),
        ("through JSON", json, table::Target::None),
    ] {
        let ratio = ours / other;
        let [most, met] = target(ratio, &most, " ×");
        row(&[what.into(), ns(ours), ns(other), times(ratio), most, met]);
    }
}

fn all() {
    let steps: usize = std::env::args()
        .nth(1)
        .map_or(10_000, |steps| steps.parse().unwrap());
    values(300);
    values(steps);
    title(
        &format!("Peers, {steps} steps"),
        &[
            "shape",
            "library",
            "hands on",
            "a step",
            "`Toolbox`, typed",
            "ours, to it",
            "at most",
            "met",
        ],
    );
    for name in SHAPES {
        let needs = shape(name, steps);
        let (toolbox, plan) = (typed(), plan(&needs));
        let by_hand = ByHand::new(needs.clone());
        let mut cases: Vec<(&str, &str, Once<'_>)> = vec![
            (
                "ours",
                "JSON",
                Box::new(|| timed(|| dynamic(&toolbox, &plan))),
            ),
            (
                "by hand, `FuturesUnordered`",
                "JSON",
                Box::new(|| timed(|| block_on(by_hand.run()))),
            ),
        ];
        cases.extend(peers::of(name, &needs));
        let mut best = vec![Duration::MAX; cases.len()];
        let mut spent = vec![Duration::ZERO; cases.len()];
        for turn in 0..12 {
            for offset in 0..cases.len() {
                let index = (turn + offset) % cases.len();
                // What takes seconds is clear after three turns.
                if turn >= 3 && spent[index] > Duration::from_secs(6) {
                    continue;
                }
                let took = cases[index].2();
                spent[index] += took;
                best[index] = best[index].min(took);
            }
        }
        let each = |index: usize| best[index].as_nanos() as f64 / needs.len() as f64;
        let fastest = (2..cases.len())
            .filter(|index| cases[*index].1 == "values")
            .min_by_key(|index| best[*index]);
        for (index, (library, hands, _)) in cases.iter().enumerate().skip(1) {
            let ratio = each(0) / each(index);
            let most = match *hands {
                // It has its target in *Running*, in a process without other threads.
                _ if index == 1 => table::Target::None,
                "values" if Some(index) == fastest => table::Target::AtMost(1.2),
                "values" => table::Target::None,
                _ => table::Target::AtMost(1.0),
            };
            let [most, met] = target(ratio, &most, " ×");
            row(&[
                name.into(),
                (*library).into(),
                (*hands).into(),
                ns(each(index)),
                ns(each(0)),
                times(ratio),
                most,
                met,
            ]);
        }
    }
}
