//! A counter track for each CPU: how many tasks wait there, grouped by the machine's topology.

use std::collections::BTreeSet;
use std::io::Write;

use wastenot_model::{CpuId, History, Machine, Time};

use super::preamble::place;
use super::{Packets, Sequence};
use crate::perfetto::fields::{packet, track, track_event};

/// Ids of tracks are any distinct numbers.
const ROOT: u64 = 1;
const NODES: u64 = 1 << 32;
const LLCS: u64 = 2 << 32;
const CPUS: u64 = 3 << 32;

/// The current value of each track.
pub(super) struct Tracks {
    shown: Vec<u32>,
}

impl Tracks {
    /// Describes the tracks; they all begin at zero.
    pub(super) fn begin<W: Write>(history: &History, packets: &mut Packets<W>) -> Tracks {
        let machine = &history.head.machine;
        group(packets, ROOT, None, "waiting tasks per CPU", 0);
        groups(machine, packets);
        for (rank, cpu) in machine.socket_order().into_iter().enumerate() {
            let (name, about) = (format!("CPU {cpu} waiting"), place(&machine.cpus[cpu.index()]));
            packets.write(Sequence::Tracks, |packet| {
                packet.message(packet::TRACK_DESCRIPTOR, |message| {
                    message.uint(track::UUID, CPUS | u64::from(cpu.0));
                    message.uint(track::PARENT, parent(machine, cpu));
                    message.text(track::NAME, &name);
                    message.text(track::DESCRIPTION, &about);
                    message.int(track::RANK, rank as u32);
                    message.message(track::COUNTER, |counter| {
                        counter.text(track::UNIT_NAME, "tasks");
                        counter.text(track::Y_AXIS_SHARE_KEY, "waiting");
                    });
                });
            });
        }
        let mut tracks = Tracks { shown: vec![u32::MAX; machine.len()] };
        let start = history.window().from;
        history.cpus().for_each(|cpu| tracks.see(start, cpu, 0, packets));
        tracks
    }

    /// `count` tasks wait on `cpu` from `time` on.
    pub(super) fn see<W: Write>(
        &mut self,
        time: Time,
        cpu: CpuId,
        waiting: u32,
        packets: &mut Packets<W>,
    ) {
        let Some(shown) = self.shown.get_mut(cpu.index()).filter(|shown| **shown != waiting) else {
            return;
        };
        *shown = waiting;
        packets.write(Sequence::Tracks, |packet| {
            packet.uint(packet::TIMESTAMP, time.0);
            packet.message(packet::TRACK_EVENT, |event| {
                event.uint(track_event::TYPE, track_event::COUNTER);
                event.uint(track_event::TRACK, CPUS | u64::from(cpu.0));
                event.int(track_event::VALUE, waiting);
            });
        });
    }
}

/// The parent track of the track of `cpu`: its last-level cache if a node has several of them, else
/// its node, else the root.
fn parent(machine: &Machine, cpu: CpuId) -> u64 {
    let place = &machine.cpus[cpu.index()];
    match (place.node, place.llc) {
        (_, Some(llc)) if has_groups(machine) => LLCS | u64::from(llc),
        (Some(node), _) => NODES | u64::from(node),
        _ => ROOT,
    }
}

/// Whether caches are a separate level.
fn has_groups(machine: &Machine) -> bool {
    machine.count(|cpu| cpu.llc) > machine.count(|cpu| cpu.node).max(1)
}

fn groups<W: Write>(machine: &Machine, packets: &mut Packets<W>) {
    for node in machine.nodes() {
        group(packets, NODES | node as u64, Some(ROOT), &format!("node {node}"), node);
    }
    if !has_groups(machine) {
        return;
    }
    let llcs: BTreeSet<_> =
        machine.cpus.iter().filter_map(|cpu| Some((cpu.llc?, cpu.node))).collect();
    let mut last = None;
    for (llc, node) in llcs.into_iter().filter(|(llc, _)| last.replace(*llc) != Some(*llc)) {
        let parent = node.map_or(ROOT, |node| NODES | u64::from(node));
        group(packets, LLCS | u64::from(llc), Some(parent), &format!("LLC {llc}"), llc as usize);
    }
}

fn group<W: Write>(
    packets: &mut Packets<W>,
    id: u64,
    parent: Option<u64>,
    name: &str,
    rank: usize,
) {
    packets.write(Sequence::Tracks, |packet| {
        packet.message(packet::TRACK_DESCRIPTOR, |message| {
            message.uint(track::UUID, id);
            if let Some(parent) = parent {
                message.uint(track::PARENT, parent);
            }
            message.text(track::NAME, name);
            message.uint(track::CHILD_ORDERING, track::EXPLICIT);
            message.int(track::RANK, rank as u32);
        });
        // The first packet of a sequence states that it needs nothing before it.
        if id == ROOT {
            packet.uint(packet::SEQUENCE_FLAGS, 1);
        }
    });
}
