//! The recorder on BPF.

mod decisions;
mod kernel;
mod log;
mod losses;
mod rings;

use std::hint::black_box;
use std::io::Read;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::time::Duration;

use libbpf_rs::skel::{OpenSkel, Skel, SkelBuilder};
use libbpf_rs::{Iter, Link, ProgramInput, ProgramMut};
use wastenot_model::{Carries, Head, Machine, Sink, Time, Window};

use self::decisions::Decisions;
pub(crate) use self::kernel::Kernel;
use self::losses::{Losses, Overrun, Tally};
use self::rings::Rings;
use crate::interrupts::Interrupts;
use crate::merge::{LATE, Pending};
use crate::recording::{Anew, Recording, Summary};
use crate::sched_ext::Dump;
use crate::weave::Weave;
use crate::wire::{Facts, Kind, Wire};
use crate::{Error, Options, clock, host};
use wastenot_host::{Cgroups, Hierarchy};

mod skeleton {
    #![allow(warnings, unsafe_code, clippy::all, clippy::pedantic, clippy::unwrap_used)]
    include!(concat!(env!("OUT_DIR"), "/record.skel.rs"));
}
use skeleton::types::lane as Lane;
use skeleton::{RecordSkel, RecordSkelBuilder};

const FORMAT: &str = "wastenot record";

/// What recordings with BPF can contain.
const CARRIES: [Carries; 22] = [
    Carries::WAKINGS,
    Carries::WAKEUPS,
    Carries::NEW,
    Carries::PLACEMENT,
    Carries::WAKERS,
    Carries::MIGRATIONS,
    Carries::FORKS,
    Carries::EXECS,
    Carries::EXITS,
    Carries::LEFT,
    Carries::PRIO,
    Carries::NAMES,
    Carries::TGID,
    Carries::START,
    Carries::AFFINITY,
    Carries::THROTTLING,
    Carries::POLICY,
    Carries::CGROUPS,
    Carries::HOTPLUG,
    Carries::FREQ,
    Carries::NO_SELECTION,
    Carries::LOSSES,
];

/// A recorder with BPF programs. They are attached while it records.
pub(crate) struct Bpf {
    // Links first: no program writes into rings that are gone.
    links: Vec<Link>,
    rings: Rings,
    skel: RecordSkel<'static>,
    carries: Carries,
    head: Head,
    weave: Weave,
    pending: Pending<Wire>,
    begun: Time,
    /// The facts of the walk, until they are written to the sink.
    walked: Option<Vec<Facts>>,
    online: Vec<bool>,
    losses: Losses,
    decisions: Option<Decisions>,
    interrupts: Option<Interrupts>,
    dump: Dump,
    summary: Summary,
}

pub(crate) fn failed(doing: &str) -> impl Fn(libbpf_rs::Error) -> Error + '_ {
    move |error| match error.kind() {
        // The verifier's refusals are "permission denied" (EACCES), too.
        libbpf_rs::ErrorKind::PermissionDenied if is_eperm(&error) => Error::NotAllowed,
        _ => Error::Failed {
            doing: doing.to_owned(),
            why: log::last_word().unwrap_or_else(|| format!("{error:#}")),
        },
    }
}

/// Runs a program on each of these CPUs, by number: whether it is online. One that is not is left
/// out.
fn on_each(online: &[bool], program: &ProgramMut<'_>) {
    const ON_CPU: u32 = 1; // BPF_F_TEST_RUN_ON_CPU
    for (cpu, _) in (0..).zip(online).filter(|(_, online)| **online) {
        program.test_run(ProgramInput { cpu, flags: ON_CPU, ..ProgramInput::default() }).ok();
    }
}

