//! The log of steps of a scheduler that was emitted with it.

use libbpf_rs::{MapCore as _, RingBufferBuilder};
use wastenot_rota::steps::{Log, Step};

use crate::Error;
use crate::running::Running;

/// The ring of records, as the emitted code calls it. The kernel keeps 15 letters of a name.
const RING: &str = "step_log";

impl Running {
    /// Takes out what was logged since the last time. Nothing, if it logs nothing.
    ///
    /// # Errors
    /// The ring cannot be read.
    pub fn drain(&self, log: &mut Log) -> Result<(), Error> {
        let failed = |error: libbpf_rs::Error| Error::Failed {
            doing: "read the log of steps",
            why: format!("{error:#}"),
        };
        let Some(ring) = self.loaded.object.maps().find(|map| map.name() == RING) else {
            return Ok(());
        };
        let mut strange = 0;
        let mut builder = RingBufferBuilder::new();
        let take = |bytes: &[u8]| {
            match Step::of_bytes(bytes) {
                Some(step) => log.steps.push(step),
                None => strange += 1,
            }
            0
        };
        builder.add(&ring, take).map_err(failed)?;
        let buffer = builder.build().map_err(failed)?;
        // Where a record is being written the rest waits for the next time.
        let consumed = buffer.consume().map_err(failed);
        drop(buffer);
        let lost = self
            .variable("steps_lost")
            .and_then(|it| Some(u64::from_ne_bytes(it.try_into().ok()?)));
        log.lost = lost.unwrap_or_default() + strange;
        consumed
    }
}
