//! Why a scheduler failed, in words, from what a guest knows of it: what its program said (libbpf's
//! messages among it) and what the kernel's log says. No part of these texts is an ABI: what is not
//! understood is shown as it is.

use wastenot_check::stall::{self, Dump, Named};
use wastenot_deploy::Refusal;
use wastenot_experiment::{Fault, Wait};
use wastenot_model::{History, Span};

use crate::job::Evidence;
use crate::kmsg::{self, Line, disabled};

/// How many lines are shown.
const LINES: usize = 12;

/// What is to be said of it. `history` is what was recorded meanwhile: it may have the dump.
pub(crate) fn fault(evidence: &Evidence, history: Option<&History>) -> Fault {
    let name = &evidence.scheduler;
    let exit = Exit::of(&evidence.kernel);
    let after_ns = exit.as_ref().and_then(|it| it.after_ns);
    let (what, help, lines) = if let Some((what, help)) = &evidence.ours {
        let what = match evidence.scheduled {
            true => format!("the kernel ended {name}{}: {what}", after(after_ns)),
            false => format!("{name} cannot be loaded: {what}"),
        };
        (what, help.clone(), Vec::new())
    } else if let Some(exit) = exit.as_ref().filter(|it| it.reason != BY_LOADER) {
        (exit.sentence(name), exit.help().to_owned(), exit.lines.clone())
    } else if evidence.scheduled || exit.is_some() {
        let how = evidence.ended.as_deref().unwrap_or("it is still running");
        let what =
            format!("the program of {name} unloaded its scheduler{} ({how})", after(after_ns));
        (
            what,
            "read the last lines of the program's output for the reason".into(),
            last(&evidence.said),
        )
    } else {
        unloaded(evidence)
    };
    let dump = dump(evidence, history);
    let dump = dump.filter(|it| it.stalled.is_some()).map(|it| it.report().verdict);
    Fault { what, help, after_ns, dump, lines }
}

/// The dump of a scheduler that the kernel ended: recorded, or else printed by its program.
fn dump(evidence: &Evidence, history: Option<&History>) -> Option<Dump> {
    let printed = || stall::is_dump(&evidence.said).then(|| stall::parse(&evidence.said));
    history.and_then(stall::recorded).map(|(_, dump)| dump).or_else(printed)
}

/// So the kernel calls it that a loader unloads its scheduler.
const BY_LOADER: &str = "unregistered from user space";

/// How the kernel ended a scheduler, by its log.
struct Exit {
    reason: String,
    message: Option<String>,
    /// Since it was enabled; `None` if it never was.
    after_ns: Option<u64>,
    lines: Vec<String>,
}

impl Exit {
    fn of(kernel: &[Line]) -> Option<Exit> {
        let at = kernel.iter().rposition(|line| disabled(&line.text).is_some())?;
        let reason = disabled(&kernel[at].text)?.to_owned();
        let is_enabling = |line: &&Line| line.text.ends_with("\" enabled");
        let enabled = kernel[..at].iter().rfind(is_enabling);
        let after_ns = enabled.map(|it| kernel[at].us.saturating_sub(it.us) * 1000);
        let message = kernel.get(at + 1).and_then(|line| kmsg::message(&line.text));
        let message = message.map(str::to_owned);
        let lines = kernel[at..].iter().take(LINES).map(|it| it.text.clone()).collect();
        Some(Exit { reason, message, after_ns, lines })
    }

    fn sentence(&self, name: &str) -> String {
        let when = match self.after_ns {
            None => " during its init, before it scheduled a task".to_owned(),
            some => after(some),
        };
        let message = self.message.as_ref().map_or(String::new(), |it| format!(": {}", files(it)));
        format!("the kernel ended {name}{when}: {}{message}", self.reason)
    }

    fn help(&self) -> &'static str {
        match self.reason.as_str() {
            "runnable task stall" => {
                "run `wastenot explain` on the trace of this run (-o DIR/) to see the CPUs that \
                 could have run the task"
            }
            "scx_bpf_error" => {
                "the scheduler itself called scx_bpf_error: read the line that the message names"
            }
            reason if reason.ends_with("main kernel") => {
                "a CPU went online or offline, but the scheduler has no cpu_online and cpu_offline \
                 operations: start the scheduler's program again"
            }
            _ => "see docs/how-to/sched_ext.md for the meaning of the kernel's reasons",
        }
    }
}

