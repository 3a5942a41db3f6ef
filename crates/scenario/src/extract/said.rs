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
        "the work is what tasks did between waits; busy-waiting counts as work".into(),
        "CPUs are as fast as in the recording, with the same delays by caches, memory and busy \
         siblings"
            .into(),
        match extracted.ipi {
            Span::ZERO => "interrupts and the scheduler itself take no time".into(),
            ipi => format!("a kicked CPU reacts after {ipi}, as it did then"),
        },
        format!(
            "a waker wakes a task after the same CPU time of its own as recorded, and a sleeper \
             takes its wakeups in the order of their arrival{}",
            if simulated { "" } else { "; no waker says that it is about to sleep" }
        ),
    ];
    said.extend(history.head.source.caveat());
    if simulated {
        said.push("events at the same instant may come in another order".into());
    }
    said.extend(sleeps(tally));
    said.push(who(extracted, whom));
    said.extend(untold(history, tally, pinned));
    said
}

/// Those that hold for programs, too.
pub(super) fn of_programs(of_events: &[String]) -> Vec<String> {
    let programs = "tasks run their programs again, which the simulated run contains: they draw \
                    random numbers, and wait and spin as programs do; changes of nice values by \
                    programs are not repeated";
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
            "sleeps that an interrupt ended (timers, devices, the network) keep their length, also \
             where another task's message was behind it: {timed}, {span} together"
        )
    });
    let unknown = (tally.unknown_wakers > 0).then(|| {
        let count = tally.unknown_wakers;
        format!("sleeps with an unknown waker keep their length in the simulated run: {count}")
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
            "the scheduler's own threads (migration/N) are no work, and waits for them are left \
             out: {count}"
        )
    });
    [timed, unknown, unclear, own].into_iter().flatten()
}

fn who(extracted: &Extracted, whom: &Awaited) -> String {
    let (tasks, awaited) = (extracted.tasks, extracted.awaited);
    let why = match whom.why {
        Why::Named => "those that were named",
        Why::Told => "those that the scenario waits for",
        Why::Passing => {
            "those that began or ended within the recording, except kernel threads, the recorder, \
             and tasks that ran from its start to its end"
        }
        Why::Woken => {
            "those that other tasks woke, since hardly any other task began or ended within the \
             recording"
        }
        Why::Ordinary => "all but kernel threads, since none has a beginning or an end in it",
        Why::All => "all, since only kernel threads are there",
    };
    let others = match tasks - awaited {
        0 if tasks == 1 => {
            return "the run is over when its task has done what was recorded".into();
        }
        0 => return format!("the run is over when all {tasks} tasks have done what was recorded"),
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
        "the run is over when {awaited} of {tasks} tasks have done what was recorded: {why}; \
         {others} others ({named}) run beside them"
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
            "affinities are not recorded: kernel threads whose names say so stay where they were \
             ({pinned}), all others may run anywhere"
        ));
    }
    if !carries.has(Carries::CGROUPS) {
        said.push("cgroups and sessions are not recorded: all tasks are in one group".into());
    } else if !is_simulated(history) {
        said.push("shares of cgroups are not recorded: all have equal ones".into());
        if is_part(history) {
            said.push("cgroups that were recorded before this part are unknown in it".into());
        }
    }
    if !carries.has(Carries::TOPOLOGY) {
        said.push("what CPUs share is not recorded: `--machine` names it".into());
    }
    let (held, span) = tally.held;
    if held > 0 {
        said.push(format!(
            "throttling by quotas is not the scheduler's fault: such waits keep their length under \
             every scheduler, as sleeps: {held}, {span} together"
        ));
    }
    if tally.regrouped > 0 {
        said.push(format!("changes of cgroup are not repeated: {}", tally.regrouped));
    }
    if tally.realtime {
        said.push("real-time tasks are simulated as ordinary ones".into());
    }
    let silent = silent(history);
    if silent > 0 {
        said.push(format!("CPUs without any event in the trace count as available: {silent}"));
    }
    if tally.unknown.0 > 0 {
        let (count, span) = tally.unknown;
        said.push(format!(
            "parts of tasks' lives are unknown, and taken for sleep that keeps its length: \
             {count}, {span} together"
        ));
    }
    if tally.losses > 0 {
        said.push("events were lost: runs and wakeups of that time are missing".into());
    }
    if tally.unannounced > 0 {
        let count = tally.unannounced;
        said.push(format!(
            "tasks that ran without any wakeup are runnable from the start: \
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
