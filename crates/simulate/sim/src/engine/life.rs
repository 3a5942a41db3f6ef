//! What the engine knows of a task in addition to what policies see: where it is in its program.

use wastenot_model::workload::{
    BarrierId, ConditionId, LockId, MAX_DEPTH, PipeId, Random, TemplateId,
};
use wastenot_model::{Span, TaskId, Time};

/// The life of a task.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    /// Its template; a kernel thread of the policy has none.
    pub(crate) template: Option<TemplateId>,
    pub(crate) doing: Doing,
    /// CPU time that is left of its work or its spinning, at full speed.
    pub(crate) left: Span,
    /// The next step.
    pub(crate) step: u32,
    depth: u8,
    /// Its wait may be over although it has not noticed yet.
    pub(crate) granted: bool,
    pub(crate) awaited: bool,
    /// Whether its last wakeup was synchronous: its waker was about to sleep.
    pub(crate) sync: bool,
    /// CPU time that it owes because it lost its cache since it last ran, or was moved.
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
    /// How many spin locks it holds or waits for.
    pub(crate) spun_for: u32,
    /// Its CPU picks again once that number is zero.
    pub(crate) deferred: bool,
    /// What it waits for, and the next task in that queue.
    pub(crate) waits: Option<Waits>,
    pub(crate) next: Option<TaskId>,
    pub(crate) parent: Option<TaskId>,
    pub(crate) children: u32,
    /// Children that ended and were not waited for.
    pub(crate) unreaped: u32,
    /// The node on which it first ran.
    pub(crate) home: Option<u32>,
    /// For a kernel thread of the policy: CPU time per wakeup.
    pub(crate) quantum: Span,
    pub(crate) ended: Option<Time>,
}

/// What a task is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// Its next step is to be done.
    Steps,
    /// It computes until `left` is used up.
    Work,
    /// It checks whether what it waits for is granted; for ever, or for `left`.
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

    /// Enters a loop of `rounds` rounds (`None`: for ever), or a block that is done once.
    pub(crate) fn enter(&mut self, rounds: Option<u32>) {
        self.rounds[usize::from(self.depth)] = rounds.unwrap_or(u32::MAX);
        self.depth += 1;
    }
    /// One round is done; returns whether there is another.
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
