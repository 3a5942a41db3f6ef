//! The largest matching between idle CPUs and tasks that could use them.
//!
//! Tasks of equal affinity form one class with a supply. After each change of a CPU or of a supply,
//! at most one augmenting path makes the matching the largest again. Removing or adding one vertex
//! changes the size by at most one, and an augmenting path must start at this vertex.

use wastenot_model::{CpuId, CpuSet};

/// A class of tasks that may run on the same CPUs.
pub(crate) type Class = usize;

/// The class of tasks that may run everywhere, or of which nothing is known.
pub(crate) const ANYWHERE: Class = 0;

const FREE: u32 = u32::MAX;

/// Idle CPUs, supplies of classes, and who is matched with whom.
#[derive(Clone, Debug)]
pub(crate) struct Matching {
    /// Per class the CPUs that it may use; `ANYWHERE` has every CPU.
    masks: Vec<CpuSet>,
    supply: Vec<u32>,
    used: Vec<u32>,
    idle: Vec<bool>,
    /// The class that an idle CPU is matched with.
    taken: Vec<u32>,
    idle_count: u32,
    size: u32,
}

impl Matching {
    /// No idle CPU and no task; `masks[ANYWHERE]` is not looked at.
    pub(crate) fn new(cpus: usize, masks: Vec<CpuSet>) -> Matching {
        assert!(!masks.is_empty(), "the class of tasks without an affinity always exists");
        let classes = masks.len();
        Matching {
            masks,
            supply: vec![0; classes],
            used: vec![0; classes],
            idle: vec![false; cpus],
            taken: vec![FREE; cpus],
            idle_count: 0,
            size: 0,
        }
    }

    /// Number of pairs in the largest matching.
    #[inline]
    pub(crate) fn size(&self) -> u32 {
        // With one class every task may use every CPU: no pairs need be kept.
        if self.masks.len() == 1 { self.idle_count.min(self.supply[ANYWHERE]) } else { self.size }
    }

    /// Number of classes.
    pub(crate) fn classes(&self) -> usize {
        self.masks.len()
    }

    /// Number of pairs that a class has in the matching. A class keeps its pairs as long as the
    /// matching stays the largest with them.
    pub(crate) fn pairs(&self, class: Class) -> u32 {
        if self.masks.len() == 1 { self.size() } else { self.used[class] }
    }

    /// How many CPUs are idle and how many tasks could use some CPU.
    pub(crate) fn sides(&self) -> (u32, u32) {
        (self.idle_count, self.supply.iter().sum())
    }

    /// Marks the classes of which some largest matching leaves a task out: those that have one
    /// without a CPU, and those whose CPU a task of these could have instead (the tasks that
    /// Dulmage and Mendelsohn, 1958, call over-determined). The same for every largest matching.
    pub(crate) fn left_out(&self, marks: &mut [bool]) {
        let mut open: Vec<Class> = Vec::new();
        for (class, mark) in marks.iter_mut().enumerate() {
            *mark = self.used[class] < self.supply[class];
            open.extend(mark.then_some(class));
        }
        while let Some(class) = open.pop() {
            for cpu in 0..self.idle.len() {
                let holder = self.taken[cpu] as usize;
                if self.idle[cpu] && self.allows(class, cpu) && marks.get(holder) == Some(&false) {
                    marks[holder] = true;
                    open.push(holder);
                }
            }
        }
    }

    /// `cpu` is idle or is not.
    pub(crate) fn set_idle(&mut self, cpu: CpuId, idle: bool) {
        let index = cpu.index();
        if std::mem::replace(&mut self.idle[index], idle) == idle {
            return;
        }
        if idle {
            self.idle_count += 1;
        } else {
            self.idle_count -= 1;
        }
        if self.masks.len() == 1 {
            return;
        }
        if idle {
            self.grow_from_cpu(index);
        } else if self.taken[index] != FREE {
            let class = std::mem::replace(&mut self.taken[index], FREE) as usize;
            self.used[class] -= 1;
            self.size -= 1;
            self.grow_from_class(class);
        }
    }

    /// `class` has `supply` tasks now.
    #[inline]
    pub(crate) fn set_supply(&mut self, class: Class, supply: u32) {
        let had = std::mem::replace(&mut self.supply[class], supply);
        if self.masks.len() > 1 && had != supply {
            self.repair(class, had, supply);
        }
    }

    fn repair(&mut self, class: Class, had: u32, supply: u32) {
        for _ in had..supply {
            if !self.grow_from_class(class) {
                break; // one more of the same class would not find a CPU either
            }
        }
        while self.used[class] > supply {
            let cpu = self.taken.iter().position(|&taken| taken == class as u32);
            let cpu = cpu.expect("a used task has a CPU");
            self.taken[cpu] = FREE;
            self.used[class] -= 1;
            self.size -= 1;
            self.grow_from_cpu(cpu);
        }
    }

    fn allows(&self, class: Class, cpu: usize) -> bool {
        class == ANYWHERE || self.masks[class].contains(CpuId(cpu as u16))
    }

