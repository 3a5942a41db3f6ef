//! Charges the waste of an instant to waiting tasks.
//!
//! Waste is the size of a matching, so each unit of waste is one waiting task that could use an
//! idle CPU. A class is a set of tasks with the same affinity. In each class, as many tasks are
//! *charged* as the matching has pairs for this class. The tasks whose waits began first are
//! charged. If two waits began at the same time, the task with the lower number comes first.

use wastenot_model::{TaskId, Time};

use crate::matching::Class;

const NONE: u32 = u32::MAX;

/// The candidates of each class by the start of their wait; the first so many are charged.
#[derive(Debug)]
pub(super) struct Charges {
    classes: Vec<Queue>,
    /// How many are charged, of all classes.
    charged: u32,
    links: Vec<Link>,
}

#[derive(Clone, Copy, Debug)]
struct Queue {
    first: u32,
    last: u32,
    /// The last one that is charged.
    edge: u32,
    charged: u32,
}

/// A task in its queue.
#[derive(Clone, Copy, Debug)]
struct Link {
    since: Time,
    before: u32,
    after: u32,
    class: u32,
    charged: bool,
}

const OUTSIDE: Link =
    Link { since: Time(0), before: NONE, after: NONE, class: NONE, charged: false };

impl Charges {
    pub(super) fn new(classes: usize, tasks: usize) -> Charges {
        let empty = Queue { first: NONE, last: NONE, edge: NONE, charged: 0 };
        Charges { classes: vec![empty; classes], charged: 0, links: vec![OUTSIDE; tasks] }
    }

    /// Whether a unit of waste belongs to `task`.
    pub(super) fn is_charged(&self, task: TaskId) -> bool {
        task.index().is_some_and(|index| self.links[index].charged)
    }

    /// How many tasks of a class are charged.
    #[inline]
    pub(super) fn count(&self, class: Class) -> u32 {
        self.classes[class].charged
    }

    /// Whether waste belongs to any task.
    pub(super) fn any(&self) -> bool {
        self.charged > 0
    }

    /// `task`, which waits since then, is a candidate. Returns whether it is charged at once, since
    /// one that came later is.
    pub(super) fn insert(&mut self, task: TaskId, class: Class, since: Time) -> bool {
        let Some(index) = task.index() else { return false };
        if self.links[index].class != NONE {
            return false;
        }
        let queue = self.classes[class];
        let mut before = queue.last;
        let mut passed_edge = false;
        while before != NONE && (self.links[before as usize].since, before) > (since, index as u32)
        {
            passed_edge |= before == queue.edge;
            before = self.links[before as usize].before;
        }
        let after = match before {
            NONE => queue.first,
            before => self.links[before as usize].after,
        };
        self.links[index] =
            Link { since, before, after, class: class as u32, charged: passed_edge };
        self.join(class, before, index as u32);
        self.join(class, index as u32, after);
        self.classes[class].charged += u32::from(passed_edge);
        self.charged += u32::from(passed_edge);
        passed_edge
    }

    /// `task` is no candidate any more. Returns whether it was charged.
    pub(super) fn remove(&mut self, task: TaskId) -> bool {
        let Some(index) = task.index() else { return false };
        let link = std::mem::replace(&mut self.links[index], OUTSIDE);
        if link.class == NONE {
            return false;
        }
        let class = link.class as usize;
        let queue = &mut self.classes[class];
        queue.charged -= u32::from(link.charged);
        self.charged -= u32::from(link.charged);
        if queue.edge == index as u32 {
            queue.edge = link.before;
        }
        self.join(class, link.before, link.after);
        link.charged
    }

    /// `count` of the class are charged from now on. Calls `each` with those for whom that changes.
    pub(super) fn settle(&mut self, class: Class, count: u32, mut each: impl FnMut(TaskId, bool)) {
        self.charged = self.charged - self.classes[class].charged + count;
        while self.classes[class].charged < count {
            let queue = self.classes[class];
            let next = match queue.edge {
                NONE => queue.first,
                edge => self.links[edge as usize].after,
            };
            if next == NONE {
                debug_assert!(false, "the matching has more pairs than there are candidates");
                self.charged -= count - queue.charged;
                return;
            }
            self.links[next as usize].charged = true;
            (self.classes[class].edge, self.classes[class].charged) = (next, queue.charged + 1);
            each(TaskId::nth(next as usize), true);
        }
        while self.classes[class].charged > count {
            let queue = self.classes[class];
            let link = &mut self.links[queue.edge as usize];
            link.charged = false;
            (self.classes[class].edge, self.classes[class].charged) =
                (link.before, queue.charged - 1);
            each(TaskId::nth(queue.edge as usize), false);
        }
    }

    /// `before` and `after` stand next to each other.
    fn join(&mut self, class: Class, before: u32, after: u32) {
        match before {
            NONE => self.classes[class].first = after,
            before => self.links[before as usize].after = after,
        }
        match after {
            NONE => self.classes[class].last = before,
            after => self.links[after as usize].before = before,
        }
    }
}

#[cfg(test)]
mod tests {
    use wastenot_model::workload::Random;

    use super::*;

    #[test]
    fn those_whose_wait_began_first_are_charged() {
        let mut numbers = Random::stream(3, 0, 0);
        let mut random = |below| numbers.below(below);
        for _ in 0..200 {
            let mut charges = Charges::new(1, 12);
            let mut waiting: Vec<(u64, usize)> = Vec::new();
            let mut told = [false; 12];
            for _ in 0..60 {
                let index = random(12) as usize;
                let task = TaskId::nth(index);
                if let Some(at) = waiting.iter().position(|it| it.1 == index) {
                    waiting.remove(at);
                    assert_eq!(charges.remove(task), std::mem::take(&mut told[index]));
                } else {
                    let since = random(8);
                    waiting.push((since, index));
                    waiting.sort_unstable();
                    told[index] = charges.insert(task, 0, Time(since));
                }
                let count = random(waiting.len() as u64 + 1);
                charges.settle(0, count as u32, |task, charged| {
                    let told = &mut told[task.index().expect("no idle task")];
                    assert_ne!(std::mem::replace(told, charged), charged);
                });
                for (place, (_, index)) in waiting.iter().enumerate() {
                    assert_eq!(charges.is_charged(TaskId::nth(*index)), (place as u64) < count);
                    assert_eq!(told[*index], (place as u64) < count);
                }
            }
        }
    }
}
