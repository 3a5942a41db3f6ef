//! Gang scheduling: the tasks of a parallel job run at the same time or not at all.
//!
//! After John Ousterhout ("Scheduling Techniques for Concurrent Systems", 1982): a matrix whose
//! columns are CPUs and whose rows are time slots of one quantum each. A job has a row with a
//! column for each of its tasks, tasks without a job fill the cells that are left, and all CPUs
//! switch from row to row together. A CPU whose cell is empty, or whose task sleeps, is idle
//! although tasks wait, unless `alternative` lets it run any other task.
//!
//! Cost: placing a job scans the whole matrix, a row switch all CPUs, a decision between row
//! switches one cell; with `alternative` all waiting tasks.

mod matrix;

#[cfg(test)]
mod tests;

use wastenot_model::policy::{Context, Family, Happening, TimerId, Why};
use wastenot_model::{CpuId, Policy, Span, TaskId};

use super::{Make, Scheduler, Settings, Tunable, Values, queued_on};
use matrix::{Cell, Matrix};

pub(super) const SCHEDULER: Scheduler = Scheduler {
    name: "gang",
    about: "Ousterhout's matrix with one column per CPU: all tasks of a job are in one row and run \
            at the same time; the rows run one after the other",
    source: "J. Ousterhout, Scheduling Techniques for Concurrent Systems, 1982",
    groups: false,
    tunables: &[
        Tunable {
            name: "quantum",
            about: "the time for which each row runs",
            values: Values::Span,
            default: "100ms",
        },
        Tunable {
            name: "alternative",
            about: "whether a CPU runs other tasks while the task in its cell is missing or sleeps",
            values: Values::Words(&["off", "on"]),
            default: "off",
        },
        Tunable {
            name: "order",
            about: "the order in which columns are filled: by CPU number, or one CPU of each core \
                    first",
            values: Values::Words(&["cpu", "cores"]),
            default: "cpu",
        },
    ],
    make: Make::Policy(|settings: &Settings| {
        Box::new(Gang {
            name: settings.label(&SCHEDULER),
            quantum: settings.span("quantum").max(Span::us(10)),
            alternative: settings.word("alternative") == "on",
            cores_first: settings.word("order") == "cores",
            ..Gang::default()
        })
    }),
};

/// The policy.
#[derive(Debug, Default)]
struct Gang {
    name: String,
    quantum: Span,
    alternative: bool,
    cores_first: bool,
    matrix: Matrix,
    /// The current row.
    row: usize,
    /// Whether tasks have left, so that others may move to lower rows.
    sparse: bool,
    tasks: Vec<Task>,
    waits: u64,
    timer: TimerId,
    armed: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Task {
    /// Whether it runs or waits.
    runnable: bool,
    /// Set while it waits; a lower number has waited longer.
    waits: Option<u64>,
}

impl Gang {
    fn of(&mut self, task: TaskId) -> &mut Task {
        let index = task.ordinal();
        self.tasks.resize(self.tasks.len().max(index + 1), Task::default());
        &mut self.tasks[index]
    }
    fn seen(&self, task: TaskId) -> Task {
        self.tasks[task.ordinal()]
    }
    fn has_runnable(&self, row: usize) -> bool {
        self.matrix.tasks(row).any(|task| self.seen(task).runnable)
    }

    /// The cell of the task, in which it may run; a new one if it has none or may no longer use it.
    fn cell(&mut self, cx: &mut Context, task: TaskId) -> Cell {
        if let Some(cell) = self.matrix.cell(task) {
            if cx.online.contains(cell.cpu) && cx.allowed(task, cell.cpu) {
                return cell;
            }
            self.matrix.remove(task);
        }
        let before = self.matrix.relocations();
        let cell = self.matrix.place(cx, task);
        if self.matrix.relocations() > before {
            self.look(cx);
        }
        cell
    }

    /// All CPUs look at their cells.
    fn look(&mut self, cx: &mut Context) {
        for cpu in cx.online.clone().iter() {
            cx.preempt(cpu);
        }
    }

    fn arm(&mut self, cx: &mut Context) {
        self.armed = true;
        cx.timer(self.timer, cx.cpu, Some(cx.now + self.quantum));
    }

