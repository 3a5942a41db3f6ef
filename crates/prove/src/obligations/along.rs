//! What a handler does, step by step, along each of its paths, in the language of solvers.
//!
//! Whatever it reads it reads at an instant of its own: nothing is locked.

use wastenot_rota::ir::{Bool, Event, Policy, Set, Stmt};

use super::Question;
use super::sites::whereabouts;
use crate::encode::{Encoder, Held, Names, NotEncoded};
use crate::smt::{Script, Term, and, int, not, or};

/// Paths of a handler that are followed; more are not put into words.
const PATHS: usize = 256;

/// What is asked along the paths of a handler. `None`: no step of it could be wrong.
pub(super) fn asked(script: Result<Option<Script>, NotEncoded>) -> Option<Question> {
    match script {
        Ok(script) => script.map(Question::Unsatisfiable),
        Err(why) => Some(Question::NotEncoded(why)),
    }
}

/// Something on a path.
pub(super) enum Step {
    /// A variable of the task is set: which, what it was, what it is.
    Sets(usize, Term, Term),
    /// It is put into a queue: which, one of the CPUs whose it is, and what was read before.
    Puts(usize, Term, Vec<usize>),
    /// It is started on a CPU directly: which, and what was read before.
    Runs(Term, Vec<usize>),
    /// A CPU is kicked, and perhaps taken from its task.
    Kicks {
        /// Whether it is.
        preempt: bool,
    },
    /// The path ends: what the variables of the task were when it began.
    Ends(Vec<Term>),
}

/// When a step is wrong; `None`: it cannot be. What has no words is no such answer: whoever asks
/// hears of it.
pub(super) type Wrong = Result<Option<Term>, NotEncoded>;

/// A script that is satisfied if on some path of a handler some step is as `wrong` says. `None`: no
/// step could be.
pub(super) fn along(
    policy: &Policy,
    event: Event,
    what: &str,
    wrong: impl Fn(&mut Encoder<'_>, &Step, &Names) -> Wrong,
) -> Result<Option<Script>, NotEncoded> {
    let mut encoder = Encoder::new(policy, &format!("Not so: {what}."));
    let vars = policy.task_vars.iter().map(|var| format!("t.{}", var.name));
    let mut vars: Vec<Term> = vars.map(|called| encoder.number(&called)).collect();
    if event == Event::New {
        // A new task has what the text says.
        vars = policy.task_vars.iter().map(|var| int(var.value)).collect();
    }
    let first = vars.clone();
    let names = Names { vars, ..whereabouts(&mut encoder, "") };
    encoder.reads_apart(Held::default());
    let mut walk = Walk { encoder, wrong, first, found: Vec::new(), paths: 0 };
    let path = Path { names, given: Vec::new(), reads: Vec::new() };
    walk.block(&[policy.handlers[event as usize].as_slice()], path)?;
    if walk.found.is_empty() {
        return Ok(None);
    }
    let any = or(walk.found);
    walk.encoder.assert("On some path it is wrong.", any);
    Ok(Some(walk.encoder.finish()))
}

struct Walk<'p, W> {
    encoder: Encoder<'p>,
    wrong: W,
    /// The variables of the task when a path begins.
    first: Vec<Term>,
    found: Vec<Term>,
    paths: usize,
}

/// A path so far.
#[derive(Clone)]
struct Path {
    names: Names,
    /// What has to be so that it is taken.
    given: Vec<Term>,
    /// Which reads were made on it.
    reads: Vec<usize>,
}

impl<W: Fn(&mut Encoder<'_>, &Step, &Names) -> Wrong> Walk<'_, W> {
    fn block(&mut self, blocks: &[&[Stmt]], mut path: Path) -> Result<(), NotEncoded> {
        let mut blocks = blocks.to_vec();
        while let Some(block) = blocks.last_mut() {
            let Some((stmt, rest)) = block.split_first() else {
                blocks.pop();
                continue;
            };
            *block = rest;
            match stmt {
                Stmt::If { condition, then, otherwise } => {
                    let (yes, no) = self.question(condition, &mut path);
                    for (branch, condition) in [(then, yes), (otherwise, no)] {
                        let mut inner = blocks.clone();
                        inner.push(branch);
                        let mut path = path.clone();
                        path.given.extend(condition);
                        self.block(&inner, path)?;
                    }
                    return Ok(());
                }
                stmt => self.statement(stmt, &mut path)?,
            }
        }
        self.step(&Step::Ends(self.first.clone()), &path)?;
        self.paths += 1;
        if self.paths > PATHS {
            return Err(NotEncoded("a handler with so many paths"));
        }
        Ok(())
    }

    /// What is no branch.
    fn statement(&mut self, stmt: &Stmt, path: &mut Path) -> Result<(), NotEncoded> {
        match stmt {
            Stmt::Claim { slot, .. } | Stmt::Pick { slot, set: Set::Allowed, .. } => {
                self.slot(&mut path.names, *slot, true);
            }
            Stmt::Pick { slot, .. } => self.slot(&mut path.names, *slot, false),
            Stmt::Let(slot, num) => {
                let value = self.reads(path, |encoder, names| encoder.num(num, names))?;
                let locals = &mut path.names.locals;
                locals.resize(locals.len().max(slot + 1), None);
                locals[*slot] = Some(value);
            }
            Stmt::SetTask(var, num) => {
                let after = self.reads(path, |encoder, names| encoder.num(num, names))?;
                let before = std::mem::replace(&mut path.names.vars[*var], after.clone());
                self.step(&Step::Sets(*var, before, after), path)?;
            }
            Stmt::Put(put) => {
                let cpu = self.encoder.queue_cpu(&put.queue, &path.names)?;
                self.step(&Step::Puts(put.queue.queue, cpu, path.reads.clone()), path)?;
            }
            Stmt::Kick { preempt, .. } => self.step(&Step::Kicks { preempt: *preempt }, path)?,
            Stmt::Run { slot, .. } => {
                if let Some(cpu) = path.names.slots.get(*slot).cloned().flatten() {
                    self.step(&Step::Runs(cpu, path.reads.clone()), path)?;
                }
            }
            Stmt::SetCpu { .. } | Stmt::If { .. } => {}
        }
        Ok(())
    }

    /// What is known in each branch; nothing, where the condition has no words.
    fn question(&mut self, condition: &Bool, path: &mut Path) -> (Option<Term>, Option<Term>) {
        match self.reads(path, |encoder, names| encoder.bool(condition, names)) {
            Ok(term) => (Some(term.clone()), Some(not(term))),
            Err(NotEncoded(_)) => (None, None),
        }
    }

    /// Something that is worked out on a path.
    fn reads<T>(&mut self, path: &mut Path, what: impl FnOnce(&mut Encoder<'_>, &Names) -> T) -> T {
        let before = self.encoder.reads();
        let value = what(&mut self.encoder, &path.names);
        path.reads.extend(before + 1..=self.encoder.reads());
        value
    }

    fn slot(&mut self, names: &mut Names, slot: usize, able: bool) {
        let cpu = self.encoder.cpu(&format!("slot.{slot}"));
        if able {
            let able = self.encoder.allowed(cpu.clone());
            self.encoder.assert("It was found among those that it may run on.", able);
        }
        names.slots.resize(names.slots.len().max(slot + 1), None);
        names.slots[slot] = Some(cpu);
    }

    fn step(&mut self, step: &Step, path: &Path) -> Result<(), NotEncoded> {
        if let Some(wrong) = (self.wrong)(&mut self.encoder, step, &path.names)? {
            self.found.push(and(path.given.iter().cloned().chain([wrong])));
        }
        Ok(())
    }
}
