//! Repetition of the fuzzer's cases.

use super::take_reached;
use std::path::Path;

pub(super) const DIALECTS: [&str; 4] = ["tool_plan", "blueprint", "action_plan", "plan_json"];

/// Replays the seeds of the fuzzer.
pub(super) fn replay_seeds(property: impl Fn(&[u8]), targets: &[&str]) {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let seeds = folders
        .find_map(|it| it.join("fuzz/seeds").canonicalize().ok())
        .expect("the repository has seeds");
    for target in targets {
        let files = std::fs::read_dir(seeds.join(target)).expect("a target has seeds");
        for file in files {
            let path = file.expect("a seed is a file").path();
            property(&std::fs::read(path).expect("a seed can be read"));
        }
    }
}

/// Runs a property on documents from pseudorandom bytes, equal each time. At least one in 20 reaches the assertions that only
/// some documents reach.
pub(super) fn generated(cases: usize, property: impl Fn(&[u8])) {
    take_reached();
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..cases {
        let mut bytes = vec![0; 1 + random.usize(..400)];
        random.fill(&mut bytes[1..]);
        property(&bytes);
    }
    let reached = take_reached();
    println!("{reached} of {cases} are reached");
    assert!(reached > cases / 20, "{reached} of {cases}");
}
