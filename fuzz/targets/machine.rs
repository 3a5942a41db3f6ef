//! Every description of a machine.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wastenot_scenario::fuzz_one(bytes));
