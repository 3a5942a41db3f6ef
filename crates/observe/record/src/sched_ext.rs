//! Which sched_ext scheduler is loaded, and what the kernel counts and dumps of it.

use std::collections::{BTreeMap, VecDeque};
use std::fs;

use wastenot_host::read;
use wastenot_host::sched_ext::{self, ROOT};
use wastenot_model::{Annex, Table, Time};

/// A dump has some lines for each CPU and task; schedulers may be loaded and ejected many times.
const LINES: usize = 1 << 16;
/// What the first line of a dump begins with (kernel/sched/ext.c: scx_dump_state).
const FIRST: &str = "DEBUG DUMP";

/// The name of the loaded scheduler, empty if none is; `None` if the kernel has no sched_ext.
/// `partial` is added if it has only the tasks of the policy SCHED_EXT.
pub(crate) fn loaded() -> Option<String> {
    sched_ext::state()?;
    let partial = if sched_ext::is_partial() { " partial" } else { "" };
    Some(sched_ext::loaded().map_or(String::new(), |name| name + partial))
}

/// What its files say at one moment.
#[derive(Debug, Default)]
pub(crate) struct SchedExt(BTreeMap<String, String>);

impl SchedExt {
    pub(crate) fn now() -> SchedExt {
        let mut all = BTreeMap::new();
        let Some(loaded) = loaded() else { return SchedExt(all) };
        all.insert("loaded".to_owned(), loaded);
        for name in ["state", "nr_rejected", "hotplug_seq", "enable_seq"] {
            let text = read(&format!("{ROOT}/{name}"));
            all.extend(text.map(|text| (name.to_owned(), text)));
        }
        // A folder for each scheduler, `root` as a rule.
        for folder in fs::read_dir(ROOT).into_iter().flatten().flatten() {
            let folder = folder.file_name().to_string_lossy().into_owned();
            let events = sched_ext::events_of(&folder).into_iter();
            all.extend(events.map(|(name, count)| (format!("{folder}/{name}"), count)));
        }
        SchedExt(all)
    }

    /// Both moments side by side; `None` if the kernel has no sched_ext.
    pub(crate) fn since(&self, before: &SchedExt) -> Option<Annex> {
        let mut names: Vec<&String> = before.0.keys().chain(self.0.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let table =
            Table::of("sched_ext", "sched_ext", names, |row, name| {
                let of = |all: &SchedExt| all.0.get(name).cloned();
                row.cell("what", "name", name.as_str())
                    .cell("start", "at the start", of(before))
                    .cell("end", "at the end", of(self))
            });
        (!table.rows.is_empty()).then_some(Annex { table })
    }
}

/// The lines of dumps.
#[derive(Debug, Default)]
pub(crate) struct Dump {
    lines: VecDeque<(Time, String)>,
}

impl Dump {
    pub(crate) fn push(&mut self, time: Time, line: String) {
        if self.lines.len() == LINES {
            // The oldest dump goes, unless it is the only one: then the rest of it does.
            let second = self.lines.iter().skip(1).position(|(_, line)| line.starts_with(FIRST));
            let Some(first) = second else { return };
            self.lines.drain(..=first);
        }
        self.lines.push_back((time, line));
    }

    /// What was dumped during the recording, if anything was.
    pub(crate) fn finish(&mut self) -> Option<Annex> {
        let lines = self.lines.drain(..);
        let table =
            Table::of("sched_ext_dump", "Dumps of sched_ext", lines, |row, (time, line)| {
                row.at("time_ns", "at", time).cell("line", "line", line)
            });
        (!table.rows.is_empty()).then_some(Annex { table })
    }
}

#[cfg(test)]
mod tests {
    use wastenot_model::Value;

    use super::*;

    #[test]
    fn the_oldest_dump_makes_room_and_a_single_one_is_cut() {
        let mut dump = Dump::default();
        let mut write = |dumps: u64, lines: usize| {
            for time in 1..=dumps {
                dump.push(Time(time), FIRST.to_owned());
                (1..lines).for_each(|_| dump.push(Time(time), "CPU 0".to_owned()));
            }
            dump.finish().expect("lines").table.rows
        };
        let rows = write(5, LINES / 3);
        assert_eq!((rows.len(), rows[0][0].int()), (LINES / 3 * 3, Some(3)));
        assert_eq!(rows[0][1], FIRST.into());
        assert_eq!(write(1, 2 * LINES).len(), LINES);
    }

    #[test]
    fn what_was_there_at_one_moment_only_is_unknown_at_the_other() {
        let at = |rows: &[(&str, &str)]| {
            let own = |&(name, text): &(&str, &str)| (name.to_owned(), text.to_owned());
            SchedExt(rows.iter().map(own).collect())
        };
        let start = at(&[("loaded", ""), ("nr_rejected", "0")]);
        let end = at(&[("loaded", "rusty"), ("root/SCX_EV_BYPASS_ACTIVATE", "1")]);
        let told = end.since(&start).expect("something").table.rows;
        assert_eq!(told[0], ["loaded".into(), "".into(), "rusty".into()]);
        assert_eq!(told[1], ["nr_rejected".into(), "0".into(), Value::Unknown]);
        assert_eq!(told[2][1..], [Value::Unknown, "1".into()]);
        assert_eq!(at(&[]).since(&at(&[])), None);
    }
}
