//! A History as tracepoint records, and the layout of those in a kernel.

use wastenot_model::{Context, Event, History, How, Left, TaskId};

use super::Bytes;

/// A tracepoint as some kernel defines it.
#[derive(Debug, PartialEq, Eq)]
pub struct Point {
    /// The directory under `events/`.
    pub system: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its fields in order.
    pub fields: &'static [(&'static str, Kind)],
}

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A command name: `char[16]`, or elsewhere in the record.
    Comm,
    /// A text elsewhere in the record.
    Path,
    /// `pid_t`.
    Pid,
    /// `int`.
    Int,
    /// `unsigned int`.
    Uint,
    /// `long`, bits of a task's state.
    State,
    /// A pointer.
    Pointer,
}

use Kind::{Comm, Int, Path, Pid, Pointer, State, Uint};

const WAKE: &[(&str, Kind)] = &[("comm", Comm), ("pid", Pid), ("prio", Int), ("target_cpu", Int)];

/// All tracepoints that are written.
pub const POINTS: &[Point] = &[
    Point {
        system: "sched",
        name: "sched_switch",
        fields: &[
            ("prev_comm", Comm),
            ("prev_pid", Pid),
            ("prev_prio", Int),
            ("prev_state", State),
            ("next_comm", Comm),
            ("next_pid", Pid),
            ("next_prio", Int),
        ],
    },
    Point { system: "sched", name: "sched_waking", fields: WAKE },
    Point { system: "sched", name: "sched_wakeup", fields: WAKE },
    Point { system: "sched", name: "sched_wakeup_new", fields: WAKE },
    Point {
        system: "sched",
        name: "sched_migrate_task",
        fields: &[
            ("comm", Comm),
            ("pid", Pid),
            ("prio", Int),
            ("orig_cpu", Int),
            ("dest_cpu", Int),
        ],
    },
    Point {
        system: "sched",
        name: "sched_process_fork",
        fields: &[
            ("parent_comm", Comm),
            ("parent_pid", Pid),
            ("child_comm", Comm),
            ("child_pid", Pid),
        ],
    },
    Point {
        system: "sched",
        name: "sched_process_exec",
        fields: &[("filename", Path), ("pid", Pid), ("old_pid", Pid)],
    },
    Point {
        system: "sched",
        name: "sched_process_exit",
        fields: &[("comm", Comm), ("pid", Pid), ("prio", Int)],
    },
    Point { system: "power", name: "cpu_frequency", fields: &[("state", Uint), ("cpu_id", Uint)] },
    Point {
        system: "cpuhp",
        name: "cpuhp_enter",
        fields: &[("cpu", Uint), ("target", Int), ("idx", Int), ("fun", Pointer)],
    },
];

/// A field's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
    /// How a task left.
    Left(Left),
}

/// One entry of a CPU's recorder.
#[derive(Clone, Debug)]
pub struct Record {
    /// When.
    pub time: u64,
    /// The CPU.
    pub cpu: u16,
    /// The context.
    pub context: Context,
    /// The current task's tid and name.
    pub current: (i32, String),
    /// What was recorded; for dropped events their number, if it is known.
    pub what: What,
}

/// What a recorder wrote.
#[derive(Clone, Debug)]
pub enum What {
    /// A tracepoint, by its place in [`POINTS`], and its fields' values.
    Hit(usize, Vec<Value>),
    /// Dropped events.
    Lost(Option<u32>),
}

impl Record {
    /// The tracepoint; `None` for dropped events.
    pub fn point(&self) -> Option<&'static Point> {
        match self.what {
            What::Hit(point, _) => Some(&POINTS[point]),
            What::Lost(_) => None,
        }
    }
    /// The value of a field.
    ///
    /// # Panics
    /// When the tracepoint has no such field.
    pub fn value(&self, field: &str) -> &Value {
        let What::Hit(point, values) = &self.what else { panic!("dropped events have no fields") };
        let at = POINTS[*point].fields.iter().position(|(name, _)| *name == field);
        &values[at.unwrap_or_else(|| panic!("{} has no {field}", POINTS[*point].name))]
    }
}

/// The records of a History in its order. Facts that no tracepoint contains are left out.
pub fn records(history: &History) -> Vec<Record> {
    let tell = |entry: wastenot_model::Entry| {
        let what = hit(history, entry.cpu.0, &entry.event)?;
        let current = entry.by.task.unwrap_or(TaskId::idle(entry.cpu));
        let current = (tid(history, current), history.task_name(current));
        let context = entry.by.context;
        Some(Record { time: entry.time.0, cpu: entry.cpu.0, context, current, what })
    };
    history.entries().filter_map(tell).collect()
}

fn tid(history: &History, task: TaskId) -> i32 {
    history.task(task).map_or(0, |task| task.tid)
}

