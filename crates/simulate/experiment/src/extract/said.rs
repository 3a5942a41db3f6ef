//! The assumptions, in words.

use wastenot_model::{Carries, CpuId, CpuMode, History, Silent, Span, Start};

use super::awaited::{Awaited, Why};
use super::watch::Tally;
use super::{Extracted, is_part, is_simulated};

/// The assumptions for every History, then those for what this one lacks.
pub(super) fn assumptions(
    history: &History,
    extracted: &Extracted,
    tally: &Tally,
    whom: &Awaited,
    pinned: usize,
) -> Vec<String> {
    let simulated = is_simulated(history);
    let mut said: Vec<String> =
        vec![
        "the work of a task is its CPU time between its waits; the CPU time of busy-waiting is \
         part of this work".into(),
        "CPUs are as fast as in the trace; caches, memory and busy siblings cause the same delays \
         as in the trace"
            .into(),
        match extracted.ipi {
            Span::ZERO => "interrupts and the scheduler itself take no time".into(),
            ipi => format!("a kicked CPU reacts after {ipi}, as in the trace"),
        },
        format!(
            "a task wakes another task after it has used the same amount of CPU time as in the \
             trace. A sleeping task handles its wakeups in the order of their arrival{}",
            if simulated { "" } else { ". No wakeup has the WF_SYNC hint (the waker is about to \
                                        sleep)" }
        ),
    ];
    said.extend(history.head.source.caveat());
    if simulated {
        said.push(
            "events at the same instant may come in a different order than in the trace".into(),
        );
    }
    said.extend(sleeps(tally));
    said.push(who(extracted, whom));
    said.extend(untold(history, tally, pinned));
    said
}

/// Those that hold for programs, too.
pub(super) fn of_programs(of_events: &[String]) -> Vec<String> {
    let programs = "the trace contains the programs of the tasks, and the simulation runs these \
                    programs again. They draw random numbers, wait and spin as usual. The replay \
                    does not repeat changes of nice values by programs";
    let holds = |it: &&String| {
        ["interrupts and", "a kicked CPU", "the run is over", "recorded in a guest"]
            .iter()
            .any(|of| it.starts_with(of))
    };
    std::iter::once(programs.into()).chain(of_events.iter().filter(holds).cloned()).collect()
}

fn sleeps(tally: &Tally) -> impl Iterator<Item = String> + use<> {
    let (timed, span) = tally.timed;
    let timed = (timed > 0).then(|| {
        format!(
            "if an interrupt (timer, device, network) ended a sleep, the sleep keeps its length. \
             The sleep also keeps its length if a message of another task caused the interrupt. \
             Number of these sleeps: {timed}, total: {span}"
        )
    });
    let unknown = (tally.unknown_wakers > 0).then(|| {
        let count = tally.unknown_wakers;
        format!(
            "sleeps with an unknown waker keep their length in the simulated run. Number of these \
             sleeps: {count}"
        )
    });
    let unclear = (tally.unclear > 0).then(|| {
        let count = tally.unclear;
        format!(
            "the trace does not distinguish wakeups by interrupts from wakeups by tasks, so the \
             current task counts as the waker. Number of these wakeups: {count}"
        )
    });
    let own = (tally.own > 0).then(|| {
        let count = tally.own;
        format!(
            "the scheduler's own threads (migration/N) do no work. The replay leaves out the waits \
             of other tasks for these threads. Number of these waits: {count}"
        )
    });
    [timed, unknown, unclear, own].into_iter().flatten()
}

