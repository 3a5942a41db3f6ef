//! The observers of a check, in the two replays that may run in parallel.

use wastenot_model::{
    Beside, Contradiction, CpuId, CpuState, Entry, Observer, State, TaskId, TaskState, Time,
};

use crate::waste::{Contradictions, With};
use crate::{depth, migrations, placements, sanity, schedviz, systing};
use crate::{throttled, violations, waits};

/// A struct of observers. Each call goes to all of them, in the order of the fields. They are
/// compiled into one call, so that an observer that does not look costs nothing.
macro_rules! observers {
    (
        $(#[$about:meta])*
        $name:ident<$life:lifetime $(, $beside:ident)?> { $($field:ident: $kind:ty,)* }
    ) => {
        $(#[$about])*
        pub(crate) struct $name<$life $(, $beside)?> {
            $(pub(crate) $field: $kind,)*
        }

        impl<$life $(, $beside: Beside)?> Observer for $name<$life $(, $beside)?> {
            #[inline(always)]
            fn begun(&mut self, state: &State) {
                $(self.$field.begun(state);)*
            }
            #[inline(always)]
            fn held(&mut self, state: &State, from: Time, to: Time) {
                $(self.$field.held(state, from, to);)*
            }
            #[inline(always)]
            fn task(&mut self, state: &State, task: TaskId, was: &TaskState, now: &TaskState) {
                $(self.$field.task(state, task, was, now);)*
            }
            #[inline(always)]
            fn cpu(&mut self, state: &State, cpu: CpuId, was: &CpuState, now: &CpuState) {
                $(self.$field.cpu(state, cpu, was, now);)*
            }
            #[inline(always)]
            fn event(&mut self, state: &State, entry: &Entry) {
                $(self.$field.event(state, entry);)*
            }
            #[inline(always)]
            fn contradiction(&mut self, state: &State, entry: &Entry, what: Contradiction) {
                $(self.$field.contradiction(state, entry, what);)*
            }
            #[inline(always)]
            fn end(&mut self, state: &State) {
                $(self.$field.end(state);)*
            }
        }
    };
}

observers! {
    /// Those of the first replay.
    Lost<'a, B> {
        waste: With<'a, 'a, B>,
        throttled: throttled::Watch<'a>,
    }
}

observers! {
    /// Those of the second replay.
    Others<'a> {
        violations: violations::Watch<'a>,
        waits: waits::Watch<'a>,
        migrations: migrations::Watch<'a>,
        depth: depth::Watch<'a>,
        placements: placements::Watch<'a>,
        schedviz: schedviz::Watch<'a>,
        systing: systing::Watch<'a>,
        sanity: sanity::Watch<'a>,
        contradictions: Contradictions,
    }
}
