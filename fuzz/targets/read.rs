//! Every format: the content decides which.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wastenot_read::fuzz_one(bytes));