/// A message without the folders of the files of C that it names: they are those of a build.
fn files(message: &str) -> String {
    let word = |word: &str| match word.contains(".c:") {
        true => word.rsplit('/').next().unwrap_or(word).to_owned(),
        false => word.to_owned(),
    };
    message.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// ` after 3.200 s`.
fn after(ns: Option<u64>) -> String {
    ns.map_or(String::new(), |ns| format!(" after {}", Span(ns)))
}

/// One that never scheduled, and that the kernel did not end.
fn unloaded(evidence: &Evidence) -> (String, String, Vec<String>) {
    let (name, said) = (&evidence.scheduler, &evidence.said);
    if let Some(refusal) = Refusal::of(said) {
        let what = format!("the verifier rejected {} of {name}: {}", refusal.program, refusal.why);
        let help = "read the lines before the message in this report; `--json` prints more of \
                    these lines"
            .to_owned();
        let from = refusal.log.len().saturating_sub(LINES);
        return (what, help, refusal.log[from..].to_vec());
    }
    let ended = evidence.ended.as_deref();
    if let Some(lacks) = lacks(said) {
        let what = format!("{name} does not fit this kernel: {lacks}");
        let help =
            "build the scheduler for this kernel, or choose another kernel with --on".to_owned();
        return (what, help, last(said));
    }
    if let Some(line) = lines(said).find(|line| line.contains("attach struct_ops")) {
        let why = lines(said).find_map(error_of).map_or(String::new(), |why| format!(" ({why})"));
        let what = format!("the kernel refused to attach {name}: {line}{why}");
        let help =
            "the kernel verified the programs and gave no reason: look for operations or flags \
             that this kernel no longer has, or that it accepts only in certain combinations"
                .to_owned();
        return (what, help, last(said));
    }
    let end = lines(said).last().map(shortened);
    let end = end.map_or("it printed nothing".to_owned(), |line| format!("its last line: {line}"));
    let what = match ended {
        Some(how) => {
            format!("the program of {name} ended before the scheduler was enabled ({how}); {end}")
        }
        None => {
            let waited = evidence.waited_s;
            format!("{name} was not enabled within {waited} s; {end}")
        }
    };
    let help = "boot the kernel with `wastenot lab shell` and try the scheduler by hand".to_owned();
    (what, help, last(said))
}

/// What a kernel has not that an object needs: of libbpf's messages the first that is no warning,
/// or what sched_ext's own headers say.
fn lacks(said: &str) -> Option<String> {
    const SAY: [&str; 6] = [
        "incompatible with vmlinux",
        "in kernel BTF",
        "CO-RE relocation",
        "kernel too old?",
        "system Kconfig",
        "failed to find valid kernel BTF",
    ];
    let is_it = |line: &&str| SAY.iter().any(|it| line.contains(it)) && !line.contains("skipping");
    let line = lines(said).find(is_it)?;
    Some(line.strip_prefix("libbpf: ").unwrap_or(line).to_owned())
}

/// The words of an errno in a message of sched_ext's headers: `[SCX_BUG] file.c:179 (Invalid
/// argument)`.
fn error_of(line: &str) -> Option<&str> {
    line.strip_prefix("[SCX_BUG] ")?.rsplit_once('(')?.1.strip_suffix(')')
}

fn lines(said: &str) -> impl DoubleEndedIterator<Item = &str> {
    said.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// The last lines of a text. Those of libbpf about operations that a kernel does not have would
/// fill the screen.
fn last(said: &str) -> Vec<String> {
    let shown = |line: &&str| !line.ends_with("skipping it as it's set to zero");
    let mut last: Vec<String> =
        lines(said).filter(shown).rev().take(LINES).map(shortened).collect();
    last.reverse();
    last
}

/// Progress is often shown by dots.
fn shortened(line: &str) -> String {
    const MOST: usize = 200;
    let dotted = line.trim_end_matches('.');
    if line.len() - dotted.len() > 3 {
        return format!("{dotted}...");
    }
    match line.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}...", &line[..at]),
        None => line.to_owned(),
    }
}

/// A task that waits so long for a CPU starves.
const STARVES: Span = Span::s(5);

