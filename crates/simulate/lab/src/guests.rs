//! A kernel in guests as a bench.

use std::collections::HashMap;
use std::fmt::{self, Write as _};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use wastenot_experiment::{Bench, Error as Failed, Run, shifts};
use wastenot_host::sha256;
use wastenot_model::machine::Costs;
use wastenot_model::{Help, Machine, Source};
use wastenot_scenario::scenario::{Choice, Variant};
use wastenot_sim::End;

use crate::boot::Boot;
use crate::host::{note, plan, scheduler};
use crate::image::PROGRAM;
use crate::job::{Cell, Done, How, Job, Scheduler};
use crate::kernels::Version;
use crate::pack::{ELF, SCHEDULER, image_of, is_object};
use crate::qemu::{Guest, Qemu, Way, has_equal_turns};
use crate::{Error, fault, real, topology};

/// So long a guest may be silent: loading a policy takes up to half a minute, and large runs more.
const PATIENCE: Duration = Duration::from_secs(300);

/// A scheduler of which so many guests died gets no other one: each takes that patience.
const DEATHS: usize = 2;

/// Which guests.
#[derive(Clone, Debug)]
pub struct Options {
    /// The version of the kernel, in words.
    pub version: String,
    /// The file of its image.
    pub kernel: PathBuf,
    /// An instruction takes 2^`shift` ns where QEMU counts them: 1, or for controls 0 and 2.
    pub shift: u8,
    /// A program that loads a scheduler of sched_ext and unloads it on SIGINT, with its arguments,
    /// in the place of the kernel's scheduler and of policies. Or an object of BPF that has one.
    pub command: Vec<String>,
    /// Whether policies log the steps of their protocol, into the annexes of their Histories.
    pub steps: bool,
    /// How that scheduler is called, if not as its file.
    pub called: Option<String>,
    /// What `uname -r` says, and the kernel's configuration, where there is one: programs that
    /// load schedulers read it.
    pub config: Option<(String, PathBuf)>,
}

impl Options {
    fn scheduler(&self) -> Option<&str> {
        let program = Path::new(self.command.first()?);
        self.called.as_deref().or_else(|| program.file_name()?.to_str())
    }
}

/// Runs scenarios in a kernel, in guests of QEMU: all cells of a machine in one.
pub struct Guests {
    /// As in `--on`: `7.2.13`, `7.2.13 scx_simple`.
    name: String,
    of: Options,
    qemu: Qemu,
    /// Of the kernel, and of the program that loads a scheduler with its arguments, as text.
    digest: String,
    /// The version of QEMU.
    emulator: String,
    /// What is not as in the scenario, and what guests said of the schedulers that they loaded,
    /// each sentence once.
    notes: Mutex<Vec<String>>,
    /// Whether to end.
    is_over: Box<dyn Fn() -> bool + Send + Sync>,
    /// Whether QEMU counted the instructions of any guest.
    counted: AtomicBool,
    /// What came back and was not asked for yet.
    done: Mutex<HashMap<(String, u64), CameBack>>,
}

/// A run, or what became of it, and what to do about that.
type CameBack = Result<Run, (String, String)>;

impl fmt::Debug for Guests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guests").field("of", &self.of).finish_non_exhaustive()
    }
}

