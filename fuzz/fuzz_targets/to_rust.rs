#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| plan_fuzz::to_rust::to_rust(data));