fn hit(history: &History, by: u16, event: &Event) -> Option<What> {
    let number = |value: i64| Value::Number(value);
    let pid = |task: TaskId| number(i64::from(tid(history, task)));
    let comm = |task: TaskId| Value::Text(history.task_name(task));
    let prio = |prio: wastenot_model::Prio| number(i64::from(prio.0.unwrap_or(120)));
    let cpu = |cpu: wastenot_model::CpuId| number(i64::from(cpu.0));
    let (name, values) = match *event {
        Event::Switch { prev, next, left, prev_prio, next_prio, .. } => {
            let (out, back) = (prio(prev_prio), prio(next_prio));
            let left = Value::Left(left);
            let values = vec![comm(prev), pid(prev), out, left, comm(next), pid(next), back];
            ("sched_switch", values)
        }
        Event::Waking { task, prev, prio: of } => {
            ("sched_waking", vec![comm(task), pid(task), prio(of), cpu(prev?)])
        }
        Event::Queued { task, on, how, prio: of } => {
            let new = how == How::New;
            let name = if new { "sched_wakeup_new" } else { "sched_wakeup" };
            (name, vec![comm(task), pid(task), prio(of), cpu(on?)])
        }
        Event::Migrate { task, from, to } => {
            let of = number(120);
            ("sched_migrate_task", vec![comm(task), pid(task), of, cpu(from?), cpu(to)])
        }
        Event::Fork { parent, child } => {
            ("sched_process_fork", vec![comm(parent), pid(parent), comm(child), pid(child)])
        }
        Event::Exec { task } => {
            let path = Value::Text(format!("/usr/bin/{}", history.task_name(task)));
            ("sched_process_exec", vec![path, pid(task), pid(task)])
        }
        Event::Exit { task } => ("sched_process_exit", vec![comm(task), pid(task), number(120)]),
        Event::Freq { cpu: of, khz } => ("cpu_frequency", vec![number(i64::from(khz)), cpu(of)]),
        Event::Cpu { cpu: of, up } => {
            assert_eq!(up, of.0 == by, "a CPU comes up by itself and is taken down by another");
            // One of the many steps between the current state and the target state.
            let (target, step) = if up { (238, 161) } else { (0, 78) };
            ("cpuhp_enter", vec![cpu(of), number(target), number(step), number(0x1234)])
        }
        Event::Lost { count } => return Some(What::Lost(count)),
        Event::Changed { .. } | Event::Decided { .. } => return None,
    };
    let point = POINTS.iter().position(|point| point.name == name)?;
    Some(What::Hit(point, values))
}

/// The record layout of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Whether the most significant byte comes first.
    pub big: bool,
    /// Bytes in a `long`: 4 or 8.
    pub long: usize,
    /// The place of command names.
    pub comm: CommLayout,
    /// The id of the first tracepoint; others follow.
    pub first_id: usize,
    /// Bytes between the common fields and the others, as some real-time kernels have them.
    pub gap: usize,
    /// The letters of `prev_state`.
    pub states: &'static States,
}

/// The place of a command name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommLayout {
    /// In place, 16 bytes.
    Array,
    /// `__data_loc`: elsewhere, by its offset from the record's start.
    DataLoc,
    /// `__rel_loc`: elsewhere, by its offset from the end of the field.
    RelLoc,
}

/// The bits of `prev_state`, and the bit that means preempted.
#[derive(Debug, PartialEq, Eq)]
pub struct States {
    letters: &'static [(u32, &'static str)],
    preempted: u32,
}

/// Since 4.14.
pub const STATES_NEW: States = States {
    letters: &[
        (0x1, "S"),
        (0x2, "D"),
        (0x4, "T"),
        (0x8, "t"),
        (0x10, "X"),
        (0x20, "Z"),
        (0x40, "P"),
        (0x80, "I"),
    ],
    preempted: 0x100,
};

/// As before 4.14, with other letters for the same bits: they must be taken from the file.
pub const STATES_OLD: States = States {
    letters: &[
        (0x1, "S"),
        (0x2, "D"),
        (0x4, "T"),
        (0x8, "t"),
        (0x10, "Z"),
        (0x20, "X"),
        (0x40, "x"),
        (0x80, "K"),
        (0x100, "W"),
        (0x200, "P"),
        (0x400, "I"),
    ],
    preempted: 0x800,
};

impl States {
    /// The number that a kernel records.
    pub fn bits(&self, left: Left) -> u32 {
        match left {
            Left::Preempted => self.preempted,
            Left::Runnable => 0,
            Left::Unknown => panic!("a kernel always tells how a task left"),
            _ => {
                let letter = left.letters();
                let bit = self.letters.iter().find(|(_, known)| *known == letter);
                bit.expect("every letter has a bit").0
            }
        }
    }
    fn print(&self) -> String {
        let mask = self.preempted - 1;
        let pairs: Vec<String> = self
            .letters
            .iter()
            .map(|(bit, letter)| format!("{{ 0x{bit:08x}, \"{letter}\" }}"))
            .collect();
        format!(
            "(REC->prev_state & 0x{mask:x}) ? __print_flags(REC->prev_state & 0x{mask:x}, \"|\", \
             {}) : \"R\", REC->prev_state & 0x{:x} ? \"+\" : \"\"",
            pairs.join(", "),
            self.preempted
        )
    }
}

