//! The second and third invariant of the sanity checker, on histories of a few lines.

use wastenot_check::sanity::Verdicts;
use wastenot_check::{Options, check};

use crate::story::{full, story};

const MS: u64 = 1_000_000;

fn verdicts(cpus: usize, lines: &str) -> Verdicts {
    check(&story(cpus, full(), lines), &Options::default()).sanity
}

/// A second in which `a` has CPU 0 alone while `b` and `c` share CPU 1 by turns of 100 ms.
fn unfair(b: &str, first: &str) -> String {
    let mut lines = format!("0 switch 0 - a S\n0 switch 1 - {b} S\n0 queued 1 c 1\n{first}");
    for turn in 1..10 {
        let (out, next) = if turn % 2 == 1 { (b, "c") } else { ("c", b) };
        lines += &format!("\n{} switch 1 {out} {next} R", turn * 100 * MS);
    }
    lines + &format!("\n{} end", 1_000 * MS + 1)
}

#[test]
fn tasks_that_wait_longer_than_their_equals_have_a_deficit() {
    let found = verdicts(2, &unfair("b", ""));
    // None waited for a, half the time for the others: the mean is 333 ms.
    assert_eq!(found.deficits, 3);
    let waits: Vec<u64> = found.deficit_reports.iter().map(|it| it.wait.0 / MS).collect();
    assert_eq!(waits.iter().sum::<u64>(), 1_000, "{waits:?}");
    assert!(found.deficit_reports.iter().all(|it| it.mean.0 / MS == 333));
}

#[test]
fn tasks_that_wait_equally_long_have_none() {
    let mut lines = String::from("0 switch 0 - a S\n0 queued 0 b 0\n");
    for turn in 1..100 {
        let (out, next) = if turn % 2 == 1 { ("a", "b") } else { ("b", "a") };
        lines += &format!("{} switch 0 {out} {next} R\n", turn * 10 * MS);
    }
    lines += &format!("{} end", 1_000 * MS + 1);
    assert_eq!(verdicts(1, &lines).deficits, 0);
}

#[test]
fn a_mean_that_is_small_allows_220_ms_a_second() {
    let of = |wait: u64| {
        let lines = format!(
            "0 switch 0 - a S
             0 switch 1 - b S
             0 switch 2 - c S
             0 switch 3 - d S
             0 queued 3 e 3
             {} switch 3 d - S
             {} switch 3 - e S
             {} end",
            wait * MS,
            wait * MS,
            1_000 * MS + 1
        );
        verdicts(4, &lines).deficits
    };
    // Of four: 52 and 58 ms on average.
    assert_eq!((of(210), of(230)), (0, 1));
}

#[test]
fn who_may_not_move_or_is_the_kernels_has_no_equals() {
    // Without c the other two waited 0 and 500 ms: the mean is 250.
    let pinned = verdicts(2, &unfair("b", "0 mask c 1"));
    assert_eq!(pinned.deficits, 2);
    let pinned = verdicts(2, &unfair("b", "0 mask c 1\n0 mask b 1"));
    assert_eq!(pinned.deficits, 0, "a alone is its own mean");
    assert_eq!(verdicts(2, &unfair("kworker/u8:1", "")).deficits, 2);
    let throttled = verdicts(2, &unfair("b", "0 throttled c yes"));
    assert_eq!(throttled.deficits, 2);
}

#[test]
fn a_year_of_one_state_is_summed_up_at_once() {
    let seconds = 365 * 86_400;
    let lines = format!(
        "0 switch 0 - a S\n0 switch 1 - b S\n0 queued 1 c 1\n{} end",
        seconds * 1_000 * MS + 1
    );
    // a never waits, c always does, and b never.
    assert_eq!(verdicts(2, &lines).deficits, 3 * seconds);
}

/// `m` is moved from CPU 0, where `a` runs beside it, to CPU 1 with as many as named.
fn moved(others: &str, first: &str) -> Verdicts {
    let mut lines = String::from("0 switch 0 - a S\n0 queued 0 m 0\n0 switch 1 x - S\n");
    for (index, other) in others.split_whitespace().enumerate() {
        match index {
            0 => lines += &format!("1 switch 1 - {other} S\n"),
            _ => lines += &format!("2 queued 1 {other} 1\n"),
        }
    }
    verdicts(2, &format!("{lines}{first}\n10 migrate 1 m 1\n20 end"))
}

#[test]
fn a_move_to_where_no_less_waits_is_useless() {
    assert_eq!(moved("", "").useless, 0);
    assert_eq!(moved("b", "").useless, 0);
    let found = moved("b c", "");
    assert_eq!(found.useless, 1);
    let it = found.useless_reports[0];
    assert_eq!((it.from.0, it.to.0), (0, 1));
}

#[test]
fn loads_are_weighted_by_nice() {
    assert_eq!(moved("b c", "3 nice c 19").useless, 0);
    assert_eq!(moved("b", "3 nice b -10").useless, 1);
}

#[test]
fn who_may_not_stay_does_not_move_uselessly() {
    assert_eq!(moved("b c", "3 mask m 1").useless, 0);
    assert_eq!(moved("b c", "3 mask m 0-1").useless, 1);
}

#[test]
fn a_move_at_a_wakeup_is_none_of_a_waiting_task() {
    let lines = "0 switch 0 m a S\n0 switch 1 x b S\n0 queued 1 c 1\n10 waking 0 m 0
                 11 migrate 0 m 1\n12 queued 0 m 1\n20 end";
    assert_eq!(verdicts(2, lines).useless, 0);
}
