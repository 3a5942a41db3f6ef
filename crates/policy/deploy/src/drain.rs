//! The log of steps of a scheduler that was emitted with it.

use libbpf_rs::{MapCore as _, RingBufferBuilder};
use wastenot_rota::step_log::{Log, Step};

use crate::Error;
use crate::running::Running;

/// The ring of records, as the emitted code calls it. The kernel keeps 15 letters of a name.
const RING: &str = "step_log";

/// So many steps are kept: 1 GB of memory.
const MOST: usize = 20_000_000;

impl Running {
    /// Whether it logs its steps.
    pub fn has_log(&self) -> bool {
        self.ring().is_some()
    }

    fn ring(&self) -> Option<libbpf_rs::Map<'_>> {
        self.loaded.object.maps().find(|map| map.name() == RING)
    }

    /// Takes out what was logged since the last time. Nothing, if it logs nothing. What is more
    /// than memory has room for stays in the ring, and what finds no room there is counted as lost.
    ///
    /// # Errors
    /// The ring cannot be read, or has other records.
    pub fn drain(&self, log: &mut Log) -> Result<(), Error> {
        let unread = |why: String| Error::Failed { doing: "read the log of steps", why };
        let failed = |error: libbpf_rs::Error| unread(format!("{error:#}"));
        let Some(ring) = self.ring() else { return Ok(()) };
        let lost = self.variable("steps_lost").and_then(|it| it.try_into().ok());
        log.lost = lost.map_or(0, u64::from_ne_bytes);
        if log.steps.len() >= MOST {
            return Ok(());
        }
        let mut strange = None;
        let mut builder = RingBufferBuilder::new();
        let take = |bytes: &[u8]| {
            match Step::of_bytes(bytes) {
                Some(step) => log.steps.push(step),
                None => strange = Some(bytes.len()),
            }
            0
        };
        builder.add(&ring, take).map_err(failed)?;
        let buffer = builder.build().map_err(failed)?;
        // Where a record is being written the rest waits for the next time.
        buffer.consume().map_err(failed)?;
        drop(buffer);
        match strange {
            None => Ok(()),
            Some(bytes) => Err(unread(format!("a record of {bytes} bytes is not a valid step"))),
        }
    }
}
