//! Random Histories for tests.

use wastenot_model::report::Column;
use wastenot_model::workload::Random;
use wastenot_model::*;

fn maybe<T>(random: &mut Random, value: T) -> Option<T> {
    (random.below(4) > 0).then_some(value)
}

/// A machine with some facts about each CPU, which differ.
pub(crate) fn machine(cpus: usize) -> Machine {
    let mut machine = Machine::flat(cpus);
    machine.name = "two \"nodes\"".into();
    for (index, cpu) in machine.cpus.iter_mut().enumerate() {
        let n = index as u32;
        (cpu.core, cpu.llc) = (Some(n / 2), (n != 1).then_some(n / 4));
        (cpu.node, cpu.package) = (Some(n / 4), Some(0));
        (cpu.capacity, cpu.online, cpu.isolated) = (1024 - index as u16 % 8, n != 2, n == 3);
    }
    machine.distances = Some(vec![vec![10, 21], vec![21, 10]]);
    machine.links = Some(vec![vec![1], vec![0]]);
    machine
}

/// A plausible sequence of events on a machine: tasks run, sleep, are woken, moved, forked and
/// exit, in the order that files have.
pub(crate) fn plausible(seed: u64, steps: usize) -> History {
    let mut head = Head::new(machine(6));
    head.clock.name = "boot".into();
    head.source.format = "test".into();
    head.source.kernel = Some("Linux 6.12.1 x86_64".into());
    head.carries = Carries::from_bits(u32::MAX)
        .without(Carries::START | Carries::AFFINITY | Carries::NO_SELECTION | Carries::LOSSES);
    let mut life = Life {
        random: Random::stream(seed, 0, 0),
        sink: Builder::new(head),
        time: 5_000_000,
        running: (0..6).map(|cpu| TaskId::idle(CpuId(cpu))).collect(),
        waiting: vec![Vec::new(); 6],
        sleeping: Vec::new(),
        free_tids: Vec::new(),
    };
    for n in 0..12 {
        let name = life.sink.name(&format!("task, {}", n % 5));
        let task = life.sink.task(Task { tid: 100 + n, pid: Some(100 + n / 3 * 3), name });
        life.sleeping.push((task, CpuId(n as u16 % 6)));
    }
    (0..steps).for_each(|_| life.step());
    life.sink.finish()
}

struct Life {
    random: Random,
    sink: Builder,
    time: u64,
    running: Vec<TaskId>,
    waiting: Vec<Vec<TaskId>>,
    sleeping: Vec<(TaskId, CpuId)>,
    free_tids: Vec<i32>,
}

impl Life {
    fn step(&mut self) {
        self.time += 1 + self.random.below(2000);
        let cpu = CpuId(self.random.below(6) as u16);
        let running = self.running[cpu.index()];
        match self.random.below(100) {
            0..35 => self.wake(cpu),
            35..80 => self.switch(cpu, running, None),
            80..85 if !running.is_idle() => self.fork(cpu, running),
            85..88 if !running.is_idle() && self.sleeping.len() > 4 => {
                self.push(cpu, Context::Task, Event::Exit { task: running });
                self.free_tids.extend(self.sink.task_mut(running).map(|task| task.tid));
                self.switch(cpu, running, Some(Left::Dead));
            }
            88..90 if !running.is_idle() => {
                self.push(cpu, Context::Task, Event::Exec { task: running });
                let name = self.sink.name(&format!("name {}", self.time % 7));
                let what = Change::Name(name);
                self.push(cpu, Context::Task, Event::Changed { task: running, what });
                self.sink.task_mut(running).expect("not idle").name = name;
            }
            90 => self.push(cpu, Context::Unknown, Event::Lost { count: Some(3) }),
            91 => {
                let khz = 1_000_000 + self.random.below(9) as u32;
                self.push(cpu, Context::Hardirq, Event::Freq { cpu, khz });
            }
            92 => {
                let up = self.random.below(2) < 1;
                self.push(cpu, Context::Task, Event::Cpu { cpu: CpuId(5), up });
            }
            _ => {}
        }
    }

    fn push(&mut self, cpu: CpuId, context: Context, event: Event) {
        let task = self.running[cpu.index()];
        let by = match event {
            // A gap has no context, and begins at the last event of its CPU.
            Event::Lost { .. } => By::UNKNOWN,
            _ => By { task: Some(task), context },
        };
        self.sink.push(Entry { time: Time(self.time), cpu, by, event });
    }

    fn prio(&mut self) -> Prio {
        Prio(maybe(&mut self.random, 119).or(Some(-1)))
    }

