//! A maximum matching between tasks and CPUs, by augmenting paths (Berge 1957).

use wastenot_model::CpuId;

use super::{Mask, fits};

/// How many of `tasks`, given by their masks, can run on `cpus` at once, one on each.
pub fn largest(tasks: &[Mask], cpus: &[CpuId]) -> u64 {
    let mut taken_by: Vec<Option<usize>> = vec![None; cpus.len()];
    let mut matched = 0;
    for task in 0..tasks.len() {
        if matched == cpus.len() {
            break;
        }
        let mut tried = vec![false; cpus.len()];
        matched += usize::from(find_room(task, tasks, cpus, &mut taken_by, &mut tried));
    }
    matched as u64
}

/// Gives `task` a CPU, if necessary by moving tasks that have one.
fn find_room(
    task: usize,
    tasks: &[Mask],
    cpus: &[CpuId],
    taken_by: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    for at in 0..cpus.len() {
        if tried[at] || !fits(tasks[task], cpus[at]) {
            continue;
        }
        tried[at] = true;
        let free = match taken_by[at] {
            None => true,
            Some(other) => find_room(other, tasks, cpus, taken_by, tried),
        };
        if free {
            taken_by[at] = Some(task);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use wastenot_model::CpuSet;

    use super::*;

    fn mask(list: &str) -> CpuSet {
        CpuSet::parse(list).unwrap()
    }

    #[test]
    fn a_choosy_task_moves_an_easy_one_away() {
        let (any, only) = (mask("0-1"), mask("0"));
        let cpus = [CpuId(0), CpuId(1)];
        assert_eq!(largest(&[Some(&any), Some(&only)], &cpus), 2);
        assert_eq!(largest(&[Some(&only), Some(&only)], &cpus), 1);
        assert_eq!(largest(&[None, Some(&only), None], &cpus), 2);
        assert_eq!(largest(&[Some(&mask("5"))], &cpus), 0);
    }

    #[test]
    fn it_agrees_with_trying_every_assignment() {
        let mut rng = crate::Rng::new(7);
        for _ in 0..2_000 {
            let cpus: Vec<CpuId> = (0..rng.below(5) as u16).map(CpuId).collect();
            let masks: Vec<CpuSet> = (0..rng.below(5))
                .map(|_| (0..5).filter(|_| rng.one_in(3)).map(CpuId).collect())
                .collect();
            let tasks: Vec<Mask> = masks.iter().map(Some).collect();
            assert_eq!(largest(&tasks, &cpus), every_assignment(&tasks, &cpus), "{masks:?}");
        }
    }

    /// Tries the first task on each CPU in turn, or nowhere; then the rest.
    fn every_assignment(tasks: &[Mask], cpus: &[CpuId]) -> u64 {
        let Some((first, rest)) = tasks.split_first() else { return 0 };
        let mut best = every_assignment(rest, cpus);
        for (at, &cpu) in cpus.iter().enumerate() {
            if fits(*first, cpu) {
                let left = [&cpus[..at], &cpus[at + 1..]].concat();
                best = best.max(1 + every_assignment(rest, &left));
            }
        }
        best
    }
}
