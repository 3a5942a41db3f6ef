//! Slices and regular balances: actions that a timer starts.

use wastenot_model::policy::{Context, TimerId, View};
use wastenot_model::{CpuId, Span};

use super::scheduler::Scheduler;
use super::state::Seen;
use crate::eval::At;
use crate::ir::Level;

/// The shortest slice or period; shorter ones count as this, so that a text cannot stop time. It is
/// a tenth of the shortest tick of any kernel.
const SHORTEST: i64 = 10_000;

impl Scheduler {
    /// Interrupts `cpu` after a slice.
    pub(super) fn arm(&mut self, cx: &mut Context, cpu: CpuId, after: Option<i64>) {
        let armed = std::mem::replace(&mut self.armed[cpu.index()], after.is_some());
        if armed || after.is_some() {
            let number = self.state.tree.group(Level::Cpu, cpu) as u32;
            let at = after.map(|after| cx.now + Span(after.max(SHORTEST) as u64));
            cx.timer(TimerId(self.slices.0 + number), cpu, at);
        }
    }

    /// Arms the timer of a regular balance, on its leader.
    pub(super) fn arm_period(&mut self, cx: &mut Context, n: usize) {
        let (timer, index, at) = self.periods[n];
        let leader = self.leader(cx, at);
        self.frame.me = Some(at);
        let seen = Seen { view: cx, state: &self.state, task: None, ran: 0 };
        let period = self.frame.num(&seen, &self.per, &self.policy.periodic[index].period);
        let due = Span(period.max(SHORTEST) as u64);
        cx.timer(timer, leader, Some(cx.now + due));
    }

    /// The lowest online CPU of a group; if none is online, the lowest.
    fn leader(&self, view: &View, at: At) -> CpuId {
        let members = self.state.tree.members(at.level, at.group);
        let online = members.iter().find(|&&cpu| view.online.contains(cpu));
        *online.unwrap_or(&members[0])
    }

    /// Whether the timer is one of this policy's; if so, does what it is for.
    pub(super) fn expired(&mut self, cx: &mut Context, timer: TimerId) -> bool {
        let cpus = self.state.tree.cpus();
        if let Some(&cpu) = cpus.get(timer.0.wrapping_sub(self.slices.0) as usize) {
            self.armed[cpu.index()] = false;
            cx.preempt(cpu);
            return true;
        }
        let Some(n) = self.periods.iter().position(|&(known, ..)| known == timer) else {
            return false;
        };
        let (_, index, at) = self.periods[n];
        let leader = self.leader(cx, at);
        if cx.online.contains(leader) {
            self.balance(cx, index, leader);
        }
        self.arm_period(cx, n);
        true
    }
}
