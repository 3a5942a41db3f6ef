//! Writes a Perfetto trace that opens in its viewer with names, topology and placement.
//!
//! Events are written as full ftrace events, in bundles of one CPU each: the compact form would
//! lose where a woken task was queued. In addition a counter track for each CPU, grouped by node
//! and last-level cache, shows how many tasks wait there, which the viewer does not show from
//! ftrace events alone. Facts for which Perfetto has no field (affinities, throttling, start state,
//! decisions) are left out; topology is in the text that describes each CPU.
//!
//! The window begins where each CPU's first bundle states that it begins, and ends with a last
//! packet which states that everything was flushed.
//!
//! Stamps are written unchanged, as of the boot clock: in the viewer only differences matter.

mod bundles;
mod preamble;
mod tracks;
pub(crate) mod wire;

#[cfg(test)]
mod tests;

use std::io::Write;

use wastenot_model::{Carries, CpuId, CpuState, Entry, History, Observer, Silent, State, replay};

use crate::Error;
use crate::perfetto::fields::{packet, service, trace};
use bundles::Bundles;
use tracks::Tracks;
use wire::Message;

/// Writes `history` as a Perfetto trace.
pub fn perfetto(history: &History, out: impl Write) -> Result<(), Error> {
    let mut packets = Packets { out, packet: Message::default(), failed: None };
    preamble::write(history, &mut packets);
    let placed = history.head.carries.has(Carries::PLACEMENT);
    let tracks = placed.then(|| Tracks::begin(history, &mut packets));
    let mut writing = Writing { bundles: Bundles::new(history), tracks, packets };
    replay(history, Silent::Unknown, &mut writing);
    writing.bundles.finish(&mut writing.packets);
    writing.packets.write(Sequence::System, |packet| {
        packet.uint(packet::TIMESTAMP, history.window().to.0);
        packet.message(packet::SERVICE_EVENT, |event| {
            event.uint(service::ALL_DATA_SOURCES_FLUSHED, 1);
        });
    });
    match writing.packets.failed.take() {
        Some(error) => Err(Error::Write(error)),
        None => writing.packets.out.flush().map_err(Error::Write),
    }
}

/// The destination of packets. The first failure is kept, and nothing is written after it.
struct Packets<W> {
    out: W,
    packet: Message,
    failed: Option<std::io::Error>,
}

/// The sequence of a packet: packets of one sequence keep their order.
#[derive(Clone, Copy)]
enum Sequence {
    System = 1,
    Ftrace = 2,
    Tracks = 3,
}

impl<W: Write> Packets<W> {
    fn write(&mut self, sequence: Sequence, build: impl FnOnce(&mut Message)) {
        if self.failed.is_some() {
            return;
        }
        self.packet.clear();
        self.packet.message(trace::PACKET, |packet| {
            build(packet);
            packet.uint(packet::SEQUENCE_ID, sequence as u64);
        });
        self.failed = self.out.write_all(self.packet.bytes()).err();
    }
}

struct Writing<'h, W> {
    bundles: Bundles<'h>,
    tracks: Option<Tracks>,
    packets: Packets<W>,
}

impl<W: Write> Observer for Writing<'_, W> {
    fn cpu(&mut self, state: &State, cpu: CpuId, _: &CpuState, now: &CpuState) {
        if let Some(tracks) = &mut self.tracks {
            tracks.see(state.now(), cpu, now.waiting, &mut self.packets);
        }
    }
    fn event(&mut self, _: &State, entry: &Entry) {
        self.bundles.push(entry, &mut self.packets);
    }
}
