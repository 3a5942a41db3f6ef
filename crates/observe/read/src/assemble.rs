//! From per-CPU streams of raw records to a History: order, identity, names, and what it carries.

use std::collections::HashMap;

use wastenot_model::{
    Builder, By, Carries, Change, CpuId, Entry, Event, Head, History, How, Left, Loss, LossKind,
    Sink, Span, TaskId, Time,
};

use crate::Until;
use crate::merge::{End, Stream, merge};
use crate::raw::{Comm, Raw, RawEvent};
use crate::tasks::Tasks;

/// What a format knows in addition to its streams.
pub(crate) struct Known {
    /// Machine, clock, source, and the abilities that cannot be derived from the events: `CONTEXT`,
    /// `WAKERS`, `LEFT`, `PRIO`, `NAMES`, `TOPOLOGY`, ... The kinds of events that occur are added.
    pub(crate) head: Head,
    /// Command names by tid that the file keeps separately from its events.
    pub(crate) names: HashMap<i32, String>,
    /// Process ids by tid.
    pub(crate) pids: HashMap<i32, i32>,
    /// The losses and oddities found so far.
    pub(crate) losses: Vec<Loss>,
    pub(crate) until: Until,
}

impl Known {
    pub(crate) fn new(head: Head) -> Known {
        let (names, pids) = (HashMap::new(), HashMap::new());
        Known { head, names, pids, losses: Vec::new(), until: Until::Read }
    }
}

/// Merges the streams of a source into a History.
///
pub(crate) fn assemble<S: Stream>(known: Known, streams: Vec<(u16, S)>) -> History {
    if known.until != Until::Read {
        stop_early(known.until, streams);
        return Builder::new(known.head).finish();
    }
    let cut = known.losses.iter().any(|loss| loss.kind == LossKind::Cut);
    let streams: Vec<(u16, Ending<S>)> =
        streams.into_iter().map(|(cpu, stream)| (cpu, Ending::new(stream, cut))).collect();
    let unseen = if cut { without_records(&known.head, &streams) } else { Vec::new() };
    let mut assembler = Assembler::new(known.names, known.pids);
    assembler.seen = known.head.carries;
    let mut file = FromFile { unseen, assembler, sink: Builder::new(known.head) };
    let ends = merge(streams, |cpu, raw| file.push(cpu, raw));
    let FromFile { assembler, mut sink, .. } = file;
    sink.head().carries = placed(assembler.seen);
    known.losses.into_iter().for_each(|loss| sink.loss(loss));
    ends.into_iter().for_each(|end| report_end(&mut sink, end));
    assembler.end(&mut sink);
    sink.finish()
}

/// What benchmarks measure.
#[cold]
fn stop_early<S: Stream>(until: Until, streams: Vec<(u16, S)>) {
    if until == Until::Merged {
        let look = |_, raw: &Raw| {
            std::hint::black_box(raw);
        };
        merge(streams, look);
        return;
    }
    let mut batch = Vec::new();
    for (_, mut stream) in streams {
        stream.fill(&mut batch);
        while !batch.is_empty() {
            batch.clear();
            stream.fill(std::hint::black_box(&mut batch));
        }
    }
}

/// A stream of a file that may be cut. Events after its end are lost: without a record of that, a
/// task queued on this CPU later on would seem to wait there for ever.
struct Ending<S> {
    stream: S,
    /// The first batch, read before the merge begins.
    first: Vec<Raw>,
    last: Option<Raw>,
    cut: bool,
    ended: bool,
}

impl<S: Stream> Ending<S> {
    fn new(mut stream: S, cut: bool) -> Ending<S> {
        let mut first = Vec::new();
        if cut {
            stream.fill(&mut first);
        }
        Ending { stream, first, last: None, cut, ended: false }
    }
}

impl<S: Stream> Stream for Ending<S> {
    fn fill(&mut self, out: &mut Vec<Raw>) {
        let before = out.len();
        out.append(&mut self.first);
        if out.len() == before {
            self.stream.fill(out);
        }
        if out.len() > before {
            self.last = out.last().copied();
            return;
        }
        let is_cut = |loss: &Loss| loss.kind == LossKind::Cut;
        if !self.ended && (self.cut || self.stream.losses().iter().any(is_cut)) {
            out.extend(self.last.map(|last| Raw { event: RawEvent::Cut, ..last }));
        }
        self.ended = true;
    }
    fn losses(&self) -> Vec<Loss> {
        self.stream.losses()
    }
}

/// CPUs of which a cut left nothing: unknown from the first event on.
fn without_records<S>(head: &Head, streams: &[(u16, Ending<S>)]) -> Vec<CpuId> {
    let told = |cpu: &CpuId| {
        streams.iter().any(|(other, stream)| *other == cpu.0 && !stream.first.is_empty())
    };
    (0..head.machine.len()).map(|cpu| CpuId(cpu as u16)).filter(|cpu| !told(cpu)).collect()
}

