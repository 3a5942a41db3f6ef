//! The pages of each CPU's ring buffer, taken out unchanged.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pipe::{PipeFlags, SpliceFlags, pipe_with, splice};
use wastenot_model::CpuId;

use super::instance::{Instance, failed};
use crate::Error;

/// The capacity of a pipe.
const PIPE_BYTES: usize = 64 << 10;

/// The buffers of all CPUs.
#[derive(Debug)]
pub(super) struct Lanes {
    lanes: Vec<(CpuId, File)>,
    /// Spliced pages pass through this pipe; its two ends.
    out: OwnedFd,
    into: OwnedFd,
    buffer: Vec<u8>,
    page_size: usize,
}

impl Lanes {
    pub(super) fn open(instance: &Instance, page_size: usize) -> Result<Lanes, Error> {
        let (out, into) = pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from)?;
        let mut lanes = Vec::new();
        for cpu in instance.cpus() {
            let path = instance.path().join(format!("per_cpu/cpu{cpu}/trace_pipe_raw"));
            let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let opened = rustix::fs::open(&path, flags, Mode::empty());
            let opened = opened.map_err(|error| failed("read", &path)(error.into()))?;
            lanes.push((cpu, opened.into()));
        }
        let buffer = vec![0; PIPE_BYTES.max(page_size)];
        Ok(Lanes { lanes, out, into, buffer, page_size })
    }

    /// One more than the highest CPU.
    pub(super) fn cpus(&self) -> usize {
        self.lanes.iter().map(|(cpu, _)| cpu.index() + 1).max().unwrap_or(0)
    }

    /// Waits until a buffer fills, a signal arrives, or the time is over.
    ///
    /// Kernels before 6.1 ignore the percentage here and return at once, since our own waiting is
    /// recorded too: a pause prevents a busy loop.
    pub(super) fn wait(&self, at_most: Duration) {
        const REST: Duration = Duration::from_millis(5);
        let begun = Instant::now();
        let rest = Timespec::try_from(REST.min(at_most)).unwrap_or_default();
        if poll(&mut [], Some(&rest)).is_err() {
            return;
        }
        let left = at_most.saturating_sub(begun.elapsed());
        let mut fds: Vec<PollFd<'_>> =
            self.lanes.iter().map(|(_, file)| PollFd::new(file, PollFlags::IN)).collect();
        if let Ok(left) = Timespec::try_from(left) {
            // The result does not matter: taking finds out.
            let _ = poll(&mut fds, Some(&left));
        }
    }

    /// Hands on all that is in the buffers, page by page.
    pub(super) fn take(&mut self, mut each: impl FnMut(CpuId, &[u8])) {
        for (cpu, file) in &self.lanes {
            // Whole pages: more may have come while a full pipe was emptied.
            loop {
                let bytes = splice(file, None, &self.into, None, PIPE_BYTES, SpliceFlags::NONBLOCK);
                let Ok(bytes @ 1..) = bytes else { break };
                let mut filled = 0;
                while filled < bytes {
                    match rustix::io::read(&self.out, &mut self.buffer[filled..bytes]) {
                        Ok(read @ 1..) => filled += read,
                        _ => break,
                    }
                }
                self.buffer[..filled].chunks_exact(self.page_size).for_each(|p| each(*cpu, p));
                if bytes < PIPE_BYTES {
                    break;
                }
            }
            // Then the page that is being written: only `read` returns part of a page. It contains
            // the events that were recorded before this call.
            let page = &mut self.buffer[..self.page_size];
            if let Ok(1..) = rustix::io::read(file, &mut *page) {
                each(*cpu, page);
            }
        }
    }
}