impl Guests {
    /// Guests. A run ends when `is_over` says so.
    ///
    /// # Errors
    /// There is no QEMU, or no such program.
    pub fn new(
        of: Options,
        qemu: Qemu,
        is_over: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Result<Guests, Error> {
        let mut name = shifts::named(&of.version, of.shift);
        // Who boots it says that it is not there.
        let mut digest = fs::read(&of.kernel).map_or(String::new(), |it| sha256(&it));
        if let Some(program) = of.command.first() {
            let bytes = fs::read(program).ok().filter(|_| Path::new(program).is_file());
            let bytes = bytes.ok_or_else(|| Error::NoProgram { program: program.clone() })?;
            if !bytes.starts_with(ELF) {
                return Err(Error::Script { program: program.clone() });
            }
            let _ = write!(digest, " {} {}", sha256(&bytes), of.command[1..].join(" "));
            let _ = write!(name, " {}", of.scheduler().unwrap_or_default());
        }
        let emulator = qemu.version()?;
        let (counted, is_over) = (AtomicBool::new(false), Box::new(is_over));
        let (notes, done) = (Mutex::default(), Mutex::default());
        Ok(Guests { name, of, qemu, digest, emulator, notes, is_over, counted, done })
    }

    /// The name of the scheduler that a program loads.
    fn command(&self) -> Option<&str> {
        self.of.scheduler()
    }

    /// The name of the scheduler that is loaded for a variant; `None` if the kernel's own runs it.
    fn scheduler<'a>(&'a self, variant: &'a Variant) -> Option<&'a str> {
        let choice = &variant.scheduler;
        self.command().or(choice.text.as_ref().map(|_| &*choice.name))
    }

    /// Boots a guest for `cells`, which have the same machine, and takes what comes back. The
    /// number of cells that it began: if it died of one, the others are for another guest.
    fn boot(
        &self,
        machine: &Machine,
        cells: &[&(&Variant, wastenot_sim::Options)],
        done: &dyn Fn(),
    ) -> Result<usize, Failed> {
        let job = self.job(cells)?;
        let whole = |error: Error| Failed::Bench {
            what: format!("Linux {} in a guest: {error}", self.of.version),
            help: error.help().into_owned(),
        };
        let image = image_of(&job, self.of.config.as_ref(), self.of.command.first());
        let image = image.map_err(whole)?;
        let guest = Guest {
            kernel: &self.of.kernel,
            machine,
            image: &image,
            shift: self.of.shift,
            patience: PATIENCE,
        };
        let boot = Boot::of(&self.qemu, &guest, &*self.is_over, done).map_err(whole)?;
        self.counted.fetch_or(boot.way == Way::Counted, Ordering::Relaxed);
        let says = |it: &String| format!("Linux {} {it}", self.of.version);
        note(&self.notes, &boot.heard.verified.iter().map(says).collect::<Vec<_>>());
        let how = match boot.way {
            Way::Kvm => format!("QEMU {}, KVM", self.emulator),
            Way::Counted | Way::Typed => {
                format!("QEMU {}, {} shift={}", self.emulator, Source::COUNTED, self.of.shift)
            }
        };
        let is_over = boot.why.is_interrupted();
        let begun = boot.heard.begun.min(cells.len());
        let mut all = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        for (n, (variant, options)) in cells[..begun].iter().enumerate() {
            let ran = match (boot.sent(n), job.scheduler_of(n).filter(|_| !is_over)) {
                (Some((done, wn)), _) => self.came_back(done, wn, options, variant),
                (None, Some(name)) => {
                    let fault = fault::lost(name, boot.heard.is_verified, &boot.why);
                    Ok(Run::faulty(variant.machine.clone(), fault))
                }
                (None, None) => Err((
                    format!("the guest did not send the result of this run: {}", boot.why),
                    help(),
                )),
            };
            let ran = ran.map(|mut run| {
                run.history.head.source.notes.push((Source::GUEST.into(), how.clone()));
                run
            });
            all.insert((variant.name.clone(), options.seed), ran);
        }
        if is_over { Err(whole(boot.why)) } else { Ok(begun) }
    }

    /// A cell for which no guest is booted any more.
    fn give_up(&self, (variant, options): &(&Variant, wastenot_sim::Options)) {
        let what = format!(
            "the lab skipped this run, because {DEATHS} guests died during other runs of this \
             variant"
        );
        let ran = match self.scheduler(variant) {
            None => Err((what, help())),
            Some(name) => {
                let fault = fault::given_up(name, DEATHS);
                Ok(Run::faulty(variant.machine.clone(), fault))
            }
        };
        let mut all = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert((variant.name.clone(), options.seed), ran);
    }

    /// The run that a guest sent back.
    fn came_back(
        &self,
        done: Done,
        wn: &[u8],
        options: &wastenot_sim::Options,
        variant: &Variant,
    ) -> CameBack {
        if let (Err(_), Some(evidence)) = (&done.told, &done.evidence) {
            return Ok(Run::faulty(variant.machine.clone(), fault::fault(evidence, None)));
        }
        let told = done.told?;
        let name = options.name.clone();
        let history =
            wastenot_read::read(wn, &wastenot_read::Options { name, ..Default::default() });
        let history = history
            .map_err(|error| (format!("cannot read the trace from the guest: {error}"), help()))?;
        let mut run = real::part(&history, &told, &variant.workload);
        // The dump of one that was ended may come after the run.
        run.fault = done.evidence.as_ref().map(|it| fault::fault(it, Some(&history)));
        let scheduler = self.scheduler(variant).unwrap_or("its scheduler");
        if run.fault.is_none() && self.command().is_some() && run.outcome.end == End::Limit {
            let wait = run.longest_wait();
            run.fault = wait.and_then(|wait| fault::starved(scheduler, &wait, &history));
        }
        for why in &done.reloads {
            let what = format!("Linux {}: {scheduler} was reloaded: {why}", self.of.version);
            note(&self.notes, &[what]);
        }
        Ok(run)
    }

    /// The job of a guest: `cells` in the order of their schedulers.
    fn job(&self, cells: &[&(&Variant, wastenot_sim::Options)]) -> Result<Job, Failed> {
        let mut job = Job::default();
        if let Some(name) = self.command() {
            let is_object = is_object(Path::new(&self.of.command[0]));
            let loader: &[&str] = if is_object { &[PROGRAM, "lab", "load"] } else { &[] };
            let words = loader.iter().map(|it| (*it).to_owned());
            let words = words.chain([SCHEDULER.to_owned()]);
            let words = words.chain(self.of.command[1..].iter().cloned()).collect();
            job.schedulers.push(Scheduler { name: name.to_owned(), how: How::Command(words) });
        }
        for (variant, options) in cells {
            let choice = &variant.scheduler;
            if let (None, Some(text)) = (self.command(), &choice.text) {
                let same = |it: &How| matches!(it, How::Policy { text: it, .. } if it == text);
                let is = |it: &Scheduler| it.name == choice.name && same(&it.how);
                if !job.schedulers.last().is_some_and(is) {
                    job.schedulers.push(compiled(choice, text, self.of.steps)?);
                }
            }
            let has_own = self.command().is_some() || choice.text.is_some();
            let scheduler = if has_own { job.schedulers.len().checked_sub(1) } else { None };
            let plan = plan(variant, options)?;
            let steps = choice.text.clone().filter(|_| self.of.steps && self.command().is_none());
            let (decisions, limit_ns) = (options.notes, options.limit.0);
            job.cells.push(Cell { plan, scheduler, decisions, steps, limit_ns });
        }
        Ok(job)
    }
}

/// What tells the scheduler of a cell.
fn scheduler_of<'c>((variant, _): &'c (&Variant, wastenot_sim::Options)) -> [Option<&'c str>; 2] {
    [Some(&variant.scheduler.name), variant.scheduler.text.as_deref()]
}

