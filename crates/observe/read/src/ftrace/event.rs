//! Decodes one raw tracepoint record into a [`Raw`] event.
//!
//! [`KINDS`] declares the events and the fields that are read. Layouts are resolved once; a record
//! then costs a table look-up and a few loads.

use wastenot_model::{Carries, Context, CpuId, How, Left, Prio};

use super::field::CommField;
use super::format::States;
use super::{Endian, Field, Format, Order};
use crate::raw::{Raw, RawEvent};

/// The tracepoints that are read, and what resolves their layouts.
///
/// `task_newtask` is left out: `sched_process_fork` or `sched_wakeup_new` report the same, and a
/// task that two records create would become two tasks.
const KINDS: &[(&str, &str, Resolve)] = &[
    ("sched", "sched_switch", Kind::switch),
    ("sched", "sched_waking", Kind::waking),
    ("sched", "sched_wakeup", Kind::wakeup),
    ("sched", "sched_wakeup_new", Kind::wakeup_new),
    ("sched", "sched_migrate_task", Kind::migrate),
    ("sched", "sched_process_fork", Kind::fork),
    ("sched", "sched_process_exec", Kind::exec),
    ("sched", "sched_process_exit", Kind::exit),
    ("task", "task_rename", Kind::rename),
    ("power", "cpu_frequency", Kind::frequency),
    ("cpuhp", "cpuhp_enter", Kind::hotplug),
    ("cpuhp", "cpuhp_multi_enter", Kind::hotplug),
];
type Resolve = fn(&Format) -> Option<Kind>;

/// Whether [`Decoder`] reads this event: other descriptions need not be parsed.
pub(crate) fn is_read(system: &str, name: &str) -> bool {
    KINDS.iter().any(|&(of, known, _)| (of, known) == (system, name))
}

/// The events that [`Decoder`] reads, with their systems.
pub(crate) fn all_read() -> impl Iterator<Item = (&'static str, &'static str)> {
    KINDS.iter().map(|&(system, name, _)| (system, name))
}

/// Decodes the records of one file.
#[derive(Debug)]
pub(crate) struct Decoder {
    common: Common,
    /// By event id: the index in `kinds`, plus one; 0 is none.
    by_id: Vec<u8>,
    kinds: Vec<Kind>,
    /// Events whose descriptions lack what is needed to read them.
    pub(crate) unread: Vec<String>,
}

/// The result of decoding a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// An event was pushed.
    Told,
    /// Another kind of event: it shows only which task was current.
    Foreign { current: i32, context: Context },
    /// The record is too short for its description, or holds an impossible value.
    Damaged,
}

impl Decoder {
    /// From descriptions and their systems; `None` if none of them is read.
    pub(crate) fn new<'f>(
        formats: impl IntoIterator<Item = &'f (String, Format)>,
        endian: Endian,
    ) -> Option<Decoder> {
        let mut common = None;
        let (mut by_id, mut kinds, mut unread) = (Vec::new(), Vec::new(), Vec::new());
        for (system, format) in formats {
            let known = KINDS.iter().find(|(of, name, _)| of == system && *name == format.name);
            let Some((_, _, resolve)) = known else { continue };
            let found = Common::new(format, endian);
            let kind = resolve(format).filter(|_| found.is_some() && kinds.len() < 255);
            let Some(kind) = kind else {
                unread.push(format.name.clone());
                continue;
            };
            common = common.or(found);
            let id = usize::from(format.id);
            by_id.resize(by_id.len().max(id + 1), 0);
            kinds.push(kind);
            by_id[id] = kinds.len() as u8;
        }
        Some(Decoder { common: common?, by_id, kinds, unread })
    }

    /// What records carry in addition to the events.
    pub(crate) fn carries(&self) -> Carries {
        let mut carries = Carries::CONTEXT | Carries::WAKERS;
        for kind in &self.kinds {
            let Kind::Switch(switch) = kind else { continue };
            for (told, carry) in [
                (switch.state.is_some(), Carries::LEFT),
                (switch.prev_prio.and(switch.next_prio).is_some(), Carries::PRIO),
                (switch.next_comm != CommField::Absent, Carries::NAMES),
            ] {
                carries |= if told { carry } else { Carries::NONE };
            }
        }
        carries
    }

    /// What the described kinds of events carry, whether or not any occurs.
    pub(crate) fn kinds(&self) -> Carries {
        self.kinds.iter().fold(Carries::NONE, |all, kind| all | kind.carries())
    }

    /// Decodes `record`, which `cpu` recorded at `time`, and pushes it.
    #[inline]
    pub(crate) fn decode<O: Order>(
        &self,
        cpu: u16,
        time: u64,
        record: &[u8],
        out: &mut Vec<Raw>,
    ) -> Outcome {
        let Some((id, current, context)) = self.common.get::<O>(record) else {
            return Outcome::Damaged;
        };
        let kind = self.by_id.get(usize::from(id)).copied().unwrap_or(0);
        let Some(kind) = usize::from(kind).checked_sub(1).and_then(|kind| self.kinds.get(kind))
        else {
            return Outcome::Foreign { current, context };
        };
        // Each kind pushes by itself: an event that passes through a common variable is written to
        // memory twice, which costs more than decoding it.
        let raw = |event| Raw { time, current, context, event };
        match kind.push::<O>(cpu, record, out, raw) {
            Some(Told::Something) => Outcome::Told,
            Some(Told::Nothing) => Outcome::Foreign { current, context },
            None => Outcome::Damaged,
        }
    }
}

