//! perf.data: what `perf sched record` and `perf record -e sched:...` write, to a file or a pipe.
//!
//! Facts from the kernel's `include/uapi/linux/perf_event.h` and perf's
//! `tools/perf/Documentation/perf.data-file-format.txt`. [`file`] reads the head, [`events`]
//! matches the opened events with the tracepoints' descriptions, [`index`] walks over the records
//! and assigns each to its CPU, and [`keep`] decodes them: those from compressed records at once,
//! the others from their places in the file during the merge.

mod attr;
mod bytes;
mod events;
mod features;
mod file;
mod finder;
mod index;
mod inflate;
mod keep;
mod losses;
mod own;
mod places;
mod records;
#[cfg(test)]
mod tests;
mod unpacked;

use wastenot_model::{Carries, Clock, Head, History, Loss};

use crate::assemble::{Known, assemble};
use crate::ftrace::head::Head as Descriptions;
use crate::ftrace::{Big, Endian, Format, Little, Order};
use crate::{Error, Formats, Options};
use attr::Attr;
use events::{Events, no_events};
use file::PerfFile;
use index::{Halt, Index};
use inflate::Inflate;
use keep::Keep;
use places::Places;
use records::Records;
use unpacked::Unpacked;

const FORMAT: &str = "perf.data";

/// Reads a perf.data.
pub(crate) fn read(bytes: &[u8], options: &Options) -> Result<History, Error> {
    let file = PerfFile::read(bytes)?;
    if file.features.directory {
        return Err(Error::Unusable {
            format: FORMAT,
            what: "it was recorded with --threads, so its samples are in other files".into(),
            help: "record again without --threads",
        });
    }
    let descriptions = descriptions(&file, options.formats.as_ref())?;
    let events = Events::new(&file.attrs, &descriptions)?;
    let source = Source { file: &file, descriptions: &descriptions, events: &events, options };
    match file.records.endian {
        Endian::Little => source.read::<Little>(),
        Endian::Big => source.read::<Big>(),
    }
}

/// A file whose head is read.
struct Source<'a> {
    file: &'a PerfFile<'a>,
    descriptions: &'a Descriptions,
    events: &'a Events,
    options: &'a Options,
}

impl<'a> Source<'a> {
    fn read<O: Order>(&self) -> Result<History, Error> {
        let mut index: Index<'a, Places<'a, O>> = Index::new(self.events, self.file.records);
        let mut records = Records::new(self.file.records);
        match index.walk(&mut records) {
            Halt::Stop(stop) => self.assembled(index, losses::end(stop, self.file.cut)),
            Halt::Compressed(_) => self.inflated::<O>(),
        }
    }

    /// As `read`, for records that are not in the file itself.
    fn inflated<O: Order>(&self) -> Result<History, Error> {
        let mut index: Index<'a, Unpacked<'a, O>> = Index::new(self.events, self.file.records);
        let mut records = Records::new(self.file.records);
        let mut inflate = Inflate::new(self.file.records.len());
        let loss = loop {
            match index.walk(&mut records) {
                Halt::Stop(stop) => {
                    break losses::end(stop, self.file.cut || inflate.is_cut());
                }
                Halt::Compressed(record) => {
                    if let Err(broken) = inflate.record(&record, &mut index) {
                        break Some(losses::broken(broken, record.at));
                    }
                }
            }
        };
        self.assembled(index, loss)
    }

