//! The recorder for machines without BPF: a tracefs instance of its own.
//!
//! [`instance`] creates the instance and always removes it, [`lanes`] takes pages out of the ring
//! buffers, [`Proc`] has what events do not contain. The code that reads files decodes the pages
//! ([`wastenot_read::live`]).
//!
//! It records less than BPF: no affinities, no quotas, no state at the start.

mod instance;
mod lanes;

use std::time::Duration;

use wastenot_host::{Proc, tracefs};
use wastenot_model::{CpuId, Head, Loss, Sink, Time};
use wastenot_read::live::{self, Assembler, Decoder, Record};

use self::instance::Instance;
use self::lanes::Lanes;
use crate::clock::{self, Suspended};
use crate::merge::{LATE, Pending, Timed};
use crate::{Error, Options, Recording, Summary, host};

/// The fill level of a CPU's buffer, in percent, at which it wakes us.
const WAKE_PERCENT: &str = "25";

/// A recording through tracefs.
pub(crate) struct Tracefs {
    // Lanes first: an instance whose files are open cannot be removed.
    lanes: Lanes,
    instance: Instance,
    decoder: Decoder,
    assembler: Assembler,
    proc: Proc,
    pending: Pending<Record>,
    /// Everything before this time is decoded, unless it was lost.
    looked: Time,
    /// Events of each CPU that records report as lost.
    lost: Vec<u64>,
    suspended: Suspended,
    summary: Summary,
}

impl Timed for Record {
    fn order(&self) -> (Time, bool, CpuId) {
        (Record::time(self), self.switches(), self.cpu())
    }
    fn time(&self) -> Time {
        Record::time(self)
    }
    fn hold(&mut self, time: Time) {
        Record::hold(self, time);
    }
}

impl Tracefs {
    /// Begins to record.
    pub(crate) fn begin(options: &Options) -> Result<(Tracefs, Head), Error> {
        let tracefs = tracefs::find().ok_or(Error::NoTracefs)?;
        instance::remove_left(&tracefs);
        let instance = Instance::create(&tracefs)?;
        let decoder = configure(&instance, options)?;
        let (format, carries) = ("wastenot record (tracefs)", decoder.carries());
        let mut head = host::head(wastenot_host::machine(), format, carries);
        let lanes = Lanes::open(&instance, decoder.page_size())?;
        let proc = Proc::mounted();
        let (names, processes) = proc.tasks();
        let assembler = Assembler::new(names, processes);
        instance.set("tracing_on", "1")?;
        let begun = clock::now();
        (head.window.from, head.window.to) = (begun, begun);
        let pending = Pending::since(begun);
        let lost = vec![0; lanes.cpus()];
        let (suspended, summary) = (Suspended::so_far(), Summary::default());
        let looked = begun;
        let tracefs = Tracefs {
            lanes,
            instance,
            decoder,
            assembler,
            proc,
            pending,
            looked,
            lost,
            suspended,
            summary,
        };
        Ok((tracefs, head))
    }

    /// Decodes the contents of the buffers.
    fn take(&mut self) {
        let now = clock::now();
        let (decoder, records) = (&mut self.decoder, &mut self.pending.fresh);
        self.lanes.take(|cpu, page| decoder.page(cpu, page, records));
        for record in &mut self.pending.fresh {
            if let Some(count) = record.lost() {
                // A page reports losses before it; the time of the last call was not among them.
                record.hold(self.looked);
                let count = count.map_or(0, u64::from);
                self.lost[record.cpu().index()] += count;
                self.summary.lost += count;
            }
            if let Some(child) = record.child() {
                self.assembler.meet(child, self.proc.process(child));
            }
        }
        self.looked = now;
    }

    fn tell(&mut self, until: Time, sink: &mut dyn Sink) {
        self.pending.sort();
        let assembler = &mut self.assembler;
        self.pending.tell(until, |record| assembler.push(record, sink));
        sink.end(until);
    }

    fn tell_losses(&mut self, sink: &mut dyn Sink) {
        self.assembler.end(sink);
        self.pending.loss().into_iter().for_each(|loss| sink.loss(loss));
        self.decoder.losses().for_each(|loss| sink.loss(loss));
        for (index, &told) in self.lost.iter().enumerate() {
            let cpu = CpuId(index as u16);
            let untold = self.instance.lost(cpu).saturating_sub(told);
            if untold > 0 {
                self.summary.lost += untold;
                sink.loss(Loss::dropped(cpu, self.looked, u32::try_from(untold).ok()));
            }
        }
        self.suspended.loss().into_iter().for_each(|loss| sink.loss(loss));
    }
}

/// Sets the instance up, enables the events and reads their formats. Nothing is recorded yet.
fn configure(instance: &Instance, options: &Options) -> Result<Decoder, Error> {
    instance.set("tracing_on", "0")?;
    // The clock first: changing it empties the buffers.
    instance.set("trace_clock", "mono")?;
    instance.set("buffer_size_kb", &options.ring_bytes.div_ceil(1024).to_string())?;
    // The following options are inherited from the top of tracefs, where any user with access may
    // have changed them, and no kernel need have all of them: `overwrite` loses the oldest events
    // and marks where; the next two would record each switch for a table of names that we do not
    // read.
    for (file, value) in [
        ("buffer_percent", WAKE_PERCENT),
        ("options/overwrite", "1"),
        ("options/record-cmd", "0"),
        ("options/record-tgid", "0"),
    ] {
        let _ = instance.set(file, value);
    }
    let mut formats = Vec::new();
    for (system, name) in live::events() {
        let event = format!("events/{system}/{name}");
        let enabled = instance.set(&format!("{event}/enable"), "1").is_ok();
        let format = enabled.then(|| instance.read(&format!("{event}/format"))).flatten();
        formats.extend(format.map(|format| (system, name, format)));
    }
    let header = instance.read("events/header_page").unwrap_or_default();
    let texts = formats.iter().map(|(system, _, text)| (*system, text.as_slice()));
    let switches = formats.iter().any(|(_, name, _)| *name == "sched_switch");
    let decoder = Decoder::new(&header, texts).filter(|_| switches);
    decoder.ok_or(Error::NoEvents)
}

impl Recording for Tracefs {
    fn wait(&mut self, at_most: Duration) {
        self.lanes.wait(at_most);
    }

    fn drain(&mut self, sink: &mut dyn Sink) {
        self.take();
        let until = Time(self.looked.0.saturating_sub(LATE.0));
        self.tell(until, sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink) -> Summary {
        // Everything up to here was recorded; what some CPUs still add is of no use.
        let end = clock::now();
        // If this fails we record until the end of `take`, which does no harm.
        let _ = self.instance.set("tracing_on", "0");
        self.take();
        self.tell(end, sink);
        self.tell_losses(sink);
        self.summary
    }
}
