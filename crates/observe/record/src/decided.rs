//! Decisions of the fair class, as the BPF programs send them (`bpf/decisions.h`).

use wastenot_model::policy::Note;
use wastenot_model::{CpuId, CpuSet, Decision, decisions};

use crate::wire::{EVENT, Wire, cpus, words_at};

/// A decision whose task is known by its tid; or the domains of a CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decided {
    /// The task for which a CPU was selected.
    pub(crate) tid: Option<u32>,
    /// All but the task. One, or one for each domain.
    pub(crate) notes: Vec<Note>,
}

/// The selections, then the passes, as `enum decision` numbers them.
const SELECTIONS: [&str; 3] = [Decision::WAKEUP, Decision::FORK, Decision::EXEC];
const PASSES: [&str; 2] = [Decision::NEWIDLE, Decision::PERIODIC];
const DOMAINS: usize = SELECTIONS.len() + PASSES.len();

/// The outcomes of passes that moved nothing, as `enum outcome` numbers them from 1 on.
const OUTCOMES: [&str; 5] = [
    Decision::NOT_DESIGNATED,
    Decision::BALANCED,
    Decision::PINNED,
    Decision::FAILED,
    Decision::ACTIVE,
];

/// Those behind them, which have no sets.
const RESCHED: usize = DOMAINS + 1;
const NUMA: usize = DOMAINS + 2;
const UNSCANNED: usize = DOMAINS + 3;
const DL_SERVER: usize = DOMAINS + 4;

/// What NUMA balancing did with a task, as `enum step` numbers it.
const STEPS: [&str; 3] = ["moved", "stuck", "swapped"];
/// Why it does not scan a part of the memory of a task, or does although the task did not use it
/// (`enum numa_vmaskip_reason`, include/linux/sched/numa_balancing.h; `vma_is_accessed`).
const SKIPS: [&str; 7] = [
    "not scanned: unsuitable",
    "not scanned: shared and read-only",
    "not scanned: inaccessible",
    "not scanned: scan delay",
    "not scanned: not used by this task",
    "scanned: the scan was not complete",
    "not scanned: scanned already",
];
const NO_NODE: u8 = 255;

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
            return Some(Decided { tid: Some(wire.task), notes: vec![note] });
        }
        if what == DOMAINS {
            let notes = domains(CpuId(wire.on), wire.task as usize, set)?;
            return Some(Decided { tid: None, notes });
        }
        if what > DOMAINS {
            return apart(wire, what);
        }
        let what = *PASSES.get(what - SELECTIONS.len())?;
        let outcome = match usize::from(wire.flags).checked_sub(1) {
            None => decisions::moved(wire.task),
            Some(number) => (*OUTCOMES.get(number)?).to_owned(),
        };
        let note = Note::new(CpuId(wire.on), what, None, set(0)?, outcome);
        let note = Note { local: set(1)?, busiest: set(2)?, ..note };
        Some(Decided { tid: None, notes: vec![note] })
    }
}

/// A decision without sets.
fn apart(wire: &Wire, what: usize) -> Option<Decided> {
    let (here, on) = (wire.cpu, CpuId(wire.on));
    let (cpu, what, outcome) = match what {
        RESCHED => (on, Decision::RESCHED, format!("asked by {here}")),
        NUMA => {
            let step = STEPS.get(usize::from(wire.flags))?;
            // No other CPU was found.
            let to = if wire.on == u16::MAX { String::new() } else { format!(" to {on}") };
            (here, Decision::NUMA, format!("{step} {}{to}", wire.from))
        }
        UNSCANNED if wire.flags == NO_NODE => {
            (here, Decision::NUMA, "not scanned: memory of one node only".to_owned())
        }
        UNSCANNED => (here, Decision::NUMA, (*SKIPS.get(usize::from(wire.flags))?).to_owned()),
        DL_SERVER => {
            let outcome = if wire.up() { "start" } else { "stop" };
            (on, Decision::DL_SERVER, outcome.to_owned())
        }
        _ => return None,
    };
    let notes = vec![Note::new(cpu, what, None, CpuSet::new(), outcome)];
    Some(Decided { tid: (wire.task != 0).then_some(wire.task), notes })
}

