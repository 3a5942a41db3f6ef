//! A machine, a workload and a scheduler as the text of a scenario, with numbers by chance.

use std::fmt::Write;

use wastenot_model::Machine;
use wastenot_model::workload::Random;

/// What runs: it becomes the text of a scenario.
#[derive(Clone, Debug, Default)]
pub(super) struct Setup {
    /// A preset, or a description as hwloc has them.
    pub(super) machine: String,
    /// [`LONG`] or [`SHORT`].
    pub(super) limit: &'static str,
    /// `cfs-4.1`, or the file of a policy.
    pub(super) scheduler: String,
    /// Its tunables.
    pub(super) tunables: Vec<(&'static str, &'static str)>,
    /// Keys of the file: `ambient = "linux-6.12"`.
    pub(super) head: Vec<String>,
    /// Tables of groups, pipes and the like.
    pub(super) tables: Vec<String>,
    /// Entries of `[[tasks]]`.
    pub(super) tasks: Vec<String>,
}

/// The simulated time at which a run is stopped.
pub(super) const LONG: &str = "2s";
/// The same where losses come in short waits, of which this holds thousands.
pub(super) const SHORT: &str = "1s";

impl Setup {
    /// With one tunable more.
    pub(super) fn set(&self, name: &'static str, value: &'static str) -> Setup {
        let mut with = self.clone();
        with.tunables.push((name, value));
        with
    }

    /// The text of the scenario.
    pub(super) fn text(&self) -> String {
        let Setup { machine, limit, scheduler, head, .. } = self;
        let mut text = format!(
            "schema = \"wastenot.scenario/1\"\nmachine = \"{machine}\"\nlimit = \"{limit}\"\n"
        );
        head.iter().for_each(|line| text += &format!("{line}\n"));
        let _ = writeln!(text, "[scheduler]\nname = \"{scheduler}\"");
        for (name, value) in &self.tunables {
            let _ = writeln!(text, "{name} = \"{value}\"");
        }
        self.tables.iter().for_each(|table| text += &format!("{table}\n"));
        self.tasks.iter().for_each(|tasks| text += &format!("[[tasks]]\n{tasks}\n"));
        text
    }
}

/// Draws numbers and parts of a setup.
pub(super) struct Draw {
    random: Random,
}

impl Draw {
    /// Case `number` of the stream `purpose`.
    pub(super) fn new(seed: u64, purpose: u32, number: u64) -> Draw {
        Draw { random: Random::stream(seed, purpose, number) }
    }

