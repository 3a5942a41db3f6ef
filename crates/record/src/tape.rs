//! Where a recording goes.

use std::io::Write;

use wastenot_model::{Annex, Builder, Sink, Start, TaskId, Time};
use wastenot_read::own::Writer;

/// A sink that can also be told what was so at the start, and that the recording ended.
pub trait Tape: Sink {
    /// What was so at the start. Its tasks were added before, no event was.
    fn start(&mut self, start: &Start);
    /// Adds a table of what only this recording knows.
    fn annex(&mut self, annex: Annex);
    /// Nothing happened after the last event until `time`, when the recording ended.
    fn until(&mut self, time: Time);
    /// Nothing more will be told of `task`, though it was not seen to end.
    fn gone(&mut self, task: TaskId) {
        let _ = task;
    }
}

impl<W: Write> Tape for Writer<W> {
    fn start(&mut self, start: &Start) {
        Writer::start(self, start);
    }
    fn annex(&mut self, annex: Annex) {
        Writer::annex(self, &annex);
    }
    fn until(&mut self, time: Time) {
        Writer::until(self, time);
    }
}

impl Tape for Builder {
    fn start(&mut self, start: &Start) {
        self.head().start = Some(start.clone());
    }
    fn annex(&mut self, annex: Annex) {
        Builder::annex(self, annex);
    }
    fn until(&mut self, time: Time) {
        let window = &mut self.head().window;
        window.to = window.to.max(time);
    }
}
