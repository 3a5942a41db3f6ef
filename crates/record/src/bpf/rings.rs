//! One ring a CPU.

use std::cell::RefCell;
use std::os::fd::{AsFd, AsRawFd};
use std::rc::Rc;
use std::time::Duration;

use libbpf_rs::{MapCore, MapFlags, MapHandle, MapMut, MapType, RingBuffer, RingBufferBuilder};
use wastenot_model::CpuId;

use crate::wire::{Facts, Kind, Wire};

/// What was taken out of the rings.
#[derive(Default)]
struct Inbox {
    wires: Vec<Wire>,
    facts: Vec<Facts>,
}

/// The rings of all CPUs.
pub(super) struct Rings {
    buffer: RingBuffer<'static>,
    inbox: Rc<RefCell<Inbox>>,
    /// The kernel wakes us through their descriptors.
    _maps: Vec<MapHandle>,
}

impl Rings {
    /// Puts a ring for each CPU into `outer`.
    pub(super) fn new(
        outer: &mut MapMut<'_>,
        online: &[bool],
        words: usize,
        bytes: u32,
    ) -> libbpf_rs::Result<Rings> {
        let options = libbpf_rs::libbpf_sys::bpf_map_create_opts {
            sz: size_of::<libbpf_rs::libbpf_sys::bpf_map_create_opts>() as _,
            ..Default::default()
        };
        // There may be many CPUs that never come up.
        let bytes = |&online: &bool| if online { bytes } else { bytes.min(64 << 10) };
        let ring = |online| {
            MapHandle::create(MapType::RingBuf, Some("ring"), 0, 0, bytes(online), &options)
        };
        let maps: Vec<MapHandle> = online.iter().map(ring).collect::<libbpf_rs::Result<_>>()?;
        let inbox = Rc::new(RefCell::new(Inbox::default()));
        let mut builder = RingBufferBuilder::new();
        for (index, map) in maps.iter().enumerate() {
            let descriptor = map.as_fd().as_raw_fd().to_ne_bytes();
            outer.update(&(index as u32).to_ne_bytes(), &descriptor, MapFlags::ANY)?;
            let (cpu, inbox) = (CpuId(index as u16), Rc::clone(&inbox));
            builder.add(map, move |bytes| {
                inbox.borrow_mut().put(cpu, bytes, words);
                0
            })?;
        }
        let buffer = builder.build()?;
        Ok(Rings { buffer, inbox, _maps: maps })
    }

    /// Waits until a ring fills, a signal comes, or the time is over.
    pub(super) fn wait(&self, time: Duration) {
        // What it says is of no interest: draining finds out.
        self.buffer.poll_raw(time);
    }

    /// Moves what is in the rings behind `wires` and `facts`. Of facts the record says which.
    pub(super) fn take(&self, wires: &mut Vec<Wire>, facts: &mut Vec<Facts>) {
        self.buffer.consume_raw();
        let mut inbox = self.inbox.borrow_mut();
        let base = facts.len() as u32;
        facts.append(&mut inbox.facts);
        let first = wires.len();
        wires.append(&mut inbox.wires);
        for wire in wires[first..].iter_mut().filter(|wire| wire.kind == Kind::Facts) {
            wire.other += base;
        }
    }
}

impl Inbox {
    fn put(&mut self, cpu: CpuId, bytes: &[u8], words: usize) {
        let Some(mut wire) = Wire::read(cpu, bytes) else { return };
        if wire.kind == Kind::Facts {
            let Some(facts) = Facts::read(bytes, words) else { return };
            wire.other = self.facts.len() as u32;
            self.facts.push(facts);
        }
        self.wires.push(wire);
    }
}
