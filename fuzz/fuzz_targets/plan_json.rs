#![no_main]

use plan_runtime::dynamic::Dialect;

libfuzzer_sys::fuzz_target!(|text: &str| plan_fuzz::read(Some(Dialect::PlanJson), text));
