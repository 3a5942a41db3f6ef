//! The tests of the explorer as terms: each holds in the situations that break a claim.

use wastenot_model::CpuId;
use wastenot_rota::eval::{At, Frame};
use wastenot_rota::ir::{Attempt, Comparison};

use super::attempt::Trial;
use super::counts::{Counts, some};
use super::expr::{Encoded, Reader};
use super::terms::{all, any, compares, one_if, only_if, total};
use super::{handler, some_of};
use crate::encode::NotEncoded;
use crate::explore::{Place, Task, Test, World, Wrong, placed};
use crate::smt::{Script, Sort, Term, int, name, not};
use crate::text::begins;

/// A small machine, and the script about it.
pub(super) struct Asked<'a, 'p> {
    pub(super) world: &'a World<'p>,
    /// The kinds of tasks, and the name of the number of tasks of each kind.
    pub(super) kinds: &'a [(Task, String)],
    pub(super) counts: &'a Counts,
    pub(super) script: &'a mut Script,
}

impl Asked<'_, '_> {
    /// Whether the situation fails a test.
    pub(super) fn wrong(&mut self, test: &Test) -> Encoded {
        if test.moves > 0 {
            return Err(NotEncoded("what periodic balancing does meanwhile"));
        }
        match test.wrong {
            Wrong::Fails => {
                let cpus = self.world.cpus().iter();
                let each: Encoded<Vec<Term>> = cpus
                    .map(|&cpu| Ok(all([self.wanted(cpu), self.fails(cpu, test.wakes)?])))
                    .collect();
                Ok(any(each?))
            }
            Wrong::AllFail => self.all_fail(test.wakes),
            Wrong::Lost => self.lost(),
            Wrong::NobodyBeginsThere => Ok(self.no_cpu_begins_there()),
            Wrong::NotWoken => self.not_woken(test.wakes),
            // If no task that waits there may run here, the first task may not either.
            Wrong::StealsForbidden => self.candidate(|counts, (queue, group), cpu| {
                let able = counts.able[queue][group][cpu.index()].clone();
                all([some(counts.queued[queue][group].clone()), not(some(able))])
            }),
            Wrong::RunsInACircle => Err(NotEncoded("a cycle of moves")),
        }
    }

    fn all_fail(&mut self, wakes: usize) -> Encoded {
        let cpus = self.world.cpus().iter();
        let wanted = any(cpus.clone().map(|&cpu| self.wanted(cpu)));
        let each: Encoded<Vec<Term>> =
            cpus.map(|&cpu| Ok(only_if(self.idle(cpu), self.fails(cpu, wakes)?))).collect();
        Ok(all([wanted, all(each?)]))
    }

    /// A task waits, and no CPU ever takes a task. No task runs, since no kind of task here runs.
    fn lost(&mut self) -> Encoded {
        let (natures, cpus) = (self.natures(), self.world.cpus().iter());
        let never = |&cpu: &CpuId| {
            Trial::new(self.world, cpu, self.counts, &natures).patient().fails(self.script)
        };
        let fails = cpus.map(never).collect::<Encoded<Vec<Term>>>()?;
        let waiting = self.kinds.iter().filter(|(kind, _)| queue(kind).is_some());
        let waits = some_of(waiting.map(|(_, many)| name(many)).collect());
        Ok(all(fails.into_iter().chain([waits])))
    }

    /// No CPU that may run the task takes from its queue before all else.
    fn no_cpu_begins_there(&self) -> Term {
        let world = self.world;
        let begins = begins(world.policy);
        let first = |cpu: CpuId| match begins {
            Some(Attempt::Take(at, _)) => Some(self.reader(cpu, None).queue(at)),
            _ => None,
        };
        let late = self.kinds.iter().filter(|(kind, _)| {
            let mut able = world.cpus().iter().filter(|&&cpu| kind.allowed(cpu));
            queue(kind).is_some() && able.all(|&cpu| first(cpu) != queue(kind))
        });
        some_of(late.map(|(_, many)| name(many)).collect())
    }

    /// A CPU that sleeps would find a task, but the CPUs that its put looks for are busy.
    fn not_woken(&mut self, wakes: usize) -> Encoded {
        let world = self.world;
        let fails: Encoded<Vec<Term>> =
            world.cpus().iter().map(|&cpu| self.fails(cpu, wakes)).collect();
        let fails = fails?;
        let sleeps = |cpu: CpuId| all([self.idle(cpu), not(fails[cpu.index()].clone())]);
        let mut ways = Vec::new();
        for (kind, many) in self.kinds {
            let placed = placed(world, kind.mask);
            let here = |(at, group)| queue(kind) == Some((at, group));
            for placed in placed.iter().filter(|it| here((it.queue, it.group))) {
                let able = world.cpus().iter().copied().filter(|&cpu| kind.allowed(cpu));
                let looked_for = able.clone().filter(|&cpu| placed.looks_for(world, cpu));
                // A kicked CPU helps if it takes tasks.
                let woken = |cpu| match placed.kicked.contains(&cpu) {
                    true => sleeps(cpu),
                    false => self.idle(cpu),
                };
                let unwoken = all(looked_for.map(|cpu| not(woken(cpu))));
                // No other task waits that the sleeping CPU may run.
                let takes = |cpu| all([sleeps(cpu), not(self.wanted_but(cpu, queue(kind)))]);
                ways.push(all([some(name(many)), unwoken, any(able.map(takes))]));
            }
        }
        Ok(any(ways))
    }

