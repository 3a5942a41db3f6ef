//! What claims see of a policy; all else decides only who goes first, or for how long.
//!
//! This is a slice of the policy (Weiser, "Program Slicing", IEEE Transactions on Software
//! Engineering 10(4), 1984). It keeps what decides
//!
//! - into which queue a task is put and how far a CPU is looked for that is woken for it; which
//!   idle CPUs are claimed, run a task directly, or are kicked for having been claimed;
//! - where an idle CPU looks and what makes it pass on; in which order only if `wait` is claimed,
//!   or if it does not try all;
//! - which tasks periodic balancing moves, from where to where;
//! - keys of ordered queues, only if `vt_monotone` or `lag` is claimed;
//! - whether slices end, only if `hierarchy` is claimed of a leader.
//!
//! It leaves out which candidate, idle CPU or task comes first, which CPUs balance and how often,
//! how long slices are, whether somebody who runs is interrupted, variables of CPUs that nothing of
//! this reads, and the values of parameters: proofs are for any that are not negative. Two policies
//! with the same slice are one to every claim.

use std::collections::BTreeSet;

use wastenot_rota::ir::{
    Attempt, BalanceSpans, Bool, Choose, ClaimKind, Num, Place, Policy, Put, Stmt, Visitor, visit,
    visit_block,
};
use wastenot_rota::syntax::Span;

/// The slice. What is left out is replaced by the same thing everywhere.
pub(super) fn seen(policy: &Policy) -> Policy {
    let mut slice = Slice { live: Live::claimed(policy), claimed: claimed(policy), endless: false };
    let leads = policy.periodic.iter().any(|periodic| periodic.leader.is_some());
    slice.endless = leads && claims(policy, |claim| *claim == ClaimKind::Hierarchy);
    loop {
        let sliced = slice.policy(policy);
        let before = slice.live.clone();
        // What is kept may read more than was kept so far.
        visit(&sliced, &mut slice.live);
        if slice.live == before {
            return sliced;
        }
    }
}

/// Whether anything is claimed of the keys of ordered queues.
pub(super) fn keys_matter(policy: &Policy) -> bool {
    claims(policy, |claim| matches!(claim, ClaimKind::VtMonotone | ClaimKind::Lag(_)))
}

fn claims(policy: &Policy, which: impl Fn(&ClaimKind) -> bool) -> bool {
    policy.claims.iter().any(|claim| which(&claim.kind))
}

/// What is read by something that a claim sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Live {
    task_vars: BTreeSet<usize>,
    cpu_vars: BTreeSet<usize>,
    slots: BTreeSet<usize>,
    locals: BTreeSet<usize>,
    /// By queue, the variable that it is ordered by.
    keys: Vec<Option<usize>>,
}

impl Live {
    fn claimed(policy: &Policy) -> Live {
        let keys: Vec<_> = policy.queues.iter().map(|queue| queue.key).collect();
        let task_vars = match keys_matter(policy) {
            true => keys.iter().flatten().copied().collect(),
            false => BTreeSet::new(),
        };
        Live { task_vars, keys, ..Live::default() }
    }
}

impl Visitor for Live {
    fn num(&mut self, num: &Num) {
        match num {
            Num::TaskVar(var) => drop(self.task_vars.insert(*var)),
            Num::CpuVar(var, _) => drop(self.cpu_vars.insert(*var)),
            Num::Local(slot) => drop(self.locals.insert(*slot)),
            // The least key is one that tasks brought along.
            Num::MinKey(at) => self.task_vars.extend(self.keys.get(at.queue).copied().flatten()),
            _ => {}
        }
    }
    fn bool(&mut self, condition: &Bool) {
        if let Bool::Found(slot) = condition {
            self.slots.insert(*slot);
        }
    }
    fn place(&mut self, place: &Place) {
        if let Place::Slot(slot) = place {
            self.slots.insert(*slot);
        }
    }
    fn stmt(&mut self, stmt: &Stmt) {
        if let Stmt::Run { slot, .. } = stmt {
            self.slots.insert(*slot);
        }
    }
}

/// Slots that hold CPUs whose idle flags were claimed.
fn claimed(policy: &Policy) -> BTreeSet<usize> {
    struct Claimed(BTreeSet<usize>);
    impl Visitor for Claimed {
        fn stmt(&mut self, stmt: &Stmt) {
            if let Stmt::Claim { slot, .. } = stmt {
                self.0.insert(*slot);
            }
        }
    }
    let mut claimed = Claimed(BTreeSet::new());
    visit(policy, &mut claimed);
    claimed.0
}

