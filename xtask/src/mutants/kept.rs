//! Operators on what a policy keeps of CPUs: where it is set, and where it is read.

use wastenot_rota::ir::{Dimension, Event, Num, Place, Stmt, Variable, Writer};

use super::site::Part;

/// A slot of numbers that no policy uses.
const SLOT: usize = 15;

/// Each variable, before this statement; where there is none, a new one.
pub(super) fn set(part: Part<'_>, way: usize) -> bool {
    let Part::Kept(block, index, kept) = part else { return false };
    if kept.is_empty() {
        kept.push(time(block, index));
    }
    let Some(var) = kept.get(way) else { return false };
    let (add, value) = match var.dimension {
        Dimension::Time => (var.writer == Writer::Shared, Num::Now),
        _ => (var.writer == Writer::Shared, Num::Const(1)),
    };
    block.insert(index, Stmt::SetCpu { var: way, cpu: Place::Here, value, add });
    true
}

/// Each that is set, in each other handler instead: there before all else, or after it.
pub(super) fn moved(part: Part<'_>, way: usize) -> bool {
    let Part::Handlers(handlers) = part else { return false };
    let sets = Event::ALL.into_iter().flat_map(|event| {
        let body = handlers[event as usize].iter().enumerate();
        body.filter(|(_, stmt)| matches!(stmt, Stmt::SetCpu { .. }))
            .map(move |(index, _)| (event, index))
            .collect::<Vec<_>>()
    });
    let others = |from: Event| Event::ALL.into_iter().filter(move |event| *event != from);
    let ways = sets.flat_map(|(from, index)| {
        others(from).flat_map(move |to| [true, false].map(|first| (from, index, to, first)))
    });
    let Some((from, index, to, first)) = ways.collect::<Vec<_>>().get(way).copied() else {
        return false;
    };
    let stmt = handlers[from as usize].remove(index);
    let body = &mut handlers[to as usize];
    body.insert(if first { 0 } else { body.len() }, stmt);
    true
}

/// What a task is given to wait by falls by the time that passed since its CPU was last asked: the
/// variable is read, set, and read again.
pub(super) fn in_keys(part: Part<'_>, way: usize) -> bool {
    let Part::Kept(block, index, kept) = part else { return false };
    let Stmt::SetTask(_, value) = &block[index] else { return false };
    let (slot, since) = (SLOT, kept.len());
    let read = || Num::CpuVar(since, Place::Here);
    let passed = Num::Sub(Box::new(read()), Box::new(Num::Local(slot)));
    let value = Num::Sub(Box::new(value.clone()), Box::new(passed));
    kept.push(time(block, index));
    let Stmt::SetTask(_, key) = &mut block[index] else { return false };
    *key = value;
    let set = Stmt::SetCpu { var: since, cpu: Place::Here, value: Num::Now, add: false };
    block.splice(index..index, [Stmt::Let(slot, read()), set]);
    way == 0
}

/// A variable that nobody has.
fn time(block: &[Stmt], index: usize) -> Variable {
    let span = match &block[index] {
        Stmt::Put(put) => put.span,
        _ => Default::default(),
    };
    let (name, dimension, writer) = ("since".to_owned(), Dimension::Time, Writer::Cpu);
    Variable { name, dimension, value: 0, writer, span }
}