/// The fields that every record begins with, by their offsets in its first 8 bytes as one word.
#[derive(Clone, Copy, Debug)]
struct Common {
    id: u8,
    flags: u8,
    pid: u8,
}

/// Bits of `common_flags` (`include/linux/trace_events.h`).
const HARDIRQ_OR_NMI: u8 = 0x08 | 0x40;
const SOFTIRQ: u8 = 0x10;

impl Common {
    fn new(format: &Format, endian: Endian) -> Option<Common> {
        let shift = |name, size| {
            let offset = format.common(name, size)?;
            let low = match endian {
                Endian::Little => offset,
                Endian::Big => 8 - size - offset,
            };
            Some(low as u8 * 8)
        };
        let (id, flags) = (shift("common_type", 2)?, shift("common_flags", 1)?);
        Some(Common { id, flags, pid: shift("common_pid", 4)? })
    }

    #[inline(always)]
    fn get<O: Order>(&self, record: &[u8]) -> Option<(u16, i32, Context)> {
        let word = O::u64(record.get(..8)?.try_into().ok()?);
        let flags = (word >> self.flags) as u8;
        let context = if flags & HARDIRQ_OR_NMI != 0 {
            Context::Hardirq
        } else if flags & SOFTIRQ != 0 {
            Context::Softirq
        } else {
            Context::Task
        };
        Some(((word >> self.id) as u16, (word >> self.pid) as i32, context))
    }
}

/// The resolved layout of one kind of event.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Switch(Switch),
    Waking(Wake),
    Queued(Wake, How),
    Migrate { tid: Field, from: Option<Field>, to: Field, comm: CommField },
    Fork { parent: Field, child: Field, child_comm: CommField },
    Exec { tid: Field },
    Exit { tid: Field, comm: CommField },
    Rename { tid: Field, comm: CommField },
    Freq { cpu: Field, khz: Field },
    Hotplug { cpu: Field, target: Field, step: Field },
}

#[derive(Clone, Copy, Debug)]
struct Switch {
    prev: Field,
    next: Field,
    state: Option<Field>,
    prev_prio: Option<Field>,
    next_prio: Option<Field>,
    prev_comm: CommField,
    next_comm: CommField,
    states: States,
}

#[derive(Clone, Copy, Debug)]
struct Wake {
    tid: Field,
    cpu: Option<Field>,
    prio: Option<Field>,
    /// Kernels before 4.3 also report wakeups of tasks that were awake: `success` is 0 then.
    success: Option<Field>,
    comm: CommField,
}

/// Whether a record of a known kind contains an event.
enum Told {
    Something,
    Nothing,
}

