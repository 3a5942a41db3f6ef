//! Histories for tests, and the content of a Scene in numbers.

use wastenot_draw::{Colour, Item, Scene};
use wastenot_model::workload::Random;
use wastenot_model::*;

/// Makes a History by hand, times in microseconds.
pub(crate) struct Maker {
    pub(crate) sink: Builder,
}

impl Maker {
    pub(crate) fn new(cpus: usize) -> Maker {
        Maker::telling(cpus, Carries::WAKEUPS | Carries::PLACEMENT)
    }
    pub(crate) fn telling(cpus: usize, carries: Carries) -> Maker {
        let mut head = Head::new(Machine::flat(cpus));
        head.carries = carries;
        head.source.name = "/traces/made.dat".into();
        Maker { sink: Builder::new(head) }
    }
    pub(crate) fn task(&mut self, tid: i32, name: &str) -> TaskId {
        let name = self.sink.name(name);
        self.sink.task(Task::new(tid, name))
    }
    pub(crate) fn push(&mut self, us: u64, cpu: u16, event: Event) {
        let by = By::UNKNOWN;
        self.sink.push(Entry { time: Time(us * 1000), cpu: CpuId(cpu), by, event });
    }
    /// `cpu` switches from `prev` to `next`; `None` is idle.
    pub(crate) fn switch(
        &mut self,
        us: u64,
        cpu: u16,
        prev: Option<TaskId>,
        next: Option<TaskId>,
        left: Left,
    ) {
        let idle = TaskId::idle(CpuId(cpu));
        let (prev, next) = (prev.unwrap_or(idle), next.unwrap_or(idle));
        self.sink.push(Entry::switch(Time(us * 1000), CpuId(cpu), prev, next, left));
    }
    pub(crate) fn wake(&mut self, us: u64, task: TaskId, on: u16) {
        let event =
            Event::Queued { task, on: Some(CpuId(on)), how: How::Wakeup, prio: Prio::UNKNOWN };
        self.push(us, on, event);
    }
}

/// Two tasks on two CPUs for ten milliseconds, with a wait, a loss and a CPU that goes down.
pub(crate) fn tiny() -> History {
    let mut made = Maker::new(3);
    let (a, b) = (made.task(11, "worker"), made.task(12, "worker"));
    made.switch(0, 0, None, Some(a), Left::Runnable);
    made.switch(0, 1, None, None, Left::Runnable);
    made.wake(1_000, b, 0);
    made.switch(3_000, 0, Some(a), Some(b), Left::Preempted);
    made.push(4_000, 1, Event::Migrate { task: a, from: Some(CpuId(0)), to: CpuId(1) });
    made.switch(4_000, 1, None, Some(a), Left::Runnable);
    made.push(6_000, 1, Event::Lost { count: Some(3) });
    made.switch(7_000, 1, Some(a), None, Left::Sleeping);
    made.push(8_000, 0, Event::Cpu { cpu: CpuId(2), up: false });
    made.switch(10_000, 0, Some(b), None, Left::Sleeping);
    made.sink.finish()
}

/// Runs of random length on `cpus` CPUs, two tasks each; `mean` nanoseconds between events.
pub(crate) fn busy(cpus: usize, events: usize, mean: u64, seed: u64) -> History {
    let mut made = Maker::telling(cpus, Carries::default());
    let mut dice = Random::stream(seed, 0, 0);
    let names = ["ua.C.x", "kworker/0:1", "rcu_preempt", "java"];
    let tasks: Vec<TaskId> =
        (0..2 * cpus).map(|n| made.task(1000 + n as i32, names[n % names.len()])).collect();
    let mut now: Vec<Option<TaskId>> = vec![None; cpus];
    let mut time = 9_539_524_366_369;
    for _ in 0..events {
        time += 1 + dice.below(2 * mean);
        let cpu = dice.below(cpus as u64) as usize;
        let next = match now[cpu] {
            Some(_) => None,
            None => Some(tasks[cpu + cpus * usize::from(dice.below(10) == 0)]),
        };
        let idle = TaskId::idle(CpuId(cpu as u16));
        let left = if now[cpu].is_some() { Left::Sleeping } else { Left::Runnable };
        let (prev, next_id) = (now[cpu].unwrap_or(idle), next.unwrap_or(idle));
        made.sink.push(Entry::switch(Time(time), CpuId(cpu as u16), prev, next_id, left));
        now[cpu] = next;
    }
    made.sink.finish()
}

/// A run as the switches tell it, without State.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) cpu: usize,
    pub(crate) task: TaskId,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// Every run of a History made of switches only.
