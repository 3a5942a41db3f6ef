//! Takes names out, so that a trace can be attached to a bug report.

use std::cell::RefCell;
use std::rc::Rc;

use wastenot_model::{Annex, History, Loss, Sink, Value};

use super::copy::{Copy, Names};
use super::pseudonym::Pseudonyms;

/// The same History without the names that reveal its owner.
///
/// Commands and cgroups get pseudonyms, always the same for the same name; with a `salt` also
/// across files, and only a person who knows the salt can test which name a pseudonym stands for.
/// Names of kernel threads stay, and so does a `/N` at the end of any name, since both decide where
/// a task may run. Names of host and file, notes of the recorder and everything about the kernel
/// except its version are removed, and so are texts in annexes that are not command names. Times,
/// CPUs, tids and process ids stay: they do not reveal what ran, and they let the owner of the
/// original find a task in it.
pub fn scrub(history: &History, salt: Option<&str>) -> History {
    let names = Rc::new(RefCell::new(Pseudonyms::new(salt)));
    let mut head = history.head.clone();
    head.machine.name.clear();
    head.source.name.clear();
    head.source.notes.clear();
    head.source.kernel = head.source.release().map(version);
    let given = Rc::clone(&names);
    let rename = move |what, name: &str| match what {
        Names::Task => given.borrow_mut().command(name).into(),
        Names::Cgroup => given.borrow_mut().cgroup(name).into(),
    };
    let mut copy = Copy::begin(history, head, Box::new(rename));
    // In their order, so that every task keeps the id that the start state refers to.
    history.tasks().for_each(|(id, _)| {
        copy.task(id);
    });
    if let Some(start) = &history.head.start {
        let start = copy.start(start);
        copy.sink.head().start = Some(start);
    }
    history.entries().for_each(|entry| copy.push(entry));
    *copy.sink.losses_mut() = history.losses().iter().map(scrub_loss).collect();
    for annex in &history.annexes {
        let mut table = annex.table.clone();
        let cells = table.rows.iter_mut().flatten();
        cells.for_each(|cell| scrub_cell(cell, &names.borrow()));
        copy.sink.annex(Annex { table });
    }
    copy.sink.finish()
}

/// The note of a loss in a scrubbed History.
const NO_DETAILS: &str = "the details are left out, because they may contain names";

/// A loss without its details, which may quote the file.
fn scrub_loss(loss: &Loss) -> Loss {
    Loss { note: NO_DETAILS.to_owned(), ..loss.clone() }
}

fn scrub_cell(cell: &mut Value, names: &Pseudonyms) {
    match cell {
        Value::Text(text) => *cell = names.known(text).map_or(Value::Unknown, Value::from),
        Value::List(cells) => cells.iter_mut().for_each(|cell| scrub_cell(cell, names)),
        Value::Map(cells) => cells.iter_mut().for_each(|(_, cell)| scrub_cell(cell, names)),
        Value::Unknown | Value::Bool(_) | Value::Int(_) | Value::Num(_) => {}
    }
}

/// `6.12.1` of `6.12.1-custom`: the rest may name a company.
fn version(release: &str) -> String {
    let end = release.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(release.len());
    release[..end].trim_end_matches('.').to_owned()
}
