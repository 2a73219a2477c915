//! 10,000 steps without work, compared with hand-written code. `benches/run` has the other comparisons.

mod cases;

use cases::running::{ByHand, block_on, closures, dynamic, plan, typed};
use cases::shapes::{SHAPES, shape};
use divan::Bencher;

/// Without optimization it is only to be seen that it works.
const STEPS: usize = if cfg!(debug_assertions) { 400 } else { 10_000 };

fn main() {
    divan::main();
}

#[divan::bench(args = SHAPES, sample_count = 20)]
fn typed_tools(bencher: Bencher, name: &str) {
    let (toolbox, plan) = (typed(), plan(&shape(name, STEPS)));
    bencher.bench_local(|| dynamic(&toolbox, &plan));
}

#[divan::bench(args = SHAPES, sample_count = 20)]
fn closures_over_json(bencher: Bencher, name: &str) {
    let (toolbox, plan) = (closures(), plan(&shape(name, STEPS)));
    bencher.bench_local(|| dynamic(&toolbox, &plan));
}

#[divan::bench(args = SHAPES, sample_count = 20)]
fn by_hand(bencher: Bencher, name: &str) {
    let by_hand = ByHand::new(shape(name, STEPS));
    bencher.bench_local(|| block_on(by_hand.run()));
}
