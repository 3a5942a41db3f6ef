//! Passes the wasted idle CPUs to another analysis in the same replay.

use wastenot_model::{
    Beside, Contradiction, CpuId, CpuState, Entry, Observer, State, TaskId, TaskState, Time,
};

use super::Waste;

/// Waste, and an analysis beside it.
pub(crate) struct With<'b, 'a, B> {
    both: (Waste<'a>, &'b mut B),
    /// Per class whether tasks of it want a CPU in the time that was told last.
    wanting: Vec<bool>,
}

impl<'b, 'a, B: Beside> With<'b, 'a, B> {
    pub(crate) fn new(waste: Waste<'a>, beside: &'b mut B) -> With<'b, 'a, B> {
        let wanting = waste.none_wanting();
        With { both: (waste, beside), wanting }
    }
    /// Waste alone, once the replay has ended.
    pub(crate) fn waste(self) -> Waste<'a> {
        self.both.0
    }
}

impl<B: Beside> Observer for With<'_, '_, B> {
    #[inline]
    fn held(&mut self, state: &State, from: Time, to: Time) {
        let (waste, beside) = &mut self.both;
        waste.held(state, from, to);
        if B::LISTENS
            && let Some(wanted) = waste.newly_wanted(&mut self.wanting)
        {
            beside.wanted(from, &wanted);
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
    #[inline(always)]
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
