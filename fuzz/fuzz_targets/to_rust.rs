#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| plan_fuzz::rust::to_rust(data));