/// A scheduler under which a task of the workload still waited when the run reached its limit. The
/// kernel's watchdog waits for up to 30 s, which is longer than most runs.
pub(crate) fn starved(name: &str, wait: &Wait, history: &History) -> Option<Fault> {
    let starves = wait.is_open && wait.ns >= STARVES.0;
    starves.then(|| {
        let cpu = wait.cpu.map_or(String::new(), |cpu| format!(" on CPU {cpu}"));
        let what = format!(
            "{} starved under {name}: at the end of the run, the task had waited{cpu} for {}",
            wait.task,
            Span(wait.ns)
        );
        let help = "use `--set limit=60s`: then the kernel's watchdog ends the scheduler, and its \
                    dump shows where the task waited"
            .to_owned();
        let dump =
            stall::recorded(history).map(|(_, dump)| Dump { stalled: stalled(wait), ..dump });
        let dump = dump.filter(|it| it.stalled.is_some()).map(|it| it.report().verdict);
        Fault { what, help, after_ns: None, dump, lines: Vec::new() }
    })
}

/// The task of a wait as a dump names it.
fn stalled(wait: &Wait) -> Option<(Named, Span)> {
    let (name, tid) = wait.task.rsplit_once(':')?;
    Some((Named { name: name.to_owned(), tid: tid.parse().ok()? }, Span(wait.ns)))
}

/// A guest that came to no end while a scheduler was loaded, or scheduled.
pub(crate) fn lost(name: &str, scheduled: bool, why: &crate::Error) -> Fault {
    let while_it = if scheduled { "scheduled" } else { "was loaded" };
    Fault {
        what: format!("the guest sent no answer while {name} {while_it}: {why}"),
        help: "run the command again: if the scheduler is the cause, the guest will hang again"
            .into(),
        after_ns: None,
        dump: None,
        lines: Vec::new(),
    }
}