/// The `count` domains of `cpu`, of the sets by their numbers; `None` if they cannot be right. A
/// CPU without any is alone in one: balancing sees no other.
fn domains(cpu: CpuId, count: usize, set: impl Fn(usize) -> Option<CpuSet>) -> Option<Vec<Note>> {
    let domain = |span: CpuSet, local: CpuSet| {
        let has_it = span.contains(cpu) && local.contains(cpu);
        let note = Note::new(cpu, Decision::DOMAIN, None, span, String::new());
        has_it.then_some(Note { local, ..note })
    };
    let alone = CpuSet::from_iter([cpu]);
    match count {
        0 => Some(vec![domain(alone.clone(), alone)?]),
        _ => (0..count).map(|level| domain(set(2 * level)?, set(2 * level + 1)?)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Kind, wire};

    /// What is read of a record of CPU 3 with three sets of one word.
    fn read(what: u8, flags: u8, task: u32) -> Option<Decided> {
        let wire =
            Wire { from: 5, on: 6, flags, other_prio: what, ..wire(9, 3, Kind::Decided, task, 0) };
        let mut bytes = vec![0; EVENT];
        bytes.extend(SETS.iter().flat_map(|set| set.to_ne_bytes()));
        Decided::read(&wire, &bytes, 1)
    }

    const SETS: [u64; 4] = [0b0100_1111, 0b0100_0011, 0b0100_0100, 0b0100_0000];

    /// The only note.
    fn note(decided: Option<Decided>) -> Note {
        let mut notes = decided.expect("a decision").notes;
        assert_eq!(notes.len(), 1);
        notes.remove(0)
    }

    #[test]
    fn a_selection_names_its_task_and_the_cpus_that_were_looked_at() {
        assert_eq!(read(0, SYNC, 77).expect("a wakeup").tid, Some(77));
        let wakeup = note(read(0, SYNC, 77));
        assert_eq!((wakeup.cpu, wakeup.what), (CpuId(3), Decision::WAKEUP));
        assert_eq!(wakeup.considered, CpuSet::parse("0-3,6").expect("a list"));
        assert_eq!((wakeup.local, &*wakeup.outcome), (CpuSet::new(), "5 to 6, sync"));
        assert_eq!(note(read(1, 0, 77)).outcome, "5 to 6");
        assert_eq!(note(read(2, 0, 77)).what, Decision::EXEC);
    }

    #[test]
    fn a_pass_is_that_of_its_cpu_whichever_cpu_did_it() {
        assert_eq!(read(3, 0, 2).expect("a pass").tid, None);
        let pass = note(read(3, 0, 2));
        assert_eq!((pass.cpu, pass.what, &*pass.outcome), (CpuId(6), Decision::NEWIDLE, "moved 2"));
        assert_eq!([pass.considered, pass.local, pass.busiest].map(|it| it.len()), [5, 3, 2]);
        let outcome = |flags| read(4, flags, 0).map(|decided| note(Some(decided)).outcome);
        let all: Vec<String> = (1..6).map_while(outcome).collect();
        assert_eq!(all, ["not designated", "balanced", "pinned", "failed", "active"]);
    }

    #[test]
    fn the_domains_of_a_cpu_are_read_all_or_none() {
        let domains = |count| {
            let sets = |note: Note| (note.considered.to_string(), note.local.to_string());
            let decided = read(5, 0, count)?;
            assert!(decided.notes.iter().all(|it| it.cpu == CpuId(6) && it.what == "domain"));
            Some(decided.notes.into_iter().map(sets).collect::<Vec<_>>())
        };
        let of = |span: &str, local: &str| (span.to_owned(), local.to_owned());
        assert_eq!(domains(2), Some(vec![of("0-3,6", "0-1,6"), of("2,6", "6")]));
        assert_eq!(domains(0), Some(vec![of("6", "6")]), "balancing sees no other CPU");
        assert_eq!(domains(3), None, "a set is missing");
        let wire = Wire { on: 5, other_prio: 5, ..wire(9, 3, Kind::Decided, 1, 0) };
        let mut bytes = vec![0; EVENT];
        bytes.extend(SETS.iter().flat_map(|set| set.to_ne_bytes()));
        assert_eq!(Decided::read(&wire, &bytes, 1), None, "a domain without its CPU");
    }

    #[test]
    fn what_needs_no_sets_is_read_without_any() {
        let read = |what, flags, task, on| {
            let wire = wire(9, 3, Kind::Decided, task, 0);
            let wire = Wire { from: 5, on, flags, other_prio: what, ..wire };
            let decided = Decided::read(&wire, &[0; EVENT], 1)?;
            let (tid, note) = (decided.tid, note(Some(decided)));
            Some((note.cpu.0, note.what, tid, note.outcome))
        };
        let told = |cpu, what, tid, outcome: &str| Some((cpu, what, tid, outcome.to_owned()));
        assert_eq!(read(6, 0, 7, 1), told(1, "resched", Some(7), "asked by 3"));
        assert_eq!(read(6, 0, 0, 1), told(1, "resched", None, "asked by 3"));
        assert_eq!(read(7, 0, 7, 1), told(3, "numa", Some(7), "moved 5 to 1"));
        assert_eq!(read(7, 1, 7, u16::MAX), told(3, "numa", Some(7), "stuck 5"));
        assert_eq!(read(7, 3, 7, 1), None);
        assert_eq!(read(8, 3, 7, 0), told(3, "numa", Some(7), "not scanned: scan delay"));
        let one = "not scanned: memory of one node only";
        assert_eq!(read(8, 255, 7, 0), told(3, "numa", Some(7), one));
        assert_eq!(read(8, 7, 7, 0), None);
        assert_eq!(read(9, 4, 0, 6), told(6, "dl_server", None, "start"));
        assert_eq!(read(9, 0, 0, 6), told(6, "dl_server", None, "stop"));
        assert_eq!(read(10, 0, 0, 6), None);
    }

    #[test]
    fn what_is_cut_or_of_no_known_kind_is_no_decision() {
        assert_eq!((read(10, 0, 0), read(4, 6, 0)), (None, None));
        let wire = Wire { other_prio: 3, ..wire(9, 3, Kind::Decided, 0, 0) };
        assert_eq!(Decided::read(&wire, &[0; EVENT + 8], 1), None);
    }
}
