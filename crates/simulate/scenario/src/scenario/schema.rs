//! The tables and keys of a scenario, for the reader and for the documentation.

/// A table of a scenario.
#[derive(Debug)]
pub struct Section {
    /// Its header: `[costs]`.
    pub title: &'static str,
    /// Its contents, in one line.
    pub about: &'static str,
    /// Its keys.
    pub keys: &'static [Key],
}

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The text before the equals sign.
    pub name: &'static str,
    /// The form of the value.
    pub form: &'static str,
    /// Its meaning and its default.
    pub about: &'static str,
}

const fn key(name: &'static str, form: &'static str, about: &'static str) -> Key {
    Key { name, form, about }
}

/// The tables, in the order of the documentation.
pub const SCHEMA: &[&Section] = &[
    &SCENARIO, &COSTS, &SCHEDULER, &GROUP, &LOCK, &BARRIER, &PIPE, &TASK, &HOTPLUG, &VARIANT,
    &FIGURE, &QUANTITY, &FORMULA,
];

/// The required value of `schema`.
pub(crate) const VERSION: &str = "wastenot.scenario/1";

/// The keys of the file that a variant cannot change.
pub(crate) const HEAD: &[&str] =
    &["schema", "about", "source", "seeds", "limit", "sweep", "variants", "figures"];

pub(crate) const SCENARIO: Section = Section {
    title: "the file",
    about: "A scenario is one TOML file. Its name is the file name without `.toml`.",
    keys: &[
        key("schema", "\"wastenot.scenario/1\"", "the version of this schema; required"),
        key("about", "text", "what it shows, in one sentence"),
        key("source", "text", "the source of its numbers"),
        key("seeds", "1 to 10000", "the number of seeds to run; default: `5`"),
        key("limit", "TIME", "the simulated time at which a run is stopped; default: `600s`"),
        key(
            "machine",
            "text",
            "a preset or an hwloc description, in the file or in each variant; required",
        ),
        key("parameters", "table", "texts and numbers, which replace `${name}` in any text"),
        key("costs", "table", "the costs on the machine; default: none"),
        key(
            "ambient",
            "RECORDING",
            "background kernel threads and late interrupts, as in a recording \
             (docs/explain/simulate.md); default: none",
        ),
        key("scheduler", "table", "its name, with its tunables as further keys; required"),
        key("groups", "tables by name", "sessions and cgroups"),
        key("locks", "tables by name", "locks"),
        key("barriers", "tables by name", "barriers"),
        key("pipes", "tables by name", "bounded queues of tokens"),
        key(
            "conditions",
            "list of names",
            "condition variables: a signal without a waiter is lost",
        ),
        key("tasks", "list of tables", "tasks"),
        key("hotplug", "list of tables", "CPUs that go offline and come back"),
        key("variants", "list of tables", "runs that differ; default: one run called `default`"),
        key("sweep", "lists by parameter", "one variant for each combination of the values"),
        key("figures", "list of tables", "the numbers that are measured and compared"),
    ],
};

pub(crate) const COSTS: Section = Section {
    title: "[costs]",
    about: "The costs on the machine. By default all are off: then every effect comes from \
            scheduling decisions.",
    keys: &[
        key("switch", "TIME", "CPU time of a context switch; default: `0ns`"),
        key("ipi", "TIME", "time until a CPU reacts to a kick from another CPU; default: `0ns`"),
        key(
            "migration",
            "four TIMEs",
            "CPU time lost by a migration to a sibling, within the cache, within the node, \
             and further; default: `0ns` each",
        ),
        key(
            "cold",
            "TIME",
            "CPU time lost if another task has run on the CPU since; default: `0ns`",
        ),
        key("smt", "0.1 to 1", "speed while a sibling is busy, as a share; default: `1`"),
        key(
            "spin-yields",
            "true | false",
            "whether a spinning sibling leaves full speed to the other",
        ),
        key(
            "scan",
            "TIME",
            "the price of newly-idle balancing for each CPU of a domain: models of Linux leave \
             a pass out where the CPU was idle for less on average; it takes no CPU time; \
             default: `100ns`",
        ),
        key(
            "remote",
            "list of 0.1 to 1",
            "speed one, two, ... hops away from the task's first node, as shares; default: \
             `1`",
        ),
    ],
};

pub(crate) const SCHEDULER: Section = Section {
    title: "[scheduler]",
    about: "The scheduler. Keys that are not in this table are tunables of the scheduler. A \
            variant with a name starts from that scheduler's defaults; a variant without a name \
            changes tunables only. Paths of files are relative to the scenario.",
    keys: &[key("name", "text", "the scheduler, or the file of a policy (`x.rota`)")],
};

pub(crate) const GROUP: Section = Section {
    title: "[groups.NAME]",
    about: "A session (which autogroup turns into a group) or a cgroup.",
    keys: &[
        key(
            "session",
            "true | false",
            "whether it is a session; schedulers without autogroup ignore sessions",
        ),
        key("parent", "group", "its parent group; default: the root"),
        key("shares", "2 to 262144", "its weight among its siblings; default: `1024`"),
        key(
            "quota",
            "\"10ms/100ms\"",
            "CPU time that it may use in each period; default: unlimited",
        ),
        key("cpus", "\"0-3,8\" | \"all\"", "the CPUs that its tasks may use; default: `all`"),
    ],
};

pub(crate) const LOCK: Section = Section {
    title: "[locks.NAME]",
    about: "A lock. Waiters get it in the order of arrival.",
    keys: &[key("waiting", "WAITING", "how tasks wait for it; default: `block`")],
};

