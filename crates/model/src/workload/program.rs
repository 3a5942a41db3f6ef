//! A task's program: a flat list of steps, with loops as jumps.

use super::{
    AffinityId, BarrierId, CommandId, ConditionId, LockId, MarkId, PipeId, TemplateId, Variate,
};
use crate::Span;

/// Most loops inside each other.
pub const MAX_DEPTH: usize = 8;

/// One step. Steps that take no time are done one after the other while the task runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Uses this much CPU time (of a CPU of capacity 1024 with an idle sibling).
    Compute(Variate),
    /// Sleeps for this long.
    Sleep(Variate),
    /// Sleeps until the next beat of this period, counted from the first time; continues at once if
    /// that is past (a timer that catches up).
    Beat(Span),
    /// Takes a lock; waits for it if necessary.
    Lock(LockId),
    /// Releases a lock.
    Unlock(LockId),
    /// Waits until all parties have arrived.
    Barrier(BarrierId),
    /// Puts a token; waits for room if necessary.
    Put(PipeId),
    /// Takes a token; waits for one if necessary.
    Get(PipeId),
    /// Waits for the next signal.
    Await(ConditionId),
    /// Lets the first waiter continue.
    Signal(ConditionId),
    /// Lets all waiters continue.
    Broadcast(ConditionId),
    /// Creates a task.
    Fork(TemplateId),
    /// Executes a new program: a moment at which schedulers may move the task.
    Exec,
    /// Runs a program of this machine as a child, and waits until it has ended: only in real
    /// kernels.
    Run(CommandId),
    /// Waits until one of its children has ended.
    WaitOne,
    /// Waits until all its children have ended.
    WaitAll,
    /// Yields the CPU to another task that the scheduler picks.
    Yield,
    /// Changes its nice value.
    Nice(i8),
    /// Changes the CPUs on which it may run.
    Affinity(AffinityId),
    /// Records the moment, and how late it is after the last beat.
    Mark(MarkId),
    /// Repeats the steps up to its end this often; `None` is for ever.
    Loop(Option<u32>),
    /// Does the steps up to its end, unless the last beat is longer ago than this.
    UnlessLate(Span),
    /// Ends the nearest loop or condition; `of` is the index of its step.
    End {
        /// Index of the step that it ends.
        of: u32,
    },
}

/// The steps of a task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    steps: Vec<Step>,
}

/// Steps that do not nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unbalanced {
    /// An end without a beginning.
    #[error("step {0} ends a block, but no step begins this block")]
    End(usize),
    /// A beginning without an end.
    #[error("step {0} begins a block, but no step ends this block")]
    Open(usize),
    /// More than [`MAX_DEPTH`] inside each other.
    #[error("step {0} is nested deeper than {MAX_DEPTH} levels")]
    Deep(usize),
    /// A loop that is never done.
    #[error("step {0} is a loop with 0 rounds")]
    Never(usize),
}

impl Program {
    /// The program of these steps; the `of` of each end is computed here.
    pub fn new(mut steps: Vec<Step>) -> Result<Program, Unbalanced> {
        let mut open = Vec::new();
        for (at, step) in steps.iter_mut().enumerate() {
            match step {
                Step::Loop(Some(0)) => return Err(Unbalanced::Never(at)),
                Step::Loop(_) | Step::UnlessLate(_) if open.len() == MAX_DEPTH => {
                    return Err(Unbalanced::Deep(at));
                }
                Step::Loop(_) | Step::UnlessLate(_) => open.push(at),
                Step::End { of } => *of = open.pop().ok_or(Unbalanced::End(at))? as u32,
                _ => {}
            }
        }
        open.pop().map_or(Ok(Program { steps }), |at| Err(Unbalanced::Open(at)))
    }

    /// Its steps.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The step after the end of the one at `at`.
    pub fn after_end_of(&self, at: usize) -> usize {
        let ends = |step: &Step| matches!(step, Step::End { of } if *of as usize == at);
        let found = self.steps[at..].iter().position(ends);
        found.map_or(self.steps.len(), |ahead| at + ahead + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: Step = Step::End { of: 0 };

    #[test]
    fn ends_find_what_they_end() {
        let steps = vec![Step::Loop(None), Step::UnlessLate(Span::ms(1)), Step::Yield, END, END];
        let program = Program::new(steps).expect("nested");
        assert_eq!(program.steps()[3..], [Step::End { of: 1 }, Step::End { of: 0 }]);
        assert_eq!((program.after_end_of(1), program.after_end_of(0)), (4, 5));
    }

    #[test]
    fn what_does_not_nest_is_no_program() {
        assert_eq!(Program::new(vec![Step::Yield, END]), Err(Unbalanced::End(1)));
        assert_eq!(Program::new(vec![Step::Loop(Some(2))]), Err(Unbalanced::Open(0)));
        assert_eq!(Program::new(vec![Step::Loop(Some(0)), END]), Err(Unbalanced::Never(0)));
        let deep = [Step::Loop(None); MAX_DEPTH + 1];
        assert_eq!(Program::new(deep.to_vec()), Err(Unbalanced::Deep(MAX_DEPTH)));
    }
}
