//! The content of a sched_ext dump: the stalled task, the CPU where it waited, the CPUs that could
//! have run it, and the activity of these CPUs.
//!
//! The kernel writes a dump when it ejects a BPF scheduler. The dump goes to the tracepoint
//! `sched_ext_dump` and to the loader, which prints it. The kernel's log contains only the reason
//! and the message. Each line may have a log prefix. The format is in `scx_dump_state` and
//! `scx_dump_task` in kernel/sched/ext.c. It is not an ABI, so the parser skips lines that it does
//! not understand.

mod parse;
mod report;

use wastenot_model::{CpuId, CpuSet, History, Span, Time, Window};

/// A dump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dump {
    /// The message of the kernel: `runnable task stall (make[7] failed to run for 5.314s)`. The
    /// kernel's log contains only the part in parentheses.
    pub reason: String,
    /// `SCX_EXIT_*` (include/linux/sched/ext.h).
    pub kind: Option<u32>,
    /// The task that did not run, and for how long, if this is the reason.
    pub stalled: Option<(Named, Span)>,
    /// The CPUs of the dump. The kernel leaves out idle CPUs without runnable tasks.
    pub cpus: Vec<Cpu>,
    /// The end of the dump is missing, because the kernel's buffer was too small.
    pub truncated: bool,
    /// The number of dumps that follow this first one in the text.
    pub further: usize,
}

/// A task by name and tid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// Its command name.
    pub name: String,
    /// Its thread id.
    pub tid: i32,
}

/// A CPU of a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// The number of the CPU.
    pub cpu: CpuId,
    /// The task that the CPU ran.
    pub current: Named,
    /// The scheduling class of this task: `rt_sched_class`.
    pub class: String,
    /// The runnable sched_ext tasks of the CPU.
    pub tasks: Vec<Task>,
}

/// A runnable task of a dump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// The task.
    pub task: Named,
    /// Whether its CPU ran the task.
    pub runs: bool,
    /// The time for which the task was runnable before the dump.
    pub runnable: Span,
    /// The place of the task between scheduler and kernel, if the dump contains it.
    pub place: Option<Place>,
    /// The CPUs that the task may use, if the dump contains them.
    pub cpus: Option<CpuSet>,
}

/// The place of a runnable task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The BPF scheduler (`SCX_OPSS_QUEUED`): the task was enqueued and not dispatched.
    Scheduler,
    /// The local queue of its CPU: the task was dispatched.
    Local,
    /// The global queue.
    Global,
    /// A queue of the scheduler, by number.
    Queue(u64),
    /// No queue.
    Nowhere,
}

pub use self::parse::{is_dump, parse};

/// The dump in the `text` of a file, or in the trace that the file contains.
pub fn find(text: &str, recording: impl FnOnce() -> Option<History>) -> Option<Dump> {
    match !text.contains('\0') && is_dump(text) {
        true => Some(parse(text)),
        false => recorded(&recording()?).map(|(_, dump)| dump),
    }
}

/// The dumps in the annex `sched_ext_dump` of a trace, and the time when they were written.
pub fn recorded(history: &History) -> Option<(Window, Dump)> {
    let (mut window, mut text) = (None, String::new());
    for [time, line] in history.annex_cells("sched_ext_dump", ["time_ns", "line"]) {
        let Some((time, line)) = time.int().map(Time).zip(line.text()) else { continue };
        window.get_or_insert(Window { from: time, to: time }).to = time;
        text += line;
        text.push('\n');
    }
    Some((window?, parse(&text)))
}

impl Place {
    /// The place in words.
    fn words(self) -> String {
        match self {
            Place::Scheduler => "in the BPF scheduler, which had not dispatched it".to_owned(),
            Place::Local => "in the local queue of that CPU".to_owned(),
            Place::Global => "in the global queue".to_owned(),
            Place::Queue(id) => format!("in queue {id} of the scheduler"),
            Place::Nowhere => "in no queue".to_owned(),
        }
    }
}
