//! The fields of an event as text, in each of three styles.
//!
//! ```text
//! prev_comm=sh prev_pid=7 prev_prio=120 prev_state=R+ ==> next_comm=...    the kernel's own
//! prev_comm=sh prev_pid=7 prev_prio=120 prev_state=256 next_comm=...       trace-cmd report -R
//! sh:7 [120] R+ ==> ...                                                    trace-cmd's plugin
//! ```

use wastenot_model::{CpuId, How, Left, Prio};

use super::line::{COMM_MAX, Line, number, whole_number};
use crate::ftrace::event;
use crate::raw::{Comm, RawEvent};

/// The content of a line's fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Told {
    Event(RawEvent),
    /// A kind of event that is not read, or an event that reports no change.
    Nothing,
    /// A kind that is read, in a form that the reader does not understand.
    Odd,
}

/// Reads the fields of a line.
pub(super) fn fields(line: &Line<'_>) -> Told {
    let text = line.payload;
    let event = match line.event {
        b"sched_switch" => switch(text),
        b"sched_waking" | b"sched_wakeup" | b"sched_wakeup_new" => {
            return wake(line.event, text).unwrap_or(Told::Odd);
        }
        b"sched_migrate_task" => migrate(text),
        b"sched_process_fork" => fork(text),
        b"sched_process_exec" => exec(text),
        b"sched_process_exit" => exit(text),
        b"task_rename" => rename(text),
        b"cpu_frequency" => frequency(text),
        b"cpuhp_enter" | b"cpuhp_multi_enter" => return hotplug(line).unwrap_or(Told::Odd),
        _ => return Told::Nothing,
    };
    event.map_or(Told::Odd, Told::Event)
}

fn switch(text: &[u8]) -> Option<RawEvent> {
    let Some(rest) = text.strip_prefix(b"prev_comm=") else { return pretty_switch(text) };
    let (prev_comm, rest) = comm(rest, b" prev_pid=")?;
    let (prev, rest) = number(rest)?;
    let (prev_prio, rest) = number(rest.strip_prefix(b" prev_prio=")?)?;
    let rest = rest.strip_prefix(b" prev_state=")?;
    let end = rest.iter().position(|&byte| byte == b' ')?;
    let (state, rest) = rest.split_at(end);
    let rest = rest.strip_prefix(b" ==>").unwrap_or(rest).strip_prefix(b" next_comm=")?;
    let (next_comm, rest) = comm(rest, b" next_pid=")?;
    let (next, rest) = number(rest)?;
    let (next_prio, _) = number(rest.strip_prefix(b" next_prio=")?)?;
    Some(RawEvent::Switch {
        prev: i32::try_from(prev).ok()?,
        next: i32::try_from(next).ok()?,
        left: left(state),
        prev_prio: prio(prev_prio),
        next_prio: prio(next_prio),
        prev_comm,
        next_comm,
    })
}

fn pretty_switch(text: &[u8]) -> Option<RawEvent> {
    const ARROW: &[u8] = b" ==> ";
    // A command may contain an arrow; only at the right one are both sides valid.
    let arrows = (0..text.len()).filter(|&at| text[at..].starts_with(ARROW));
    let mut sides = arrows.filter_map(|at| {
        let (before, after) = (&text[..at], &text[at + ARROW.len()..]);
        let space = before.iter().rposition(|&byte| byte == b' ')?;
        Some((task(&before[..space])?, &before[space + 1..], task(after)?))
    });
    let ((prev_comm, prev, prev_prio), state, (next_comm, next, next_prio)) = sides.next()?;
    let left = pretty_left(state);
    Some(RawEvent::Switch { prev, next, left, prev_prio, next_prio, prev_comm, next_comm })
}