    fn wake(&mut self, cpu: CpuId) {
        if self.sleeping.is_empty() {
            return;
        }
        let index = self.random.below(self.sleeping.len() as u64) as usize;
        let (task, prev) = self.sleeping.remove(index);
        let contexts = [Context::Task, Context::Softirq, Context::Hardirq];
        let context = contexts[self.random.below(3) as usize];
        let prio = self.prio();
        self.push(cpu, context, Event::Waking { task, prev: Some(prev), prio });
        let on = CpuId(self.random.below(6) as u16);
        if on != prev {
            self.push(cpu, context, Event::Migrate { task, from: Some(prev), to: on });
        }
        let queued = Event::Queued { task, on: Some(on), how: How::Wakeup, prio };
        self.push(cpu, context, queued);
        self.waiting[on.index()].push(task);
    }

    fn switch(&mut self, cpu: CpuId, prev: TaskId, left: Option<Left>) {
        let idle = TaskId::idle(cpu);
        let next = self.waiting[cpu.index()].pop().unwrap_or(idle);
        if next == prev {
            return;
        }
        let lefts = ['S', 'D', 'R', 'I', 'P', 'T'];
        let letter = lefts[self.random.below(6) as usize];
        let mut left = left.unwrap_or(Left::from_letter(letter));
        if prev.is_idle() {
            left = Left::Runnable;
        } else if left == Left::Runnable {
            left = maybe(&mut self.random, Left::Preempted).unwrap_or(left);
            self.waiting[cpu.index()].insert(0, prev);
        } else if left != Left::Dead {
            self.sleeping.push((prev, cpu));
        }
        let (prev_prio, next_prio) = (self.prio(), self.prio());
        let event = Event::Switch { cpu, prev, next, left, prev_prio, next_prio };
        self.push(cpu, Context::Task, event);
        self.running[cpu.index()] = next;
    }

    fn fork(&mut self, cpu: CpuId, parent: TaskId) {
        let tid = self.free_tids.pop().unwrap_or(1000 + (self.time % 100_000_000) as i32);
        let name = self.sink.task_mut(parent).expect("not idle").name;
        let child = self.sink.task(Task { tid, pid: None, name });
        self.push(cpu, Context::Task, Event::Fork { parent, child });
        let prio = self.prio();
        let event = Event::Queued { task: child, on: Some(cpu), how: How::New, prio };
        self.push(cpu, Context::Task, event);
        self.waiting[cpu.index()].push(child);
    }
}

/// Every kind of event with every kind of cell, in time order but without any meaning.
pub(crate) fn anything(seed: u64, events: usize) -> History {
    let random = &mut Random::stream(seed, 0, 0);
    let mut head = Head::new(machine(6));
    head.clock = Clock { name: "mono".into(), nanoseconds: seed & 1 == 0 };
    head.source = Source {
        format: "test".into(),
        name: "a\u{e9}\n\"b\"".into(),
        kernel: maybe(random, "Linux host 6.12.1 x86_64".into()),
        notes: vec![("key".into(), "value".into()), ("key".into(), String::new())],
    };
    head.carries = Carries::from_bits(random.below(1 << 24) as u32);
    let mut sink = Builder::new(head);
    let names: Vec<NameId> = (0..9).map(|n| sink.name(&format!("name {n}"))).collect();
    let masks: Vec<MaskId> = (0..5).map(|n| sink.mask(&CpuSet::first(n * 17))).collect();
    let tasks: Vec<TaskId> = (0..20)
        .map(|n| {
            let pid = maybe(random, random_pid(n));
            sink.task(Task { tid: n, pid, name: names[n as usize % 9] })
        })
        .chain((0..6).map(|cpu| TaskId::idle(CpuId(cpu))))
        .collect();
    let mut time = 1_000_000;
    for _ in 0..events {
        time += random.below(3) * random.below(1000);
        let entry = any_entry(random, time, &tasks, &names, &masks);
        sink.push(entry);
    }
    sink.loss(Loss::new(LossKind::ClockSkew, "a note with \"quotes\""));
    sink.annex(Annex { table: table() });
    sink.head().start = (seed & 3 > 0).then(|| start(random, &tasks));
    sink.head().window.to = Time(time + 77);
    sink.finish()
}

fn random_pid(n: i32) -> i32 {
    n / 2
}

