//! The timer in the kernel that looks at run queues, and its figures.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;

use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, MapHandle, ProgramInput, RingBuffer, RingBufferBuilder};
use rustix::event::{PollFd, PollFlags, poll};
use wastenot_model::{Span, Time};

use super::sight::{Figures, Rhythm, Run};
use crate::bpf::{Kernel, failed, iterate};
use crate::{Error, clock};

mod skeleton {
    #![allow(warnings, unsafe_code, clippy::all, clippy::pedantic, clippy::unwrap_used)]
    include!(concat!(env!("OUT_DIR"), "/watch.skel.rs"));
}
use skeleton::{WatchSkel, WatchSkelBuilder};

/// The timer. It stops when this and every [`Gauge`] of it are dropped, or the process dies.
pub(crate) struct Looks {
    ring: RingBuffer<'static>,
    told: Rc<Cell<Option<Run>>>,
    skel: WatchSkel<'static>,
    begun: Time,
    look: Span,
}

impl Looks {
    /// Starts the timer.
    pub(crate) fn begin(rhythm: &Rhythm) -> Result<Looks, Error> {
        let kernel = Kernel::running()?;
        kernel.can_look()?;
        let listed = kernel.lists_queues();
        let place = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open =
            WatchSkelBuilder::default().open(place).map_err(failed("open the BPF programs"))?;
        if let Some(set) = open.maps.rodata_data.as_mut() {
            set.cpus = wastenot_host::machine().cpus.len() as u32;
            set.queues_listed = u32::from(listed);
            set.look_ns = rhythm.look.0;
            set.period_ns = rhythm.period.0;
            set.idle_looks = rhythm.idle_looks;
            set.wait_looks = rhythm.wait_looks;
            set.tell_looks = rhythm.tell_looks;
            set.blind = u32::from(rhythm.blind);
        }
        open.progs.find.set_autoload(!listed);
        let skel = open.load().map_err(failed("load the BPF programs"))?;
        if !listed {
            iterate(&skel.progs.find)?;
        }
        let told = Rc::new(Cell::new(None));
        let mut ring = RingBufferBuilder::new();
        let inbox = Rc::clone(&told);
        ring.add(&skel.maps.tellings, move |bytes| {
            inbox.set(run(&mut words(bytes)));
            0
        })
        .map_err(failed("read the results of the BPF timer"))?;
        let ring = ring.build().map_err(failed("read the results of the BPF timer"))?;
        let begun = skel.progs.begin.test_run(ProgramInput::default());
        match begun.map_err(failed("run a BPF program"))?.return_value as i32 {
            0 => Ok(Looks { ring, told, skel, begun: clock::now(), look: rhythm.look }),
            code => Err(Error::Failed {
                doing: "inspect run queues".into(),
                why: if code == -1 {
                    "the BPF program found no run queue"
                } else {
                    "the kernel provides no BPF timer"
                }
                .into(),
            }),
        }
    }

    /// Waits for a suspicion; `None` if `interrupt` becomes readable, a signal arrives, or the time
    /// is over. Of the suspicions that arrived before the call, the latest counts.
    pub(crate) fn wait(
        &self,
        interrupt: BorrowedFd<'_>,
        at_most: Span,
    ) -> Result<Option<Run>, Error> {
        let ring = self.skel.maps.tellings.as_fd();
        let mut ready =
            [PollFd::new(&ring, PollFlags::IN), PollFd::from_borrowed_fd(interrupt, PollFlags::IN)];
        match poll(&mut ready, Some(&clock::timespec(at_most))) {
            Ok(_) if ready[1].revents().is_empty() => {
                self.ring.consume_raw();
                Ok(self.told.take())
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(None),
            Err(error) => Err(Error::Io(error.into())),
        }
    }

    /// A reader of the figures that can be moved to another thread.
    pub(crate) fn gauge(&self) -> Result<Gauge, Error> {
        let map = MapHandle::try_from(&self.skel.maps.seen);
        let (begun, look) = (self.begun, self.look);
        map.map(|map| Gauge { map, begun, look })
            .map_err(failed("read the counters of the BPF timer"))
    }
}

/// Reads the timer's figures.
#[derive(Debug)]
pub(crate) struct Gauge {
    map: MapHandle,
    pub(crate) begun: Time,
    pub(crate) look: Span,
}

impl Gauge {
    /// The figures so far. The timer may update them meanwhile: they may differ by a look.
    pub(crate) fn read(&self) -> Result<Figures, Error> {
        let bytes = self.map.lookup(&[0; 4], MapFlags::ANY);
        let bytes =
            bytes.map_err(failed("read the counters of the BPF timer"))?.unwrap_or_default();
        Ok(figures(&mut words(&bytes)).unwrap_or_default())
    }
}

/// `struct figures`
fn figures(words: &mut impl Iterator<Item = u64>) -> Option<Figures> {
    let now = Time(words.next()?);
    let (looks, looking_ns) = (words.next()?, words.next()?);
    let (suspect_looks, suspect_cpu_ns) = (words.next()?, words.next()?);
    let (idle, waiting) = (words.next()?, words.next()?);
    let (_told, _waits) = (words.next()?, words.next()?);
    let (run, last) = (run(words)?, run(words)?);
    Some(Figures {
        now,
        looks,
        looking_ns,
        suspect_looks,
        suspect_cpu_ns,
        idle,
        waiting,
        run,
        last,
    })
}

/// `struct run`
fn run(words: &mut impl Iterator<Item = u64>) -> Option<Run> {
    let (since, until) = (Time(words.next()?), Time(words.next()?));
    let (looks, cpu_ns) = (words.next()?, words.next()?);
    let _misses = words.next()?;
    Some(Run { since, until, looks, cpu_ns })
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default()))
}