/// A policy as the kernel takes it.
fn compiled(choice: &Choice, text: &str, steps: bool) -> Result<Scheduler, Failed> {
    let bench = |what: String, help: &str| Failed::Bench { what, help: help.into() };
    let name = choice.name.clone();
    if let Some((tunable, _)) = choice.tunables.first() {
        let what = format!("`{tunable}` of {name} cannot be set in a real kernel");
        return Err(bench(what, "set the value in the text of the policy"));
    }
    let options = wastenot_rota::emit::Options { steps };
    let emit = |it| wastenot_rota::emit::emit_with(&it, options);
    let emitted = wastenot_rota::compile(text).and_then(emit);
    let emitted = emitted.map_err(|faults| {
        let what = faults.first().map_or(String::new(), |it| it.message.clone());
        bench(
            format!("cannot emit code for {name}: {what}"),
            "run `wastenot rota emit` to see the line with the error",
        )
    })?;
    let object = wastenot_deploy::compile(&emitted);
    let object = object.map_err(|error| bench(error.to_string(), &error.help()))?;
    Ok(Scheduler { name, how: How::Policy { text: text.to_owned(), object } })
}

/// What to do about a run that is not there.
fn help() -> String {
    "boot the guest again; `wastenot lab shell` opens a shell in it".to_owned()
}