    fn assembled<K: Keep<'a>>(
        &self,
        mut index: Index<'a, K>,
        end: Option<Loss>,
    ) -> Result<History, Error> {
        if !index.has_samples() {
            return Err(no_events("the file has no samples"));
        }
        let streams = index.streams();
        let mut known = Known::new(self.head(!index.pids.is_empty()));
        known.until = self.options.until;
        known.losses = losses::of_records(&index);
        known.losses.extend(end);
        known.losses.extend(losses::of_file(self.file, self.events));
        known.names = self.descriptions.names.clone();
        known.names.extend(index.names.drain());
        known.pids = std::mem::take(&mut index.pids);
        drop(index);
        Ok(assemble(known, streams))
    }

    /// `pids`: whether the processes of tasks are known.
    fn head(&self, pids: bool) -> Head {
        let file = self.file;
        let mut head = Head::new(file.features.machine());
        head.source.format = match file.pipe {
            true => "perf.data (pipe)".into(),
            false => FORMAT.into(),
        };
        head.source.name.clone_from(&self.options.name);
        head.source.kernel = file.features.kernel();
        head.source.notes.clone_from(&file.features.notes);
        if let (None, Some(others)) = (file.features.tracing_data, &self.options.formats) {
            let note = ("event formats".to_owned(), format!("from {}", others.name));
            head.source.notes.push(note);
        }
        let clock = file.attrs.iter().find(|attr| attr.is_tracepoint()).map_or("", Attr::clock);
        head.clock = Clock { name: clock.into(), nanoseconds: true };
        head.carries = carries(self.events);
        for (known, carry) in
            [(head.machine.topology_known(), Carries::TOPOLOGY), (pids, Carries::TGID)]
        {
            head.carries |= if known { carry } else { Carries::NONE };
        }
        head
    }
}

/// The tracepoints' descriptions. perf writes them last into a file, so a cut file has none: it
/// holds the events, but the meaning of their bytes is unknown. Another recording of the same
/// kernel has it.
fn descriptions(file: &PerfFile<'_>, others: Option<&Formats>) -> Result<Descriptions, Error> {
    const AGAIN: &str = "copy the file again, or record again";
    const OTHER: &str = "give another recording of the same kernel that contains the descriptions: \
                         `--formats-from FILE`; or record into a pipe, because its data begins \
                         with the descriptions: `perf sched record -o -`";
    if let Some(data) = file.features.tracing_data {
        return Descriptions::parse(data, FORMAT);
    }
    if let Some(others) = others.filter(|others| others.endian == file.records.endian) {
        return Ok(Descriptions::borrowed(others.endian, others.events.clone()));
    }
    let (what, help) = match () {
        () if file.pipe && file.cut => ("the file ends before its first event", AGAIN),
        () if file.unfinished => ("perf was stopped before it wrote the event descriptions", OTHER),
        () if file.cut || file.features.cut > 0 => {
            ("the file ends before the event descriptions, which perf writes last", OTHER)
        }
        () if !file.attrs.iter().any(Attr::is_tracepoint) => {
            return Err(no_events("no tracepoint was recorded"));
        }
        () => ("the event descriptions are missing", OTHER),
    };
    Err(Error::Unusable { format: FORMAT, what: what.into(), help })
}

/// The descriptions of events in a perf.data.
pub(crate) fn formats(bytes: &[u8]) -> Result<(Endian, Vec<(String, Format)>), Error> {
    let file = PerfFile::read(bytes)?;
    Ok((file.records.endian, descriptions(&file, None)?.formats))
}

/// Events that were recorded are carried, even if they never occurred.
fn carries(events: &Events) -> Carries {
    const ALWAYS: [Carries; 6] = [
        Carries::WAKERS,
        Carries::CONTEXT,
        Carries::LEFT,
        Carries::PRIO,
        Carries::NAMES,
        Carries::LOSSES,
    ];
    let enabled = [
        (Carries::WAKINGS, events.has("sched_waking")),
        (Carries::WAKEUPS, events.has("sched_wakeup")),
        (Carries::NEW, events.has("sched_wakeup_new")),
        (Carries::MIGRATIONS, events.has("sched_migrate_task")),
        (Carries::FORKS, events.forks || events.has("sched_process_fork")),
        (Carries::EXECS, events.execs || events.has("sched_process_exec")),
        (Carries::EXITS, events.exits || events.has("sched_process_exit")),
        (Carries::FREQ, events.has("cpu_frequency")),
        (Carries::HOTPLUG, events.has("cpuhp_enter")),
    ];
    let enabled = enabled.into_iter().filter(|(_, is)| *is).map(|(carry, _)| carry);
    ALWAYS.into_iter().chain(enabled).fold(Carries::NONE, |all, carry| all | carry)
}