    /// Switches for a quantum to the next row in which a task can run; returns whether there is
    /// one.
    fn turn(&mut self, cx: &mut Context) -> bool {
        if std::mem::take(&mut self.sparse) {
            self.matrix.pack(cx);
        }
        let rows = self.matrix.rows();
        let next = (1..=rows).map(|n| (self.row + n) % rows).find(|&row| self.has_runnable(row));
        let Some(row) = next else {
            self.armed = false;
            return false;
        };
        self.row = row;
        self.arm(cx);
        self.look(cx);
        true
    }

    /// The task that has waited for longest, except tasks whose turn it is on another CPU.
    fn alternative(&self, cx: &Context, cpu: CpuId) -> Option<TaskId> {
        let tasks = self.tasks.iter().enumerate();
        let waiting = tasks.filter_map(|(n, task)| Some((task.waits?, TaskId::nth(n))));
        let free = waiting.filter(|&(_, task)| {
            let on = self.matrix.cell(task).is_some_and(|cell| cell.row == self.row);
            !on && cx.allowed(task, cpu)
        });
        free.min().map(|(_, task)| task)
    }
}

impl Policy for Gang {
    fn name(&self) -> String {
        self.name.clone()
    }
    fn family(&self) -> Family {
        Family::Reserving
    }

    fn init(&mut self, cx: &mut Context) {
        self.timer = cx.new_timers(1);
        self.matrix = Matrix::new(cx, self.cores_first);
    }

    fn select_cpu(&mut self, cx: &mut Context, task: TaskId, prev: CpuId, _: Why) -> CpuId {
        let cell = self.cell(cx, task);
        match cx.online.contains(cell.cpu) && cx.allowed(task, cell.cpu) {
            true => cell.cpu,
            false => cx.fallback(task, prev),
        }
    }

    fn enqueue(&mut self, cx: &mut Context, task: TaskId, cpu: CpuId, why: Why) {
        self.waits += 1;
        let waits = Some(self.waits);
        *self.of(task) = Task { runnable: true, waits };
        let cell = self.cell(cx, task);
        if cell.row == self.row {
            if !(matches!(why, Why::Preempted | Why::Yield) && cell.cpu == cpu) {
                cx.preempt(cell.cpu);
            }
        } else if !self.has_runnable(self.row) {
            self.turn(cx);
        } else if self.alternative {
            let idle = cx.idle.iter().find(|&idle| cx.allowed(task, idle));
            idle.into_iter().for_each(|idle| cx.kick_idle(idle));
        }
        if !self.armed {
            self.arm(cx);
        }
    }

    fn dequeue(&mut self, _: &mut Context, task: TaskId, _: CpuId) {
        *self.of(task) = Task::default();
    }

    fn dispatch(&mut self, cx: &mut Context, cpu: CpuId) -> Option<TaskId> {
        let waits = |gang: &Gang, task: &TaskId| gang.seen(*task).waits.is_some();
        let mut next = self.matrix.task(self.row, cpu).filter(|task| waits(self, task));
        if next.is_none() && !self.has_runnable(self.row) && self.turn(cx) {
            next = self.matrix.task(self.row, cpu).filter(|task| waits(self, task));
        }
        if next.is_none() && self.alternative {
            next = self.alternative(cx, cpu);
        }
        let task = next?;
        if cx.task(task).cpu != cpu {
            cx.moved(task, cpu);
        }
        self.of(task).waits = None;
        Some(task)
    }

    fn running(&mut self, _: &mut Context, _: CpuId, _: TaskId) {}

    fn stopping(&mut self, _: &mut Context, _: CpuId, task: TaskId, runnable: bool) {
        self.of(task).runnable = runnable;
    }

    fn on(&mut self, cx: &mut Context, happening: Happening) {
        match happening {
            Happening::Fork { child, .. } => {
                self.of(child);
                self.cell(cx, child);
            }
            Happening::Exit(task) => {
                self.matrix.remove(task);
                self.sparse = true;
            }
            Happening::Timer(_) => {
                self.turn(cx);
            }
            Happening::Cpu { cpu, up: false } => {
                for task in queued_on(cx, cpu) {
                    let cell = self.cell(cx, task);
                    let to = cx.fallback(task, cell.cpu);
                    cx.moved(task, to);
                }
                self.look(cx);
            }
            _ => {}
        }
    }
}
