//! What tasks become with overheads: cases of SchedCAT's tests, and answers that it gave.

use wastenot_bounds::overheads::{Accounting, Curve, Overheads, TooMuch, inflate};
use wastenot_model::sporadic::{Sporadic, TaskSet};

fn tasks() -> TaskSet {
    let tasks = [(10_000, 100_000), (5_000, 50_000)];
    TaskSet::new(tasks.map(|(c, t)| Sporadic::implicit(c, t)).to_vec()).expect("a task set")
}

fn us(us: u64) -> Curve {
    Curve::constant(us * 1_000)
}

/// C of both tasks on four CPUs.
fn wcets(overheads: &Overheads, accounting: Accounting) -> [u64; 2] {
    let inflated = inflate(&tasks(), 4, overheads, accounting).expect("something is left");
    [inflated[0].wcet_us, inflated[1].wcet_us]
}

#[test]
fn one_overhead_at_a_time() {
    use Accounting::{Shared, SharedDedicated};
    let none = Overheads::default;
    for (overheads, accounting, expected) in [
        (Overheads { schedule: us(2), ..none() }, Shared, [10_004, 5_004]),
        (Overheads { switch: us(1), ..none() }, Shared, [10_002, 5_002]),
        (Overheads { cache_delay: us(1), ..none() }, Shared, [10_001, 5_001]),
        (Overheads { ipi: us(1), ..none() }, Shared, [10_001, 5_001]),
        (Overheads { tick: us(1), ..none() }, Shared, [10_013, 5_008]),
        (Overheads { release: us(1), ..none() }, Shared, [10_005, 5_005]),
        (Overheads { ipi: us(100), ..none() }, SharedDedicated, [10_100, 5_100]),
        (Overheads { ipi: us(100), release: us(133), ..none() }, SharedDedicated, [10_233, 5_233]),
        (Overheads { schedule: us(3_000), ..none() }, Shared, [16_000, 11_000]),
    ] {
        assert_eq!(wcets(&overheads, accounting), expected, "{overheads:?}");
    }
    let late = Overheads { latency: us(1), ..none() };
    let tasks = inflate(&tasks(), 4, &late, Shared).expect("something is left");
    assert_eq!([tasks[0].wcet_us, tasks[1].wcet_us], [10_000, 5_000]);
    assert_eq!([tasks[0].period_us, tasks[1].deadline_us], [99_999, 49_999]);
}

#[test]
fn the_tick_takes_its_share() {
    let tasks = TaskSet::new([2_000, 3_000].map(|c| Sporadic::implicit(c, 100_000)).to_vec());
    let overheads = Overheads { tick: us(2_000), quantum_us: 5_000, ..Overheads::default() };
    let shared = Accounting::Shared;
    let inflated = inflate(&tasks.expect("a task set"), 1, &overheads, shared).expect("tasks");
    assert_eq!(inflated.iter().map(|it| it.wcet_us).collect::<Vec<_>>(), [10_000, 11_667]);
}

#[test]
fn all_overheads_at_once() {
    let overheads = Overheads {
        schedule: us(20),
        switch: us(5),
        release: us(15),
        tick: us(2),
        ipi: us(4),
        latency: us(30),
        handler: us(6),
        request: us(12),
        ..Overheads::default()
    };
    assert_eq!(wcets(&overheads, Accounting::Shared), [10_143, 5_131]);
    assert_eq!(wcets(&overheads, Accounting::SharedDedicated), [10_094, 5_084]);
    assert_eq!(wcets(&overheads, Accounting::MessagePassing), [10_137, 5_127]);
    let one = inflate(&tasks(), 1, &overheads, Accounting::Shared).expect("something is left");
    assert_eq!([one[0].wcet_us, one[1].wcet_us], [10_139, 5_127]);
    assert_eq!([one[0].period_us, one[1].deadline_us], [99_970, 49_970]);
    let storm = Overheads { release: us(40_000), ..overheads };
    let shared = Accounting::Shared;
    assert_eq!(inflate(&tasks(), 4, &storm, shared), Err(TooMuch::Interrupts));
}

#[test]
fn a_job_pays_for_the_working_set_of_who_preempts_it() {
    let sizes = [64, 8];
    let sized = tasks().iter().zip(sizes).map(|(it, wss_kb)| Sporadic { wss_kb, ..*it }).collect();
    let curve = Curve::through(vec![(0, 0), (512, 1_024_000)]).expect("a curve");
    let overheads = Overheads { cache_delay: curve, ..Overheads::default() };
    let tasks = TaskSet::new(sized).expect("a task set");
    let shared = inflate(&tasks, 4, &overheads, Accounting::Shared).expect("tasks");
    assert_eq!(shared.iter().map(|it| it.wcet_us).collect::<Vec<_>>(), [10_016, 5_128]);
    let passing = inflate(&tasks, 4, &overheads, Accounting::MessagePassing).expect("tasks");
    assert_eq!(passing.iter().map(|it| it.wcet_us).collect::<Vec<_>>(), [10_128, 5_128]);
}

