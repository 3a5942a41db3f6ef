//! The losses of a perf.data that does not hold everything.

use wastenot_model::{Loss, LossKind};

use super::attr::{Attr, Flag};
use super::events::Events;
use super::file::PerfFile;
use super::index::Index;
use super::inflate::Broken;
use super::records::Stop;

/// The loss if the records do not end where they should; `cut`: more records should follow.
pub(super) fn end(stop: Stop, cut: bool) -> Option<Loss> {
    Some(match stop {
        Stop::End if !cut => return None,
        Stop::End => Loss::new(LossKind::Cut, "the file is shorter than its header says"),
        Stop::Cut(at) => Loss::new(
            LossKind::Cut,
            format!("the data ends inside the record at byte {at} of the data"),
        ),
        Stop::Damaged(at) => {
            let note = format!("the record at byte {at} of the data has an invalid size");
            Loss::new(LossKind::Damaged, note)
        }
    })
}

/// The compressed record at `at` was the last that was read.
pub(super) fn broken(broken: Broken, at: usize) -> Loss {
    match broken {
        Broken::Damaged => {
            let note = format!("the compressed record at byte {at} of the data is damaged");
            Loss::new(LossKind::Damaged, note)
        }
        Broken::TooMuch => {
            let note = "the compressed records unpack to more data than a trace can contain; the \
                        data above this limit were not read";
            Loss::new(LossKind::Cut, note)
        }
    }
}

/// The losses that the records report, and those that follow from them.
pub(super) fn of_records<K>(index: &Index<'_, K>) -> Vec<Loss> {
    let counted = [
        (LossKind::Damaged, index.damaged, "samples with an invalid CPU number"),
        (
            LossKind::LostEvents,
            index.lost_somewhere,
            "events were lost, but perf did not record on which CPU",
        ),
    ];
    counted.into_iter().filter_map(|(kind, count, note)| told(kind, count, note)).collect()
}

/// The losses that the head reports.
pub(super) fn of_file(file: &PerfFile<'_>, events: &Events) -> Vec<Loss> {
    let mut losses = Vec::new();
    let damaged = file.features.damaged;
    losses.extend(told(
        LossKind::Damaged,
        damaged,
        "damaged sections with facts about the machine",
    ));
    let cut = file.features.cut;
    losses.extend(told(LossKind::Damaged, cut, "incomplete sections with facts about the machine"));
    if file.unfinished {
        let note = "perf did not end normally; the file was read up to its last complete record";
        losses.push(Loss::new(LossKind::Cut, note));
    }
    let tracepoint =
        |is: fn(&Attr) -> bool| file.attrs.iter().any(|attr| attr.is_tracepoint() && is(attr));
    // Events that were left out on purpose.
    if tracepoint(Attr::is_sampled) {
        let note = "perf sampled only some of the events; record all with `perf record -c 1`";
        losses.push(Loss::new(LossKind::LostEvents, note));
    }
    // Set only if perf starts a command and was not asked to watch all CPUs.
    if tracepoint(|attr| attr.has(Flag::EnableOnExec)) {
        let note = "perf recorded one program, not all CPUs; record with `perf record -a`";
        losses.push(Loss::new(LossKind::LostEvents, note));
    }
    let unread = &events.decoder.unread;
    if !unread.is_empty() {
        let note = format!("events that lack the needed fields: {}", unread.join(", "));
        losses.push(Loss::new(LossKind::Unread, note));
    }
    losses
}

fn told(kind: LossKind, count: u64, note: &str) -> Option<Loss> {
    let mut loss = Loss::new(kind, note);
    loss.count = Some(count);
    (count > 0).then_some(loss)
}