/// Runs a program for every task; returns its output.
pub(crate) fn iterate(program: &ProgramMut<'_>) -> Result<Vec<u8>, Error> {
    let link = program.attach().map_err(failed("list the tasks"))?;
    let mut bytes = Vec::new();
    Iter::new(&link).map_err(failed("list the tasks"))?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn is_eperm(error: &libbpf_rs::Error) -> bool {
    format!("{error:#}").contains("Operation not permitted")
}

/// Whether this machine allows recording with BPF; loads the programs to find out. Those that
/// record decisions may be refused when they are attached, so that is tried, too.
pub(crate) fn probe(options: &Options) -> Result<(), Error> {
    let (skel, _) = load(options, &Hierarchy::here(), &online(&wastenot_host::machine()))?;
    decisions::attach(&skel).map(drop)
}

/// Loads the programs, and returns what they can record on this kernel.
fn load(
    options: &Options,
    hierarchy: &Hierarchy,
    online: &[bool],
) -> Result<(RecordSkel<'static>, Carries), Error> {
    let kernel = Kernel::running()?;
    kernel.can_record()?;
    if options.decisions {
        decisions::can_record(&kernel)?;
    }
    let load = |functions| load_for(&kernel, options, hierarchy, online.len(), functions);
    let functions = options.decisions || kernel.calls("set_cpus_allowed_common");
    let mut skel = match load(functions) {
        // Many kernels allow tracing none of their functions, and report that only on an attempt.
        Err(refused) if functions => {
            log::forget();
            let skel = load(false)?;
            if options.decisions {
                return Err(decisions::refused(&refused));
            }
            skel
        }
        done => done?,
    };
    on_each(online, &skel.progs.locate);
    let located = skel.progs.locate.test_run(ProgramInput::default());
    let located = located.is_ok_and(|output| output.return_value == 1);
    if let Some(bss) = skel.maps.bss_data.as_mut() {
        bss.misplaced = u32::from(!located);
    }
    let all = CARRIES.into_iter().fold(Carries::NONE, |all, carry| all | carry);
    Ok((skel, if located { all | Carries::CONTEXT } else { all }))
}

fn load_for(
    kernel: &Kernel,
    options: &Options,
    hierarchy: &Hierarchy,
    cpus: usize,
    functions: bool,
) -> Result<RecordSkel<'static>, Error> {
    let cpus = cpus as u32;
    // The skeleton borrows the place of its object, for as long as the process lives.
    let place = Box::leak(Box::new(MaybeUninit::uninit()));
    let mut open =
        RecordSkelBuilder::default().open(place).map_err(failed("open the BPF programs"))?;
    if let Some(set) = open.maps.rodata_data.as_mut() {
        set.mask_words = cpus.div_ceil(64);
        set.wake_bytes = options.ring() / 4;
        set.cgroup_v1 = u32::from(matches!(hierarchy, Hierarchy::V1(_)));
        set.preempt_count_offset = kernel.preempt_count_offset().unwrap_or(0);
        set.hardirq_mask = kernel.hardirq_mask();
        set.switch_arguments = kernel.switch_arguments().ok_or_else(|| Error::Failed {
            doing: "attach to sched_switch".into(),
            why: "this kernel passes the arguments of sched_switch in an unknown order".into(),
        })?;
    }
    open.maps.rings.set_max_entries(cpus).map_err(failed("set the size of the ring buffers"))?;
    open.progs.on_cpuhp_enter.set_autoload(kernel.traces("cpuhp_enter"));
    open.progs.on_cpu_frequency.set_autoload(kernel.traces("cpu_frequency"));
    open.progs.on_affinity.set_autoload(functions && kernel.calls("set_cpus_allowed_common"));
    decisions::choose(&mut open, kernel, functions && options.decisions);
    open.progs.on_sched_ext_dump.set_autoload(kernel.traces("sched_ext_dump"));
    for program in [
        &mut open.progs.on_irq_entry,
        &mut open.progs.on_irq_exit,
        &mut open.progs.on_softirq_entry,
        &mut open.progs.on_softirq_exit,
        &mut open.progs.on_cpu_idle,
    ] {
        program.set_autoload(options.interrupts);
    }
    open.load().map_err(failed("load the BPF programs"))
}

/// By CPU: whether it is online.
fn online(machine: &Machine) -> Vec<bool> {
    machine.cpus.iter().map(|cpu| cpu.online).collect()
}

impl Bpf {
    /// Prepares a recording.
    pub(crate) fn load(options: &Options) -> Result<Bpf, Error> {
        let hierarchy = Hierarchy::here();
        let machine = wastenot_host::machine();
        let online = online(&machine);
        let cpus = online.len();
        let (mut skel, carries) = load(options, &hierarchy, &online)?;
        let rings = Rings::new(&mut skel.maps.rings, &online, cpus.div_ceil(64), options.ring())
            .map_err(failed("create the ring buffers"))?;
        Ok(Bpf {
            links: Vec::new(),
            rings,
            skel,
            carries,
            head: host::head(machine, FORMAT, carries),
            weave: Weave::new(Cgroups::of(&hierarchy)),
            pending: Pending::since(Time(0)),
            begun: Time(0),
            walked: None,
            losses: Losses::since(Tally::default(), cpus),
            interrupts: options.interrupts.then(Interrupts::default),
            dump: Dump::default(),
            online,
            decisions: options.decisions.then(Decisions::default),
            summary: Summary::default(),
        })
    }

    /// Resets the state of the previous recording.
    fn reset(&mut self) {
        self.rings.clear();
        self.weave.forget();
        self.decisions = self.decisions.take().map(|_| Decisions::default());
        if let Some(bss) = self.skel.maps.bss_data.as_mut() {
            for (lane, online) in bss.lanes.iter_mut().zip(&self.online) {
                lane.lost = 0;
                lane.unseen = 0;
                lane.offline = u64::from(!online);
            }
        }
        self.losses = Losses::since(self.tally(), self.online.len());
        self.dump = Dump::default();
        self.summary = Summary::default();
    }

