//! The own format, `.wn`: a History as one Arrow IPC stream that can be read while it is written.
//!
//! # Version 1
//!
//! A `.wn` file is one Arrow IPC stream (not the file form: there is no footer), whose buffers may
//! be compressed with zstd. Its schema is flat, and everything in it is a row. Any Arrow reader
//! shows it: `pyarrow.ipc.open_stream("a.wn").read_all()`.
//!
//! **Metadata.** The schema has one metadata key, `wastenot`: a JSON object with `version`
//! (`"1.3"`), `machine`, `clock`, `source`, `carries` and `from_ns`: only what is known at the
//! start, so that a recorder can write it. `machine` has `name`, and by CPU number the arrays
//! `core`, `llc`, `node`, `package`, `capacity`, `online`, `isolated` (null where not known);
//! `distances` and `links` between nodes. `source` has `format`, `name`, `kernel` and `notes`, an
//! array of pairs; `clock` has `name` and `nanoseconds`. A reader reads every minor version of a
//! major that it knows; a later minor version may add columns, row kinds and keys, which an
//! earlier one skips.
//!
//! **Columns.** The meaning of a cell depends on the row's `kind`; cells that a kind does not use
//! are null, or 0 in the four columns without nulls.
//!
//! | column | type | |
//! |---|---|---|
//! | `time` | u64, no nulls | stamp of an event, in the clock's unit |
//! | `kind` | u8, no nulls | what the row is, see below |
//! | `context` | u8, no nulls | 0 unknown, 1 task, 2 softirq, 3 hardirq |
//! | `what` | u8, no nulls | variant of the kind |
//! | `cpu` | u16 | CPU that recorded the event |
//! | `by` | u32 | task that was current there |
//! | `task` | u32 | the task that the row is about |
//! | `other` | u32 | a second task |
//! | `on` | u16 | a CPU that the event names |
//! | `from` | u16 | a second one |
//! | `prio` | i16 | kernel priority of `task` |
//! | `other_prio` | i16 | of `other` |
//! | `value` | i64 | a number |
//! | `text` | utf8 | a text |
//!
//! Tasks have ids: the idle task of CPU n is n, all others count up from 8192 in the order of
//! their `task` rows. Names and masks count up from 0 in the order of their rows.
//!
//! **Kinds of rows.** Events, in time order:
//!
//! | kind | event | cells |
//! |---|---|---|
//! | 0 | switch | `task` prev, `other` next, `what` how prev left: 0 R, 1 R+, 2 S, 3 D, 4 I, 5 T, 6 P, 7 X, 8 unknown; `prio`, `other_prio` |
//! | 1 | waking | `task`, `on` its last CPU, `prio` |
//! | 2 | queued | `task`, `on`, `prio`, `what`: 0 wakeup, 1 new, 2 no CPU was selected |
//! | 3 | migrate | `task`, `from`, `on` destination |
//! | 4 | fork | `task` child, `other` parent |
//! | 5, 6 | exec, exit | `task` |
//! | 7 | CPU | `on`, `what`: 0 down, 1 up |
//! | 8 | frequency | `on`, `value` kHz |
//! | 9 | changed | `task`, `what` and `value`: 0 affinity (mask id), 1 policy, 2 nice, 3 cgroup (name id), 4 throttled, 5 migration disabled (0, 1), 6 name (name id) |
//! | 10 | lost | `value` number of events, null when unknown |
//! | 11 | decided | `value` row of the annex `decisions` |
//!
//! Everything else, before its first use:
//!
//! | kind | row | cells |
//! |---|---|---|
//! | 32 | name | `text`; its id is `value` |
//! | 33 | mask | `text` CPUs as `0-3,8`; its id is `value` |
//! | 34 | task | `task`, `value` tid, `by` process id, `other` name id. A second row of a task replaces the first |
//! | 35 | start | `what`: 0 the state at the start follows; 1 a CPU, in order (`value`: 0 unknown, 1 offline, 2 idle, 3 runs `task`); 2 `task` waits (`on`); 3 `task` sleeps (`on` where it ran last); 4 CPU `on` is silent; since 1.3: 5 rows of CPU `on` are missing when this part begins; 6 until `value` tasks may wait of which no row tells |
//! | 36 | annex | `text` JSON: a table's `name`, `label`, `shown` and `columns`, each `[name, label, unit]`; its number is `value`, counted from 0 |
//! | 37 | annex row | `value` its table, `text` a JSON array of cells |
//! | 38 | loss | `text` JSON: `kind`, `cpu`, `time_ns`, `count`, `note`; `what`: 0 as it was met, 1 a sum |
//! | 39 | past | `what`: 0 this is a part of a recording; 1 `text` JSON: what that knew of `task` |
//! | 63 | end | `time` end of the recorded window, `value` its start, `other` what is carried as bits |
//!
//! **Past** (since 1.1). For a part, the silent CPUs are those that the start rows name, and no
//! others. The start rows contain where a task is; past rows contain how it came there: `phase`
//! (`unknown`, `running`, `waiting`, `held`, `sleeping`, `new`, `dead`; `held` since 1.3) and since
//! when (`since_ns`); `cpu`; `prev_cpu`, where it was when it was last woken, created or switched
//! out; `origin` (`unknown`, `wakeup`, `no-selection`, `fork`, `preempted`, `yielded`, `released`;
//! the last since 1.3) and `moves` of its wait; `waking_ns`, `waker`, `waker_context`, `waker_cpu`;
//! `mask`, `policy`, `nice` (since 1.2), `throttled`, `migration_disabled`; `last_cpu`, where it
//! ran or waited last; `moved`, whether the whole recording ever saw it move; `seen_on`, the one
//! CPU where the whole recording saw it, or `several`.
//! `phase`, `since_ns` and `waker_cpu` are in every row; if another key is missing, its value is
//! unknown, none, or no.
//!
//! If the file has no end row, losses of kind 0 and `lost` events add up; if it has one, the sums
//! precede it, and they alone count. A file without an end row was cut short: it holds everything
//! up to its last whole batch, and its window ends with its last event.

