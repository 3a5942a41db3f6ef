//! Impossible rows, as they result from clocks that disagree and from unreported losses.

use wastenot_model::{Context, CpuId, Event, How, Left, Prio, TaskId};

use super::world::World;

/// Sometimes reports something that the world did not do.
pub(super) fn strew(world: &mut World) {
    if !world.rng.one_in(4) {
        return;
    }
    let cpu = world.recorder();
    let mut task = || TaskId::nth(world.rng.below(world.tasks.len()));
    let (one, other) = (task(), task());
    let on = CpuId(world.rng.below(world.cpus.len()) as u16);
    let here = CpuId(cpu as u16);
    let prio = Prio::UNKNOWN;
    let event = match world.rng.below(9) {
        0 => switch(here, one, other, Left::Sleeping),
        1 => switch(here, one, TaskId::idle(here), Left::Preempted),
        2 => switch(here, TaskId::idle(here), other, Left::Runnable),
        3 => switch(here, one, one, Left::Runnable),
        4 => switch(here, one, other, Left::Unknown),
        5 => switch(here, one, other, Left::Dead),
        6 => Event::Waking { task: one, prev: world.rng.one_in(2).then_some(on), prio },
        7 => {
            let on = (!world.rng.one_in(4)).then_some(on);
            Event::Queued { task: one, on, how: How::Wakeup, prio }
        }
        _ => Event::Migrate { task: one, from: None, to: on },
    };
    world.tell(cpu, Context::Task, event);
}

fn switch(cpu: CpuId, prev: TaskId, next: TaskId, left: Left) -> Event {
    let (prev_prio, next_prio) = (Prio::UNKNOWN, Prio::UNKNOWN);
    Event::Switch { cpu, prev, next, left, prev_prio, next_prio }
}