    fn attach(&self) -> Result<Vec<Link>, Error> {
        let progs = &self.skel.progs;
        let attach = failed("attach a BPF program");
        let needed = [
            &progs.on_sched_switch,
            &progs.on_sched_waking,
            &progs.on_sched_wakeup,
            &progs.on_sched_wakeup_new,
            &progs.on_sched_migrate_task,
            &progs.on_sched_process_fork,
            &progs.on_sched_process_exec,
            &progs.on_sched_process_exit,
        ];
        let mut links = Vec::new();
        for program in needed {
            links.push(program.attach().map_err(&attach)?);
        }
        let asked = [
            &progs.on_cpuhp_enter,
            &progs.on_cpu_frequency,
            &progs.on_sched_ext_dump,
            &progs.on_irq_entry,
            &progs.on_irq_exit,
            &progs.on_softirq_entry,
            &progs.on_softirq_exit,
            &progs.on_cpu_idle,
        ];
        for program in asked {
            if program.autoload() {
                links.push(program.attach().map_err(&attach)?);
            }
        }
        if progs.on_affinity.autoload() {
            // Some kernels refuse only here.
            links.extend(progs.on_affinity.attach());
        }
        links.extend(decisions::attach(&self.skel)?);
        Ok(links)
    }

    /// The facts of every task as they are now.
    fn walk(&self) -> Result<Vec<Facts>, Error> {
        let words = self.online.len().div_ceil(64);
        let bytes = iterate(&self.skel.progs.walk)?;
        Ok(bytes.chunks_exact(Facts::size(words)).filter_map(|b| Facts::read(b, words)).collect())
    }

    /// Attaches the programs, then walks the tasks. If either fails, no program stays attached.
    fn start(&mut self, walk: impl Fn(&Bpf) -> Result<Vec<Facts>, Error>) -> Result<(), Error> {
        let links = self.attach()?;
        // Earlier events are of no use: some of the programs were not attached yet.
        self.begun = clock::now();
        self.pending = Pending::since(self.begun);
        self.interrupts = self.interrupts.take().map(|_| Interrupts::since(self.begun));
        if self.skel.progs.tell_domains.autoload() {
            on_each(&self.online, &self.skel.progs.tell_domains);
        }
        self.walked = Some(walk(self)?);
        self.links = links;
        Ok(())
    }

    fn tell(&mut self, until: Time, sink: &mut dyn Sink) {
        self.pending.sort();
        if let Some(walked) = &self.walked {
            let seen = walked.iter().map(|facts| facts.time).max().unwrap_or(self.begun);
            if until < seen {
                return; // an event may still come that is newer than the walk
            }
            self.weave.start(self.begun, &self.online, walked, &self.pending.all(), sink);
            self.walked = None;
        }
        let (rings, weave, summary) = (&self.rings, &mut self.weave, &mut self.summary);
        let decisions = &mut self.decisions;
        let (interrupts, dump) = (&mut self.interrupts, &mut self.dump);
        self.pending.tell(until, |wire| {
            match wire.kind {
                Kind::Lost => summary.lost += u64::from(wire.task),
                Kind::Served => return interrupts.iter_mut().for_each(|it| it.push(wire)),
                Kind::Dump => return dump.push(wire.time, rings.line(wire).unwrap_or_default()),
                _ => {}
            }
            if let (Some(decisions), Some(decided)) = (decisions.as_mut(), rings.decided(wire)) {
                weave.decide(wire, decided, sink).for_each(|it| decisions.push(wire.time, it));
            }
            weave.push(wire, rings.facts(wire).as_ref(), sink);
        });
        if let Some(decisions) = decisions {
            decisions.tell(sink);
        }
        sink.end(until);
    }

    /// How often the kernel skipped one of our programs.
    fn misses(&self) -> u64 {
        let programs = self.skel.object().progs();
        programs.filter_map(|it| wastenot_host::fdinfo(it.as_fd(), "recursion_misses")).sum()
    }

    /// The counters since the programs were loaded.
    fn tally(&self) -> Tally {
        let untold = self.lanes().iter().map(|lane| lane.untold).sum();
        Tally { misses: self.misses(), untold }
    }

    /// The programs' state, by CPU.
    fn lanes(&self) -> &[Lane] {
        let bss = self.skel.maps.bss_data.as_deref();
        bss.map_or(&[], |bss| &bss.lanes[..self.online.len().min(bss.lanes.len())])
    }

