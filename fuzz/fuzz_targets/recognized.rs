#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| plan_fuzz::read(None, text));