    /// A seed for a run.
    pub(super) fn seed(&mut self) -> u64 {
        self.random.bits() >> 32
    }
    /// Below `n`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.random.below(n.max(1) as u64) as usize
    }
    /// One of them.
    pub(super) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
    /// True with this probability.
    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.random.unit() <= probability
    }
    /// Between two numbers.
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.random.unit()
    }
    /// A number of things, this share of `whole` to that, at least one.
    pub(super) fn share(&mut self, whole: usize, low: f64, high: f64) -> usize {
        ((whole as f64 * self.between(low, high)).round() as usize).max(1)
    }
    /// A time between two, in microseconds; every order of magnitude is as likely.
    pub(super) fn time(&mut self, low: f64, high: f64) -> String {
        format!("{}us", (low * (high / low).powf(self.random.unit())).round())
    }
    /// The same, and how much it varies.
    pub(super) fn varied(&mut self, low: f64, high: f64) -> String {
        let (time, by) = (self.time(low, high), self.of(&[1, 5, 20]));
        format!("{time} +-{by}%")
    }

    /// One of these machines, with what is known of it.
    pub(super) fn machine(&mut self, all: &[&str]) -> (String, Machine) {
        let name = self.of(all);
        (name.to_owned(), wastenot_scenario::machine(name).unwrap_or_else(|_| Machine::flat(4)))
    }

    /// Beside ambient load, in some cases.
    pub(super) fn ambient(&mut self, setup: &mut Setup) {
        if self.chance(0.3) {
            let name = self.of(&["linux-5.10", "linux-6.1", "linux-6.12", "linux-7.2"]);
            let ipi = self.time(1.0, 20.0);
            setup.head.push(format!("ambient = \"{name}\"\ncosts = {{ ipi = \"{ipi}\" }}"));
        }
    }

    /// Threads that meet at a barrier, `more` being further keys.
    pub(super) fn barrier(&mut self, threads: usize, more: &str) -> String {
        let (grain, spin) = (self.varied(200.0, 8000.0), self.of(&["0us", "100us", "1100us"]));
        format!(
            "use = \"omp_barrier\"\nname = \"omp\"\nthreads = {threads}\nrounds = 100000\n\
             grain = \"{grain}\"\nspin = \"{spin}\"\n{more}"
        )
    }

    /// `make -j`.
    pub(super) fn make(&mut self, jobs: usize, more: &str) -> String {
        let (compute, parts) = (self.time(2000.0, 20_000.0), self.of(&[1, 2, 4]));
        format!(
            "use = \"make_j\"\nname = \"make\"\nparallel = {jobs}\njobs = 20000\nparts = {parts}\n\
             compute = \"exp({compute})\"\n{more}"
        )
    }

    /// Workers of a database.
    pub(super) fn database(&mut self, workers: usize, more: &str) -> String {
        let (compute, vary) = (self.time(100.0, 3000.0), self.of(&["0.1", "0.2", "0.5"]));
        format!(
            "use = \"db_tpch\"\nname = \"db\"\nworkers = {workers}\nstages = 100000\n\
             compute = \"lognormal({compute}, {vary})\"\n{more}"
        )
    }

    /// Clients of a database in Java.
    pub(super) fn clients(&mut self, clients: usize, more: &str) -> String {
        let pause = self.time(300.0, 3000.0);
        format!(
            "use = \"java_h2\"\nname = \"h2\"\nclients = {clients}\nrequests = 100000\n\
             collectors = {}\ncompilers = 1\npause = \"exp({pause})\"\n{more}",
            (clients / 4).max(1)
        )
    }

    /// Requests that are passed to workers.
    pub(super) fn requests(&mut self, workers: usize, more: &str) -> String {
        let (think, compute) = (self.time(100.0, 3000.0), self.varied(200.0, 4000.0));
        format!(
            "use = \"schbench\"\nname = \"sch\"\nworkers = {workers}\nrequests = 100000\n\
             think = \"exp({think})\"\ncompute = \"{compute}\"\n{more}"
        )
    }

    /// Workers that share a pile.
    pub(super) fn pile(&mut self, workers: usize, more: &str) -> String {
        let chunk = self.time(500.0, 10_000.0);
        format!(
            "use = \"workpile\"\nname = \"pile\"\nworkers = {workers}\nchunks = 200000\n\
             chunk = \"exp({chunk})\"\n{more}"
        )
    }

    /// Tasks that compute, sleep and at times yield, independently of each other.
    pub(super) fn loners(&mut self, count: usize, more: &str) -> String {
        let (compute, sleep) = (self.time(500.0, 20_000.0), self.time(200.0, 10_000.0));
        let yields = self.of(&["", "\"yield\", "]);
        format!(
            "name = \"loner\"\ncount = {count}\nprogram = [\"loop 100000\", \
             \"compute exp({compute})\", {yields}\"sleep exp({sleep})\", \"end\"]\n{more}"
        )
    }

    /// A pipeline of `stages`: its tables, and its tasks.
    pub(super) fn pipeline(&mut self, stages: usize, more: &str) -> (String, Vec<String>) {
        let room = self.of(&[1, 4, 16]);
        let pipe = |n: usize| format!("[pipes.p{n}]\ncapacity = {room}\n");
        let pipes = (1..stages).map(pipe).collect::<String>();
        let tasks = (0..stages).map(|n| {
            let get = if n > 0 { format!("\"get p{n}\", ") } else { String::new() };
            let put = if n + 1 < stages { format!("\"put p{}\", ", n + 1) } else { String::new() };
            let compute = self.varied(200.0, 2000.0);
            format!(
                "name = \"stage{n}\"\nprogram = [\"loop 100000\", {get}\"compute {compute}\", \
                 {put}\"end\"]\n{more}"
            )
        });
        let tasks = tasks.collect();
        (pipes, tasks)
    }

    /// Some work for `threads` CPUs.
    pub(super) fn work(&mut self, setup: &mut Setup, threads: usize, more: &str) {
        let threads = threads.max(2);
        let tasks = match self.below(7) {
            0 => self.barrier(threads, more),
            1 => self.make(threads, more),
            2 => self.database(threads, more),
            3 => self.clients(threads, more),
            4 => self.pile(threads, more),
            5 => self.loners(threads, more),
            _ => {
                let (pipes, tasks) = self.pipeline(threads.min(24), more);
                setup.tables.push(pipes);
                setup.tasks.extend(tasks);
                return;
            }
        };
        setup.tasks.push(tasks);
    }
}
