//! Fuzzes descriptions of machines.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wastenot_scenario::fuzz_one(bytes));
