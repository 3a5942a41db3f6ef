//! One ring per CPU.

use std::cell::RefCell;
use std::collections::HashMap;
use std::os::fd::{AsFd, AsRawFd};
use std::rc::Rc;
use std::time::Duration;

use libbpf_rs::{MapCore, MapFlags, MapHandle, MapMut, MapType, RingBuffer, RingBufferBuilder};
use wastenot_model::CpuId;

use crate::decided::Decided;
use crate::wire::{self, Facts, Kind, Wire};

/// What was taken from the rings.
#[derive(Default)]
struct Inbox {
    wires: Vec<Wire>,
    /// By the number in their record, until they are written to the sink.
    facts: HashMap<u32, Facts>,
    /// By the number in their record, too.
    decided: HashMap<u32, Decided>,
    /// The same.
    lines: HashMap<u32, String>,
    /// The number of the next of these.
    next: u32,
}

/// The rings of all CPUs.
pub(super) struct Rings {
    buffer: RingBuffer<'static>,
    inbox: Rc<RefCell<Inbox>>,
    /// The kernel wakes us through the descriptors of these maps.
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
        // There may be many CPUs that never come online.
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

    /// Waits until a ring fills, a signal arrives, or the time is over.
    pub(super) fn wait(&self, time: Duration) {
        // The result does not matter: draining finds out.
        self.buffer.poll_raw(time);
    }

    /// Drops what is in the rings.
    pub(super) fn clear(&self) {
        self.buffer.consume_raw();
        let mut inbox = self.inbox.borrow_mut();
        inbox.wires.clear();
        inbox.facts.clear();
        inbox.decided.clear();
        inbox.lines.clear();
    }

    /// Appends the contents of the rings to `wires`. A record of facts, of a decision or of a line
    /// holds their number.
    pub(super) fn take(&self, wires: &mut Vec<Wire>) {
        self.buffer.consume_raw();
        wires.append(&mut self.inbox.borrow_mut().wires);
    }

    /// The facts that a record refers to; each are returned once.
    pub(super) fn facts(&self, wire: &Wire) -> Option<Facts> {
        match wire.kind {
            Kind::Facts => self.inbox.borrow_mut().facts.remove(&wire.other),
            _ => None,
        }
    }

    /// The decision that a record refers to; each is returned once.
    pub(super) fn decided(&self, wire: &Wire) -> Option<Decided> {
        match wire.kind {
            Kind::Decided => self.inbox.borrow_mut().decided.remove(&wire.other),
            _ => None,
        }
    }

    /// The line of a dump that a record refers to; each is returned once.
    pub(super) fn line(&self, wire: &Wire) -> Option<String> {
        self.inbox.borrow_mut().lines.remove(&wire.other)
    }
}

impl Inbox {
    fn put(&mut self, cpu: CpuId, bytes: &[u8], words: usize) {
        let Some(mut wire) = Wire::read(cpu, bytes) else { return };
        match wire.kind {
            Kind::Facts => {
                let Some(facts) = Facts::read(bytes, words) else { return };
                self.facts.insert(self.next, facts);
            }
            Kind::Decided => {
                let Some(decided) = Decided::read(&wire, bytes, words) else { return };
                self.decided.insert(self.next, decided);
            }
            Kind::Dump => _ = self.lines.insert(self.next, wire::line(bytes)),
            _ => return self.wires.push(wire),
        }
        wire.other = self.next;
        self.next = self.next.wrapping_add(1);
        self.wires.push(wire);
    }
}
