//! What was taken for granted, in words.

use wastenot_model::{Carries, CpuId, CpuMode, History, Silent, Start};

use super::Extracted;
use super::watch::Tally;

/// What holds of every History, then what this one does not tell.
pub(super) fn assumptions(
    history: &History,
    extracted: &Extracted,
    tally: &Tally,
    pinned: usize,
) -> Vec<String> {
    let mut said: Vec<String> = vec![
        "the work is what tasks did between waits; whoever looked for something in a loop \
         (busy-waiting) worked"
            .into(),
        "CPUs are as fast as they were: caches, memory and busy siblings cost what they cost then"
            .into(),
        "interrupts and the scheduler itself take no time".into(),
        "whoever wakes a task does so after as much CPU time of its own, and a sleeper takes its \
         wakeups in the order in which they come; no waker says that it is about to sleep"
            .into(),
    ];
    said.extend(sleeps(tally));
    said.push(who(extracted));
    said.extend(untold(history, tally, pinned));
    said
}

fn sleeps(tally: &Tally) -> impl Iterator<Item = String> + use<> {
    let (timed, span) = tally.timed;
    let timed = (timed > 0).then(|| {
        format!(
            "sleeps that an interrupt ended (timers, devices, the network) keep their length, also \
             where another task's message was behind it: {timed}, {span} together"
        )
    });
    let unknown = (tally.unknown_wakers > 0).then(|| {
        let count = tally.unknown_wakers;
        format!("sleeps of which nothing tells who ended them keep their length: {count}")
    });
    let unclear = (tally.unclear > 0).then(|| {
        let count = tally.unclear;
        format!(
            "interrupts are not told from tasks: who was current is taken for the waker of {count}"
        )
    });
    let own = (tally.own > 0).then(|| {
        let count = tally.own;
        format!(
            "the scheduler's own threads (migration/N) are no work, and waits for them are left \
             out: {count}"
        )
    });
    [timed, unknown, unclear, own].into_iter().flatten()
}

fn who(extracted: &Extracted) -> String {
    let (tasks, awaited) = (extracted.tasks, extracted.awaited);
    match tasks - awaited {
        0 => format!("the run is over when all {tasks} tasks have done what was recorded"),
        others => format!(
            "the run is over when {awaited} of {tasks} tasks have done what was recorded; {others} \
             others (kernel threads, or not named) run beside them"
        ),
    }
}

/// What the source does not tell, and what of it is not replayed.
fn untold(history: &History, tally: &Tally, pinned: usize) -> Vec<String> {
    let carries = history.head.carries;
    let mut said: Vec<String> = Vec::new();
    if !carries.has(Carries::AFFINITY) {
        said.push(format!(
            "affinities are not recorded: kernel threads whose names say so stay where they were \
             ({pinned}), all others may run anywhere"
        ));
    }
    if !carries.has(Carries::CGROUPS) {
        said.push("cgroups and sessions are not recorded: all tasks are in one group".into());
    } else {
        said.push("cgroups have equal shares, and no quotas".into());
    }
    if !carries.has(Carries::TOPOLOGY) {
        said.push("what CPUs share is not recorded: `--machine` names it".into());
    }
    if tally.throttled {
        said.push("quotas held tasks back; here they do not".into());
    }
    if tally.regrouped > 0 {
        said.push(format!("changes of cgroup are not repeated: {}", tally.regrouped));
    }
    if tally.realtime {
        said.push("real-time tasks are simulated as ordinary ones".into());
    }
    let silent = silent(history);
    if silent > 0 {
        said.push(format!("CPUs of which the trace tells nothing are there to be used: {silent}"));
    }
    if tally.unknown.0 > 0 {
        let (count, span) = tally.unknown;
        said.push(format!(
            "parts of tasks' lives are unknown, and taken for sleep that keeps its length: \
             {count}, {span} together"
        ));
    }
    if tally.losses > 0 {
        said.push("events were lost: who ran or woke whom meanwhile is missing".into());
    }
    if tally.unannounced > 0 {
        let count = tally.unannounced;
        said.push(format!("tasks that ran without any wakeup are there from the start: {count}"));
    }
    said
}

/// CPUs of which the trace tells nothing.
fn silent(history: &History) -> usize {
    let start = Start::infer(history, Silent::Unknown);
    let is_unknown = |cpu: &&CpuId| start.cpus.get(cpu.index()) == Some(&CpuMode::Unknown);
    start.silent.iter().filter(is_unknown).count()
}
