//! What the engine knows of a task beside what policies see: where in its program it is.

use wastenot_model::workload::{
    BarrierId, ConditionId, LockId, MAX_DEPTH, PipeId, Random, TemplateId,
};
use wastenot_model::{Span, TaskId, Time};

/// The life of a task.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    /// What it is; a kernel thread of the policy has none.
    pub(crate) template: Option<TemplateId>,
    pub(crate) doing: Doing,
    /// CPU time that is left of its work or its spinning, at full speed.
    pub(crate) left: Span,
    /// Next step.
    pub(crate) step: u32,
    depth: u8,
    /// What it waits for may be over although it has not noticed yet.
    pub(crate) granted: bool,
    pub(crate) awaited: bool,
    /// Whether its last waker said that it was about to sleep.
    pub(crate) sync: bool,
    /// It has lost its cache since it last ran, or was moved: CPU time to be paid.
    pub(crate) debt: Span,
    /// Rounds left of the loops that it is in.
    rounds: [u32; MAX_DEPTH],
    pub(crate) random: Random,
    /// When its last beat was due.
    pub(crate) beat: Option<Time>,
    /// Whether it has come to a beat, where a mechanism keeps time.
    pub(crate) beaten: bool,
    /// Whether it has computed since its job began, where a mechanism keeps time.
    pub(crate) worked: bool,
    /// How many locks it holds or waits for that are spun for.
    pub(crate) spun_for: u32,
    /// Its CPU looks for another task once that is none.
    pub(crate) deferred: bool,
    /// What it waits for, and the next one in that queue.
    pub(crate) waits: Option<Waits>,
    pub(crate) next: Option<TaskId>,
    pub(crate) parent: Option<TaskId>,
    pub(crate) children: u32,
    /// Children that ended and were not waited for.
    pub(crate) unreaped: u32,
    /// The node on which it first ran.
    pub(crate) home: Option<u32>,
    /// Of a kernel thread of the policy: CPU time of one wakeup.
    pub(crate) quantum: Span,
    pub(crate) ended: Option<Time>,
}

/// What a task is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// Its next step is to be done.
    Steps,
    /// `left` is to be computed.
    Work,
    /// It looks whether what it waits for is granted; for ever, or as long as `left`.
    Spin { forever: bool },
    /// It sleeps until what it waits for is granted.
    Blocked,
    /// It sleeps until its alarm.
    Sleep,
    /// It has ended.
    Ended,
}

/// What a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    Lock(LockId),
    Barrier(BarrierId),
    Room(PipeId),
    Token(PipeId),
    Condition(ConditionId),
    Child,
    Children,
}

impl Life {
    pub(crate) fn new(template: Option<TemplateId>, random: Random) -> Life {
        Life {
            template,
            doing: Doing::Steps,
            left: Span::ZERO,
            step: 0,
            depth: 0,
            granted: false,
            awaited: false,
            sync: false,
            debt: Span::ZERO,
            rounds: [0; MAX_DEPTH],
            random,
            beat: None,
            spun_for: 0,
            deferred: false,
            beaten: false,
            worked: false,
            waits: None,
            next: None,
            parent: None,
            children: 0,
            unreaped: 0,
            home: None,
            quantum: Span::ZERO,
            ended: None,
        }
    }

    /// Enters a loop of so many rounds (`None`: for ever), or something that is done once.
    pub(crate) fn enter(&mut self, rounds: Option<u32>) {
        self.rounds[usize::from(self.depth)] = rounds.unwrap_or(u32::MAX);
        self.depth += 1;
    }
    /// One round is done; whether there is another.
    pub(crate) fn again(&mut self) -> bool {
        let rounds = &mut self.rounds[usize::from(self.depth) - 1];
        if *rounds == u32::MAX {
            return true;
        }
        *rounds -= 1;
        self.depth -= u8::from(*rounds == 0);
        *rounds > 0
    }
}
