//! The basis of watching: the timer looks.

use wastenot_model::Help;
use wastenot_needs::skipped;
use wastenot_record::watch;

#[test]
fn a_timer_looks_at_all_cpus_or_at_none() {
    match watch::look_ns() {
        Ok([none, all]) => assert!(none > 0 && all > 0, "{none} and {all} ns: it did not look"),
        Err(error) => {
            let test = "a_timer_looks_at_all_cpus_or_at_none";
            skipped(test, &error.to_string(), &error.help());
        }
    }
}