impl Kind {
    fn switch(format: &Format) -> Option<Kind> {
        let field = |name| format.field(name);
        Some(Kind::Switch(Switch {
            prev: field("prev_pid")?,
            next: field("next_pid")?,
            state: field("prev_state"),
            prev_prio: field("prev_prio"),
            next_prio: field("next_prio"),
            prev_comm: format.comm("prev_comm"),
            next_comm: format.comm("next_comm"),
            states: format.states(),
        }))
    }
    fn wake(format: &Format) -> Option<Wake> {
        let field = |name| format.field(name);
        Some(Wake {
            tid: field("pid")?,
            cpu: field("target_cpu").or(field("cpu")),
            prio: field("prio"),
            success: field("success"),
            comm: format.comm("comm"),
        })
    }
    fn waking(format: &Format) -> Option<Kind> {
        Kind::wake(format).map(Kind::Waking)
    }
    fn wakeup(format: &Format) -> Option<Kind> {
        Some(Kind::Queued(Kind::wake(format)?, How::Wakeup))
    }
    fn wakeup_new(format: &Format) -> Option<Kind> {
        Some(Kind::Queued(Kind::wake(format)?, How::New))
    }
    fn migrate(format: &Format) -> Option<Kind> {
        Some(Kind::Migrate {
            tid: format.field("pid")?,
            from: format.field("orig_cpu"),
            to: format.field("dest_cpu")?,
            comm: format.comm("comm"),
        })
    }
    fn fork(format: &Format) -> Option<Kind> {
        Some(Kind::Fork {
            parent: format.field("parent_pid")?,
            child: format.field("child_pid")?,
            child_comm: format.comm("child_comm"),
        })
    }
    fn exec(format: &Format) -> Option<Kind> {
        // Kernels before 3.4 have no such field; the task is the current one in any case.
        let tid = format.field("pid").or(format.field("common_pid"))?;
        Some(Kind::Exec { tid })
    }
    fn exit(format: &Format) -> Option<Kind> {
        let tid = format.field("pid").or(format.field("common_pid"))?;
        Some(Kind::Exit { tid, comm: format.comm("comm") })
    }
    fn rename(format: &Format) -> Option<Kind> {
        let tid = format.field("pid").or(format.field("common_pid"))?;
        Some(Kind::Rename { tid, comm: format.comm("newcomm") })
    }
    fn frequency(format: &Format) -> Option<Kind> {
        let (cpu, khz) = (format.field("cpu_id")?, format.field("state")?);
        Some(Kind::Freq { cpu, khz })
    }
    fn hotplug(format: &Format) -> Option<Kind> {
        let field = |name| format.field(name);
        Some(Kind::Hotplug { cpu: field("cpu")?, target: field("target")?, step: field("idx")? })
    }

    /// What only this kind of event carries.
    fn carries(&self) -> Carries {
        match self {
            Kind::Switch(_) | Kind::Rename { .. } => Carries::NONE,
            Kind::Waking(_) => Carries::WAKINGS,
            Kind::Queued(_, How::New) => Carries::NEW,
            Kind::Queued(..) => Carries::WAKEUPS,
            Kind::Migrate { .. } => Carries::MIGRATIONS,
            Kind::Fork { .. } => Carries::FORKS,
            Kind::Exec { .. } => Carries::EXECS,
            Kind::Exit { .. } => Carries::EXITS,
            Kind::Freq { .. } => Carries::FREQ,
            Kind::Hotplug { .. } => Carries::HOTPLUG,
        }
    }

    /// Pushes the event of the record, made by `raw`.
    #[inline(always)]
    fn push<O: Order>(
        &self,
        by: u16,
        record: &[u8],
        out: &mut Vec<Raw>,
        raw: impl Fn(RawEvent) -> Raw,
    ) -> Option<Told> {
        let tid = |field: Field| field.get::<O>(record).map(|tid| tid as i32);
        match self {
            Kind::Switch(switch) => out.push(raw(switch.get::<O>(record)?)),
            Kind::Waking(wake) | Kind::Queued(wake, _) if wake.in_vain::<O>(record) => {
                return Some(Told::Nothing);
            }
            Kind::Waking(wake) => out.push(raw(RawEvent::Waking {
                tid: tid(wake.tid)?,
                prev: cpu::<O>(wake.cpu, record),
                prio: prio::<O>(wake.prio, record),
                comm: wake.comm.get::<O>(record),
            })),
            Kind::Queued(wake, how) => out.push(raw(RawEvent::Queued {
                tid: tid(wake.tid)?,
                on: cpu::<O>(wake.cpu, record),
                how: *how,
                prio: prio::<O>(wake.prio, record),
                comm: wake.comm.get::<O>(record),
            })),
            Kind::Migrate { tid: field, from, to, comm } => out.push(raw(RawEvent::Migrate {
                tid: tid(*field)?,
                from: cpu::<O>(*from, record),
                to: cpu::<O>(Some(*to), record)?,
                comm: comm.get::<O>(record),
            })),
            rare => match rare.rare::<O>(by, record)? {
                Some(event) => out.push(raw(event)),
                None => return Some(Told::Nothing),
            },
        }
        Some(Told::Something)
    }

