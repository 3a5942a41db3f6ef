//! States that differ only in names are one state.
//!
//! CPUs and tasks may be renamed if allowed sets, readers of queues and the CPUs that puts look for
//! are renamed with them: these renamings are the automorphisms of the system. Cells and queues are
//! explored in every order of reads, so no name matters there.

use super::state::{At, Cell, Looks, NO_TASK, State, Task, members};
use super::{Cpus, Move, QUEUES_MAX, SIZE_MAX, System};

/// New names, by old name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Renaming {
    cpus: [usize; SIZE_MAX],
    tasks: [usize; SIZE_MAX],
    queues: [usize; QUEUES_MAX],
}

/// The renamings that leave the system unchanged, among them the identity.
pub(super) fn automorphisms(system: &System) -> Vec<Renaming> {
    let mut found = Vec::new();
    for cpus in permutations(system.cpus) {
        for tasks in permutations(system.tasks.len()) {
            found.extend(renaming(system, cpus, tasks));
        }
    }
    found
}

fn renaming(
    system: &System,
    cpus: [usize; SIZE_MAX],
    tasks: [usize; SIZE_MAX],
) -> Option<Renaming> {
    let mut queues = [usize::MAX; QUEUES_MAX];
    let moved = |set: Cpus| {
        members(set).filter(|cpu| *cpu < system.cpus).fold(0, |all, cpu| all | 1 << cpus[cpu])
    };
    let same = |old: Cpus, new: Cpus| moved(old) == new & system.all();
    for (old, task) in system.tasks.iter().enumerate() {
        let new = &system.tasks[tasks[old]];
        let queue = &mut queues[task.queue];
        if *queue != usize::MAX && *queue != new.queue {
            return None;
        }
        *queue = new.queue;
        let (from, to) = (&system.queues[task.queue], &system.queues[new.queue]);
        let alike = same(task.allowed, new.allowed)
            && same(task.woken, new.woken)
            && same(task.direct, new.direct)
            && same(from.readers, to.readers)
            && from.fifo == to.fifo;
        if !alike {
            return None;
        }
    }
    // Queues into which no task is put keep their names: the same CPUs must still read them.
    for (queue, at) in system.queues.iter().enumerate() {
        if queues[queue] == usize::MAX {
            queues[queue] = queue;
            if !same(at.readers, at.readers) {
                return None;
            }
        }
    }
    let moves = |one: &Move| {
        let (from, into, by) = (queues[one.from], queues[one.into], moved(one.by));
        let alike = |at: &Move| (at.from, at.into) == (from, into) && by == at.by & system.all();
        system.moves.iter().any(|at| alike(at) && at.wakes == one.wakes)
    };
    system.moves.iter().all(moves).then_some(Renaming { cpus, tasks, queues })
}

/// The least of the renamed states, or the state itself if there are no renamings.
pub(super) fn canonical(state: &State, system: &System, renamings: &[Renaming]) -> State {
    let renamed = renamings.iter().map(|renaming| renamed(state, system, renaming));
    renamed.min().unwrap_or(*state)
}

fn renamed(state: &State, system: &System, names: &Renaming) -> State {
    let mut new = *state;
    let set = |old: u8, names: &[usize]| members(old).fold(0, |all, one| all | 1 << names[one]);
    let cpu_set = |old: Cpus| set(old, &names.cpus);
    for (cpu, old) in state.cpus[..system.cpus].iter().enumerate() {
        let at = &mut new.cpus[names.cpus[cpu]];
        *at = *old;
        at.visited = set(old.visited, &names.queues);
        at.owed = set(old.owed, &names.tasks);
        at.looked = cpu_set(old.looked);
        if let Cell::Claimed(task) = old.cell {
            at.cell = Cell::Claimed(names.tasks[task as usize] as u8);
        }
    }
    for (task, old) in state.tasks[..system.tasks.len()].iter().enumerate() {
        let cpu = |cpu: u8| names.cpus[cpu as usize] as u8;
        let at = match old.at {
            At::Runs(on) => At::Runs(cpu(on)),
            At::Local(on) => At::Local(cpu(on)),
            other => other,
        };
        let looks = match old.looks {
            Looks::No => Looks::No,
            Looks::Direct(seen) => Looks::Direct(cpu_set(seen)),
            Looks::Wake(seen) => Looks::Wake(cpu_set(seen)),
        };
        let queue = match at {
            At::Waits | At::Comes => names.queues[old.queue as usize] as u8,
            _ => old.queue,
        };
        new.tasks[names.tasks[task]] = Task { at, queue, looks };
    }
    for waits in new.waiting.iter_mut().filter(|waits| **waits != NO_TASK) {
        *waits = names.tasks[*waits as usize] as u8;
    }
    let waiting = new.waiting.iter().take_while(|task| **task != NO_TASK).count();
    let queues = new.tasks.map(|task| task.queue);
    new.waiting[..waiting].sort_by_key(|task| queues[*task as usize]);
    new
}

/// All orders of the first `count` names.
pub(super) fn permutations(count: usize) -> Vec<[usize; SIZE_MAX]> {
    let mut all = vec![std::array::from_fn(|name| name)];
    for place in 0..count {
        let swapped = |order: &[usize; SIZE_MAX]| {
            let order = *order;
            (place..count).map(move |other| {
                let mut order = order;
                order.swap(place, other);
                order
            })
        };
        all = all.iter().flat_map(swapped).collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_orders_are_found_once() {
        let mut orders = permutations(4);
        orders.sort();
        orders.dedup();
        assert_eq!(orders.len(), 24);
        assert_eq!(permutations(0).len(), 1);
    }
}