fn start(random: &mut Random, tasks: &[TaskId]) -> Start {
    let modes = [CpuMode::Unknown, CpuMode::Offline, CpuMode::Idle, CpuMode::Busy(tasks[3])];
    Start {
        cpus: (0..random.below(6)).map(|_| modes[random.below(4) as usize]).collect(),
        waiting: vec![(tasks[5], Some(CpuId(1))), (tasks[4], None)],
        sleeping: vec![(tasks[1], maybe(random, CpuId(2)))],
        silent: vec![CpuId(5)],
        missing: vec![CpuId(4)],
        unseen_until: Time(random.below(3)),
        past: maybe(random, vec![past(tasks[5]), past(tasks[9])]),
    }
}

fn past(task: TaskId) -> Past {
    Past {
        task,
        phase: Phase::Waiting,
        since: Time(999_000),
        cpu: Some(CpuId(1)),
        prev: None,
        origin: Origin::Preempted,
        moves: 3,
        waking: Some(Time(998_000)),
        waker: By { task: Some(TaskId::idle(CpuId(2))), context: Context::Softirq },
        waker_cpu: CpuId(2),
        mask: Some(MaskId(3)),
        policy: Some(5),
        nice: Some(-20),
        throttled: false,
        migration_disabled: true,
        last: Some(CpuId(3)),
        moved: true,
        seen: Seen::On(CpuId(1)),
    }
}

fn table() -> Table {
    let units = [Unit::None, Unit::Ns, Unit::At, Unit::Share];
    let columns = units.map(|unit| Column::new("a", "A", unit));
    let mut table = Table::new("decisions", "Decisions", columns);
    // Files hold whatever another program put there.
    table.rows.push(vec![Value::Unknown, Value::Int(i64::MIN), Value::Bool(true), Value::Num(0.1)]);
    let list = Value::List(vec![Value::Text("x".into()), Value::Num(-0.0)]);
    let map = Value::Map(vec![("k".into(), Value::Int(-1)), ("num".into(), Value::Unknown)]);
    table.rows.push(vec![list, map, Value::Num(1e300), Value::Text(String::new())]);
    table
}

fn any_entry(
    random: &mut Random,
    time: u64,
    tasks: &[TaskId],
    names: &[NameId],
    masks: &[MaskId],
) -> Entry {
    let pick = |random: &mut Random| tasks[random.below(tasks.len() as u64) as usize];
    let task = pick(random);
    let other = pick(random);
    let cpu = CpuId(random.below(8) as u16);
    let on = CpuId(random.below(9) as u16);
    let prio = |random: &mut Random| Prio(maybe(random, random_prio(time)));
    let context = [Context::Unknown, Context::Task, Context::Softirq, Context::Hardirq];
    let current = pick(random);
    let mut by = By { task: maybe(random, current), context: context[random.below(4) as usize] };
    let event = match random.below(18) {
        0..4 => {
            by.task = Some(task);
            let left = ['R', 'S', 'D', 'I', 'T', 'P', 'X', '?'][random.below(8) as usize];
            let left = maybe(random, Left::from_letter(left)).unwrap_or(Left::Preempted);
            let (prev_prio, next_prio) = (prio(random), prio(random));
            Event::Switch { cpu, prev: task, next: other, left, prev_prio, next_prio }
        }
        4 | 5 => Event::Waking { task, prev: maybe(random, on), prio: prio(random) },
        6 | 7 => {
            let how = [How::Wakeup, How::New, How::NoSelection][random.below(3) as usize];
            Event::Queued { task, on: maybe(random, on), how, prio: prio(random) }
        }
        8 => Event::Migrate { task, from: maybe(random, cpu), to: on },
        9 => {
            by.task = Some(task);
            Event::Fork { parent: task, child: other }
        }
        10 => Event::Exec { task },
        11 => Event::Exit { task },
        12 => Event::Cpu { cpu: on, up: random.below(2) == 0 },
        13 => Event::Freq { cpu: on, khz: random.below(1 << 31) as u32 },
        14 => Event::Lost { count: maybe(random, time as u32) },
        15 => Event::Decided { row: 1 },
        _ => Event::Changed { task, what: any_change(random, names, masks) },
    };
    Entry { time: Time(time), cpu, by, event }
}

fn random_prio(time: u64) -> i16 {
    (time % 140) as i16 - 1
}

fn any_change(random: &mut Random, names: &[NameId], masks: &[MaskId]) -> Change {
    let name = names[random.below(9) as usize];
    match random.below(7) {
        0 => Change::Affinity(masks[random.below(5) as usize]),
        1 => Change::Policy(random.below(8) as u8),
        2 => Change::Nice(random.below(40) as i8 - 20),
        3 => Change::Cgroup(name),
        4 => Change::Throttled(random.below(2) == 0),
        5 => Change::MigrationDisabled(random.below(2) == 0),
        _ => Change::Name(name),
    }
}