/// What kinds of events carry together: if waits begin at `sched_wakeup`, the placement is known;
/// if only wakings and migrations occur, it follows from both.
pub(crate) fn placed(kinds: Carries) -> Carries {
    let moves = Carries::WAKINGS | Carries::MIGRATIONS;
    let known = kinds.has(Carries::WAKEUPS) || kinds.has(moves);
    kinds | if known { Carries::PLACEMENT } else { Carries::NONE }
}

/// The events of a file on their way to a History.
struct FromFile {
    /// CPUs to be reported lost with the first event.
    unseen: Vec<CpuId>,
    assembler: Assembler,
    sink: Builder,
}

impl FromFile {
    #[inline]
    fn push(&mut self, cpu: u16, raw: &Raw) {
        if !self.unseen.is_empty() {
            let unseen = std::mem::take(&mut self.unseen);
            unseen.into_iter().for_each(|cpu| push_cut(raw, cpu, &mut self.sink));
        }
        match raw.event {
            RawEvent::Cut => push_cut(raw, CpuId(cpu), &mut self.sink),
            _ => self.assembler.push(cpu, raw, &mut self.sink),
        }
    }
}

/// The end of a CPU's records in the file; the cut itself is reported as a separate loss.
#[cold]
fn push_cut(raw: &Raw, cpu: CpuId, sink: &mut Builder) {
    if cpu.index() < CpuId::LIMIT {
        let event = Event::Lost { count: None };
        sink.push_told(Entry { time: Time(raw.time), cpu, by: By::UNKNOWN, event });
    }
}

/// Resolves tids to tasks and pushes the events.
pub(crate) struct Assembler {
    tasks: Tasks,
    /// What the kinds of events that occurred carry.
    seen: Carries,
}

impl Assembler {
    /// With the names and process ids by tid that are known in addition to the events.
    pub(crate) fn new(names: HashMap<i32, String>, pids: HashMap<i32, i32>) -> Assembler {
        Assembler { tasks: Tasks::new(names, pids), seen: Carries::NONE }
    }

    /// From now on `tid` belongs to another task, whose process is `pid`; its old name is dropped.
    pub(crate) fn meet(&mut self, tid: i32, pid: Option<i32>) {
        self.tasks.meet(tid, pid);
    }

    /// Frequent kinds push by themselves: an event that passes through a common variable is written
    /// to memory and read back before it is packed.
    #[inline]
    pub(crate) fn push<S: Sink + ?Sized>(&mut self, cpu: u16, raw: &Raw, sink: &mut S) {
        let (time, cpu) = (raw.time, CpuId(cpu));
        if cpu.index() >= CpuId::LIMIT {
            return; // no kernel has it; readers report such records as damaged
        }
        // Names are looked at where they are: copies of them would go through memory.
        match raw.event {
            RawEvent::Switch {
                prev,
                next,
                left,
                prev_prio,
                next_prio,
                ref prev_comm,
                ref next_comm,
            } => {
                let prev = self.task(prev, prev_comm, time, cpu, sink);
                if !prev.is_idle() {
                    self.rename(prev, prev_comm, raw, cpu, sink);
                    self.tasks.left(prev, !left.is_runnable(), left == Left::Dead);
                }
                let next = self.task(next, next_comm, time, cpu, sink);
                if !next.is_idle() {
                    self.tasks.ran(next, time, cpu.0);
                }
                let by = By { task: Some(prev), context: raw.context };
                let event = Event::Switch { cpu, prev, next, left, prev_prio, next_prio };
                sink.push(Entry { time: Time(time), cpu, by, event });
            }
            RawEvent::Waking { tid, prev, prio, ref comm } => {
                self.seen |= Carries::WAKINGS;
                let task = self.woken(tid, comm, time, cpu, sink);
                let (by, event) = (self.by(raw, cpu, sink), Event::Waking { task, prev, prio });
                sink.push(Entry { time: Time(time), cpu, by, event });
            }
            RawEvent::Queued { tid, on, how, prio, ref comm } => {
                self.seen |= if how == How::New { Carries::NEW } else { Carries::WAKEUPS };
                let task = self.woken(tid, comm, time, cpu, sink);
                let (by, event) = (self.by(raw, cpu, sink), Event::Queued { task, on, how, prio });
                sink.push(Entry { time: Time(time), cpu, by, event });
            }
            _ => self.push_rare(cpu, raw, sink),
        }
    }

