//! A recording that goes on, whatever records it.

use std::time::Duration;

use wastenot_model::{Head, Sink};

use crate::Error;
use crate::quota::Quotas;
use crate::steal::Steal;
use crate::tracefs::Tracefs;
use wastenot_host::Hierarchy;

/// How to record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bytes of each CPU's ring in the kernel, rounded up to a power of two.
    pub ring_bytes: u32,
    /// By which means.
    pub way: Way,
}

/// By which means to record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// BPF where it may be used, else tracefs.
    #[default]
    Best,
    /// BPF or not at all.
    Bpf,
    /// A tracefs instance.
    Tracefs,
}

impl Options {
    /// The bytes of a ring as a ring can have them.
    pub(crate) fn ring(&self) -> u32 {
        self.ring_bytes.clamp(64 << 10, 1 << 30).next_power_of_two()
    }
}

impl Default for Options {
    fn default() -> Options {
        Options { ring_bytes: 4 << 20, way: Way::default() }
    }
}

/// What came of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Events that found no room.
    pub lost: u64,
}

/// A recording that goes on. Dropped, it ends, and leaves nothing behind.
pub trait Recording {
    /// Waits until it is worth draining, a signal comes, or the time is over.
    fn wait(&mut self, at_most: Duration);
    /// Moves what happened, up to a tenth of a second ago, onto the sink.
    fn drain(&mut self, sink: &mut dyn Sink);
    /// Ends the recording and moves the rest. What it holds in the kernel goes when it is dropped.
    fn finish(&mut self, sink: &mut dyn Sink) -> Summary;
}

/// A recorder that is ready, and can record anew after each end.
pub(crate) trait Anew: Recording {
    /// Begins to record, and tells what is known before the first event.
    fn begin(&mut self) -> Result<Head, Error>;
}

/// A recording that began, by which means, and why not by better ones.
pub struct Begun {
    /// The recording.
    pub recording: Box<dyn Recording>,
    /// What is known before its first event.
    pub head: Head,
    /// Why BPF is not used, where it is not.
    pub instead_of_bpf: Option<Error>,
}

/// Begins to record. From here on nothing is missed; it comes out of
/// [`drain`](Recording::drain).
pub fn begin(options: &Options) -> Result<Begun, Error> {
    let (hierarchy, steal) = (Hierarchy::here(), Steal::begin());
    let quotas = Quotas::now(&hierarchy);
    let ((recording, head), instead_of_bpf) = match options.way {
        Way::Bpf => (bpf(options)?, None),
        Way::Tracefs => (tracefs(options)?, None),
        Way::Best => match bpf(options) {
            Ok(bpf) => (bpf, None),
            Err(bpf) => match tracefs(options) {
                Ok(tracefs) => (tracefs, Some(bpf)),
                Err(tracefs) => {
                    return Err(Error::Neither { bpf: bpf.into(), tracefs: tracefs.into() });
                }
            },
        },
    };
    let recording = Box::new(Accompanied { recording, hierarchy, quotas, steal });
    Ok(Begun { recording, head, instead_of_bpf })
}

/// Makes ready to record through BPF, without quotas and stolen time: those are told at an end, and
/// kept in memory until then.
pub(crate) fn load(options: &Options) -> Result<Box<dyn Anew>, Error> {
    #[cfg(bpf)]
    return Ok(Box::new(crate::bpf::Bpf::load(options)?));
    #[cfg(not(bpf))]
    return Err(Error::NotBuilt);
}

/// A recording, and what no event tells: quotas and stolen time.
struct Accompanied {
    recording: Box<dyn Recording>,
    hierarchy: Hierarchy,
    quotas: Quotas,
    steal: Steal,
}

impl Recording for Accompanied {
    fn wait(&mut self, at_most: Duration) {
        self.recording.wait(at_most);
    }
    fn drain(&mut self, sink: &mut dyn Sink) {
        self.recording.drain(sink);
        self.steal.turn();
    }
    fn finish(&mut self, sink: &mut dyn Sink) -> Summary {
        let summary = self.recording.finish(sink);
        sink.annex(Quotas::now(&self.hierarchy).since(&self.quotas));
        sink.annex(self.steal.finish());
        summary
    }
}

/// Whether this machine lets us record with BPF. The programs are loaded to find out: versions
/// and settings tell too little.
pub fn probe_bpf() -> Result<(), Error> {
    #[cfg(bpf)]
    return crate::bpf::probe();
    #[cfg(not(bpf))]
    return Err(Error::NotBuilt);
}

type Recorder = (Box<dyn Recording>, Head);

fn tracefs(options: &Options) -> Result<Recorder, Error> {
    let (tracefs, head) = Tracefs::begin(options)?;
    Ok((Box::new(tracefs), head))
}

fn bpf(options: &Options) -> Result<Recorder, Error> {
    let mut bpf = load(options)?;
    let head = bpf.begin()?;
    Ok((bpf, head))
}