    /// As `push`, for rare kinds; the inner `None` is no event.
    #[cold]
    fn rare<O: Order>(&self, by: u16, record: &[u8]) -> Option<Option<RawEvent>> {
        let tid = |field: &Field| field.get::<O>(record).map(|tid| tid as i32);
        Some(Some(match self {
            Kind::Fork { parent, child, child_comm } => RawEvent::Fork {
                parent: tid(parent)?,
                child: tid(child)?,
                child_comm: child_comm.get::<O>(record),
            },
            Kind::Exec { tid: field } => RawEvent::Exec { tid: tid(field)? },
            Kind::Exit { tid: field, comm } => {
                RawEvent::Exit { tid: tid(field)?, comm: comm.get::<O>(record) }
            }
            Kind::Rename { tid: field, comm } => {
                RawEvent::Rename { tid: tid(field)?, comm: comm.get::<O>(record) }
            }
            Kind::Freq { cpu: field, khz } => RawEvent::Freq {
                cpu: cpu::<O>(Some(*field), record)?,
                khz: khz.get::<O>(record)? as u32,
            },
            Kind::Hotplug { cpu: field, target, step } => {
                let cpu = cpu::<O>(Some(*field), record)?;
                let (target, step) = (target.get::<O>(record)?, step.get::<O>(record)?);
                return Some(hotplug(cpu, by, target, step));
            }
            _ => return None,
        }))
    }
}

impl Switch {
    #[inline(always)]
    fn get<O: Order>(&self, record: &[u8]) -> Option<RawEvent> {
        let state = self.state.and_then(|field| field.get::<O>(record));
        Some(RawEvent::Switch {
            prev: self.prev.get::<O>(record)? as i32,
            next: self.next.get::<O>(record)? as i32,
            left: state.map_or(Left::Unknown, |state| self.states.left(state as u32)),
            prev_prio: prio::<O>(self.prev_prio, record),
            next_prio: prio::<O>(self.next_prio, record),
            prev_comm: self.prev_comm.get::<O>(record),
            next_comm: self.next_comm.get::<O>(record),
        })
    }
}

impl Wake {
    #[inline(always)]
    fn in_vain<O: Order>(&self, record: &[u8]) -> bool {
        self.success.is_some_and(|field| field.get::<O>(record) == Some(0))
    }
}

#[inline(always)]
fn prio<O: Order>(field: Option<Field>, record: &[u8]) -> Prio {
    let value = field.and_then(|field| field.get::<O>(record));
    // The kernel's priorities are -1 (deadline) to 139; a damaged record has others.
    let value = value.map(|value| value as i32).filter(|value| (-1..=139).contains(value));
    Prio(value.map(|value| value as i16))
}

#[inline(always)]
fn cpu<O: Order>(field: Option<Field>, record: &[u8]) -> Option<CpuId> {
    let value = field?.get::<O>(record)? as u32 as usize;
    (value < CpuId::LIMIT).then_some(CpuId(value as u16))
}

