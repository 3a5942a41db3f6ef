//! Tables of overheads out of the simulated machine.

use wastenot_model::machine::Profile;
use wastenot_model::{Machine, Span};
use wastenot_realtime::Implementation;
use wastenot_realtime::overheads::{Simulated, curves};
use wastenot_scenario::overheads::{Table, read, write};
use wastenot_scenario::sweep::Criterion;

fn table(implementation: Implementation, cpus: u32, profile: Profile) -> Table {
    let machine = wastenot_scenario::machine(&format!("pack:{} l3:1 core:4 pu:1", cpus / 4));
    let machine: Machine = machine.expect("a machine");
    let simulated =
        Simulated { implementation, machine: &machine, profile, length: Span::ms(100), seed: 3 };
    simulated.table(&[4 * cpus, cpus]).expect("there are such sets")
}

#[test]
fn it_is_a_table_that_can_be_read_and_counted_with() {
    for implementation in Implementation::ALL {
        let table = table(implementation, 8, Profile::X7550_ASSUMED);
        let text = write("of a test\nin two lines", &table);
        assert!(text.starts_with("# of a test\n# in two lines\nkind,at,"), "{text}");
        assert_eq!(read("table.csv", text.as_bytes()).expect("a table"), table);
        let maxima = curves(&table, Criterion::Hard).expect("once").expect("maxima");
        let averages = curves(&table, Criterion::Soft).expect("once").expect("averages");
        assert!(!maxima.schedule.is_empty() && maxima != averages);
        let passes = implementation == Implementation::GedfMp;
        assert_eq!(!maxima.handler.is_empty() && !maxima.request.is_empty(), passes);
        let places: Vec<_> =
            table.rows.iter().filter(|row| row.kind == "schedule").map(|row| row.at).collect();
        assert_eq!(places, [Some(8), Some(32)]);
    }
}

/// Few tasks need no CPU to be interrupted: what is not seen with few is what more were seen to
/// take.
#[test]
fn a_kind_that_is_seen_with_some_numbers_of_tasks_has_a_row_for_each() {
    let machine = wastenot_scenario::machine("smp4").expect("a machine");
    let profile = Profile::X7550_ASSUMED;
    for implementation in Implementation::ALL {
        let length = Span::ms(100);
        let simulated = Simulated { implementation, machine: &machine, profile, length, seed: 1 };
        let counts = [4, 8, 16, 24];
        let table = simulated.table(&counts).expect("there are such sets");
        let mut kinds: Vec<&str> = table.rows.iter().map(|row| row.kind).collect();
        kinds.dedup();
        for kind in kinds {
            let rows: Vec<_> = table.rows.iter().filter(|row| row.kind == kind).collect();
            let places: Vec<_> = rows.iter().map(|row| row.at).collect();
            let all = counts.map(|count| Some(u64::from(count)));
            assert_eq!(places, all, "{implementation:?} {kind}");
            assert!(rows.iter().all(|row| row.max_ns > 0), "{implementation:?} {kind}: {rows:?}");
        }
    }
    // With nothing but few tasks, what is not seen is what an interrupt takes.
    let implementation = Implementation::SchedDeadline;
    let length = Span::ms(100);
    let simulated = Simulated { implementation, machine: &machine, profile, length, seed: 1 };
    let table = simulated.table(&[4]).expect("there are such sets");
    let ipi = table.rows.iter().find(|row| row.kind == "ipi").expect("a row");
    assert!(ipi.max_ns >= profile.ipi.0, "{ipi:?}");
}

#[test]
fn nothing_is_seen_where_nothing_takes_time() {
    for implementation in Implementation::ALL {
        let rows = table(implementation, 4, Profile::FREE).rows;
        assert!(rows.iter().all(|row| row.max_ns == 0), "{implementation:?}: {rows:?}");
    }
}

#[test]
fn one_lock_is_waited_for_by_more_where_there_are_more_cpus() {
    let longest = |cpus| {
        let rows = table(Implementation::GsnEdf, cpus, Profile::X7550_ASSUMED).rows;
        rows.iter().filter(|row| row.kind == "schedule").map(|row| row.max_ns).max()
    };
    assert!(longest(16) > longest(4).map(|ns| 2 * ns));
}

#[test]
fn neither_threads_nor_order_change_a_table() {
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| table(Implementation::SchedDeadline, 8, Profile::X7550_ASSUMED))
    };
    assert_eq!(with(1), with(2));
    assert_eq!(with(1), with(7));
}
