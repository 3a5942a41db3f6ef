//! Classes of tasks that may use the same counted CPUs. A trace has only a few masks.

use wastenot_model::{CpuSet, History, TaskState, Wanted};

use crate::Scope;
use crate::matching::{ANYWHERE, Class};

/// Which affinities are one class.
#[derive(Debug)]
pub(super) struct Classes {
    /// Class per interned mask.
    of_mask: Vec<Class>,
    pub(super) masks: Vec<CpuSet>,
}

impl Classes {
    pub(super) fn new(history: &History, scope: &Scope) -> Classes {
        let counted: CpuSet = scope.cpus().collect();
        let mut masks = vec![CpuSet::new()];
        let of_mask = history.masks().iter().map(|mask| {
            let mask = mask.and(&counted);
            if counted.is_subset(&mask) {
                return ANYWHERE;
            }
            masks[1..].iter().position(|known| *known == mask).map_or_else(
                || {
                    masks.push(mask);
                    masks.len() - 1
                },
                |index| index + 1,
            )
        });
        let of_mask = of_mask.collect();
        Classes { of_mask, masks }
    }
    /// Which CPUs tasks of some classes want.
    pub(super) fn wanted(&self, wanting: &[bool]) -> Wanted {
        if wanting[ANYWHERE] {
            return Wanted::Everything;
        }
        let mut cpus = CpuSet::new();
        let masks = self.masks.iter().zip(wanting).filter(|(_, wants)| **wants);
        masks.for_each(|(mask, _)| cpus.insert_all(mask));
        if cpus.is_empty() { Wanted::Nothing } else { Wanted::Only(cpus) }
    }
    #[inline]
    pub(super) fn of(&self, state: &TaskState) -> Class {
        let class = state.mask.and_then(|mask| self.of_mask.get(mask.0 as usize));
        class.copied().unwrap_or(ANYWHERE)
    }
}
