//! The same history on a machine whose CPUs have other numbers.

use wastenot_model::{
    Builder, Change, CpuId, CpuSet, Event, Head, History, Machine, MaskId, Sink, Start, Task,
    TaskId,
};

/// `history` with CPU n renumbered to `names[n]`; `names` is a permutation.
pub fn renumbered(history: &History, names: &[u16]) -> History {
    let cpu = |old: CpuId| CpuId(names[old.index()]);
    let task = |old: TaskId| match old.is_idle() {
        true => TaskId::idle(cpu(CpuId(old.0 as u16))),
        false => old,
    };
    let mut sink = Builder::new(head(history, &cpu));
    for (_, old) in history.tasks() {
        let name = sink.name(&renamed(history.name(old.name), &cpu));
        sink.task(Task { name, ..old.clone() });
    }
    let mask = |old: &CpuSet| old.iter().map(cpu).collect();
    let masks: Vec<MaskId> = history.masks().iter().map(|old| sink.mask(&mask(old))).collect();
    for mut entry in history.entries() {
        entry.cpu = cpu(entry.cpu);
        entry.by.task = entry.by.task.map(task);
        match &mut entry.event {
            Event::Switch { cpu: on, prev, next, .. } => {
                (*on, *prev, *next) = (cpu(*on), task(*prev), task(*next));
            }
            Event::Waking { prev: on, .. } | Event::Queued { on, .. } => *on = on.map(cpu),
            Event::Migrate { from, to, .. } => (*from, *to) = (from.map(cpu), cpu(*to)),
            Event::Cpu { cpu: on, .. } | Event::Freq { cpu: on, .. } => *on = cpu(*on),
            Event::Changed { what: Change::Affinity(mask), .. } => {
                *mask = masks[mask.0 as usize];
            }
            _ => {}
        }
        sink.push(entry);
    }
    sink.finish()
}

fn head(history: &History, cpu: &impl Fn(CpuId) -> CpuId) -> Head {
    let old = &history.head;
    let mut head = Head { machine: Machine::flat(old.machine.len()), ..old.clone() };
    for (number, &known) in old.machine.cpus.iter().enumerate() {
        head.machine.cpus[cpu(CpuId(number as u16)).index()] = known;
    }
    head.start = old.start.as_ref().map(|start| {
        assert_eq!(start.cpus.len(), old.machine.len(), "a snapshot of some CPUs has an order");
        let mut cpus = start.cpus.clone();
        for (number, &mode) in start.cpus.iter().enumerate() {
            cpus[cpu(CpuId(number as u16)).index()] = mode;
        }
        let place = |&(task, on): &(TaskId, Option<CpuId>)| (task, on.map(cpu));
        Start {
            cpus,
            waiting: start.waiting.iter().map(place).collect(),
            sleeping: start.sleeping.iter().map(place).collect(),
            silent: start.silent.iter().map(|&on| cpu(on)).collect(),
            missing: start.missing.iter().map(|&on| cpu(on)).collect(),
            unseen_until: start.unseen_until,
            past: None,
        }
    });
    head
}

/// The name of a kernel thread that contains its CPU gets the CPU's new number.
fn renamed(name: &str, cpu: &impl Fn(CpuId) -> CpuId) -> String {
    let parts = name.rsplit_once('/').map(|(head, tail)| {
        let digits = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
        (head, tail[..digits].parse().ok(), &tail[digits..])
    });
    match parts {
        Some((head, Some(number), rest)) if head != "irq" => {
            format!("{head}/{}{rest}", cpu(CpuId(number)))
        }
        _ => name.to_owned(),
    }
}