struct Slice {
    live: Live,
    claimed: BTreeSet<usize>,
    /// Whether it matters that slices end.
    endless: bool,
}

impl Slice {
    fn policy(&self, policy: &Policy) -> Policy {
        let mut kept = policy.clone();
        kept.params.iter_mut().for_each(|param| param.value = 0);
        // What nobody reads need not be there; what comes after it keeps its number.
        let read = self.live.cpu_vars.last().map_or(0, |last| last + 1);
        kept.cpu_vars.truncate(read);
        forget_places(&mut kept);
        for handler in &mut kept.handlers {
            *handler = self.block(handler);
        }
        if !claims(policy, |claim| *claim == ClaimKind::Wait) {
            kept.dispatch.sort_by_key(|attempt| format!("{attempt:?}"));
        }
        for periodic in &mut kept.periodic {
            periodic.period = Num::Const(0);
            periodic.leader = None;
        }
        let periodic = kept.periodic.iter_mut().map(|periodic| &mut periodic.balance);
        for balance in kept.idle.iter_mut().chain(periodic) {
            balance.choose = Choose::Any;
            balance.spans = BalanceSpans::default();
            balance.rebase = balance.rebase.filter(|key| self.live.task_vars.contains(key));
            if balance.retry.is_none() {
                balance.levels.sort();
            }
        }
        kept
    }

    fn block(&self, block: &[Stmt]) -> Vec<Stmt> {
        let mut kept: Vec<Stmt> = block.iter().flat_map(|stmt| self.stmt(stmt)).collect();
        // Whether an idle CPU is found does not depend on what is set.
        for end in 1..kept.len() {
            let mut at = end;
            while at > 0 && is_claim(&kept[at]) && only_sets(&kept[at - 1], &self.claimed) {
                kept.swap(at - 1, at);
                at -= 1;
            }
        }
        kept
    }

    fn stmt(&self, stmt: &Stmt) -> Vec<Stmt> {
        let live = &self.live;
        match stmt {
            Stmt::Claim { slot, .. } => {
                let (within, near, by) = (None, Place::Machine, Vec::new());
                vec![Stmt::Claim { slot: *slot, within, near, by }]
            }
            Stmt::Pick { slot, set, .. } if live.slots.contains(slot) => {
                let (slot, set, key) = (*slot, set.clone(), Num::Const(0));
                vec![Stmt::Pick { slot, set, item: 0, key, greatest: false }]
            }
            Stmt::Let(slot, _) if live.locals.contains(slot) => vec![stmt.clone()],
            Stmt::SetTask(var, _) if live.task_vars.contains(var) => vec![stmt.clone()],
            Stmt::SetCpu { var, .. } if live.cpu_vars.contains(var) => vec![stmt.clone()],
            Stmt::Put(Put { queue, slice, wake, .. }) => {
                let (queue, slice, span) = (queue.clone(), self.slice(slice), Span::default());
                vec![Stmt::Put(Put { queue, slice, wake: *wake, span })]
            }
            Stmt::Run { slot, slice, .. } => {
                vec![Stmt::Run { slot: *slot, slice: self.slice(slice), span: Span::default() }]
            }
            Stmt::Kick { cpu, preempt } => match cpu {
                Place::Slot(slot) if self.claimed.contains(slot) => vec![stmt.clone()],
                // Who runs somebody looks sooner; who is idle was not claimed.
                _ if *preempt => Vec::new(),
                _ => vec![stmt.clone()],
            },
            Stmt::If { condition, then, otherwise } => {
                let (then, otherwise) = (self.block(then), self.block(otherwise));
                match then == otherwise {
                    true => then,
                    false => vec![Stmt::If { condition: condition.clone(), then, otherwise }],
                }
            }
            Stmt::Pick { .. } | Stmt::Let(..) | Stmt::SetTask(..) | Stmt::SetCpu { .. } => {
                Vec::new()
            }
        }
    }

    fn slice(&self, slice: &Option<Num>) -> Option<Num> {
        if self.endless && slice.is_none() { None } else { Some(Num::Const(0)) }
    }
}

/// Where things stand in the text does not matter.
fn forget_places(policy: &mut Policy) {
    let vars = policy.params.iter_mut().chain(&mut policy.task_vars).chain(&mut policy.cpu_vars);
    let spans = vars.map(|var| &mut var.span);
    let spans = spans.chain(policy.queues.iter_mut().map(|queue| &mut queue.span));
    let spans = spans.chain(policy.claims.iter_mut().map(|claim| &mut claim.span));
    let spans = spans.chain([&mut policy.span, &mut policy.protocol.span]);
    let spans = spans.chain(&mut policy.handler_spans);
    let takes = policy.dispatch.iter_mut().filter_map(|attempt| match attempt {
        Attempt::Take(_, span) => Some(span),
        Attempt::Balance => None,
    });
    spans.chain(takes).for_each(|span| *span = Span::default());
}

