//! The sanity checker: a violation shorter than the confirmation time is transient. A violation
//! longer than period plus confirmation time is reported.

use wastenot_check::sanity::{Rules, Verdicts};
use wastenot_check::{Options, check};
use wastenot_model::Span;

use crate::story::{full, story};

const MS: u64 = 1_000_000;

fn verdicts(from: u64, to: u64) -> Verdicts {
    let lines = format!(
        "0 switch 0 - a S
         0 switch 1 x - S
         {} queued 0 b 0
         {} switch 0 a b S
         {} switch 0 b - S
         {} end",
        from * MS,
        to * MS,
        to * MS + 1,
        20_000 * MS
    );
    check(&story(2, full(), &lines), &Options::default()).sanity
}

#[test]
fn a_violation_shorter_than_the_confirmation_is_not_reported() {
    let found = verdicts(1_960, 2_050);
    assert_eq!((found.suspected, found.confirmed, found.transient), (1, 0, 1));
    assert_eq!(verdicts(1_100, 1_200).suspected, 0);
}

#[test]
fn a_violation_longer_than_period_and_confirmation_is_reported() {
    for from in [1_000, 1_001, 1_500, 1_999] {
        let found = verdicts(from, from + 1_101);
        assert!(found.confirmed >= 1, "from {from} ms");
    }
}

#[test]
fn ten_failing_looks_in_a_row_are_the_modules_report() {
    assert_eq!(verdicts(500, 9_600).consecutive, 0);
    assert_eq!(verdicts(500, 10_600).consecutive, 1);
}

#[test]
fn the_period_is_the_users() {
    let sanity = Rules { period: Span::ms(10), ..Rules::default() };
    let options = Options { sanity, ..Options::default() };
    let history = story(2, full(), "0 switch 0 - a S\n0 switch 1 x - S\n100000000 end");
    assert_eq!(check(&history, &options).sanity.looks, 9);
}

#[test]
fn centuries_of_one_state_are_looked_at_without_a_look_each() {
    let centuries = 300 * 365 * 86_400;
    let lines = format!(
        "0 switch 0 - a S\n0 switch 1 x - S\n1 queued 0 b 0\n{} end",
        centuries * 1_000 * MS
    );
    let found = check(&story(2, full(), &lines), &Options::default()).sanity;
    assert_eq!((found.looks, found.suspected), (centuries - 1, centuries - 1));
    assert_eq!((found.confirmed, found.transient, found.unfinished), (centuries - 1, 0, 0));
    assert_eq!((found.consecutive, found.reports.len()), (1, 1_000));
}
