//! What may stand in a scenario: the tables and keys, for readers and for documentation.

/// A table of a scenario.
#[derive(Debug)]
pub struct Section {
    /// How it is written: `[costs]`.
    pub title: &'static str,
    /// What it holds, in one line.
    pub about: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
}

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// What to write before the equals sign.
    pub name: &'static str,
    /// What may stand after it.
    pub form: &'static str,
    /// What it means, and what is if it is not there.
    pub about: &'static str,
}

const fn key(name: &'static str, form: &'static str, about: &'static str) -> Key {
    Key { name, form, about }
}

/// The tables, in the order of documentation.
pub const SCHEMA: &[&Section] = &[
    &SCENARIO, &COSTS, &SCHEDULER, &GROUP, &LOCK, &BARRIER, &PIPE, &TASK, &HOTPLUG, &VARIANT,
    &FIGURE, &QUANTITY, &FORMULA,
];

/// What `schema` has to be.
pub(crate) const VERSION: &str = "wastenot.scenario/1";

/// Keys of the whole that variants do not change.
pub(crate) const HEAD: &[&str] =
    &["schema", "about", "source", "seeds", "limit", "sweep", "variants", "figures"];

pub(crate) const SCENARIO: Section = Section {
    title: "the file",
    about: "A scenario is one TOML file. Its name is the file's without `.toml`.",
    keys: &[
        key("schema", "\"wastenot.scenario/1\"", "the version of this schema; required"),
        key("about", "text", "what it shows, in a sentence"),
        key("source", "text", "where its numbers are from"),
        key("seeds", "1 to 10000", "how many seeds to run; 5"),
        key("limit", "TIME", "simulated time after which a run is over; 600s"),
        key(
            "machine",
            "text",
            "a preset, an hwloc description; required, in each variant at least",
        ),
        key("parameters", "table", "texts and numbers that `${name}` stands for in any text"),
        key("costs", "table", "what things cost on the machine; nothing unless set"),
        key(
            "ambient",
            "RECORDING",
            "kernel threads and late interrupts that run beside, as in a recording (simulate.md); none",
        ),
        key("scheduler", "table", "its name, and its tunables as further keys; required"),
        key("groups", "tables by name", "sessions and cgroups"),
        key("locks", "tables by name", "locks"),
        key("barriers", "tables by name", "barriers"),
        key("pipes", "tables by name", "bounded queues of tokens"),
        key(
            "conditions",
            "list of names",
            "condition variables: a signal is missed by who does not wait",
        ),
        key("tasks", "list of tables", "tasks"),
        key("hotplug", "list of tables", "CPUs that go off and come back"),
        key(
            "variants",
            "list of tables",
            "runs that differ; one called `default` if there are none",
        ),
        key("sweep", "lists by parameter", "a variant for each combination of their values"),
        key("figures", "list of tables", "what is measured and compared"),
    ],
};

pub(crate) const COSTS: Section = Section {
    title: "[costs]",
    about: "Prices of the machine. Unless set they are off: then every effect is one of decisions.",
    keys: &[
        key("switch", "TIME", "CPU time from one task to the next; 0ns"),
        key("ipi", "TIME", "time until a CPU that another one kicked looks; 0ns"),
        key(
            "migration",
            "four TIMEs",
            "CPU time lost by a move to a sibling, within the cache, the node, further; 0ns each",
        ),
        key("cold", "TIME", "CPU time lost when another task has run on the CPU since; 0ns"),
        key("smt", "0.1 to 1", "speed while a sibling is busy, as a share; 1"),
        key(
            "spin-yields",
            "true | false",
            "whether a spinning sibling leaves the other its full speed",
        ),
        key(
            "remote",
            "list of 0.1 to 1",
            "speed one, two, ... hops away from where the task first ran, as shares; 1",
        ),
    ],
};

pub(crate) const SCHEDULER: Section = Section {
    title: "[scheduler]",
    about: "The scheduler. Every other key is one of its tunables. A variant that gives a \
            name begins with that scheduler's defaults, one that gives none changes tunables. \
            Files are named by their paths from here.",
    keys: &[key("name", "text", "the scheduler, or the file of a policy (`x.rota`)")],
};

pub(crate) const GROUP: Section = Section {
    title: "[groups.NAME]",
    about: "A session (which autogroup makes a group of) or a cgroup.",
    keys: &[
        key(
            "session",
            "true | false",
            "whether it is a session: none to schedulers without autogroup",
        ),
        key("parent", "group", "the group that it is in; the root"),
        key("shares", "2 to 262144", "its weight among its siblings; 1024"),
        key("quota", "\"10ms/100ms\"", "CPU time that it may use in each period; unlimited"),
    ],
};

pub(crate) const LOCK: Section = Section {
    title: "[locks.NAME]",
    about: "A lock, handed over in the order of arrival.",
    keys: &[key("waiting", "WAITING", "how tasks wait for it; block")],
};

