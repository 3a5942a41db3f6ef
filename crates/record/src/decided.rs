//! Decisions of the fair class, as the BPF programs send them (`bpf/decisions.h`).

use wastenot_model::policy::Note;
use wastenot_model::{CpuId, Decision, decisions};

use crate::weave::cpus;
use crate::wire::{EVENT, Wire, words_at};

/// A decision whose task is known by its tid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decided {
    /// The task for which a CPU was selected.
    pub(crate) tid: Option<u32>,
    /// All but the task.
    pub(crate) note: Note,
}

/// The selections, then the passes, as `enum decision` numbers them.
const SELECTIONS: [&str; 3] = [Decision::WAKEUP, Decision::FORK, Decision::EXEC];
const PASSES: [&str; 2] = [Decision::NEWIDLE, Decision::PERIODIC];

/// The outcomes of passes that moved nothing, as `enum outcome` numbers them from 1 on.
const OUTCOMES: [&str; 5] = [
    Decision::NOT_DESIGNATED,
    Decision::BALANCED,
    Decision::PINNED,
    Decision::FAILED,
    Decision::ACTIVE,
];

const SYNC: u8 = 1;

impl Decided {
    /// The decision in `bytes`, which begin with `wire` and whose sets have `words` words; `None`
    /// if it is not of this build.
    pub(crate) fn read(wire: &Wire, bytes: &[u8], words: usize) -> Option<Decided> {
        let set = |number: usize| {
            let at = EVENT + number * words * 8;
            let set = words_at(bytes, at, words);
            (set.len() == words).then(|| cpus(&set))
        };
        let what = usize::from(wire.other_prio);
        if let Some(&what) = SELECTIONS.get(what) {
            let (from, to) = (CpuId(wire.from), CpuId(wire.on));
            let outcome = decisions::selected(from, to, wire.flags & SYNC != 0);
            let note = Note::new(wire.cpu, what, None, set(0)?, outcome);
            return Some(Decided { tid: Some(wire.task), note });
        }
        let what = *PASSES.get(what - SELECTIONS.len())?;
        let outcome = match usize::from(wire.flags).checked_sub(1) {
            None => decisions::moved(wire.task),
            Some(number) => (*OUTCOMES.get(number)?).to_owned(),
        };
        let note = Note::new(CpuId(wire.on), what, None, set(0)?, outcome);
        let note = Note { local: set(1)?, busiest: set(2)?, ..note };
        Some(Decided { tid: None, note })
    }
}

#[cfg(test)]
mod tests {
    use wastenot_model::CpuSet;

    use super::*;
    use crate::wire::{Kind, wire};

    /// What is read of a record of CPU 3 with three sets of one word.
    fn read(what: u8, flags: u8, task: u32) -> Option<Decided> {
        let wire =
            Wire { from: 5, on: 6, flags, other_prio: what, ..wire(9, 3, Kind::Decided, task, 0) };
        let mut bytes = vec![0; EVENT];
        bytes.extend([0b1111_u64, 0b0011, 0b0100].iter().flat_map(|set| set.to_ne_bytes()));
        Decided::read(&wire, &bytes, 1)
    }

    #[test]
    fn a_selection_names_its_task_and_the_cpus_that_were_looked_at() {
        let Decided { tid, note } = read(0, SYNC, 77).expect("a wakeup");
        assert_eq!((tid, note.cpu, note.what), (Some(77), CpuId(3), Decision::WAKEUP));
        assert_eq!(note.considered, CpuSet::parse("0-3").expect("a list"));
        assert_eq!((note.local, &*note.outcome), (CpuSet::new(), "5 to 6, sync"));
        assert_eq!(read(1, 0, 77).expect("a fork").note.outcome, "5 to 6");
        assert_eq!(read(2, 0, 77).expect("an exec").note.what, Decision::EXEC);
    }

    #[test]
    fn a_pass_is_that_of_its_cpu_whichever_cpu_did_it() {
        let Decided { tid, note } = read(3, 0, 2).expect("a pass");
        assert_eq!((tid, note.cpu, note.what), (None, CpuId(6), Decision::NEWIDLE));
        assert_eq!((&*note.outcome, note.considered.len(), note.local.len()), ("moved 2", 4, 2));
        assert_eq!(note.busiest.to_string(), "2");
        let outcome = |flags| read(4, flags, 0).map(|decided| decided.note.outcome);
        let all: Vec<String> = (1..6).map_while(outcome).collect();
        assert_eq!(all, ["not designated", "balanced", "pinned", "failed", "active"]);
    }

    #[test]
    fn what_is_cut_or_of_no_known_kind_is_no_decision() {
        assert_eq!((read(5, 0, 0), read(4, 6, 0)), (None, None));
        let wire = Wire { other_prio: 3, ..wire(9, 3, Kind::Decided, 0, 0) };
        assert_eq!(Decided::read(&wire, &[0; EVENT + 8], 1), None);
    }
}
