//! Kernel paths: a mechanism's steps, one after the other, on a CPU that does nothing else.

use wastenot_model::{CpuId, Span};

use super::Engine;
use super::calendar::Due;
use super::kernel::Kernel;
use crate::mechanism::{Mechanism, Step, Trigger};

/// What a step takes.
enum Takes {
    Nothing,
    /// This span.
    Time(Span),
    /// Until another CPU hands something over.
    Another,
}

impl<M: Mechanism> Engine<'_, M> {
    /// Begins the path of `trigger` on `cpu`; returns whether the path is over at once.
    #[inline]
    pub(super) fn path(&mut self, cpu: CpuId, trigger: Trigger) -> bool {
        if self.wakes_in_time(trigger) {
            return true;
        }
        match self.mechanism.step(&mut self.kernel, cpu, trigger, 0) {
            Step::Done => true,
            step => self.path_from(cpu, trigger, 0, step),
        }
    }

    /// Continues the path of `cpu` if its step is done; returns whether the path is over.
    pub(super) fn path_goes_on(&mut self, cpu: CpuId) -> bool {
        if self.kernel.calendar.is_set(Due::Path(cpu)) || self.kernel.hardware.is_waiting(cpu) {
            return false;
        }
        let now = self.kernel.now();
        let run = self.kernel.run(cpu);
        let Some((trigger, turn)) = run.path.take() else { return true };
        run.settled = now;
        let step = self.mechanism.step(&mut self.kernel, cpu, trigger, turn);
        self.path_from(cpu, trigger, turn, step)
    }

    fn path_from(&mut self, cpu: CpuId, trigger: Trigger, mut turn: u32, mut step: Step) -> bool {
        // The running task of the CPU makes no progress until the path is over.
        self.kernel.settle(cpu);
        self.kernel.calendar.clear(Due::Segment(cpu));
        loop {
            let takes = match step {
                Step::Done => {
                    self.kernel.run(cpu).settled = self.kernel.cx.now;
                    return true;
                }
                step => self.kernel.begin(cpu, step),
            };
            turn += 1;
            self.count_act();
            if self.kernel.end.is_some() {
                return false;
            }
            match takes {
                Takes::Nothing => {}
                Takes::Time(span) if self.passes(cpu, span) => {}
                Takes::Time(span) => {
                    let at = self.kernel.now() + span;
                    self.kernel.calendar.set(Due::Path(cpu), at);
                    self.kernel.run(cpu).path = Some((trigger, turn));
                    return false;
                }
                Takes::Another => {
                    self.kernel.run(cpu).path = Some((trigger, turn));
                    return false;
                }
            }
            self.kernel.cx.view_mut().cpu = cpu;
            step = self.mechanism.step(&mut self.kernel, cpu, trigger, turn);
        }
    }

    /// Does the step of a path of `cpu` at once if no other event comes before its end: then the
    /// step need not wait in the calendar.
    #[inline]
    fn passes(&mut self, cpu: CpuId, span: Span) -> bool {
        let at = self.kernel.now() + span;
        let next = self.kernel.soon.is_empty()
            && at <= self.limit
            && self.kernel.calendar.would_be_next(Due::Path(cpu), at)
            && !self.is_over();
        if next {
            self.goes_to(at);
            self.kernel.run(cpu).settled = at;
        }
        next
    }
}

impl Kernel {
    fn begin(&mut self, cpu: CpuId, step: Step) -> Takes {
        let now = self.now();
        match step {
            Step::Done => Takes::Nothing,
            Step::Work(span) => takes(span),
            Step::Touch(line) => takes(self.hardware.write(line, cpu)),
            Step::Read(line) => takes(self.hardware.look(line, cpu)),
            Step::Lock(lock) => self.hardware.take(lock, cpu, now).map_or(Takes::Another, takes),
            Step::Unlock(lock) => {
                if let Some((next, span)) = self.hardware.hand_on(lock, now) {
                    self.calendar.set(Due::Path(next), now + span);
                }
                Takes::Nothing
            }
            Step::Interrupt(other) => {
                self.kick(other, true);
                Takes::Nothing
            }
            Step::Post(mailbox, letter) => {
                let at = now + self.hardware.prices.message;
                let (reader, span) = self.hardware.post((mailbox, letter), cpu, at);
                if !self.calendar.is_set(Due::Mail(reader)) {
                    self.calendar.set(Due::Mail(reader), at);
                }
                takes(span)
            }
        }
    }

    /// Messages arrive at `cpu`.
    pub(super) fn deliver(&mut self, cpu: CpuId) {
        let now = self.now();
        while let Some(mailbox) = self.hardware.arrive(cpu, now) {
            self.react(cpu, Trigger::Mail(mailbox));
        }
        if let Some(at) = self.hardware.next_arrival(cpu) {
            self.calendar.set(Due::Mail(cpu), at);
        }
    }
}

fn takes(span: Span) -> Takes {
    if span == Span::ZERO { Takes::Nothing } else { Takes::Time(span) }
}
