//! Tells an analysis beside a check which idle CPUs are wasted.

use wastenot_model::{
    Beside, Contradiction, CpuId, CpuSet, CpuState, Entry, Observer, State, TaskId, TaskState,
    Time, Wanted,
};

use super::Waste;
use crate::matching::ANYWHERE;

/// What classes with these masks want.
pub(super) fn by(wanting: &[bool], masks: &[CpuSet]) -> Wanted {
    if wanting[ANYWHERE] {
        return Wanted::Everything;
    }
    let mut cpus = CpuSet::new();
    let masks = masks.iter().zip(wanting).filter(|(_, wants)| **wants);
    masks.for_each(|(mask, _)| cpus.insert_all(mask));
    if cpus.is_empty() { Wanted::Nothing } else { Wanted::Only(cpus) }
}

/// Waste, and an analysis beside it.
pub(crate) struct With<'w, 'a, B> {
    both: (&'w mut Waste<'a>, &'w mut B),
    /// What was told last.
    told: Wanted,
}

impl<'w, 'a, B: Beside> With<'w, 'a, B> {
    pub(crate) fn new(waste: &'w mut Waste<'a>, beside: &'w mut B) -> With<'w, 'a, B> {
        With { both: (waste, beside), told: Wanted::Nothing }
    }
}

impl<B: Beside> Observer for With<'_, '_, B> {
    #[inline]
    fn held(&mut self, state: &State, from: Time, to: Time) {
        let (waste, beside) = &mut self.both;
        waste.held(state, from, to);
        if *waste.wanted() != self.told {
            self.told = waste.wanted().clone();
            beside.wanted(from, &self.told);
        }
        beside.held(state, from, to);
    }
    #[inline]
    fn begun(&mut self, state: &State) {
        self.both.begun(state);
    }
    #[inline]
    fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
        self.both.task(state, task, was, now);
    }
    #[inline]
    fn cpu(&mut self, state: &State, cpu: CpuId, was: &CpuState, now: &CpuState) {
        self.both.cpu(state, cpu, was, now);
    }
    #[inline]
    fn event(&mut self, state: &State, entry: &Entry) {
        self.both.event(state, entry);
    }
    #[inline]
    fn contradiction(&mut self, state: &State, entry: &Entry, what: Contradiction) {
        self.both.contradiction(state, entry, what);
    }
    #[inline]
    fn end(&mut self, state: &State) {
        self.both.end(state);
    }
}
