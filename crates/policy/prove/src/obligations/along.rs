//! What a handler does, step by step, along each of its paths, in the language of solvers.
//!
//! Each read happens at its own instant: no queue is locked.

use wastenot_rota::ir::{Bool, Event, Policy, Set, Stmt};

use super::Question;
use super::sites::whereabouts;
use crate::encode::{Encoder, Held, Names, NotEncoded};
use crate::smt::{Script, Term, and, int, not, or};

/// The most paths of a handler that are followed. A handler with more paths is not encoded.
const PATHS: usize = 256;

/// The question about the paths of a handler. `None`: no step of it can be wrong.
pub(super) fn asked(script: Result<Option<Script>, NotEncoded>) -> Option<Question> {
    match script {
        Ok(script) => script.map(Question::Unsatisfiable),
        Err(why) => Some(Question::NotEncoded(why)),
    }
}

/// One step on a path of a handler.
pub(super) enum Step {
    /// A variable of the task is set: which one, its old value, its new value.
    Sets(usize, Term, Term),
    /// The task is put into a queue: which one, a CPU of the group that owns it, and the earlier
    /// reads.
    Puts(usize, Term, Vec<usize>),
    /// The task is started on a CPU directly: which one, and the earlier reads.
    Runs(Term, Vec<usize>),
    /// A CPU is kicked.
    Kicks {
        /// Whether the kick preempts the task of the CPU.
        preempt: bool,
    },
    /// The path ends: the values of the variables of the task when the path began.
    Ends(Vec<Term>),
}

/// The condition under which a step is wrong. `None`: the step is never wrong. A condition that
/// cannot be encoded is an error, which the caller reports.
pub(super) type Wrong = Result<Option<Term>, NotEncoded>;

/// A script that is satisfiable if, on some path of the handler, some step meets the condition of
/// `wrong`. `None`: no step can.
pub(super) fn along(
    policy: &Policy,
    event: Event,
    what: &str,
    wrong: impl Fn(&mut Encoder<'_>, &Step, &Names) -> Wrong,
) -> Result<Option<Script>, NotEncoded> {
    let mut encoder = Encoder::new(policy, &format!("Negation of the statement: {what}."));
    let vars = policy.task_vars.iter().map(|var| format!("t.{}", var.name));
    let mut vars: Vec<Term> = vars.map(|called| encoder.number(&called)).collect();
    if event == Event::New {
        // The variables of a new task have their values from the text.
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
    walk.encoder.assert("On some path of the handler, the statement is false.", any);
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

/// The part of a path that was followed so far.
#[derive(Clone)]
struct Path {
    names: Names,
    /// The conditions under which the handler takes this path.
    given: Vec<Term>,
    /// The reads on this path.
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
            return Err(NotEncoded("a handler with too many paths"));
        }
        Ok(())
    }

    /// Follows a statement that is not a branch.
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

    /// What holds in each branch. `None` for both if the condition cannot be encoded.
    fn question(&mut self, condition: &Bool, path: &mut Path) -> (Option<Term>, Option<Term>) {
        match self.reads(path, |encoder, names| encoder.bool(condition, names)) {
            Ok(term) => (Some(term.clone()), Some(not(term))),
            Err(NotEncoded(_)) => (None, None),
        }
    }

    /// Evaluates `what` on a path and records the reads that it makes.
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
            self.encoder.assert("The CPU was found among those that may run the task.", able);
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