/// A step of `kernel/cpu.c`'s state machine, which CPU `by` takes for `cpu`.
///
/// The numbers of steps differ between kernels, but not which CPU takes them: the steps that a CPU
/// takes itself are numbered above the step that starts or kills it, all others below. So an upward
/// step by the CPU itself means that it is online, a downward step by another CPU means that it is
/// dying or dead. (Callbacks installed later are called for CPUs that are online and look like
/// upward steps.)
pub(crate) fn hotplug(cpu: CpuId, by: u16, target: i64, step: i64) -> Option<RawEvent> {
    let (target, step) = (target as i32, step as i32);
    let own = cpu.0 == by;
    match target > step {
        true if own => Some(RawEvent::Cpu { cpu, up: true }),
        false if !own && target < step => Some(RawEvent::Cpu { cpu, up: false }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Big, Little};
    use super::*;
    use crate::raw::Comm;

    const COMMON: &str = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
        \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n";

    fn format(system: &str, name: &str, id: u16, fields: &str) -> (String, Format) {
        let text = format!("name: {name}\nID: {id}\nformat:\n{COMMON}\n{fields}");
        (system.into(), Format::parse(text.as_bytes()).expect("a format"))
    }

    fn decode<O: Order>(format: &(String, Format), cpu: u16, record: &[u8]) -> (Outcome, Vec<Raw>) {
        let decoder = Decoder::new([format], O::ENDIAN).expect("a known event");
        let mut out = Vec::new();
        let outcome = decoder.decode::<O>(cpu, 5, record, &mut out);
        (outcome, out)
    }

    fn migrate(comm: &str) -> (String, Format) {
        let fields = format!(
            "\tfield:{comm} char[] comm;\toffset:8;\tsize:4;\tsigned:0;\n\
             \tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n\
             \tfield:int orig_cpu;\toffset:16;\tsize:4;\tsigned:1;\n\
             \tfield:int dest_cpu;\toffset:20;\tsize:4;\tsigned:1;\n"
        );
        format("sched", "sched_migrate_task", 7, &fields)
    }

    fn migrate_record(offset: u32, words: fn(u32) -> [u8; 4], id: [u8; 2]) -> Vec<u8> {
        let mut record = vec![id[0], id[1], 0x08, 0];
        for word in [33, offset | 3 << 16, 44, 1, 2] {
            record.extend(words(word));
        }
        record.extend(b"sh\0\0");
        record
    }

    #[test]
    fn a_name_elsewhere_in_the_record_is_found_in_both_orders() {
        let want = RawEvent::Migrate {
            tid: 44,
            from: Some(CpuId(1)),
            to: CpuId(2),
            comm: Comm::new(b"sh"),
        };
        let want = Raw { time: 5, current: 33, context: Context::Hardirq, event: want };
        for (kind, offset) in [("__data_loc", 24), ("__rel_loc", 12)] {
            let record = migrate_record(offset, u32::to_le_bytes, 7u16.to_le_bytes());
            assert_eq!(decode::<Little>(&migrate(kind), 0, &record), (Outcome::Told, vec![want]));
            let record = migrate_record(offset, u32::to_be_bytes, 7u16.to_be_bytes());
            assert_eq!(decode::<Big>(&migrate(kind), 0, &record), (Outcome::Told, vec![want]));
        }
    }

    #[test]
    fn a_record_cut_anywhere_is_damaged_or_lacks_its_name() {
        let record = migrate_record(24, u32::to_le_bytes, 7u16.to_le_bytes());
        for len in 0..record.len() {
            let (outcome, out) = decode::<Little>(&migrate("__data_loc"), 0, &record[..len]);
            match len {
                0..24 => assert_eq!((outcome, out.len()), (Outcome::Damaged, 0), "{len}"),
                _ => assert_eq!((outcome, out.len()), (Outcome::Told, 1), "{len}"),
            }
        }
    }

    #[test]
    fn another_event_tells_who_was_current() {
        let record = migrate_record(24, u32::to_le_bytes, 8u16.to_le_bytes());
        let (outcome, out) = decode::<Little>(&migrate("__data_loc"), 0, &record);
        let want = Outcome::Foreign { current: 33, context: Context::Hardirq };
        assert_eq!((outcome, out.len()), (want, 0));
    }

    #[test]
    fn old_wakeups_in_vain_queue_nobody() {
        let fields = "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n\
            \tfield:int success;\toffset:12;\tsize:4;\tsigned:1;\n";
        for (success, told) in [(0u8, 0), (1, 1)] {
            let record = [1, 0, 0, 0, 9, 0, 0, 0, 44, 0, 0, 0, success, 0, 0, 0];
            let format = format("sched", "sched_wakeup", 1, fields);
            assert_eq!(decode::<Little>(&format, 0, &record).1.len(), told);
        }
    }

    #[test]
    fn who_takes_a_hotplug_step_tells_up_from_down() {
        let fields = "\tfield:unsigned int cpu;\toffset:8;\tsize:4;\tsigned:0;\n\
            \tfield:int target;\toffset:12;\tsize:4;\tsigned:1;\n\
            \tfield:int idx;\toffset:16;\tsize:4;\tsigned:1;\n";
        let step = |by: u16, target: u8, step: u8| {
            let mut record = vec![1, 0, 0, 0, 9, 0, 0, 0];
            record.extend([3, 0, 0, 0, target, 0, 0, 0, step, 0, 0, 0]);
            let format = format("cpuhp", "cpuhp_enter", 1, fields);
            decode::<Little>(&format, by, &record).1.first().map(|raw| raw.event)
        };
        let cpu = CpuId(3);
        assert_eq!(step(0, 230, 40), None, "prepared by another, not up yet");
        assert_eq!(step(3, 230, 150), Some(RawEvent::Cpu { cpu, up: true }));
        assert_eq!(step(3, 0, 150), None, "still up while it winds down");
        assert_eq!(step(0, 0, 87), Some(RawEvent::Cpu { cpu, up: false }));
    }

    #[test]
    fn an_event_without_the_fields_it_needs_is_named() {
        let switch = format("sched", "sched_switch", 1, "");
        assert!(Decoder::new([&switch], Endian::Little).is_none());
        let decoder = Decoder::new([&switch, &migrate("__data_loc")], Endian::Little);
        assert_eq!(decoder.expect("migrate is read").unread, ["sched_switch"]);
    }
}