impl Layout {
    /// The layout of a current kernel on x86-64.
    pub const X86_64: Layout = Layout {
        big: false,
        long: 8,
        comm: CommLayout::Array,
        first_id: 316,
        gap: 0,
        states: &STATES_NEW,
    };

    /// The id of a tracepoint.
    pub fn id(&self, point: usize) -> usize {
        self.first_id + point
    }

    /// The `format` file of a tracepoint.
    pub fn describe(&self, point: usize) -> String {
        let Point { name, fields, .. } = POINTS[point];
        let mut text = format!("name: {name}\nID: {}\nformat:\n", self.id(point));
        let common = [
            ("unsigned short common_type", 2, 0),
            ("unsigned char common_flags", 1, 0),
            ("unsigned char common_preempt_count", 1, 0),
            ("int common_pid", 4, 1),
        ];
        let mut at = 0;
        for (decl, size, signed) in common {
            text += &line(decl, at, size, signed);
            at += size;
        }
        text += "\n";
        let mut at = 8 + self.gap;
        for (field, kind) in fields {
            let (size, decl, signed) = self.field(*kind, field);
            at = at.next_multiple_of(size.min(8));
            text += &line(&decl, at, size, signed);
            at += size;
        }
        text + &format!("\nprint fmt: {}\n", self.print(point))
    }

    fn field(&self, kind: Kind, name: &str) -> (usize, String, u8) {
        let elsewhere = |word: &str| (4, format!("{word} char[] {name}"), 0);
        match (kind, self.comm) {
            (Comm, CommLayout::Array) => (16, format!("char {name}[16]"), 0),
            (Comm | Path, CommLayout::RelLoc) => elsewhere("__rel_loc"),
            (Comm | Path, _) => elsewhere("__data_loc"),
            (Pid, _) => (4, format!("pid_t {name}"), 1),
            (Int, _) => (4, format!("int {name}"), 1),
            (Uint, _) => (4, format!("u32 {name}"), 0),
            (State, _) => (self.long, format!("long {name}"), 1),
            (Pointer, _) => (self.long, format!("void * {name}"), 0),
        }
    }

    fn print(&self, point: usize) -> String {
        let Point { name, fields, .. } = POINTS[point];
        if name == "sched_switch" {
            return format!(
                "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s \
                 next_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, {}, \
                 REC->next_comm, REC->next_pid, REC->next_prio",
                self.states.print()
            );
        }
        let (mut form, mut values) = (Vec::new(), String::new());
        for (field, kind) in fields {
            let (verb, value) = match (kind, self.comm) {
                (Comm, CommLayout::Array) => ("%s", format!("REC->{field}")),
                (Comm | Path, CommLayout::RelLoc) => ("%s", format!("__get_rel_str({field})")),
                (Comm | Path, _) => ("%s", format!("__get_str({field})")),
                (Pointer, _) => ("%p", format!("REC->{field}")),
                _ => ("%d", format!("REC->{field}")),
            };
            form.push(format!("{field}={verb}"));
            values += &format!(", {value}");
        }
        format!("\"{}\"{values}", form.join(" "))
    }

    /// A record's bytes, common fields first; `None` for dropped events.
    pub fn payload(&self, record: &Record) -> Option<Vec<u8>> {
        let What::Hit(point, values) = &record.what else { return None };
        let mut bytes = Bytes::new(self.big);
        bytes.u16(self.id(*point));
        bytes.u8(context_bits(record.context));
        bytes.u8(0);
        bytes.int(record.current.0 as u64, 4);
        bytes.data.resize(8 + self.gap, 0xee);
        // Texts that are elsewhere: the place of the field, and the text.
        let mut later: Vec<(usize, &str)> = Vec::new();
        for ((name, kind), value) in POINTS[*point].fields.iter().zip(values) {
            let (size, _, _) = self.field(*kind, name);
            bytes.align(size.min(8));
            match value {
                Value::Number(number) => bytes.int(*number as u64, size),
                Value::Left(left) => bytes.int(u64::from(self.states.bits(*left)), size),
                Value::Text(text) if size == 16 => bytes.padded(text, 16),
                Value::Text(text) => {
                    later.push((bytes.len(), text));
                    bytes.u32(0);
                }
            }
        }
        for (field, text) in later {
            let from = if self.comm == CommLayout::RelLoc { field + 4 } else { 0 };
            let at = (bytes.len() - from) as u64;
            bytes.text(text);
            bytes.set(field, at | (text.len() as u64 + 1) << 16, 4);
        }
        bytes.align(4);
        Some(bytes.data)
    }
}

fn line(decl: &str, offset: usize, size: usize, signed: u8) -> String {
    format!("\tfield:{decl};\toffset:{offset};\tsize:{size};\tsigned:{signed};\n")
}

fn context_bits(context: Context) -> u8 {
    match context {
        Context::Unknown | Context::Task => 0x01,
        Context::Softirq => 0x10,
        Context::Hardirq => 0x18,
    }
}
