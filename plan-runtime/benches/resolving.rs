//! Arguments from outputs, compared with hand-written code. `benches/run` has the other comparisons.

mod cases;

use cases::resolving::{Ready, Reply, Split};
use divan::Bencher;
use serde_json::Value;

fn main() {
    divan::main();
}

#[divan::bench]
fn typed(bencher: Bencher) {
    let ready = Ready::new();
    bencher.bench_local(|| ready.resolve::<Reply>());
}

#[divan::bench]
fn typed_by_hand(bencher: Bencher) {
    let ready = Ready::new();
    bencher.bench_local(|| ready.by_pointer());
}

#[divan::bench]
fn typed_by_hand_pointers_split(bencher: Bencher) {
    let (ready, split) = (Ready::new(), Split::new());
    bencher.bench_local(|| ready.by_split(&split));
}

#[divan::bench]
fn typed_without_json(bencher: Bencher) {
    let ready = Ready::new();
    bencher.bench_local(|| ready.by_fields());
}

#[divan::bench]
fn value(bencher: Bencher) {
    let ready = Ready::new();
    bencher.bench_local(|| ready.resolve::<Value>());
}

#[divan::bench]
fn value_by_hand(bencher: Bencher) {
    let ready = Ready::new();
    bencher.bench_local(|| ready.value_by_pointer());
}

#[divan::bench]
fn value_by_hand_pointers_split(bencher: Bencher) {
    let (ready, split) = (Ready::new(), Split::new());
    bencher.bench_local(|| ready.value_by_split(&split));
}