pub(crate) const BARRIER: Section = Section {
    title: "[barriers.NAME]",
    about: "A barrier: the last to arrive lets all go on.",
    keys: &[
        key("parties", "1 to 100000", "how many have to arrive; required"),
        key("waiting", "WAITING", "how they wait for the last; block"),
    ],
};

pub(crate) const PIPE: Section = Section {
    title: "[pipes.NAME]",
    about: "A queue of tokens.",
    keys: &[
        key("capacity", "1 to 4294967295", "how many tokens fit; any number"),
        key("tokens", "0 to 4294967295", "how many are in it at the start; 0"),
        key("waiting", "WAITING", "how tasks wait for a token or for room; block"),
        key(
            "sync",
            "true | false",
            "whether the waker says that it is about to sleep; true if block",
        ),
    ],
};

pub(crate) const TASK: Section = Section {
    title: "[[tasks]]",
    about: "Tasks of one kind: with a program of their own, or made by a function of the \
            catalogue, whose arguments are further keys.",
    keys: &[
        key("name", "text", "what they are called; with `use` the function's name unless set"),
        key("program", "list of steps", "what each does"),
        key("use", "text", "the function of the catalogue that makes them"),
        key("count", "0 to 100000", "how many, with `program`; 1"),
        key("at", "TIME", "when they are created; 0ns"),
        key("from", "CPU", "the CPU of whoever creates them; 0"),
        key("from-node", "node", "the same, by node: its first CPU"),
        key("nice", "-20 to 19", "nice value; 0"),
        key("group", "group", "the session or cgroup; the root"),
        key("cpus", "\"0-3,8\" | \"all\"", "the CPUs on which they may run; all"),
        key("nodes", "\"1,2\" | \"all\"", "the same, by node"),
        key(
            "job",
            "number",
            "the parallel job that they are, for schedulers that run jobs as a whole",
        ),
        key(
            "deadline",
            "TIME",
            "how long after its release each job should be complete, for real-time schedulers; \
             the period of its `every`",
        ),
        key(
            "wcet",
            "TIME",
            "the longest that a job computes, for real-time schedulers; what the program says",
        ),
        key("background", "true | false", "whether nobody waits for them to end"),
        key("kthread", "true | false", "whether they are kernel threads"),
        key("priority", "number", "priority of OSv: half the value gets twice the CPU time; 1"),
        key("forked", "true | false", "whether only `fork` creates them"),
    ],
};

pub(crate) const HOTPLUG: Section = Section {
    title: "[[hotplug]]",
    about: "A CPU that goes off, comes back, or both.",
    keys: &[
        key("cpu", "CPU", "which; required"),
        key("off", "TIME", "when it goes off"),
        key("on", "TIME", "when it comes back"),
    ],
};

pub(crate) const VARIANT: Section = Section {
    title: "[[variants]]",
    about: "A run that differs: every key from `machine` to `hotplug`, merged into those of the \
            file. Tables are merged key by key, lists are replaced.",
    keys: &[key("name", "text", "what it is called; required")],
};

pub(crate) const FIGURE: Section = Section {
    title: "[[figures]]",
    about: "A number: a measure of a variant, maybe over another, over all seeds.",
    keys: &[
        key("name", "text", "what it is called; required"),
        key("measure", "MEASURE", "what is measured; required"),
        key(
            "of",
            "task or mark",
            "whose: a name in which `*` stands for anything; all that are awaited",
        ),
        key("variant", "text", "in which variant; the only one"),
        key("within", "TIME", "with `marks`: only those at most so late"),
        key("percentile", "0.001 to 100", "with `wait`: which percentile; the longest"),
        key("over", "table | TIME | number", "what it is divided by, for each seed; nothing"),
        key("pick", "PICK", "one number of all seeds; median"),
        key("published", "number", "what the source says"),
        key("band", "[low, high]", "where it should lie; from 1e6 on the upper end is open"),
        key("formula", "number | table", "what reasoning predicts"),
        key("why", "text", "why it is what it is, in a sentence"),
    ],
};

pub(crate) const QUANTITY: Section = Section {
    title: "over",
    about: "What a figure is divided by. What it does not say is as in the figure.",
    keys: &[
        key("measure", "MEASURE", "what is measured"),
        key("of", "task or mark", "whose"),
        key("variant", "text", "in which variant"),
        key("within", "TIME", "with `marks`: only those at most so late"),
        key("percentile", "0.001 to 100", "with `wait`: which percentile; the longest"),
    ],
};

pub(crate) const FORMULA: Section = Section {
    title: "formula",
    about: "A prediction and where it comes from.",
    keys: &[
        key("value", "number", "what it gives here; required"),
        key("text", "text", "the formula"),
    ],
};