    /// The open overrun of each CPU.
    fn overruns(&self) -> Vec<Overrun> {
        // The programs write while this is read, although `&` suggests otherwise. If another
        // overrun begins between the two reads, the end of this one is in its ring already.
        let overrun = |lane: &Lane| {
            let since = Time(black_box(lane).lost_since);
            let count = black_box(lane).lost;
            Overrun { since, count: u32::try_from(count).unwrap_or(u32::MAX) }
        };
        self.lanes().iter().map(overrun).collect()
    }

    /// Takes the records from the rings.
    fn take(&mut self) {
        let seen = self.overruns();
        self.rings.take(&mut self.pending.fresh);
        self.losses.settle(seen, &mut self.pending.fresh);
    }
}

impl Recording for Bpf {
    fn wait(&mut self, at_most: Duration) {
        self.rings.wait(at_most);
    }

    fn drain(&mut self, sink: &mut dyn Sink) {
        let until = Time(clock::now().0.saturating_sub(LATE.0));
        self.take();
        self.tell(until, sink);
    }

    fn finish(&mut self, sink: &mut dyn Sink) -> Summary {
        // Everything up to here was recorded; what some of the programs still add is of no use.
        let end = clock::now();
        self.links.clear();
        self.take();
        self.tell(end, sink);
        let interrupts = self.interrupts.as_mut().map(Interrupts::finish);
        interrupts.into_iter().flatten().chain(self.dump.finish()).for_each(|it| sink.annex(it));
        self.pending.loss().into_iter().for_each(|loss| sink.loss(loss));
        self.summary.lost += self.losses.tell(&self.overruns(), self.tally(), sink);
        self.summary
    }
}

impl Anew for Bpf {
    fn begin(&mut self) -> Result<Head, Error> {
        if !host::is_still(&self.head.machine, wastenot_host::read) {
            self.head = host::head(wastenot_host::machine(), FORMAT, self.carries);
            self.online = online(&self.head.machine);
        }
        self.links.clear();
        self.reset();
        self.start(Bpf::walk)?;
        let window = Window { from: self.begun, to: self.begun };
        Ok(Head { window, ..self.head.clone() })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;
    use std::thread::{self, sleep};

    use wastenot_model::{Builder, Help};

    use super::*;

    /// A recorder with the smallest rings. `None`, with a message, if this machine does not allow
    /// one.
    fn loaded(test: &str) -> Option<Bpf> {
        let options = Options { ring_bytes: 64 << 10, ..Options::default() };
        let skip = |error: &Error| wastenot_needs::skipped(test, &error.to_string(), &error.help());
        Bpf::load(&options).inspect_err(skip).ok()
    }

    #[test]
    fn a_recording_that_cannot_begin_leaves_nothing_attached() {
        let test = "a_recording_that_cannot_begin_leaves_nothing_attached";
        let Some(mut bpf) = loaded(test) else { return };
        let happens = |bpf: &mut Bpf| {
            bpf.rings.clear();
            sleep(Duration::from_millis(2));
            bpf.rings.take(&mut bpf.pending.fresh);
            !bpf.pending.fresh.is_empty()
        };
        assert!(bpf.start(|_| Err(Error::NotAllowed)).is_err());
        assert!(!happens(&mut bpf));
        bpf.begin().expect("it could be loaded");
        assert!(happens(&mut bpf));
    }

    /// Makes two threads wake each other `times` times.
    fn switch(times: u32) {
        let ((ask, asked), (answer, answered)) = (sync_channel(0), sync_channel(0));
        let other = thread::spawn(move || asked.iter().all(|()| answer.send(()).is_ok()));
        for _ in 0..times {
            ask.send(()).expect("the other goes on");
            answered.recv().expect("the other goes on");
        }
        drop(ask);
        other.join().expect("it ends");
    }

    #[test]
    fn in_an_overrun_that_lasts_the_programs_and_the_tape_count_alike() {
        let test = "in_an_overrun_that_lasts_the_programs_and_the_tape_count_alike";
        let Some(mut bpf) = loaded(test) else { return };
        let mut sink = Builder::new(bpf.begin().expect("it could be loaded"));
        let all = |bpf: &Bpf| bpf.lanes().iter().map(|lane| lane.lost_total).sum::<u64>();
        let before = all(&bpf);
        let load = thread::spawn(|| switch(50_000));
        while !load.is_finished() {
            sleep(Duration::from_millis(20));
            bpf.drain(&mut sink);
        }
        // Detaching takes some time, and other tasks run meanwhile.
        let at_least = all(&bpf) - before;
        bpf.finish(&mut sink);
        let at_most = all(&bpf) - before;
        let history = sink.finish();
        let of_cpus = history.losses().iter().filter(|loss| loss.cpu.is_some());
        let told: u64 = of_cpus.filter_map(|loss| loss.count).sum();
        assert!(at_least > 0, "the rings were too large");
        assert!((at_least..=at_most).contains(&told), "{at_least} <= {told} <= {at_most}");
    }
}