fn wake(event: &[u8], text: &[u8]) -> Option<Told> {
    let (comm, tid, prio, cpu, in_vain) = match text.strip_prefix(b"comm=") {
        Some(rest) => {
            let (comm, rest) = comm(rest, b" pid=")?;
            let (tid, rest) = number(rest)?;
            let (value, rest) = number(rest.strip_prefix(b" prio=")?)?;
            let in_vain = rest.starts_with(b" success=0");
            let cpu = after(rest, b" target_cpu=").and_then(number).map(|(cpu, _)| cpu);
            (comm, i32::try_from(tid).ok()?, prio(value), cpu, in_vain)
        }
        None => {
            let end = text.iter().rposition(|&byte| byte == b']')? + 1;
            let (comm, tid, prio) = task(&text[..end])?;
            let rest = &text[end..];
            let cpu = after(rest, b" CPU:").and_then(number).map(|(cpu, _)| cpu);
            (comm, tid, prio, cpu, rest.starts_with(b" success=0"))
        }
    };
    if in_vain {
        return Some(Told::Nothing); // kernels before 4.3: it was awake
    }
    let cpu = cpu.and_then(cpu_id);
    let queued = |how| RawEvent::Queued { tid, on: cpu, how, prio, comm };
    Some(Told::Event(match event {
        b"sched_waking" => RawEvent::Waking { tid, prev: cpu, prio, comm },
        b"sched_wakeup" => queued(How::Wakeup),
        _ => queued(How::New),
    }))
}

fn migrate(text: &[u8]) -> Option<RawEvent> {
    let (comm, rest) = comm(text.strip_prefix(b"comm=")?, b" pid=")?;
    let (tid, rest) = number(rest)?;
    let (from, rest) = number(after(rest, b" orig_cpu=")?)?;
    let (to, _) = number(after(rest, b" dest_cpu=")?)?;
    let tid = i32::try_from(tid).ok()?;
    Some(RawEvent::Migrate { tid, from: cpu_id(from), to: cpu_id(to)?, comm })
}

fn fork(text: &[u8]) -> Option<RawEvent> {
    // The kernel prints `comm= pid= child_comm= child_pid=`, report -R the fields' own names.
    let rest = match text.strip_prefix(b"parent_comm=") {
        Some(rest) => comm(rest, b" parent_pid=")?.1,
        None => comm(text.strip_prefix(b"comm=")?, b" pid=")?.1,
    };
    let (parent, rest) = number(rest)?;
    let (child_comm, rest) = comm(rest.strip_prefix(b" child_comm=")?, b" child_pid=")?;
    let (child, _) = number(rest)?;
    let (parent, child) = (i32::try_from(parent).ok()?, i32::try_from(child).ok()?);
    Some(RawEvent::Fork { parent, child, child_comm })
}

fn exec(text: &[u8]) -> Option<RawEvent> {
    // A path may contain anything, so search from the end.
    let key = b" pid=";
    let at = text.windows(key.len()).rposition(|window| window == key)?;
    let (tid, _) = number(&text[at + key.len()..])?;
    Some(RawEvent::Exec { tid: i32::try_from(tid).ok()? })
}

fn exit(text: &[u8]) -> Option<RawEvent> {
    let (comm, rest) = comm(text.strip_prefix(b"comm=")?, b" pid=")?;
    let (tid, _) = number(rest)?;
    Some(RawEvent::Exit { tid: i32::try_from(tid).ok()?, comm })
}

fn rename(text: &[u8]) -> Option<RawEvent> {
    let (tid, rest) = number(text.strip_prefix(b"pid=")?)?;
    let (_, rest) = comm(rest.strip_prefix(b" oldcomm=")?, b" newcomm=")?;
    let (comm, _) = comm(rest, b" oom_score_adj=")?;
    Some(RawEvent::Rename { tid: i32::try_from(tid).ok()?, comm })
}

fn frequency(text: &[u8]) -> Option<RawEvent> {
    let (khz, rest) = number(text.strip_prefix(b"state=")?)?;
    let (cpu, _) = number(rest.strip_prefix(b" cpu_id=")?)?;
    Some(RawEvent::Freq { cpu: cpu_id(cpu)?, khz: u32::try_from(khz).ok()? })
}