pub(crate) fn runs(history: &History) -> Vec<Run> {
    let mut open: Vec<Option<(TaskId, u64)>> = vec![None; history.cpu_count()];
    let mut runs = Vec::new();
    let end = Entry::switch(history.window().to, CpuId(0), TaskId(0), TaskId(0), Left::Runnable);
    for entry in history.entries() {
        let Event::Switch { cpu, next, .. } = entry.event else { continue };
        let begun = (!next.is_idle()).then_some((next, entry.time.0));
        if let Some((task, from)) = std::mem::replace(&mut open[cpu.index()], begun) {
            runs.push(Run { cpu: cpu.index(), task, from, to: entry.time.0 });
        }
    }
    for (cpu, open) in open.into_iter().enumerate() {
        runs.extend(open.map(|(task, from)| Run { cpu, task, from, to: end.time.0 }));
    }
    runs
}

/// For each lane and pixel column, how much of its width each colour has.
pub(crate) fn columns(scene: &Scene, count: usize) -> Vec<Vec<Vec<(Colour, f64)>>> {
    let area = scene.plot.area;
    let wide = area.width / count as f64;
    let mut lanes: Vec<Vec<Vec<(Colour, f64)>>> =
        vec![vec![Vec::new(); count]; scene.plot.lanes.len()];
    let mut add = |lane: usize, x: f64, width: f64, colour: Colour, weight: f64| {
        let first = ((x - area.x) / wide + 1e-9).floor() as usize;
        for (index, shares) in lanes[lane].iter_mut().enumerate().skip(first) {
            let left = area.x + index as f64 * wide;
            let part = (x + width).min(left + wide) - x.max(left);
            if part <= 1e-9 * wide {
                break;
            }
            match shares.iter_mut().find(|(known, _)| *known == colour) {
                Some((_, sum)) => *sum += part / wide * weight,
                None => shares.push((colour, part / wide * weight)),
            }
        }
    };
    for item in &scene.items {
        match item {
            Item::Bars { lane, bars } => {
                bars.iter().for_each(|bar| add(*lane, bar.x, bar.width, bar.colour, 1.0));
            }
            Item::Stack { lane, x, width, rows, pixels, palette } => {
                let columns = pixels.len() / rows;
                let step = width / columns as f64;
                for (n, &paint) in pixels.iter().enumerate().filter(|(_, paint)| **paint != 0) {
                    let colour = palette[usize::from(paint)];
                    add(*lane, x + (n % columns) as f64 * step, step, colour, 1.0 / *rows as f64);
                }
            }
            _ => {}
        }
    }
    lanes
}

/// What shows data on a Scene, as text; grid and frames are left out.
pub(crate) fn dump(scene: &Scene) -> String {
    let mut out = format!("{}\n", scene.title);
    let frame = [0xd0d0d0, 0x6b6b6b].map(Colour::rgb);
    let data = |item: &&Item| !matches!(item, Item::Line { colour, .. } if frame.contains(colour));
    for item in scene.items.iter().filter(data) {
        out += &match item {
            Item::Bars { lane, bars } => {
                let bar = |bar: &wastenot_draw::Bar| {
                    format!(" {:.1}+{:.1}{}", bar.x, bar.width, bar.colour.hex())
                };
                format!(
                    "bars {}:{}\n",
                    scene.plot.lanes[*lane].label,
                    bars.iter().map(bar).collect::<String>()
                )
            }
            Item::Stack { lane, x, width, rows, .. } => {
                format!("stack {} {x:.1}+{width:.1} of {rows}\n", scene.plot.lanes[*lane].label)
            }
            Item::Hatch { area, .. } => {
                format!("hatch {:.1},{:.1} {:.1}x{:.1}\n", area.x, area.y, area.width, area.height)
            }
            Item::Fill { points, colour } => format!("fill {}{}\n", colour.hex(), path(points)),
            Item::Line { points, colour, dotted, .. } => {
                format!(
                    "{} {}{}\n",
                    if *dotted { "dots" } else { "line" },
                    colour.hex(),
                    path(points)
                )
            }
            Item::Text { x, y, text, .. } => format!("text {x:.1},{y:.1} {text}\n"),
            Item::Rect { area, colour } => format!(
                "rect {:.1},{:.1} {:.1}x{:.1} {}\n",
                area.x,
                area.y,
                area.width,
                area.height,
                colour.hex()
            ),
        };
    }
    out
}

fn path(points: &[(f64, f64)]) -> String {
    points.iter().map(|(x, y)| format!(" {x:.1},{y:.1}")).collect()
}
