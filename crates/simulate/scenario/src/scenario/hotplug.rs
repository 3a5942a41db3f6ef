//! CPUs that go offline and come back; each entry must change the state of its CPU.

use wastenot_model::workload::Hotplug;
use wastenot_model::{CpuId, Machine, Span, Time, shortened};

use super::fields::Fields;
use super::node::{Node, Wrong, wrong};
use super::schema::HOTPLUG;

/// A change, and where it is written.
type Change = (Hotplug, usize);

/// Reads `[[hotplug]]`: in order of time, without entries that would have no effect.
pub(super) fn read(nodes: &[Node], machine: &Machine) -> Result<Vec<Hotplug>, Wrong> {
    let mut changes = Vec::new();
    for node in nodes {
        changes.extend(changes_of(node, machine)?);
    }
    changes.sort_by_key(|(change, _)| change.at);
    check(&changes, machine)?;
    Ok(changes.into_iter().map(|(change, _)| change).collect())
}

fn changes_of(
    node: &Node,
    machine: &Machine,
) -> Result<impl Iterator<Item = Change> + use<>, Wrong> {
    let fields = Fields::of(&HOTPLUG, node)?;
    fields.check()?;
    let cpu = fields.need("cpu", "0")?;
    let number = super::integer(cpu, "cpu", 0..=CpuId::LIMIT as i64 - 1)? as usize;
    if number >= machine.len() {
        let what = format!("the machine has no CPU {}", shortened(&number.to_string()));
        return Err(wrong(cpu.at, what, format!("use one of its CPUs: {}", machine.online())));
    }
    let cpu = CpuId(number as u16);
    let change = |key, up| -> Result<Option<Change>, Wrong> {
        let at = fields.get(key).map_or(node.at, |node| node.at);
        let span = fields.span(key)?;
        Ok(span.map(|span| (Hotplug { at: Time(span.0), cpu, up }, at)))
    };
    let both = [change("off", false)?, change("on", true)?];
    if both.iter().all(Option::is_none) {
        return Err(wrong(node.at, "the table has neither `off` nor `on`", "add `off = \"10ms\"`"));
    }
    Ok(both.into_iter().flatten())
}

/// Checks that each CPU is offline when it comes back, and online, with another one, when it goes.
fn check(changes: &[Change], machine: &Machine) -> Result<(), Wrong> {
    let mut online = machine.online();
    for &(Hotplug { at: time, cpu, up }, at) in changes {
        let when = Span(time.0);
        let is_on = online.contains(cpu);
        if up && is_on {
            let what = format!("CPU {cpu} comes online at {when}, but it is online already");
            return Err(wrong(at, what, "write a later time, or remove this entry"));
        }
        if !up && !is_on {
            let what = format!("CPU {cpu} goes offline at {when}, but it is offline already");
            return Err(wrong(
                at,
                what,
                "bring the CPU online before this time (`on`), or remove this entry",
            ));
        }
        if !up && online.len() == 1 {
            let what =
                format!("CPU {cpu} goes offline at {when}, but it is the last CPU that is online");
            return Err(wrong(
                at,
                what,
                "bring another CPU online before this time, or remove this entry",
            ));
        }
        if up { online.insert(cpu) } else { online.remove(cpu) }
    }
    Ok(())
}
