//! Cases of the fuzzer, repeated.

#[path = "../../../fuzz/src/generate.rs"]
#[allow(unreachable_pub, dead_code)]
mod generate;
#[path = "../../../fuzz/src/input.rs"]
#[allow(unreachable_pub)]
mod input;
#[path = "../../../plan-runtime/tests/reading/replay.rs"]
mod replay;
#[path = "../../../fuzz/src/to_rust.rs"]
#[allow(unreachable_pub)]
mod to_rust;

use input::{reached, reader, take_reached};
use replay::{DIALECTS, generated, replay_seeds};

#[test]
fn source() {
    replay_seeds(to_rust::to_rust, &["to_rust"]);
    replay_seeds(to_rust::to_rust, &DIALECTS);
    generated(1_000, to_rust::to_rust);
}
