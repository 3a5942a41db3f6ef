//! Begins a recording in the best way that this machine allows.

use std::time::Duration;

use wastenot_model::{Head, Sink};

use crate::Error;
use crate::newidle::Newidle;
use crate::quota::Quotas;
use crate::recording::{Anew, Options, Recording, Summary, Way};
use crate::sched_ext::SchedExt;
use crate::schedstat::Schedstat;
use crate::steal::Steal;
use crate::tracefs::Tracefs;
use wastenot_host::Hierarchy;

/// A recording that has begun, the way it uses, and why it does not use a better one.
pub struct Begun {
    /// The recording.
    pub recording: Box<dyn Recording>,
    /// What is known before its first event.
    pub head: Head,
    /// Why BPF is not used, if it is not.
    pub instead_of_bpf: Option<Error>,
}

/// Begins to record. From here on all events are recorded; [`drain`](Recording::drain) returns
/// them.
pub fn begin(options: &Options) -> Result<Begun, Error> {
    let (hierarchy, steal) = (Hierarchy::here(), Steal::begin());
    let quotas = Quotas::now(&hierarchy);
    let (sched_ext, schedstat) = (SchedExt::now(), Schedstat::now());
    let newidle = Newidle::now();
    let way = if options.decisions { Way::Bpf } else { options.way };
    let ((recording, head), instead_of_bpf) = match way {
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
    let recording = Box::new(Accompanied {
        recording,
        hierarchy,
        quotas,
        sched_ext,
        schedstat,
        newidle,
        steal,
    });
    Ok(Begun { recording, head, instead_of_bpf })
}

/// Prepares to record with BPF, without quotas and stolen time: those are reported at the end of a
/// recording, and kept in memory until then.
pub(crate) fn load(options: &Options) -> Result<Box<dyn Anew>, Error> {
    #[cfg(bpf)]
    return Ok(Box::new(crate::bpf::Bpf::load(options)?));
    #[cfg(not(bpf))]
    return Err(Error::NotBuilt);
}

/// A recording, and what no event reports: quotas and stolen time.
struct Accompanied {
    recording: Box<dyn Recording>,
    hierarchy: Hierarchy,
    quotas: Quotas,
    sched_ext: SchedExt,
    schedstat: Schedstat,
    newidle: Newidle,
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
        let loaded = SchedExt::now().since(&self.sched_ext);
        let balancing = Schedstat::now().since(&self.schedstat);
        let costs = Newidle::now().since(&self.newidle);
        let all = loaded.into_iter().chain(balancing).chain(costs);
        all.for_each(|it| sink.annex(it));
        summary
    }
}

/// Whether this machine allows recording like this with BPF. The programs are loaded to find out:
/// kernel versions and settings do not suffice.
pub fn probe_bpf(options: &Options) -> Result<(), Error> {
    #[cfg(bpf)]
    return crate::bpf::probe(options);
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
