//! What the tasks of a simulated History must do under any schedule: their programs, the forks, and
//! which tasks the run waits for.

use std::collections::{BTreeSet, HashMap};

use wastenot_model::workload::{Programs, Random, Step, TemplateId, Variate};
use wastenot_model::{History, Machine, Span};

use super::super::life::Life;

/// Speed of a CPU of full capacity.
const FULL: u64 = 1024;

/// The programs of a History, and which task runs which.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(in crate::extract) programs: Programs,
    pub(in crate::extract) members: Vec<Member>,
    /// How many tasks reach each barrier, put into each pipe, and take from it.
    pub(super) users: Users,
    /// The fastest CPU of the recorded machine.
    pub(super) fastest: u64,
    /// Whether CPUs go offline or come back.
    pub(super) plugged: bool,
}

/// One task.
#[derive(Clone, Debug)]
pub(in crate::extract) struct Member {
    pub(in crate::extract) template: TemplateId,
    /// Its number among the tasks of its template.
    pub(super) ordinal: u32,
    /// When it is launched, if it is not forked.
    pub(in crate::extract) launched: Option<Span>,
    /// The tasks that it forked, in order.
    pub(super) children: Vec<u32>,
    pub(in crate::extract) awaited: bool,
}

/// How many tasks use each shared object.
#[derive(Clone, Debug, Default)]
pub(super) struct Users {
    pub(super) barriers: Vec<u32>,
    pub(super) putters: Vec<u32>,
    pub(super) getters: Vec<u32>,
}

impl Plan {
    /// The plan of `history`, if it contains one and all awaited tasks have completed it.
    pub(crate) fn of(
        history: &History,
        lives: &[Life],
        awaited: &[bool],
        plugged: bool,
    ) -> Option<Plan> {
        let programs = Programs::told(history)?;
        let is_late = |step: &Step| matches!(step, Step::UnlessLate(_));
        let templates = &programs.workload.templates;
        if templates.iter().any(|it| it.program.steps().iter().any(is_late)) {
            return None; // what is done depends on the time
        }
        let index: HashMap<i32, usize> =
            history.tasks().map(|(id, task)| (task.tid, id.ordinal())).collect();
        let mut place: HashMap<usize, u32> = HashMap::new();
        for (n, tid) in programs.kinds.keys().enumerate() {
            place.insert(*index.get(tid)?, n as u32);
        }
        let mut born = vec![0; templates.len()];
        let mut members = Vec::with_capacity(programs.kinds.len());
        for (tid, &(template, launched)) in &programs.kinds {
            let (it, ordinal) = (index[tid], &mut born[template.index()]);
            *ordinal += 1;
            let life = &lives[it];
            if awaited[it] && !life.ended {
                return None;
            }
            // The task must be one that acted.
            life.birth?;
            let children = life.children().map(|child| place.get(&child).copied());
            members.push(Member {
                template,
                ordinal: *ordinal,
                launched: launched.map(|at| at - history.window().from),
                children: children.collect::<Option<_>>()?,
                awaited: awaited[it],
            });
        }
        let known: BTreeSet<usize> = place.keys().copied().collect();
        let others = awaited.iter().enumerate().filter(|&(_, &awaited)| awaited);
        if !others.map(|(it, _)| it).all(|it| known.contains(&it)) {
            return None;
        }
        let users = Users::of(&programs, &members);
        let fastest = fastest(&history.head.machine);
        Some(Plan { users, programs, members, fastest, plugged })
    }

    /// The program of a task of this template.
    pub(super) fn walk(&self, template: TemplateId, ordinal: u32, fastest: u64) -> Walk<'_> {
        let steps = self.programs.workload.templates[template.index()].program.steps();
        let random = Random::of_task(self.programs.seed, template, ordinal);
        Walk { steps, at: 0, rounds: Vec::new(), random, fastest }
    }
}

/// The speed of the fastest CPU.
pub(super) fn fastest(machine: &Machine) -> u64 {
    machine.cpus.iter().map(|cpu| u64::from(cpu.capacity)).max().unwrap_or(FULL).max(FULL)
}

impl Users {
    fn of(programs: &Programs, members: &[Member]) -> Users {
        let load = &programs.workload;
        let mut users = Users {
            barriers: vec![0; load.barriers.len()],
            putters: vec![0; load.pipes.len()],
            getters: vec![0; load.pipes.len()],
        };
        let mut counts = vec![0; load.templates.len()];
        members.iter().for_each(|member| counts[member.template.index()] += 1);
        for (template, count) in load.templates.iter().zip(counts) {
            let steps: BTreeSet<(u8, usize)> =
                template.program.steps().iter().filter_map(key).collect();
            for (kind, at) in steps {
                let all = [&mut users.barriers, &mut users.putters, &mut users.getters];
                let [barriers, putters, getters] = all;
                match kind {
                    0 => barriers[at] += count,
                    1 => putters[at] += count,
                    _ => getters[at] += count,
                }
            }
        }
        users
    }
}

fn key(step: &Step) -> Option<(u8, usize)> {
    match step {
        Step::Barrier(id) => Some((0, id.index())),
        Step::Put(id) => Some((1, id.index())),
        Step::Get(id) => Some((2, id.index())),
        _ => None,
    }
}

/// A program, executed step by step.
#[derive(Clone, Debug)]
pub(super) struct Walk<'p> {
    steps: &'p [Step],
    at: usize,
    /// The rounds left of each enclosing loop.
    rounds: Vec<Option<u32>>,
    random: Random,
    fastest: u64,
}

/// The next operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Op {
    /// CPU time, on the fastest CPU.
    Compute(u64),
    Sleep(u64),
    /// Another step, which is not a loop.
    Step(Step),
}

impl Walk<'_> {
    /// Whether it ever puts a token into this pipe.
    pub(super) fn puts_into(&self, pipe: usize) -> bool {
        self.steps.iter().any(|step| key(step) == Some((1, pipe)))
    }

    /// Advances by one step. A step of a loop counts too, so that no call takes for ever.
    pub(super) fn next(&mut self) -> Option<Op> {
        let step = *self.steps.get(self.at)?;
        self.at += 1;
        let mut draw = |variate: Variate| variate.draw(&mut self.random).0;
        Some(match step {
            Step::Compute(variate) => {
                let span = u128::from(draw(variate)) * u128::from(FULL) / u128::from(self.fastest);
                Op::Compute(span as u64)
            }
            Step::Sleep(variate) => Op::Sleep(draw(variate)),
            Step::Loop(rounds) => {
                self.rounds.push(rounds);
                Op::Step(Step::Yield)
            }
            Step::End { of } => {
                match self.rounds.last_mut() {
                    Some(None) => self.at = of as usize + 1,
                    Some(Some(rounds)) if *rounds > 1 => {
                        *rounds -= 1;
                        self.at = of as usize + 1;
                    }
                    _ => drop(self.rounds.pop()),
                }
                Op::Step(Step::Yield)
            }
            step => Op::Step(step),
        })
    }
}
