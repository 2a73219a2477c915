#![no_main]

#[path = "../src/to_rust.rs"]
mod to_rust;

use plan_fuzz::{generate, reached, reader};

libfuzzer_sys::fuzz_target!(|data: &[u8]| to_rust::to_rust(data));
