//! The matrix: which task has which time slot on which CPU.

use std::collections::BTreeMap;

use wastenot_model::policy::Context;
use wastenot_model::{CpuId, TaskId};

/// A time slot on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) row: usize,
    pub(super) cpu: CpuId,
}

/// Rows of time slots, columns of CPUs.
#[derive(Debug, Default)]
pub(super) struct Matrix {
    /// CPUs in the order in which they are filled.
    columns: Vec<CpuId>,
    rows: Vec<Vec<Option<TaskId>>>,
    cells: BTreeMap<TaskId, Cell>,
    /// Tasks of each parallel job, in the order of arrival.
    jobs: BTreeMap<u32, Vec<TaskId>>,
    relocations: u64,
}

impl Matrix {
    /// An empty matrix. `cores_first`: every core gets a task before any sibling does.
    pub(super) fn new(cx: &Context, cores_first: bool) -> Matrix {
        let mut columns: Vec<CpuId> = (0..cx.cpus.len()).map(|cpu| CpuId(cpu as u16)).collect();
        if cores_first {
            let nth = |cpu: CpuId| {
                let siblings = cx.machine.sharing(cpu, |cpu| cpu.core);
                siblings.iter().take_while(|&sibling| sibling < cpu).count()
            };
            columns.sort_by_key(|&cpu| (nth(cpu), cpu));
        }
        Matrix { columns, ..Matrix::default() }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }
    /// CPUs in the order in which they are filled.
    #[cfg(test)]
    pub(super) fn order(&self) -> Vec<CpuId> {
        self.columns.clone()
    }
    /// How often a task that had a cell got another.
    pub(super) fn relocations(&self) -> u64 {
        self.relocations
    }
    pub(super) fn cell(&self, task: TaskId) -> Option<Cell> {
        self.cells.get(&task).copied()
    }
    pub(super) fn task(&self, row: usize, cpu: CpuId) -> Option<TaskId> {
        *self.rows.get(row)?.get(cpu.index())?
    }
    pub(super) fn tasks(&self, row: usize) -> impl Iterator<Item = TaskId> + '_ {
        self.rows.get(row).into_iter().flatten().filter_map(|task| *task)
    }

    /// A cell for `task`: beside its job if there is room; else the job moves to the lowest row
    /// that has room for all its tasks. A task without a job gets the lowest hole.
    pub(super) fn place(&mut self, cx: &Context, task: TaskId) -> Cell {
        let gang = self.join(cx, task);
        let beside = gang.iter().find_map(|other| self.cells.get(other)).map(|cell| cell.row);
        if let Some(row) = beside {
            if let Some(cpus) = self.room(cx, row, &[task]) {
                return self.put(task, Cell { row, cpu: cpus[0] });
            }
            if self.relocate(cx, &gang, 0..=self.rows.len()) {
                return self.cells[&task];
            }
        }
        // Without a job, or of a job that is wider than the machine.
        let fits = |row: usize| Some((row, self.room(cx, row, &[task])?[0]));
        let cell = (0..=self.rows.len()).find_map(fits);
        let (row, cpu) = cell.unwrap_or_else(|| (self.rows.len(), cx.fallback(task, CpuId(0))));
        self.put(task, Cell { row, cpu })
    }

    /// All tasks of the job of `task`, `task` last.
    fn join(&mut self, cx: &Context, task: TaskId) -> Vec<TaskId> {
        let Some(job) = cx.task(task).job else { return vec![task] };
        let gang = self.jobs.entry(job).or_default();
        gang.retain(|&other| other != task);
        gang.push(task);
        gang.clone()
    }

    /// Moves a whole gang to the lowest of `rows` that has room; returns whether one has.
    fn relocate(
        &mut self,
        cx: &Context,
        gang: &[TaskId],
        rows: impl IntoIterator<Item = usize>,
    ) -> bool {
        for row in rows {
            if let Some(cpus) = self.room(cx, row, gang) {
                self.relocations += 1;
                gang.iter().for_each(|&task| self.clear(task));
                for (&task, cpu) in gang.iter().zip(cpus) {
                    self.put(task, Cell { row, cpu });
                }
                return true;
            }
        }
        false
    }

    /// A free CPU of `row` for each task of `gang`: its own column if possible. Its own cells count
    /// as free.
    fn room(&self, cx: &Context, row: usize, gang: &[TaskId]) -> Option<Vec<CpuId>> {
        let mut free: Vec<CpuId> = self.columns.clone();
        free.retain(|&cpu| {
            let holder = self.task(row, cpu);
            cx.online.contains(cpu) && holder.is_none_or(|task| gang.contains(&task))
        });
        if free.len() < gang.len() {
            return None;
        }
        let column = |task: TaskId| self.cells.get(&task).map(|cell| cell.cpu);
        let mut cpus = Vec::with_capacity(gang.len());
        for &task in gang {
            let own = free.iter().position(|&cpu| Some(cpu) == column(task));
            let own = own.filter(|&at| cx.allowed(task, free[at]));
            let at = own.or_else(|| free.iter().position(|&cpu| cx.allowed(task, cpu)))?;
            cpus.push(free.remove(at));
        }
        Some(cpus)
    }

    fn put(&mut self, task: TaskId, cell: Cell) -> Cell {
        while self.rows.len() <= cell.row {
            self.rows.push(vec![None; self.columns.len()]);
        }
        self.rows[cell.row][cell.cpu.index()] = Some(task);
        self.cells.insert(task, cell);
        cell
    }

    fn clear(&mut self, task: TaskId) {
        if let Some(cell) = self.cells.remove(&task) {
            self.rows[cell.row][cell.cpu.index()] = None;
        }
    }

    /// `task` has ended, or is to be placed anew.
    pub(super) fn remove(&mut self, task: TaskId) {
        self.clear(task);
        self.jobs.retain(|_, gang| {
            gang.retain(|&other| other != task);
            !gang.is_empty()
        });
    }

    /// Fills the holes of lower rows from higher ones, jobs as a whole, and drops empty rows.
    pub(super) fn pack(&mut self, cx: &Context) {
        for row in 1..self.rows.len() {
            for cpu in self.columns.clone() {
                let Some(task) = self.task(row, cpu) else { continue };
                let gang = match cx.task(task).job.and_then(|job| self.jobs.get(&job)) {
                    Some(gang) => gang.clone(),
                    None => vec![task],
                };
                self.relocate(cx, &gang, 0..row);
            }
        }
        while self.rows.last().is_some_and(|row| row.iter().all(Option::is_none)) {
            self.rows.pop();
        }
    }
}
