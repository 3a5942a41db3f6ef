//! Decides if a sched_ext scheduler had the tasks of a trace.

use wastenot_model::History;

/// The sched_ext schedulers from the start to the end of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loaded {
    /// No scheduler was loaded, or the source does not record it.
    Never,
    /// A scheduler had all tasks all the time.
    Always,
    /// A scheduler was loaded for a part of the time, or had only some of the tasks.
    Partly,
}

impl Loaded {
    /// By the note `sched_ext` (the scheduler at the start; empty: none) and the annex of this name
    /// (what /sys/kernel/sched_ext said at both ends).
    pub(crate) fn of(history: &History) -> Loaded {
        let start = history.head.source.note("sched_ext").unwrap_or_default();
        let at_ends = |wanted: &str| {
            let mut rows = history.annex_cells("sched_ext", ["what", "start", "end"]);
            let row = rows.find(|[what, ..]| what.text() == Some(wanted));
            row.map_or([None; 2], |[_, start, end]| [start.text(), end.text()])
        };
        let [_, end] = at_ends("loaded");
        // It counts how often one was enabled.
        let enabled = at_ends("enable_seq");
        let meanwhile = matches!(enabled, [Some(start), Some(end)] if start != end);
        match end.unwrap_or(start) {
            _ if meanwhile => Loaded::Partly,
            "" if start.is_empty() => Loaded::Never,
            end if end == start && !start.ends_with(" partial") => Loaded::Always,
            _ => Loaded::Partly,
        }
    }
}
