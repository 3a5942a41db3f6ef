//! The tables of what real-time schedulers showed.

use wastenot_model::{Span, Table};
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
    let mut table = Table::new("deadlines", "Deadlines", []).shown(40);
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
            table.row(|row| {
                row.cell("variant", "variant", variant.name.as_str())
                    .cell("tasks", "tasks", name)
                    .cell("jobs", "jobs", all.jobs)
                    .cell("missed", "missed", all.missed)
                    .cell("overdue", "", all.overdue)
                    .ns("tardiness_ns_max", "max tardiness", all.tardiness_ns().map(Span))
                    .ns("response_ns_max", "max response", all.response_ns().map(Span))
            });
        }
    }
    table
}

/// Of each variant and kind of overhead that took anything, all seeds together.
fn overheads(variants: &[&Outcome]) -> Table {
    let mut table = Table::new("overheads", "Overheads", []).shown(40);
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
                table.row(|row| {
                    row.cell("variant", "variant", variant.name.as_str())
                        .cell("kind", "overhead", kind.name())
                        .cell("samples", "samples", all.samples)
                        .ns("mean_ns", "mean", Span(mean_ns))
                        .ns("max_ns", "longest", Span(all.max_ns))
                });
            }
        }
    }
    table
}

/// Of each variant in which a CPU waited for a lock or a line travelled, all seeds together.
fn locks(variants: &[&Outcome]) -> Table {
    let mut table = Table::new("locks", "Locks in the scheduler", []).shown(40);
    for variant in variants {
        let all = waited(variant);
        if all.wait_ns > 0 || all.transfers > 0 {
            table.row(|row| {
                row.cell("variant", "variant", variant.name.as_str())
                    .cell("locks", "locks", all.locks)
                    .cell("taken", "acquired", all.taken)
                    .cell("waited", "contended", all.waited)
                    .ns("wait_ns", "", Span(all.wait_ns))
                    .ns("wait_ns_max", "longest wait", Span(all.wait_ns_max))
                    .cell("contenders_max", "max waiters", all.contenders_max)
                    .cell("transfers", "line transfers", all.transfers)
            });
        }
    }
    table
}

/// The histogram of each variant in which a CPU waited for a lock, all seeds together.
fn lock_waits(variants: &[&Outcome]) -> Table {
    let mut table = Table::new("lock_waits", "Waits for locks in the scheduler", []).shown(40);
    for variant in variants {
        for (from, to, waits) in waited(variant).histogram() {
            table.row(|row| {
                row.cell("variant", "variant", variant.name.as_str())
                    .ns("from_ns", "from", Span(from))
                    .ns("to_ns", "to", Span(to))
                    .cell("waits", "waits", waits)
            });
        }
    }
    table
}

/// How CPUs waited for locks in all runs of a variant.
fn waited(variant: &Outcome) -> Waited {
    let real_time = variant.cells.iter().filter_map(|cell| cell.real_time.as_ref());
    real_time.fold(Waited::default(), |all, it| all.and(&it.locks))
}
