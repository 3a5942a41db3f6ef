//! The command lines for recording, by tool. The recorded events decide what can be analysed: with
//! wakeups and migrations, every run queue is known exactly; with switches alone, none is known.

use crate::{Check, Host, State};

/// The tracepoints to record.
const EVENTS: [&str; 8] = [
    "sched_switch",
    "sched_waking",
    "sched_wakeup",
    "sched_wakeup_new",
    "sched_migrate_task",
    "sched_process_fork",
    "sched_process_exec",
    "sched_process_exit",
];

/// One way to record.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The tool.
    pub tool: &'static str,
    /// The reason for this tool.
    pub note: &'static str,
    /// Names of the failed checks.
    pub lacks: Vec<&'static str>,
    /// The lines to type; CMD is the program.
    pub lines: Vec<String>,
}

/// All methods. Those that are ready come first, then the best.
pub fn all(host: &Host, checks: &[Check]) -> Vec<Recipe> {
    let lacks = |needs: &[&'static str]| {
        let no = |name: &str| checks.iter().any(|c| c.name == name && c.state == State::No);
        needs.iter().copied().filter(|name| no(name)).collect::<Vec<_>>()
    };
    let sudo = if host.root { "" } else { "sudo " };
    // With either of the two, the rest of its needs is the same.
    let own = match lacks(&["BPF"]).is_empty() || lacks(&["tracefs"]).is_empty() {
        true => lacks(&["no lockdown"]),
        false => lacks(&["BPF", "tracefs", "no lockdown"]),
    };
    let note = match lacks(&["BPF"]).is_empty() {
        true => "lowest overhead; records affinities, quotas and the initial state",
        false => "records through tracefs, without affinities and the initial state",
    };
    let mut recipes = vec![
        Recipe {
            tool: "wastenot",
            note,
            lacks: own,
            lines: vec![
                format!("{sudo}wastenot record -- CMD"),
                "wastenot report wastenot.wn".to_owned(),
            ],
        },
        Recipe {
            tool: "trace-cmd",
            note: "small files, exact run queues",
            lacks: lacks(&["tracefs", "ftrace switch", "trace-cmd", "no lockdown"]),
            lines: trace_cmd(sudo),
        },
        Recipe {
            tool: "perf",
            note: "larger files, but with the topology",
            lacks: lacks(&["perf", "perf permission", "no lockdown"]),
            lines: perf(),
        },
        Recipe {
            tool: "perf sched",
            note: "widely installed; adds more overhead, and lacks timestamps of wakeups",
            lacks: lacks(&["perf", "perf permission", "no lockdown"]),
            lines: vec![
                "perf sched record -o perf.data -- CMD".to_owned(),
                "wastenot report perf.data".to_owned(),
            ],
        },
        Recipe {
            tool: "tracefs",
            note: "needs no tool; type the commands in a root shell",
            lacks: lacks(&["tracefs", "no lockdown"]),
            lines: tracefs(),
        },
    ];
    recipes.sort_by_key(|recipe| !recipe.lacks.is_empty());
    recipes
}

/// `mono` because the default clock differs between CPUs; `-b` because the default buffer of a few
/// pages loses events at some thousand switches a second.
fn trace_cmd(sudo: &str) -> Vec<String> {
    let events: Vec<String> = EVENTS.iter().map(|event| format!("-e {event}")).collect();
    let mut lines = vec![format!("{sudo}trace-cmd record -C mono -b 8192 -o trace.dat \\")];
    for events in events.chunks(3) {
        lines.push(format!("    {} \\", events.join(" ")));
    }
    lines.extend(["    -- CMD".to_owned(), "wastenot report trace.dat".to_owned()]);
    lines
}

/// `-c 1`: every event. `-m`: buffer pages per CPU, as for trace-cmd.
fn perf() -> Vec<String> {
    let events: Vec<String> = EVENTS.iter().map(|event| format!("-e sched:{event}")).collect();
    let mut lines = vec!["perf record -a -c 1 -m 8M -k CLOCK_MONOTONIC -o perf.data \\".to_owned()];
    for events in events.chunks(2) {
        lines.push(format!("    {} \\", events.join(" ")));
    }
    lines.extend(["    -- CMD".to_owned(), "wastenot report perf.data".to_owned()]);
    lines
}

/// In an instance: its own buffer and clock, and nothing stays switched on behind it.
fn tracefs() -> Vec<String> {
    let mut lines = vec![
        "T=/sys/kernel/tracing/instances/wastenot; mkdir $T".to_owned(),
        "echo mono > $T/trace_clock; echo 8192 > $T/buffer_size_kb".to_owned(),
        "for event in \\".to_owned(),
    ];
    for events in EVENTS.chunks(3) {
        lines.push(format!("    {} \\", events.join(" ")));
    }
    lines.extend(
        [
            "    ; do echo 1 > $T/events/sched/$event/enable; done",
            "CMD; echo 0 > $T/tracing_on; cat $T/trace > trace.txt; rmdir $T",
            "wastenot report trace.txt",
        ]
        .map(str::to_owned),
    );
    lines
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_can_be_copied_from_a_terminal() {
        for lines in [super::trace_cmd("sudo "), super::perf(), super::tracefs()] {
            assert!(lines.iter().all(|line| line.len() <= 78), "{lines:#?}");
            let text = lines.join("\n");
            assert!(super::EVENTS.iter().all(|event| text.contains(event)), "{text}");
        }
    }
}
