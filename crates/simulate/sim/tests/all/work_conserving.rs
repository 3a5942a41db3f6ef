//! The yardstick: a maximum matching of runnable tasks and CPUs, always, and fair turns.

use wastenot_model::workload::Random;
use wastenot_model::{
    CpuId, CpuSet, Machine, Observer, Phase, Silent, Span, State, TaskId, Time, replay,
};

use crate::lives::{Life, Seen, live};

fn cpus(cpus: usize, lives: &[Life], seconds: u64) -> Seen {
    live(&Machine::flat(cpus), "work-conserving", &[], lives, seconds)
}

/// Whether as many tasks as possible run at each instant.
struct Most<'l> {
    lives: &'l [Life],
    looked: usize,
}

impl Most<'_> {
    fn may(&self, task: TaskId, cpu: usize) -> bool {
        let mask = &self.lives[task.index().expect("a task")].affinity;
        mask.as_ref().is_none_or(|mask| mask.contains(CpuId(cpu as u16)))
    }

    /// Finds a CPU for `task`, moving other tasks if necessary (Kuhn 1955).
    fn place(&self, task: TaskId, of: &mut [Option<TaskId>], tried: &mut [bool]) -> bool {
        (0..of.len()).any(|cpu| {
            if !self.may(task, cpu) || std::mem::replace(&mut tried[cpu], true) {
                return false;
            }
            let free = of[cpu].is_none_or(|other| self.place(other, of, tried));
            if free {
                of[cpu] = Some(task);
            }
            free
        })
    }
}

impl Observer for Most<'_> {
    fn held(&mut self, state: &State, from: Time, _: Time) {
        let phase = |task: &TaskId| state.task(*task).phase;
        let tasks = || (0..state.task_count()).map(TaskId::nth);
        let running = tasks().filter(|task| phase(task) == Phase::Running).count();
        let mut of = vec![None; state.cpu_count()];
        let runnable =
            tasks().filter(|task| matches!(phase(task), Phase::Running | Phase::Waiting));
        let most = runnable.filter(|&task| {
            let mut tried = vec![false; of.len()];
            self.place(task, &mut of, &mut tried)
        });
        assert_eq!(running, most.count(), "at {from}");
        self.looked += 1;
    }
}

#[test]
fn as_many_tasks_run_as_affinities_allow() {
    for seed in 0..60 {
        let mut random = Random::stream(seed, 0, 0);
        let n = 2 + random.below(7) as usize;
        let bound = random.below(101);
        let lives: Vec<Life> = (0..2 + random.below(20))
            .map(|_| {
                let mut span = |most: u64| Span(1 + random.below(most * 1_000_000));
                let life = Life::in_turn(span(30), span(30));
                let some = (0..n as u16).filter(|_| random.below(3) == 0).map(CpuId);
                let mut mask: CpuSet = some.collect();
                mask.insert(CpuId(random.below(n as u64) as u16));
                let affinity = (random.below(100) < bound).then_some(mask);
                Life { affinity, ..life }
            })
            .collect();
        let seen = cpus(n, &lives, 1);
        let mut most = Most { lives: &lives, looked: 0 };
        replay(&seen.history, Silent::Idle, &mut most);
        assert!(most.looked > 50, "seed {seed}: something happened");
        assert_eq!(seen.waste(), Span::ZERO, "seed {seed}");
    }
}

#[test]
fn a_chain_of_three_makes_room() {
    let on =
        |list: &str, at: u64| Life { affinity: CpuSet::parse(list), at: Time(at), ..Life::hog() };
    let seen = cpus(3, &[on("0-1", 0), on("1-2", 1), on("0", 2)], 1);
    let last = |n: usize| seen.runs_of(n).last().expect("it runs").cpu;
    assert_eq!([0, 1, 2].map(last), [1, 2, 0].map(CpuId));
}

#[test]
fn hogs_take_turns_of_a_slice_and_nobody_starves() {
    let mut lives = vec![Life::hog(); 7];
    lives.push(Life { affinity: CpuSet::parse("0"), ..Life::hog() });
    let seen = cpus(3, &lives, 8);
    for n in 0..7 {
        let used = seen.used(n).as_secs() / 3.0;
        assert!((used - 1.0).abs() < 0.15, "{n} had {used} of its share");
        assert!((seen.slice_ms(n) / 10.0 - 1.0).abs() < 0.1, "{n}: {}", seen.slice_ms(n));
    }
    assert!(seen.used(7) > Span::ms(2000), "who may use one CPU only is not passed over");
}
