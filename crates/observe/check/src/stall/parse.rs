//! The text of a dump.

use wastenot_model::{CpuId, CpuSet, Span};

use super::{Cpu, Dump, Named, Place, Task};

/// Whether `text` is one, or the lines of the kernel's log that stand for one.
pub fn is_dump(text: &str) -> bool {
    text.contains("triggered exit kind") || text.contains("failed to run for")
}

/// Reads what is understood.
pub fn parse(text: &str) -> Dump {
    const HEAD: &str = " triggered exit kind ";
    let mut dump = Dump::default();
    let mut heads = 0;
    for line in text.lines().map(without_prefix) {
        if let Some((_, kind)) = line.split_once(HEAD) {
            heads += 1;
            let end = kind.find(|it: char| !it.is_ascii_digit()).unwrap_or(kind.len());
            dump.kind = dump.kind.or(kind[..end].parse().ok());
            dump.further = heads - 1;
        } else if dump.further > 0 {
            // Part of a later one.
        } else if line.contains("~~~~ TRUNCATED ~~~~") {
            dump.truncated = true;
        } else if let Some((reason, stalled)) = stalled(line).filter(|_| dump.stalled.is_none()) {
            dump.reason = reason.to_owned();
            dump.stalled = Some(stalled);
        } else if heads == 1 && dump.reason.is_empty() {
            dump.reason = line.trim().to_owned();
        } else if let Some(cpu) = cpu(line) {
            dump.cpus.push(cpu);
        } else if let Some(cpu) = dump.cpus.last_mut() {
            inside(cpu, line);
        }
    }
    dump
}

/// A line without what journald or the kernel's log writes before it.
fn without_prefix(line: &str) -> &str {
    let log = line.starts_with('[').then(|| line.split_once("] ")).flatten();
    let line = log.map_or(line, |(_, rest)| rest);
    match line.split_once("]: ") {
        Some((before, rest)) if !before.starts_with(' ') => rest,
        _ => line,
    }
}

/// `runnable task stall (make[7] failed to run for 5.314s)`, or `sched_ext: SCHEDULER: make[7]
/// failed to run for 5.314s` in the kernel's log: the reason, the task, and for how long. A name
/// may contain the same marks.
fn stalled(line: &str) -> Option<(&str, (Named, Span))> {
    const STALL: &str = "runnable task stall (";
    let dumped = line.find(STALL).map(|at| (&line[at..], &line[at + STALL.len()..]));
    let logged = || line.split_once("sched_ext: ")?.1.split_once(": ").map(|it| (it.1, it.1));
    let (reason, stall) = dumped.or_else(logged)?;
    let (task, after) = stall.split_once(" failed to run for ")?;
    let seconds: String = after.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let seconds: f64 = seconds.parse().ok().filter(|s: &f64| (0.0..1e9).contains(s))?;
    Some((reason.trim_end(), (named(task)?, Span((seconds * 1e9).round() as u64))))
}

/// `name[tid]`; a name may contain brackets itself.
fn named(text: &str) -> Option<Named> {
    let (name, tid) = text.strip_suffix(']')?.rsplit_once('[')?;
    Some(Named { name: name.to_owned(), tid: tid.parse().ok()? })
}

/// `CPU 0   : nr_run=1 flags=0x1 ...`.
fn cpu(line: &str) -> Option<Cpu> {
    let (number, rest) = line.trim_start().strip_prefix("CPU ")?.split_once(':')?;
    let number: u16 = number.trim().parse().ok()?;
    let known = rest.trim_start().starts_with("nr_run=") && usize::from(number) < CpuId::LIMIT;
    let cpu = CpuId(number);
    known.then(|| Cpu { cpu, current: Named::default(), class: String::new(), tasks: Vec::new() })
}

/// A line below a CPU.
fn inside(cpu: &mut Cpu, line: &str) {
    let text = line.trim();
    if let Some((current, class)) =
        text.strip_prefix("curr=").and_then(|rest| rest.rsplit_once(" class="))
    {
        cpu.current = named(current).unwrap_or_default();
        cpu.class = class.to_owned();
    } else if let Some(task) = task(line) {
        cpu.tasks.push(task);
    } else if let Some(last) = cpu.tasks.last_mut() {
        for word in text.split_whitespace() {
            match word.split_once('=') {
                // SCX_OPSS_QUEUED is 2, kernel/sched/ext.c.
                Some(("ops_state/qseq", state)) if state.starts_with("2/") => {
                    last.place = Some(Place::Scheduler);
                }
                Some(("dsq_id", id)) if last.place.is_none() => last.place = place(id),
                Some(("cpus", mask)) => last.cpus = CpuSet::from_hex(mask),
                _ => {}
            }
        }
    }
}

/// ` *R make[7] -5314ms`.
fn task(line: &str) -> Option<Task> {
    let text = line.trim();
    let (text, runs) = match text.strip_prefix('*') {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let (state, rest) = text.split_once(' ')?;
    let (rest, since) = rest.strip_suffix("ms")?.rsplit_once(' ')?;
    let is_state = state.len() == 1 && state.chars().all(|c| c.is_ascii_alphabetic());
    let since: i64 = since.parse().ok().filter(|_| is_state)?;
    // Newer kernels write a mark of the scheduler between the task and the time.
    let name = &rest[..=rest.rfind(']')?];
    let runnable = Span::ms(since.min(0).unsigned_abs());
    Some(Task { task: named(name)?, runs, runnable, ..Task::default() })
}

/// `dsq_id=`: include/linux/sched/ext.h, `enum scx_dsq_id_flags`.
fn place(id: &str) -> Option<Place> {
    const BUILTIN: u64 = 1 << 63;
    const LOCAL_ON: u64 = 1 << 62;
    if id == "(n/a)" {
        return Some(Place::Nowhere);
    }
    let id = u64::from_str_radix(id.strip_prefix("0x")?, 16).ok()?;
    Some(match id {
        _ if id & (BUILTIN | LOCAL_ON) == BUILTIN | LOCAL_ON => Place::Local,
        _ if id == BUILTIN | 1 => Place::Global,
        _ if id == BUILTIN | 2 => Place::Local,
        _ if id & BUILTIN != 0 => Place::Nowhere,
        _ => Place::Queue(id),
    })
}