/// Releases take just about a CPU.
#[test]
fn what_interrupts_leave_is_told_in_a_budget_or_unknown() {
    let storm = |count: u64| {
        let mut periods: Vec<u64> = (0..count).map(|n| 2 * count + 2 * n + 1).collect();
        let mut left = 1.0 - periods.iter().map(|&it| 1.0 / it as f64).sum::<f64>();
        while left > 1e-10 {
            periods.push((1.0 / left) as u64 + 1);
            left -= 1.0 / periods[periods.len() - 1] as f64;
        }
        let tasks = periods.into_iter().map(|period| Sporadic::implicit(1, period));
        let overheads = Overheads { release: us(1), ..Overheads::default() };
        let tasks = TaskSet::new(tasks.collect()).expect("a task set");
        inflate(&tasks, 4, &overheads, Accounting::Shared).map(|tasks| tasks.len())
    };
    // Doubles cannot tell that it is more; fractions do.
    assert_eq!(storm(10), Err(TooMuch::Interrupts));
    assert_eq!(storm(200_000), Err(TooMuch::Close));
}

/// Nobody is charged at a size that nobody has.
#[test]
fn who_is_alone_pays_for_nobody_else() {
    let sized = |sizes: &[u32]| {
        let of = |&wss_kb: &u32| Sporadic { wss_kb, ..tasks()[1] };
        TaskSet::new(sizes.iter().map(of).collect()).expect("a task set")
    };
    let curve = Curve::through(vec![(32, 100_000), (64, 110_000)]).expect("a curve");
    let overheads = Overheads { cache_delay: curve, ..Overheads::default() };
    let wcets = |sizes: &[u32], who| {
        let tasks = inflate(&sized(sizes), 4, &overheads, who).expect("something is left");
        tasks.iter().map(|it| it.wcet_us).collect::<Vec<_>>()
    };
    let at = |sizes: &[u32], who| overheads.beyond(&sized(sizes), 4, who).map(|it| it.at);
    use Accounting::{MessagePassing, Shared, SharedDedicated};
    for who in [Shared, SharedDedicated] {
        assert_eq!((wcets(&[64], who), at(&[64], who)), (vec![5_000], None));
        assert_eq!((wcets(&[64, 32], who), at(&[64, 32], who)), (vec![5_100, 5_110], None));
        // Only what preempts is asked for: the two largest.
        assert_eq!((at(&[999], who), at(&[2, 32, 64], who)), (None, None));
        assert_eq!((at(&[2, 64], who), at(&[64, 64, 65], who)), (Some(2), Some(65)));
    }
    let all = [&[64][..], &[64, 32], &[2, 64]].map(|sizes| at(sizes, MessagePassing));
    assert_eq!((wcets(&[64], MessagePassing), all), (vec![5_110], [None, None, None]));
    assert_eq!(at(&[65, 2], MessagePassing), Some(65));
}

#[test]
fn what_is_left_of_a_short_period() {
    let late = Overheads { latency: us(50_000), ..Overheads::default() };
    let passing = Accounting::MessagePassing;
    assert_eq!(inflate(&tasks(), 4, &late, passing), Err(TooMuch::Latency { task: 2 }));
}

/// What is asked for is known before it is counted, and only of what jobs pay for.
#[test]
fn kinds_that_were_not_measured_there_or_not_at_all() {
    use Accounting::{MessagePassing, Shared, SharedDedicated};
    let at = |points: &[(u64, u64)]| Curve::through(points.to_vec()).expect("a curve");
    let overheads = Overheads {
        schedule: us(9),
        ipi: at(&[(8, 4_000)]),
        handler: at(&[(1, 3_000), (4, 3_000)]),
        release: at(&[(1, 90_000_000), (2, 90_000_000)]),
        cache_delay: at(&[(4, 1), (64, 2)]),
        ..Overheads::default()
    };
    let sized = |wss_kb| TaskSet::new(vec![Sporadic { wss_kb, ..tasks()[0] }; 3]).expect("tasks");
    let beyond = |tasks: &TaskSet, cpus, who| {
        overheads.beyond(tasks, cpus, who).map(|it| (it.kind, it.at, it.first, it.last))
    };
    // Nothing is left for tasks, and still it is told.
    assert_eq!(inflate(&sized(4), 1, &overheads, Shared), Err(TooMuch::Interrupts));
    assert_eq!(beyond(&sized(4), 1, Shared), Some(("release", 3, 1, 2)));
    let overheads = Overheads { release: us(1), ..overheads.clone() };
    let beyond = |tasks: &TaskSet, cpus, who| {
        overheads.beyond(tasks, cpus, who).map(|it| (it.kind, it.at, it.first, it.last))
    };
    assert_eq!(beyond(&sized(4), 1, Shared), None);
    assert_eq!(beyond(&sized(4), 2, Shared), Some(("ipi", 3, 8, 8)));
    assert_eq!(beyond(&sized(4), 1, SharedDedicated), Some(("ipi", 3, 8, 8)));
    assert_eq!(beyond(&sized(65), 1, Shared), Some(("cache_delay", 65, 4, 64)));
    assert_eq!(beyond(&TaskSet::default(), 1, Shared), None);
    let five = TaskSet::new(vec![tasks()[0]; 5]).expect("tasks");
    let overheads = Overheads { ipi: us(4), cache_delay: Curve::default(), ..overheads.clone() };
    let beyond = |who| overheads.beyond(&five, 4, who).map(|it| it.kind);
    assert_eq!((beyond(Shared), beyond(MessagePassing)), (None, Some("handler")));
    let missing = ["switch", "tick", "latency", "cache_delay", "cache_load"];
    assert_eq!(overheads.missing(4, Shared), missing);
    let missing = ["switch", "tick", "latency", "request", "cache_delay", "cache_load"];
    assert_eq!(overheads.missing(4, MessagePassing), missing);
    assert_eq!(Overheads::default().missing(1, Shared).len(), 7);
    assert_eq!(Overheads::default().missing(2, Shared).len(), 8);
}