fn is_claim(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Claim { .. })
}

/// Whether it sets a variable, and reads no CPU that was claimed.
fn only_sets(stmt: &Stmt, claimed: &BTreeSet<usize>) -> bool {
    let mut reads = Live::default();
    let sets = matches!(stmt, Stmt::SetTask(..) | Stmt::SetCpu { .. });
    if sets {
        visit_block(std::slice::from_ref(stmt), &mut reads);
    }
    sets && reads.slots.is_disjoint(claimed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CFS: &str = include_str!("../../../policies/cfs-like.rota");
    const EDF: &str = include_str!("../../../policies/central-edf.rota");
    const NUMA: &str = include_str!("../../../policies/numa-aware.rota");
    const ULE: &str = include_str!("../../../policies/ule-like.rota");
    const WS: &str = include_str!("../../../policies/work-stealing.rota");

    fn same(text: &str, from: &str, to: &str) -> bool {
        let slice = |text: &str| {
            let program = wastenot_rota::compile(text).expect("it compiles");
            seen(&program.policies[0])
        };
        let changed = text.replace(from, to);
        assert_ne!(text, changed, "{from}");
        slice(text) == slice(&changed)
    }

    #[test]
    fn who_goes_first_and_for_how_long_is_not_seen() {
        assert!(same(WS, "slice slice", "slice forever"));
        assert!(same(WS, "argmax queued(v.ready) tie near(me)", "any"));
        assert!(same(
            WS,
            "near t.prev by [smt, llc, node, machine]",
            "within llc near here by [smt]"
        ));
        assert!(same(EDF, "t.due := now + scaled(relative, t.weight)", "t.due := now"));
        assert!(same(EDF, "if t.due < v.due { kick v preempt }", ""));
        assert!(same(NUMA, "on leader(node)", ""));
        assert!(same(NUMA, "apart: count = 4", "apart: count = 9"));
        assert!(same(ULE, "on start(t) { here.rank := t.rank }", ""));
        assert!(same(
            ULE,
            "rank: time = 0 owner cpu",
            "rank: time = 0 owner cpu, more: count = 0 shared"
        ));
        assert!(same(CFS, "here.vt := t.vt", ""));
    }

    #[test]
    fn what_a_claim_is_about_is_seen() {
        assert!(!same(WS, "home(t).ready", "t.prev.ready"));
        assert!(!same(WS, "slice slice }\n    on block", "wake within llc }\n    on block"));
        assert!(!same(WS, ">= 1", ">= 2"));
        assert!(!same(WS, "retry untried", "retry 1"));
        assert!(!same(WS, "level machine", "level llc"));
        assert!(!same(NUMA, ">= 2 + apart", ">= 1 + apart"));
        assert!(!same(NUMA, "steal half(queued(v.q) - queued(me.q))", "steal 0"));
    }

    #[test]
    fn order_keys_and_slices_are_seen_where_something_is_claimed_of_them() {
        let turned = ("take c.ready else balance idle", "balance idle else take c.ready");
        assert!(!same(WS, turned.0, turned.1), "`wait` is claimed");
        assert!(same(ULE, turned.0, turned.1), "it is not");
        let ran = "t.vt += scaled(ran, t.weight)";
        assert!(!same(CFS, ran, ""), "`vt_monotone` is claimed");
        assert!(!same(CFS, "into me.rq rebase vt", "into me.rq"), "`lag` is claimed");
        assert!(!same(NUMA, "slice slice", "slice forever"), "a leader must not be held up");
    }

    #[test]
    fn what_decides_where_a_task_is_put_is_seen() {
        let put = "put t in home(t).ready slice slice\n            if t.rank";
        let text = ULE.replace(
            put,
            "if t.ran < history { put t in home(t).ready } else { put t in \
                                     t.prev.ready }\n            if t.rank",
        );
        assert_ne!(text, ULE);
        assert!(same(ULE, "t.ran += ran", ""), "nothing depends on it");
        assert!(!same(&text, "t.ran += ran", ""), "the queue does");
        let kicked = WS.replace(
            "if c { run t on c slice slice } else { put t in home(t).ready \
                                 slice slice }",
            "put t in home(t).ready\n if c { kick c preempt }",
        );
        assert_ne!(kicked, WS);
        assert!(!same(&kicked, "kick c preempt", "kick c"), "it was claimed");
    }
}