    #[inline(never)]
    fn push_rare<S: Sink + ?Sized>(&mut self, cpu: CpuId, raw: &Raw, sink: &mut S) {
        let time = raw.time;
        let event = match raw.event {
            RawEvent::Switch { .. } | RawEvent::Waking { .. } | RawEvent::Queued { .. } => return,
            RawEvent::Migrate { tid, from, to, comm } => {
                self.seen |= Carries::MIGRATIONS;
                Event::Migrate { task: self.task(tid, &comm, time, cpu, sink), from, to }
            }
            RawEvent::Fork { parent, child, child_comm } => {
                self.seen |= Carries::FORKS;
                let parent = self.task(parent, &Comm::UNKNOWN, time, cpu, sink);
                let child = match child {
                    0 => TaskId::idle(cpu),
                    tid => self.tasks.fork(tid, &child_comm, time, sink),
                };
                Event::Fork { parent, child }
            }
            RawEvent::Exec { tid } => {
                self.seen |= Carries::EXECS;
                Event::Exec { task: self.task(tid, &Comm::UNKNOWN, time, cpu, sink) }
            }
            RawEvent::Exit { tid, comm } => {
                self.seen |= Carries::EXITS;
                Event::Exit { task: self.task(tid, &comm, time, cpu, sink) }
            }
            RawEvent::Cpu { cpu, up } => {
                self.seen |= Carries::HOTPLUG;
                Event::Cpu { cpu, up }
            }
            RawEvent::Freq { cpu, khz } => {
                self.seen |= Carries::FREQ;
                Event::Freq { cpu, khz }
            }
            RawEvent::Rename { tid, comm } => {
                let task = self.task(tid, &comm, time, cpu, sink);
                return self.rename(task, &comm, raw, cpu, sink);
            }
            RawEvent::Seen if raw.current < 0 => return,
            // No event means "was seen"; an unchanged name has no effect.
            RawEvent::Seen => {
                let task = self.task(raw.current, &Comm::UNKNOWN, time, cpu, sink);
                let name = match task.is_idle() {
                    false => self.tasks.name(task),
                    true => sink.name(&format!("swapper/{cpu}")),
                };
                Event::Changed { task, what: Change::Name(name) }
            }
            RawEvent::Lost { count } => Event::Lost { count },
            // Only a file is cut; its reader has reported it.
            RawEvent::Cut => return,
        };
        let by = self.by(raw, cpu, sink);
        sink.push(Entry { time: Time(time), cpu, by, event });
    }

    #[inline]
    fn by<S: Sink + ?Sized>(&mut self, raw: &Raw, cpu: CpuId, sink: &mut S) -> By {
        let known = raw.current >= 0;
        let task = known.then(|| self.task(raw.current, &Comm::UNKNOWN, raw.time, cpu, sink));
        By { task, context: raw.context }
    }

    #[inline]
    fn task<S: Sink + ?Sized>(
        &mut self,
        tid: i32,
        comm: &Comm,
        time: u64,
        cpu: CpuId,
        sink: &mut S,
    ) -> TaskId {
        match tid {
            0 => TaskId::idle(cpu),
            tid => self.tasks.get(tid, comm, time, sink),
        }
    }

    #[inline]
    fn woken<S: Sink + ?Sized>(
        &mut self,
        tid: i32,
        comm: &Comm,
        time: u64,
        cpu: CpuId,
        sink: &mut S,
    ) -> TaskId {
        let task = self.task(tid, comm, time, cpu, sink);
        if !task.is_idle() {
            self.tasks.woken(task, time, cpu.0);
        }
        task
    }

    #[inline]
    fn rename<S: Sink + ?Sized>(
        &mut self,
        task: TaskId,
        comm: &Comm,
        raw: &Raw,
        cpu: CpuId,
        sink: &mut S,
    ) {
        if task.is_idle() {
            return;
        }
        if let Some(name) = self.tasks.renamed(task, comm, sink) {
            let event = Event::Changed { task, what: Change::Name(name) };
            let by = By { task: Some(task), context: raw.context };
            sink.push(Entry { time: Time(raw.time), cpu, by, event });
        }
    }

    /// A wakeup stamped after the run that it caused, on another CPU, means that clocks disagree.
    /// One in a thousand may be a race between the stamp and the store; more is skew.
    pub(crate) fn end<S: Sink + ?Sized>(&self, sink: &mut S) {
        let tasks = &self.tasks;
        if tasks.skewed < 3 || tasks.skewed * 1000 < tasks.switches_in {
            return;
        }
        let largest = Span(tasks.skew_ns_max);
        let note = format!(
            "the clocks of the CPUs differ by at least {largest}: some wakeups have a later \
             timestamp than the run that they caused. Record with one clock for all CPUs \
             (`trace-cmd record -C mono`)"
        );
        let mut loss = Loss::new(LossKind::ClockSkew, note);
        loss.count = Some(tasks.skewed);
        sink.loss(loss);
    }
}

/// Reports what a stream lost, and where its time went backwards.
fn report_end(sink: &mut Builder, end: End) {
    let cpu = Some(CpuId(end.cpu));
    for loss in end.losses {
        sink.loss(Loss { cpu, ..loss });
    }
    if end.steps > 0 {
        let note = format!(
            "a timestamp is up to {} earlier than the previous timestamp; the event got the \
             previous timestamp instead",
            Span(end.largest_step)
        );
        let mut loss = Loss::new(LossKind::ClockStep, note);
        (loss.cpu, loss.count) = (cpu, Some(end.steps));
        sink.loss(loss);
    }
}
