//! The walk along the critical path, from its end backwards.

use std::collections::BTreeSet;

use wastenot_model::{CpuId, Left, TaskId, Time, Window};

use super::watch::{Is, Life, Segment, Waker};
use super::{Ground, Kind, Reason, Step, reason};

/// A task that the path follows, back to the floor.
#[derive(Clone, Copy, Debug)]
struct Frame {
    task: TaskId,
    floor: Time,
}

/// A walk under way.
struct Walk<'g> {
    ground: &'g Ground,
    /// Up to here from the end.
    now: Time,
    frames: Vec<Frame>,
    /// Which tasks were followed at this instant: events that contradict each other would lead in
    /// a circle.
    followed: (Time, BTreeSet<TaskId>),
    /// Last step first.
    steps: Vec<Step>,
}

impl Ground {
    /// The critical path of `task` over `window`, in order. It covers the window.
    pub(super) fn walk(&self, task: TaskId, window: Window) -> Vec<Step> {
        let base = Frame { task, floor: window.from };
        let mut walk = Walk {
            ground: self,
            now: window.to,
            frames: vec![base],
            followed: (window.to, BTreeSet::new()),
            steps: Vec::new(),
        };
        while walk.now > window.from {
            while walk.frames.last().is_some_and(|frame| frame.floor >= walk.now) {
                walk.frames.pop();
            }
            walk.go_back(walk.frames.last().copied().unwrap_or(base));
        }
        walk.steps.reverse();
        walk.steps
    }

    pub(super) fn life(&self, task: TaskId) -> Option<&Life> {
        self.sight.lives.get(task.index()?)
    }

    /// The last segment of `task` that begins before `time`.
    fn segment(&self, task: TaskId, time: Time) -> Option<Segment> {
        let life = self.life(task)?;
        life.segments.get(life.before(time).checked_sub(1)?).copied()
    }

    /// Whether `task` can have acted at `time`: it ran until then, or began to.
    fn can_act(&self, task: TaskId, time: Time) -> bool {
        match self.segment(task, time) {
            Some(Segment { window, is }) if window.to > time => matches!(is, Is::Running(_)),
            _ => true,
        }
    }
}

impl Walk<'_> {
    /// One step further from the end.
    fn go_back(&mut self, frame: Frame) {
        let Frame { task, floor } = frame;
        let asked = self.ground.asked.contains(&task);
        let kind = |own: Kind, other: Kind| if asked { own } else { other };
        let segment = self.ground.segment(task, self.now);
        let Some(Segment { window, is }) = segment.filter(|it| it.window.to >= self.now) else {
            return self.before_life(frame, segment.map(|it| it.window.to));
        };
        let from = window.from.max(floor);
        match is {
            Is::Running(cpu) => {
                self.step(from, kind(Kind::Run, Kind::RunOther), task, Some(cpu), None);
            }
            Is::Held => self.step(from, Kind::Held, task, None, None),
            Is::Waiting { cpu, .. } => {
                let kind = kind(Kind::Wait, Kind::WaitOther);
                let pieces = self.ground.wait(task, is, Window { from, to: self.now }, kind);
                for (piece, kind, reason) in pieces.into_iter().rev() {
                    self.step(piece.from, kind, task, cpu, Some(reason));
                }
            }
            // Who acts does not sleep.
            Is::Sleeping { .. } if self.now < window.to => {
                self.unknown(from, task, reason::CONTRADICTION);
            }
            Is::Sleeping { left, waking, waker } => {
                if waking.max(from) < self.now {
                    let reason = Some(reason::WAKEUP);
                    self.step(waking.max(from), Kind::WakeDelay, task, None, reason);
                }
                if self.now > from {
                    self.sleep(frame, from, left, waker);
                }
            }
        }
    }

    /// The task slept from `from` until now, when it was woken.
    fn sleep(&mut self, frame: Frame, from: Time, left: Left, waker: Waker) {
        match waker {
            Waker::Task(waker) => self.follow(frame.task, waker, from),
            Waker::Interrupt if left == Left::Blocked => {
                self.step(from, Kind::Io, frame.task, None, None);
            }
            Waker::Interrupt => self.step(from, Kind::TimerOrDevice, frame.task, None, None),
            Waker::Unknown => self.unknown(from, frame.task, reason::NO_WAKER),
        }
    }

    /// Nothing is known of the task just before now, and since when not.
    fn before_life(&mut self, Frame { task, floor }: Frame, known: Option<Time>) {
        let from = known.unwrap_or(floor).max(floor);
        let born = self.ground.life(task).and_then(|life| life.born);
        match born {
            Some((born, Waker::Task(parent))) if born == self.now => {
                self.follow(task, parent, from);
            }
            Some((born, _)) if born < self.now => {
                self.unknown(born.max(from), task, reason::NOT_RECORDED);
            }
            _ => self.unknown(from, task, reason::NOT_RECORDED),
        }
    }

    /// From `from` on the path is that of `waker`, which let `task` go on now.
    fn follow(&mut self, task: TaskId, waker: TaskId, from: Time) {
        if self.followed.0 != self.now {
            self.followed = (self.now, BTreeSet::new());
        }
        self.followed.1.insert(task);
        if self.ground.can_act(waker, self.now) && self.followed.1.insert(waker) {
            self.frames.push(Frame { task: waker, floor: from });
        } else {
            self.unknown(from, task, reason::CONTRADICTION);
        }
    }

    fn unknown(&mut self, from: Time, task: TaskId, reason: Reason) {
        self.step(from, Kind::Unknown, task, None, Some(reason));
    }

    /// From `from` until now it was so.
    fn step(
        &mut self,
        from: Time,
        kind: Kind,
        task: TaskId,
        cpu: Option<CpuId>,
        reason: Option<Reason>,
    ) {
        if from >= self.now {
            return;
        }
        let window = Window { from, to: self.now };
        self.now = from;
        let step = Step { window, kind, task, cpu, reason };
        match self.steps.last_mut() {
            Some(last) if last.continues(&step) => last.window.from = from,
            _ => self.steps.push(step),
        }
    }
}
