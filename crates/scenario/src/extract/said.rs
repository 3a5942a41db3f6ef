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
    let mut said: Vec<String> = vec![
        "the work is the CPU time that tasks used between their waits; busy-waiting counts as work"
            .into(),
        "CPUs have the same speed as in the trace, and caches, memory and busy SMT siblings cause \
         the same delays"
            .into(),
        match extracted.ipi {
            Span::ZERO => "interrupts and the scheduler itself take no time".into(),
            ipi => format!("a kicked CPU reacts after {ipi}, as in the trace"),
        },
        format!(
            "a task wakes another task after it has used the same amount of CPU time as in the \
             trace, and a sleeping task receives its wakeups in the order of their arrival{}",
            if simulated { "" } else { "; no wakeup is synchronous" }
        ),
    ];
    said.extend(history.head.source.caveat());
    if simulated {
        said.push("events at the same instant may have a different order".into());
    }
    said.extend(sleeps(tally));
    said.push(who(extracted, whom));
    said.extend(untold(history, tally, pinned));
    said
}

/// Those that hold for programs, too.
pub(super) fn of_programs(of_events: &[String]) -> Vec<String> {
    let programs = "tasks run the programs of the simulated run again: they draw random numbers, \
                    wait and spin as these programs do; when a program changes a nice value, the \
                    change is not repeated";
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
            "sleeps that an interrupt ended (timers, devices, the network) keep their length, even \
             if the interrupt delivered a message from another task: {timed}, {span} together"
        )
    });
    let unknown = (tally.unknown_wakers > 0).then(|| {
        let count = tally.unknown_wakers;
        format!("sleeps with an unknown waker keep their length: {count}")
    });
    let unclear = (tally.unclear > 0).then(|| {
        let count = tally.unclear;
        format!(
            "the trace does not distinguish interrupts from tasks: the current task counts as the \
             waker of {count}"
        )
    });
    let own = (tally.own > 0).then(|| {
        let count = tally.own;
        format!(
            "threads of the scheduler itself (migration/N) are not part of the work, and waits for \
             them are left out: {count}"
        )
    });
    [timed, unknown, unclear, own].into_iter().flatten()
}

fn who(extracted: &Extracted, whom: &Awaited) -> String {
    let (tasks, awaited) = (extracted.tasks, extracted.awaited);
    let why = match whom.why {
        Why::Named => "the tasks that the command line names",
        Why::Told => "the tasks that the scenario waits for",
        Why::Passing => {
            "all tasks that started or ended during the trace, except kernel threads, the \
             recorder, and tasks that ran from its start to its end"
        }
        Why::Woken => {
            "all tasks that other tasks woke, because hardly any other task started or ended \
             during the trace"
        }
        Why::Ordinary => {
            "all tasks except kernel threads, because no task started or ended during the trace"
        }
        Why::All => "all tasks, because the trace has only kernel threads",
    };
    let others = match tasks - awaited {
        0 if tasks == 1 => {
            return "the run is over when its task has done all work from the trace".into();
        }
        0 => {
            return format!(
                "the run is over when all {tasks} tasks have done all their work from the trace"
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
        "the run is over when {awaited} of {tasks} tasks have done all their work from the trace: \
         {why}; the other {others} tasks ({named}) run in the background"
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
            "the trace has no CPU affinities: kernel threads with a CPU in their name stay on \
             their CPU ({pinned}), and all other tasks may run on any CPU"
        ));
    }
    if !carries.has(Carries::CGROUPS) {
        said.push("the trace has no cgroups and no sessions: all tasks are in one group".into());
    } else if !is_simulated(history) {
        said.push("the trace has no shares of cgroups: all cgroups have equal shares".into());
        if is_part(history) {
            said.push("cgroups whose name was recorded before this part are unknown".into());
        }
    }
    if !carries.has(Carries::TOPOLOGY) {
        said.push(
            "the trace does not record which CPUs share caches or memory; give the machine with \
             `--machine`"
                .into(),
        );
    }
    let (held, span) = tally.held;
    if held > 0 {
        said.push(format!(
            "the scheduler cannot avoid throttling by quotas: under every scheduler, these waits \
             become sleeps of the same length: {held}, {span} together"
        ));
    }
    if tally.regrouped > 0 {
        said.push(format!(
            "tasks stay in their first cgroup, although the trace has changes: {}",
            tally.regrouped
        ));
    }
    if tally.realtime {
        said.push("real-time tasks are simulated as normal tasks".into());
    }
    let silent = silent(history);
    if silent > 0 {
        said.push(format!("CPUs without any event in the trace count as available: {silent}"));
    }
    if tally.unknown.0 > 0 {
        let (count, span) = tally.unknown;
        said.push(format!(
            "the state of some tasks is unknown for some time; this time counts as sleep of the \
             same length: {count}, {span} together"
        ));
    }
    if tally.losses > 0 {
        said.push("events were lost, so runs and wakeups of that time are missing".into());
    }
    if tally.unannounced > 0 {
        let count = tally.unannounced;
        said.push(format!(
            "tasks that ran without any wakeup are runnable from the start: {count}"
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
