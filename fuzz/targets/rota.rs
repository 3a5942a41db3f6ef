//! Fuzzes texts in Rota, the language of schedulers.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| wastenot_rota::fuzz_one(bytes));
