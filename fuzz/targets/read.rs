//! Fuzzes all formats: the reader detects the format by the content.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wastenot_read::fuzz_one(bytes));