impl Bench for Guests {
    fn name(&self) -> &str {
        &self.name
    }

    fn identity(&self) -> String {
        let steps = if self.of.steps { " steps" } else { "" };
        format!("{} {} {}{steps}", self.name, self.emulator, self.digest)
    }

    fn is_prepared(&self) -> bool {
        true
    }

    fn doing(&self) -> String {
        format!("running in Linux {}:", self.name)
    }

    fn how(&self) -> String {
        format!("run in Linux {}", self.name)
    }

    fn has(&self) -> String {
        let scheduler = self.command().unwrap_or("the scheduler");
        format!("{scheduler} of Linux {}", self.of.version)
    }

    fn is_loaded(&self) -> bool {
        !self.of.command.is_empty()
    }

    fn assumes(&self) -> Vec<String> {
        let emulator = &self.emulator;
        let what = format!(
            "run in guests of QEMU {emulator}: [costs] and [ambient] of the scenario had no effect"
        );
        let counted = format!(
            "QEMU counted instructions: each instruction takes {} ns, and the CPUs of a guest take \
             turns. So the ratio of the time of kernel code to the time of tasks is far higher \
             than on hardware. How much higher depends on the version of QEMU",
            1u32 << self.of.shift
        );
        let unequal = format!(
            "in QEMU {emulator}, one CPU of a guest may run until the next timer, and the other \
             CPUs stand still during this time. In QEMU 8.1 and later, all CPUs run for equal times"
        );
        let unequal = Some(unequal).filter(|_| !has_equal_turns(emulator));
        let counted = [Some(counted), unequal].into_iter().flatten();
        let counted = counted.filter(|_| self.counted.load(Ordering::Relaxed));
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        [what].into_iter().chain(counted).chain(notes).collect()
    }

    fn takes(&self, mut variant: Variant) -> Variant {
        variant.costs = Costs::default();
        variant.scheduler = match self.command() {
            None => scheduler(&variant.scheduler, &self.of.version),
            Some(name) => Choice::named(name),
        };
        variant
    }

    fn fits(&self, variant: &Variant) -> Result<(), Failed> {
        topology::arguments(&variant.machine, false).map_err(|unbuildable| Failed::Bench {
            what: format!(
                "variant `{}` has a machine that QEMU cannot build: {unbuildable}",
                variant.name
            ),
            help: "choose another machine with `--machine`, for example `numa:4 core:4 pu:1`"
                .into(),
        })?;
        let has_sched_ext = Version::from(&*self.of.version).has_sched_ext();
        let loaded = self.scheduler(variant).filter(|_| !has_sched_ext);
        if let Some(name) = loaded {
            return Err(Failed::Bench {
                what: format!(
                    "Linux {} has no sched_ext, so it cannot run {name}",
                    self.of.version
                ),
                help: "give a kernel of version 6.13 or later, for example --on 7.2; \
                     `wastenot lab list` lists the kernels"
                    .into(),
            });
        }
        let plan = plan(variant, &wastenot_sim::Options::default())?;
        note(&self.notes, &plan.notes);
        Ok(())
    }