/// `cpu: 0002 target: 238 step:   1 (...)`, with report -R `cpu=2 target=238 idx=1 fun=0x...`.
fn hotplug(line: &Line<'_>) -> Option<Told> {
    let mut values = [0; 3];
    let mut rest = line.payload;
    for (value, keys) in
        values.iter_mut().zip([["cpu", "cpu"], ["target", "target"], ["step", "idx"]])
    {
        let key = keys.iter().find_map(|key| rest.strip_prefix(key.as_bytes()))?;
        let text = key.strip_prefix(b":").or_else(|| key.strip_prefix(b"="))?;
        (*value, rest) = number(text.trim_ascii_start())?;
        rest = rest.trim_ascii_start();
    }
    let [cpu, target, step] = values;
    Some(event::hotplug(cpu_id(cpu)?, line.cpu.0, target, step).map_or(Told::Nothing, Told::Event))
}

/// A command and what follows `key`, which ends it. The command may contain the key as well, so the
/// last occurrence counts that leaves at most 15 bytes.
fn comm<'a>(text: &'a [u8], key: &[u8]) -> Option<(Comm, &'a [u8])> {
    let near = &text[..text.len().min(COMM_MAX + key.len())];
    let last = near.windows(key.len()).rposition(|window| window == key);
    let at = last.or_else(|| text.windows(key.len()).position(|window| window == key))?;
    Some((Comm::new(&text[..at]), &text[at + key.len()..]))
}

/// `comm:pid [prio]`, all of `text`.
fn task(text: &[u8]) -> Option<(Comm, i32, Prio)> {
    let text = text.strip_suffix(b"]")?;
    let open = text.iter().rposition(|&byte| byte == b'[')?;
    let value = whole_number(&text[open + 1..])?;
    let text = text[..open].strip_suffix(b" ")?;
    let colon = text.iter().rposition(|&byte| byte == b':')?;
    let tid = whole_number(&text[colon + 1..])?;
    let name = &text[..colon];
    (name.len() <= COMM_MAX).then(|| (Comm::new(name), tid, prio(value.into())))
}

fn after<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let at = text.windows(key.len()).position(|window| window == key)?;
    Some(&text[at + key.len()..])
}

fn prio(value: i64) -> Prio {
    Prio(i16::try_from(value).ok())
}

fn cpu_id(value: i64) -> Option<CpuId> {
    let cpu = u16::try_from(value).ok().filter(|&cpu| usize::from(cpu) < CpuId::LIMIT)?;
    Some(CpuId(cpu))
}

/// How a task left: letters, or with `report -R` the number.
fn left(state: &[u8]) -> Left {
    match state {
        b"R+" => Left::Preempted,
        [first, ..] if first.is_ascii_digit() => left_by_number(state),
        [first, ..] => Left::from_letter(char::from(*first)),
        [] => Left::Unknown,
    }
}

/// trace-cmd's plugin uses the bits of kernels before 4.14, and prints no `+`.
fn pretty_left(state: &[u8]) -> Left {
    match state {
        b"W" => Left::Idle,
        b"x" => Left::Parked,
        _ => left(state),
    }
}

/// The bits of `prev_state` since 4.14, which have reported the same states in the same places ever
/// since (`TASK_REPORT`, `TASK_REPORT_MAX` in `include/linux/sched.h`). Older kernels differ above
/// bit 3, and a text does not name its kernel: there X and Z are exchanged, which makes no
/// difference here, 0x200 is parked, and 0x400 or more marks a preemption.
fn left_by_number(state: &[u8]) -> Left {
    let bits = match state.strip_prefix(b"0x") {
        Some(hex) => {
            std::str::from_utf8(hex).ok().and_then(|hex| u32::from_str_radix(hex, 16).ok())
        }
        None => whole_number(state).map(|bits| bits as u32),
    };
    match bits.map(|bits| bits & bits.wrapping_neg()) {
        Some(0) => Left::Runnable,
        Some(0x01) => Left::Sleeping,
        Some(0x02) => Left::Blocked,
        Some(0x04 | 0x08) => Left::Stopped,
        Some(0x10 | 0x20) => Left::Dead,
        Some(0x40 | 0x200) => Left::Parked,
        Some(0x80) => Left::Idle,
        Some(_) => Left::Preempted,
        None => Left::Unknown,
    }
}