fn who(extracted: &Extracted, whom: &Awaited) -> String {
    let (tasks, awaited) = (extracted.tasks, extracted.awaited);
    let why = match whom.why {
        Why::Named => "the tasks that were named",
        Why::Told => "the tasks that the scenario waits for",
        Why::Passing => {
            "the tasks that began or ended within the trace. Kernel threads, the recorder, and \
             tasks that ran from the start to the end of the trace do not count"
        }
        Why::Woken => {
            "the tasks that other tasks woke, because hardly any other task began or ended within \
             the trace"
        }
        Why::Ordinary => {
            "all tasks except kernel threads, because none of them began or ended within the trace"
        }
        Why::All => "all tasks, because the trace contains only kernel threads",
    };
    let others = match tasks - awaited {
        0 if tasks == 1 => {
            return "the run is over when the task has finished its recorded work".into();
        }
        0 => {
            return format!(
                "the run is over when all {tasks} tasks have finished their recorded work"
            );
        }
        others => others,
    };
    let named = whom.others.iter().take(NAMED).map(|name| format!("`{name}`"));
    let named: Vec<String> = named.collect();
    let more = if whom.others.len() > NAMED { ", ..." } else { "" };
    let named = match named.is_empty() {
        true => "kernel threads".into(),
        false => format!("{}{more}", named.join(", ")),
    };
    format!(
        "the run is over when {awaited} of {tasks} tasks have finished their recorded work. These \
         are {why}. Other tasks that run at the same time: {others} ({named})"
    )
}

/// How many of the tasks that are not awaited are named.
const NAMED: usize = 4;

/// What the source lacks, and what of it is not replayed.
fn untold(history: &History, tally: &Tally, pinned: usize) -> Vec<String> {
    let carries = history.head.carries;
    let mut said: Vec<String> = Vec::new();
    if !carries.has(Carries::AFFINITY) {
        said.push(format!(
            "the trace does not record affinities: a kernel thread that is named after a CPU stays \
             on that CPU (number of these threads: {pinned}); all other tasks may run on any CPU"
        ));
    }
    if !carries.has(Carries::CGROUPS) {
        said.push(
            "the trace does not record cgroups and sessions: all tasks are in one group".into(),
        );
    } else if !is_simulated(history) {
        said.push(
            "the trace does not record the shares of cgroups: all cgroups have equal shares".into(),
        );
        if is_part(history) {
            said.push("this part of the trace does not show the cgroups of earlier parts".into());
        }
    }
    if !carries.has(Carries::TOPOLOGY) {
        said.push(
            "the trace does not record which CPUs share cores, caches and nodes: describe the \
             machine with `--machine`"
                .into(),
        );
    }
    let (held, span) = tally.held;
    if held > 0 {
        said.push(format!(
            "throttling by quotas is the same under every scheduler, so throttled waits keep their \
             length. Number of these waits: {held}, total: {span}"
        ));
    }
    if tally.regrouped > 0 {
        said.push(format!(
            "the replay does not repeat changes of cgroup. Number of these changes: {}",
            tally.regrouped
        ));
    }
    if tally.realtime {
        said.push("the simulation treats real-time tasks as ordinary tasks".into());
    }
    let silent = silent(history);
    if silent > 0 {
        said.push(format!(
            "CPUs without any event in the trace count as available. Number of these CPUs: {silent}"
        ));
    }
    if tally.unknown.0 > 0 {
        let (count, span) = tally.unknown;
        said.push(format!(
            "a task in an unknown state counts as asleep, and this sleep keeps its length. Number \
             of these sleeps: {count}, total: {span}"
        ));
    }
    if tally.losses > 0 {
        said.push("the trace lost events: runs and wakeups from that time are missing".into());
    }
    if tally.unannounced > 0 {
        let count = tally.unannounced;
        said.push(format!(
            "tasks that ran without any wakeup are runnable from the start. Number of tasks: \
             {count}"
        ));
    }
    said
}

/// CPUs without any event in the trace.
fn silent(history: &History) -> usize {
    let start = Start::infer(history, Silent::Unknown);
    let is_unknown = |cpu: &&CpuId| start.cpus.get(cpu.index()) == Some(&CpuMode::Unknown);
    start.silent.iter().filter(is_unknown).count()
}