    fn prepare(
        &self,
        cells: &[(&Variant, wastenot_sim::Options)],
        done: &(dyn Fn(usize) + Sync),
    ) -> Result<(), Failed> {
        let mut machines: Vec<&Machine> = Vec::new();
        for (variant, _) in cells {
            if !machines.contains(&&variant.machine) {
                machines.push(&variant.machine);
            }
        }
        let count = std::cell::Cell::new(0);
        for machine in machines {
            let is = |cell: &&(&Variant, wastenot_sim::Options)| cell.0.machine == *machine;
            let mut all: Vec<_> = cells.iter().filter(is).collect();
            // Stable: a policy is loaded once for all its cells.
            all.sort_by(|a, b| scheduler_of(a).cmp(&scheduler_of(b)));
            let done = || {
                count.set(count.get() + 1);
                done(count.get());
            };
            let mut left = &all[..];
            let mut died = Vec::new();
            while !left.is_empty() {
                let begun = self.boot(machine, left, &done)?;
                let (did, rest) = left.split_at(begun);
                left = rest;
                // Guests may die of one scheduler twice: then the rest of its runs are lost.
                let Some(last) = did.last().filter(|_| !rest.is_empty()) else { continue };
                died.push(scheduler_of(last));
                if died.iter().filter(|it| **it == scheduler_of(last)).count() >= DEATHS {
                    let other = rest.iter().position(|it| scheduler_of(it) != scheduler_of(last));
                    let (same, others) = rest.split_at(other.unwrap_or(rest.len()));
                    same.iter().for_each(|cell| self.give_up(cell));
                    left = others;
                }
            }
        }
        Ok(())
    }

    fn run(&self, variant: &Variant, options: &wastenot_sim::Options) -> Result<Run, Failed> {
        let mut all = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let ran = all.remove(&(variant.name.clone(), options.seed));
        let ran = ran.unwrap_or_else(|| {
            Err(("no guest was booted for this run".into(), "this is a bug of wastenot".into()))
        });
        ran.map_err(|(what, help)| Failed::Run {
            variant: variant.name.clone(),
            seed: options.seed,
            what: format!("in Linux {}: {what}", self.name),
            help,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use wastenot_experiment::{Grid, Options, Sim};

    use super::{Guests, Qemu};

    #[test]
    fn scenarios_of_the_lab_run_in_guests_and_end_in_the_simulator() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../scenarios/lab");
        let qemu = Qemu { starter: ("qemu".into(), Vec::new()) };
        let (version, kernel) = ("7.2".to_owned(), "vmlinux".into());
        let of = super::Options {
            version,
            kernel,
            shift: 1,
            command: Vec::new(),
            steps: false,
            called: None,
            config: None,
        };
        let Ok(guests) = Guests::new(of, qemu, || false) else {
            return wastenot_needs::skipped(
                "scenarios_of_the_lab_run_in_guests_and_end_in_the_simulator",
                "no QEMU",
                "apt install qemu-system-x86",
            );
        };
        let mut count = 0;
        for entry in fs::read_dir(folder).expect("scenarios") {
            let file = entry.expect("an entry").path();
            let text = fs::read_to_string(&file).expect("a scenario");
            let name = file.display().to_string();
            let scenario = wastenot_experiment::scenario(&name, &text).expect(&name);
            let options = Options { seeds: vec![1], ..Options::default() };
            Grid::new(&scenario, &guests, &options).expect(&name);
            let simulated = Grid::new(&scenario, &Sim, &options).expect(&name);
            assert!(simulated.variants().iter().all(|it| it.machine.len() == 16), "{name}");
            let simulated = simulated.run(|_| ()).expect(&name);
            assert!(simulated.variants.iter().all(|it| it.cells[0].done), "{name}");
            assert!(simulated.figures.iter().all(|it| it.value.is_some()), "{name}");
            count += 1;
        }
        assert_eq!(count, 8);
    }
}