/// One of which so many guests died that it was not tried again.
pub(crate) fn given_up(name: &str, guests: usize) -> Fault {
    Fault {
        what: format!(
            "the lab skipped this run, because {guests} guests died in earlier runs under {name}"
        ),
        help: "see the other runs of this scheduler for the reason".into(),
        after_ns: None,
        dump: None,
        lines: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use wastenot_model::{Builder, Head, Machine};

    use super::*;

    fn evidence(said: &str, kernel: &[(u64, &str)]) -> Evidence {
        let line = |&(us, text): &(u64, &str)| Line { us, text: text.to_owned() };
        Evidence {
            scheduler: "scx_foo".into(),
            said: said.to_owned(),
            kernel: kernel.iter().map(line).collect(),
            ended: Some("exit code 1".into()),
            ..Default::default()
        }
    }

    fn what(said: &str, kernel: &[(u64, &str)]) -> String {
        fault(&evidence(said, kernel), None).what
    }

    #[test]
    fn a_refusal_of_the_verifier_is_told_with_its_last_lines() {
        let said = "libbpf: prog 'foo_init': -- BEGIN PROG LOAD LOG --\n\
                    ; page = take(&arena, @ foo.bpf.c:112\n181: (85) call take#5\n\
                    function calls are not allowed while holding a lock\n\
                    processed 461 insns (limit 1000000) max_states_per_insn 4\n\
                    -- END PROG LOAD LOG --\n\
                    libbpf: prog 'foo_init': failed to load: -EINVAL\n";
        let told = fault(&evidence(said, &[]), None);
        assert_eq!(
            told.what,
            "the verifier rejected foo_init of scx_foo: function calls are not allowed while \
             holding a lock, at `page = take(&arena, @ foo.bpf.c:112`"
        );
        assert_eq!(told.lines.len(), 3);
    }

    #[test]
    fn what_a_kernel_lacks_is_said_without_what_does_not_matter() {
        let skipped = "libbpf: struct_ops foo_ops: member x not found in kernel, skipping it as \
                       it's set to zero\n";
        let btf = "libbpf: struct_ops init_kern foo_ops: Cannot find member y in kernel BTF\n\
                   libbpf: failed to load BPF skeleton 'foo': -EOPNOTSUPP\n";
        assert_eq!(
            what(&format!("{skipped}{btf}"), &[]),
            "scx_foo does not fit this kernel: struct_ops init_kern foo_ops: Cannot find member y \
             in kernel BTF"
        );
        let old = "[SCX_BUG] foo.c:26 (No such file or directory)\nx_ops.dump() missing, kernel \
                   too old?\n";
        assert_eq!(
            what(old, &[]),
            "scx_foo does not fit this kernel: x_ops.dump() missing, kernel too old?"
        );
    }

    #[test]
    fn a_scheduler_that_is_not_attached_or_never_begins_says_so() {
        let refused = "[SCX_BUG] foo.c:179 (Invalid argument)\nFailed to attach struct_ops\n";
        assert_eq!(
            what(refused, &[]),
            "the kernel refused to attach scx_foo: Failed to attach struct_ops (Invalid argument)"
        );
        let waits = Evidence { ended: None, waited_s: 150, ..evidence("Begins.......", &[]) };
        assert_eq!(
            fault(&waits, None).what,
            "scx_foo was not enabled within 150 s; its last line: Begins..."
        );
        assert_eq!(
            what("", &[]),
            "the program of scx_foo ended before the scheduler was enabled (exit code 1); it \
             printed nothing"
        );
    }

    #[test]
    fn the_kernel_s_reason_is_told_with_when_it_came() {
        let disabled = "BPF scheduler \"foo\" disabled (scx_bpf_error)";
        let message = "foo: /home/me/src/foo.bpf.c:312: init from another CPU";
        assert_eq!(
            what("", &[(11, disabled), (12, message), (13, "   frame+0x4f/0x70")]),
            "the kernel ended scx_foo during its init, before it scheduled a task: scx_bpf_error: \
             foo.bpf.c:312: init from another CPU"
        );
        let enabled = (1_000_000, "BPF scheduler \"foo\" enabled");
        let told =
            fault(&evidence("", &[enabled, (1_020_000, disabled), (1_020_001, message)]), None);
        assert!(told.what.starts_with("the kernel ended scx_foo after 20.00 ms: "), "{told:?}");
        assert_eq!(told.after_ns, Some(20_000_000));
    }

    #[test]
    fn a_stall_is_told_with_what_the_dump_of_its_program_shows() {
        let said = "DEBUG DUMP\n\nfoo: root\nkworker/u4:1[9] triggered exit kind 1026:\n  runnable \
                    task stall (work[12] failed to run for 30.004s)\n\nCPU states\n\n\
                    CPU 0   : nr_run=1 flags=0x1 cpu_rel=0 ksync=5\n          \
                    curr=swapper/0[0] class=idle_sched_class\n\n  R work[12] -30004ms\n      \
                    scx_state/flags=3/0x9 dsq_flags=0x0 ops_state/qseq=2/7\n      \
                    sticky/holding_cpu=-1/-1 dsq_id=(n/a)\n      cpus=01\n";
        let kernel = [
            (1_000_000, "BPF scheduler \"foo\" enabled"),
            (4_200_000, "BPF scheduler \"foo\" disabled (runnable task stall)"),
            (4_200_001, "foo: work[12] failed to run for 30.004s"),
        ];
        let told = fault(&evidence(said, &kernel), None);
        assert_eq!(
            told.what,
            "the kernel ended scx_foo after 3.200 s: runnable task stall: work[12] failed to run \
             for 30.004s"
        );
        let dump = told.dump.expect("a dump");
        assert!(dump.contains("The task waited on CPU 0, in the BPF scheduler"), "{dump}");
    }

    #[test]
    fn a_program_that_unloads_its_scheduler_is_not_taken_for_a_fault_of_the_kernel() {
        let kernel = [
            (1_000_000, "BPF scheduler \"foo\" enabled"),
            (2_000_000, "BPF scheduler \"foo\" disabled (unregistered from user space)"),
        ];
        let told = fault(&evidence("bye\n", &kernel), None);
        assert_eq!(
            told.what,
            "the program of scx_foo unloaded its scheduler after 1.000 s (exit code 1)"
        );
        assert_eq!(told.lines, ["bye"]);
    }

    #[test]
    fn only_a_long_wait_that_did_not_end_is_starvation() {
        let (task, cpu) = ("work:7".to_owned(), Some(3));
        let wait = Wait { task, cpu, from_ns: 1, ns: 17_300_000_000, is_open: true };
        let history = Builder::new(Head::new(Machine::flat(1))).finish();
        let told = starved("scx_foo", &wait, &history).expect("starvation");
        assert_eq!(
            told.what,
            "work:7 starved under scx_foo: at the end of the run, the task had waited on CPU 3 for \
             17.30 s"
        );
        for other in [Wait { is_open: false, ..wait.clone() }, Wait { ns: 1_000_000, ..wait }] {
            assert_eq!(starved("scx_foo", &other, &history), None);
        }
    }
}