mod columns;
mod head;
mod json;
mod messages;
mod past;
mod read;
mod rows;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use read::{is_own, read};
pub use write::Writer;
pub(crate) use write::write_wn;

/// The name of the metadata key of the schema.
const KEY: &str = "wastenot";
/// The version that this code writes.
const VERSION: &str = "1.3";
/// The major version that this code reads.
const MAJOR: u64 = 1;

/// What is known of a whole History, as metadata of files that other programs read: the head, as
/// it is in a `.wn` file; the losses as a JSON array; the end of the window.
#[cfg(feature = "parquet")]
pub(crate) fn metadata(history: &wastenot_model::History) -> Vec<(String, String)> {
    let losses: Vec<String> = history.losses().iter().map(json::loss_to_json).collect();
    vec![
        (KEY.to_owned(), head::to_json(&history.head)),
        (format!("{KEY}.losses"), format!("[{}]", losses.join(","))),
        (format!("{KEY}.to_ns"), history.window().to.0.to_string()),
    ]
}

/// Kinds of rows. The meaning of a number never changes.
mod kind {
    pub(super) const SWITCH: u8 = 0;
    pub(super) const WAKING: u8 = 1;
    pub(super) const QUEUED: u8 = 2;
    pub(super) const MIGRATE: u8 = 3;
    pub(super) const FORK: u8 = 4;
    pub(super) const EXEC: u8 = 5;
    pub(super) const EXIT: u8 = 6;
    pub(super) const CPU: u8 = 7;
    pub(super) const FREQ: u8 = 8;
    pub(super) const CHANGED: u8 = 9;
    pub(super) const LOST: u8 = 10;
    pub(super) const DECIDED: u8 = 11;
    /// Events have smaller numbers than this one.
    pub(super) const NAME: u8 = 32;
    pub(super) const MASK: u8 = 33;
    pub(super) const TASK: u8 = 34;
    pub(super) const START: u8 = 35;
    pub(super) const ANNEX: u8 = 36;
    pub(super) const ANNEX_ROW: u8 = 37;
    pub(super) const LOSS: u8 = 38;
    pub(super) const PAST: u8 = 39;
    pub(super) const END: u8 = 63;
}