    /// A candidate of an idle CPU passes the filter although `wrong` holds.
    fn candidate(&self, wrong: impl Fn(&Counts, (usize, usize), CpuId) -> Term) -> Encoded {
        let Some(balance) = &self.world.policy.idle else { return Ok(Term::Bool(false)) };
        let per = self.world.per[balance.from];
        let mut ways = Vec::new();
        for &cpu in self.world.cpus() {
            for level in 0..balance.levels.len() {
                for group in self.world.tree().victims(cpu, per, &balance.levels, level) {
                    let other = Some(At { level: per, group });
                    let passes = self.reader(cpu, other).bool(&balance.filter)?;
                    let wrong = wrong(self.counts, (balance.from, group), cpu);
                    ways.push(all([self.idle(cpu), passes, wrong]));
                }
            }
        }
        Ok(any(ways))
    }

    /// Whether an attempt of a CPU fails while `wakes` tasks are woken.
    fn fails(&mut self, cpu: CpuId, wakes: usize) -> Encoded {
        let natures = self.natures();
        let trial = Trial::new(self.world, cpu, self.counts, &natures);
        match wakes {
            0 => trial.fails(self.script),
            1 => {
                let after = self.woken(cpu)?;
                trial.then(after).fails(self.script)
            }
            _ => Err(NotEncoded("several wakeups during an attempt")),
        }
    }

    /// The state after a sleeping task may have been woken during an attempt of a CPU: one of all
    /// possible outcomes, or the state before.
    fn woken(&mut self, cpu: CpuId) -> Encoded<Counts> {
        let mut ways: Vec<(Counts, Vec<Term>)> = Vec::new();
        for (kind, many) in self.kinds.iter().filter(|(kind, _)| kind.place == Place::Away) {
            for (given, after) in handler::wakes(self.world, self.counts, *kind, cpu)? {
                let given = all([some(name(many)), given]);
                match ways.iter_mut().find(|(known, _)| *known == after) {
                    Some((_, ways)) => ways.push(given),
                    None => ways.push((after, vec![given])),
                }
            }
        }
        let mut flags = Vec::new();
        for (n, (_, given)) in ways.iter().enumerate() {
            let called = format!("woken.{cpu}.{n}");
            self.script.declare(&called, [], Sort::Bool);
            let possible = only_if(name(&called), any(given.iter().cloned()));
            self.script.assert("This wakeup happens only if its conditions hold.", possible);
            flags.push(name(&called));
        }
        let happen = total(flags.iter().cloned().map(one_if));
        self.script.assert(
            "At most one wakeup happens.",
            compares(happen, Comparison::LessOrEqual, int(1)),
        );
        let ways = flags.into_iter().zip(ways.into_iter().map(|(after, _)| after)).collect();
        let after = self.counts.clone().one_of(self.world, ways);
        Ok(after.named(self.world, &format!(".then.{cpu}"), self.script))
    }

    /// A CPU is idle, and a task waits that may run there.
    fn wanted(&self, cpu: CpuId) -> Term {
        all([self.idle(cpu), self.wanted_but(cpu, None)])
    }

    /// A task waits that may run on a CPU, in a queue other than `but`.
    fn wanted_but(&self, cpu: CpuId, but: Option<(usize, usize)>) -> Term {
        let able = self.counts.able.iter().enumerate().flat_map(|(queue, groups)| {
            groups.iter().enumerate().map(move |(group, able)| ((queue, group), able))
        });
        let others = able.filter(|(at, _)| Some(*at) != but);
        any(others.map(|(_, able)| some(able[cpu.index()].clone())))
    }

    fn idle(&self, cpu: CpuId) -> Term {
        not(some(self.counts.runs[cpu.index()].clone()))
    }

    fn reader(&self, cpu: CpuId, other: Option<At>) -> Reader<'_, '_> {
        let frame = Frame { other, ..self.world.frame_at(cpu) };
        Reader::new(self.world, self.counts, frame)
    }

    /// The kinds of tasks without their places.
    fn natures(&self) -> Vec<Task> {
        let mut natures: Vec<Task> =
            self.kinds.iter().map(|(kind, _)| Task { place: Place::Away, ..*kind }).collect();
        natures.sort_unstable();
        natures.dedup();
        natures
    }
}

/// The queue where a task of this kind waits, and its group.
fn queue(kind: &Task) -> Option<(usize, usize)> {
    match kind.place {
        Place::Waits { queue, group } => Some((queue, group)),
        Place::Runs(_) | Place::Away => None,
    }
}