pub(crate) const BARRIER: Section = Section {
    title: "[barriers.NAME]",
    about: "A barrier: the last task to arrive lets all continue.",
    keys: &[
        key("parties", "1 to 100000", "how many tasks must arrive; required"),
        key("waiting", "WAITING", "how tasks wait for the last one; default: `block`"),
    ],
};

pub(crate) const PIPE: Section = Section {
    title: "[pipes.NAME]",
    about: "A queue of tokens.",
    keys: &[
        key("capacity", "1 to 4294967295", "how many tokens fit; default: unlimited"),
        key("tokens", "0 to 4294967295", "how many tokens are in it at the start; default: `0`"),
        key("waiting", "WAITING", "how tasks wait for a token or for room; default: `block`"),
        key(
            "sync",
            "true | false",
            "whether a wakeup is synchronous: the waker is about to sleep; default: `true` \
             with `block`",
        ),
    ],
};

pub(crate) const TASK: Section = Section {
    title: "[[tasks]]",
    about: "Tasks of one kind: with a program of their own, or made by a function of the \
            catalogue. The function's arguments are further keys.",
    keys: &[
        key("name", "text", "their name; default, with `use`: the function's name"),
        key("program", "list of steps", "the program of each task"),
        key("use", "text", "the function of the catalogue that makes them"),
        key("count", "0 to 100000", "the number of tasks, with `program`; default: `1`"),
        key("at", "TIME", "when they are created; default: `0ns`"),
        key("from", "CPU", "the CPU of the task that creates them; default: `0`"),
        key("from-node", "node", "the same, by node: the node's first CPU"),
        key("nice", "-20 to 19", "nice value; default: `0`"),
        key(
            "class",
            "CLASS",
            "scheduling class, in a real kernel (`run --on`): `other`, `batch`, `idle`, `fifo 50`, \
             `rr 10` (priorities from 1 to 99), or `deadline`, with runtime, deadline and period \
             from `wcet`, `deadline` and `every`; default: `other`",
        ),
        key("group", "group", "the session or cgroup; default: the root"),
        key("cpus", "\"0-3,8\" | \"all\"", "the CPUs on which they may run; default: `all`"),
        key("nodes", "\"1,2\" | \"all\"", "the same, by node"),
        key(
            "job",
            "number",
            "their parallel job, for schedulers that run all tasks of a job together",
        ),
        key(
            "deadline",
            "TIME",
            "the time after its release within which each job should complete, for \
             real-time schedulers; default: the period of its `every`",
        ),
        key(
            "wcet",
            "TIME",
            "the maximum CPU time of a job, for real-time schedulers; default: computed \
             from the program; required in the class `deadline`",
        ),
        key("background", "true | false", "whether the run may end before they do"),
        key("kthread", "true | false", "whether they are kernel threads"),
        key(
            "priority",
            "number",
            "OSv priority: half the value gets twice the CPU time; default: `1`",
        ),
        key("forked", "true | false", "whether only `fork` creates them"),
    ],
};

pub(crate) const HOTPLUG: Section = Section {
    title: "[[hotplug]]",
    about: "A CPU that goes offline, comes back, or both.",
    keys: &[
        key("cpu", "CPU", "the CPU; required"),
        key("off", "TIME", "when it goes offline"),
        key("on", "TIME", "when it comes back online"),
    ],
};

pub(crate) const VARIANT: Section = Section {
    title: "[[variants]]",
    about: "A run that differs. It may have every key from `machine` to `hotplug`; these are \
            merged into those of the file. Tables are merged key by key, lists are replaced.",
    keys: &[key("name", "text", "its name; required")],
};

pub(crate) const FIGURE: Section = Section {
    title: "[[figures]]",
    about: "A number: a measure of a variant, possibly divided by another, for all seeds.",
    keys: &[
        key("name", "text", "its name; required"),
        key("measure", "MEASURE", "the measure; required"),
        key(
            "of",
            "task or mark",
            "the tasks or marks: a name, with `*` for any text; default: all awaited \
             tasks, or all marks",
        ),
        key("variant", "text", "the variant; default: the only one"),
        key("within", "TIME", "with `marks`: only marks with at most this delay"),
        key(
            "percentile",
            "0.001 to 100",
            "with `wait`: the percentile; default: `100`, the longest wait",
        ),
        key("over", "table | TIME | number", "the divisor, for each seed; default: none"),
        key("pick", "PICK", "how the values of all seeds become one; default: `median`"),
        key("published", "number", "the value in the source"),
        key("band", "[low, high]", "the expected range; an upper end of 1e6 or more is open"),
        key("formula", "number | table", "the value that a theory predicts"),
        key("why", "text", "the reason for the expected value, in one sentence"),
    ],
};

pub(crate) const QUANTITY: Section = Section {
    title: "over",
    about: "The divisor of a figure. Absent keys are as in the figure.",
    keys: &[
        key("measure", "MEASURE", "the measure"),
        key("of", "task or mark", "the tasks or marks"),
        key("variant", "text", "the variant"),
        key("within", "TIME", "with `marks`: only marks with at most this delay"),
        key(
            "percentile",
            "0.001 to 100",
            "with `wait`: the percentile; default: `100`, the longest wait",
        ),
    ],
};

pub(crate) const FORMULA: Section = Section {
    title: "formula",
    about: "A prediction and its formula.",
    keys: &[key("value", "number", "its value here; required"), key("text", "text", "the formula")],
};
