//! The tables of what real-time schedulers showed.

use wastenot_model::report::Unit;
use wastenot_model::{Column, Span, Table};
use wastenot_sim::Overhead;

use crate::experiment::Outcome;
use crate::real_time::{Deadlines, Sampled, Waited};

/// The tables of variants under real-time schedulers: none if there is none.
pub(crate) fn tables(variants: &[Outcome]) -> Vec<Table> {
    let runs = |it: &Outcome| it.cells.iter().any(|cell| cell.real_time.is_some());
    let variants: Vec<&Outcome> = variants.iter().filter(|it| runs(it)).collect();
    if variants.is_empty() {
        return Vec::new();
    }
    let mut tables = vec![deadlines(&variants)];
    let costs = overheads(&variants);
    tables.extend((!costs.rows.is_empty()).then_some(costs));
    for table in [locks(&variants), lock_waits(&variants)] {
        tables.extend((!table.rows.is_empty()).then_some(table));
    }
    tables
}

/// Of each variant and kind of tasks, all seeds together.
fn deadlines(variants: &[&Outcome]) -> Table {
    let columns = [
        Column::new("variant", "variant", Unit::None),
        Column::new("tasks", "tasks", Unit::None),
        Column::new("jobs", "jobs", Unit::None),
        Column::new("missed", "missed", Unit::None),
        Column::for_programs("overdue", Unit::None),
        Column::new("tardiness_ns_max", "max tardiness", Unit::Ns),
        Column::new("response_ns_max", "max response", Unit::Ns),
    ];
    let mut table = Table::new("deadlines", "Deadlines", columns);
    table.shown = 40;
    for variant in variants {
        let mut kinds: Vec<(&str, Deadlines)> = Vec::new();
        for (name, more) in variant
            .cells
            .iter()
            .filter_map(|cell| cell.real_time.as_ref())
            .flat_map(|it| &it.deadlines)
        {
            match kinds.iter_mut().find(|(known, _)| known == name) {
                Some((_, all)) => *all = all.and(*more),
                None => kinds.push((name, *more)),
            }
        }
        for (name, all) in kinds {
            table.push(vec![
                variant.name.as_str().into(),
                name.into(),
                all.jobs.into(),
                all.missed.into(),
                all.overdue.into(),
                all.tardiness_ns().map(Span).into(),
                all.response_ns().map(Span).into(),
            ]);
        }
    }
    table
}

/// Of each variant and kind of overhead that took anything, all seeds together.
fn overheads(variants: &[&Outcome]) -> Table {
    let columns = [
        Column::new("variant", "variant", Unit::None),
        Column::new("kind", "overhead", Unit::None),
        Column::new("samples", "samples", Unit::None),
        Column::new("mean_ns", "mean", Unit::Ns),
        Column::new("max_ns", "longest", Unit::Ns),
    ];
    let mut table = Table::new("overheads", "Overheads", columns);
    table.shown = 40;
    for variant in variants {
        for kind in Overhead::ALL {
            let real_time = variant.cells.iter().filter_map(|cell| cell.real_time.as_ref());
            let of = real_time.flat_map(|it| &it.overheads);
            let all = of.filter(|(name, _)| name == kind.name()).fold(
                Sampled::default(),
                |all, (_, more)| Sampled {
                    samples: all.samples + more.samples,
                    sum_ns: all.sum_ns + more.sum_ns,
                    max_ns: all.max_ns.max(more.max_ns),
                },
            );
            if all.max_ns > 0 {
                let mean_ns = all.sum_ns / all.samples;
                table.push(vec![
                    variant.name.as_str().into(),
                    kind.name().into(),
                    all.samples.into(),
                    Span(mean_ns).into(),
                    Span(all.max_ns).into(),
                ]);
            }
        }
    }
    table
}

/// Of each variant in which a CPU waited for a lock or a line travelled, all seeds together.
fn locks(variants: &[&Outcome]) -> Table {
    let columns = [
        Column::new("variant", "variant", Unit::None),
        Column::new("locks", "locks", Unit::None),
        Column::new("taken", "acquired", Unit::None),
        Column::new("waited", "contended", Unit::None),
        Column::for_programs("wait_ns", Unit::Ns),
        Column::new("wait_ns_max", "longest wait", Unit::Ns),
        Column::new("contenders_max", "max waiters", Unit::None),
        Column::new("transfers", "line transfers", Unit::None),
    ];
    let mut table = Table::new("locks", "Locks in the scheduler", columns);
    table.shown = 40;
    for variant in variants {
        let all = waited(variant);
        if all.wait_ns > 0 || all.transfers > 0 {
            table.push(vec![
                variant.name.as_str().into(),
                all.locks.into(),
                all.taken.into(),
                all.waited.into(),
                Span(all.wait_ns).into(),
                Span(all.wait_ns_max).into(),
                all.contenders_max.into(),
                all.transfers.into(),
            ]);
        }
    }
    table
}

/// The histogram of each variant in which a CPU waited for a lock, all seeds together.
fn lock_waits(variants: &[&Outcome]) -> Table {
    let columns = [
        Column::new("variant", "variant", Unit::None),
        Column::new("from_ns", "from", Unit::Ns),
        Column::new("to_ns", "to", Unit::Ns),
        Column::new("waits", "waits", Unit::None),
    ];
    let mut table = Table::new("lock_waits", "Waits for locks in the scheduler", columns);
    table.shown = 40;
    for variant in variants {
        for (from, to, waits) in waited(variant).histogram() {
            table.push(vec![
                variant.name.as_str().into(),
                Span(from).into(),
                Span(to).into(),
                waits.into(),
            ]);
        }
    }
    table
}

/// How CPUs waited for locks in all runs of a variant.
fn waited(variant: &Outcome) -> Waited {
    let real_time = variant.cells.iter().filter_map(|cell| cell.real_time.as_ref());
    real_time.fold(Waited::default(), |all, it| all.and(&it.locks))
}