    /// Finds a task for the free idle CPU `cpu`, moving other pairs along if need be.
    fn grow_from_cpu(&mut self, cpu: usize) -> bool {
        // `via[class]` is the CPU that would take a task of `class`.
        let mut via = vec![usize::MAX; self.masks.len()];
        let mut open: Vec<Class> = Vec::new();
        self.reach_classes(cpu, &mut via, &mut open);
        while let Some(class) = open.pop() {
            if self.used[class] < self.supply[class] {
                self.used[class] += 1;
                self.size += 1;
                let (mut class, mut cpu_now) = (class, via[class]);
                // Along the path each CPU hands its old class on to the CPU before it.
                loop {
                    let old = std::mem::replace(&mut self.taken[cpu_now], class as u32);
                    if old == FREE {
                        return true;
                    }
                    class = old as usize;
                    cpu_now = via[class];
                }
            }
            for other in 0..self.taken.len() {
                if self.taken[other] == class as u32 {
                    self.reach_classes(other, &mut via, &mut open);
                }
            }
        }
        false
    }

    fn reach_classes(&self, cpu: usize, via: &mut [usize], open: &mut Vec<Class>) {
        for (class, via) in via.iter_mut().enumerate() {
            if *via == usize::MAX && self.supply[class] > 0 && self.allows(class, cpu) {
                *via = cpu;
                open.push(class);
            }
        }
    }

    /// Finds an idle CPU for one more task of `class`, moving other pairs along if need be.
    fn grow_from_class(&mut self, class: Class) -> bool {
        if self.used[class] >= self.supply[class] {
            return false;
        }
        // `from[c]` is the CPU that class `c` would give up, for the class that reached it.
        let mut from = vec![(usize::MAX, FREE); self.masks.len()];
        let mut seen = vec![false; self.masks.len()];
        seen[class] = true;
        let mut open = vec![class];
        while let Some(current) = open.pop() {
            for cpu in 0..self.idle.len() {
                if !self.idle[cpu] || !self.allows(current, cpu) {
                    continue;
                }
                let holder = self.taken[cpu];
                if holder == FREE {
                    self.hand_over(class, current, cpu, &from);
                    return true;
                }
                if !seen[holder as usize] {
                    seen[holder as usize] = true;
                    from[holder as usize] = (cpu, current as u32);
                    open.push(holder as usize);
                }
            }
        }
        false
    }

    /// `current` takes the free `cpu`, and gives up one for the class that reached it, and so on
    /// back to `class`, which gains a pair.
    fn hand_over(&mut self, class: Class, current: Class, cpu: usize, from: &[(usize, u32)]) {
        let (mut current, mut cpu) = (current, cpu);
        self.used[class] += 1;
        self.size += 1;
        loop {
            self.taken[cpu] = current as u32;
            if current == class {
                return;
            }
            let (given, to) = from[current];
            (current, cpu) = (to as usize, given);
        }
    }
}

#[cfg(test)]
mod tests {
    use wastenot_model::workload::Random;

    use super::*;

    /// Plain augmenting paths over every single task.
    fn brute(masks: &[CpuSet], supply: &[u32], idle: &[bool]) -> u32 {
        fn place(
            task: usize,
            classes: &[usize],
            masks: &[CpuSet],
            idle: &[bool],
            owner: &mut [Option<usize>],
            seen: &mut [bool],
        ) -> bool {
            for cpu in 0..idle.len() {
                let allowed =
                    classes[task] == 0 || masks[classes[task]].contains(CpuId(cpu as u16));
                if !idle[cpu] || !allowed || std::mem::replace(&mut seen[cpu], true) {
                    continue;
                }
                let free = match owner[cpu] {
                    None => true,
                    Some(other) => place(other, classes, masks, idle, owner, seen),
                };
                if free {
                    owner[cpu] = Some(task);
                    return true;
                }
            }
            false
        }
        let classes: Vec<usize> = (0..masks.len())
            .flat_map(|class| std::iter::repeat_n(class, supply[class] as usize))
            .collect();
        let mut owner = vec![None; idle.len()];
        let found = (0..classes.len()).filter(|&task| {
            place(task, &classes, masks, idle, &mut owner, &mut vec![false; idle.len()])
        });
        found.count() as u32
    }

    #[test]
    fn after_every_change_it_is_as_large_as_brute_force_finds() {
        let mut numbers = Random::stream(7, 0, 0);
        let mut random = |below| numbers.below(below);
        for round in 0..300 {
            let cpus = 1 + random(9) as usize;
            let classes = 1 + random(6) as usize;
            let mut masks = vec![CpuSet::new(); classes];
            for mask in &mut masks[1..] {
                *mask = (0..cpus as u16).filter(|_| random(3) == 0).map(CpuId).collect();
            }
            let mut matching = Matching::new(cpus, masks.clone());
            let (mut supply, mut idle) = (vec![0u32; classes], vec![false; cpus]);
            for step in 0..80 {
                if random(2) == 0 {
                    let cpu = random(cpus as u64) as usize;
                    idle[cpu] = !idle[cpu];
                    matching.set_idle(CpuId(cpu as u16), idle[cpu]);
                } else {
                    let class = random(classes as u64) as usize;
                    supply[class] = random(4) as u32;
                    matching.set_supply(class, supply[class]);
                }
                let want = brute(&masks, &supply, &idle);
                assert_eq!(matching.size(), want, "round {round} step {step}");
            }
        }
    }
}
