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

pub(crate) const fn key(name: &'static str, form: &'static str, about: &'static str) -> Key {
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
    about: "A scenario is one TOML file. The scenario's name is the file name without `.toml`.",
    keys: &[
        key("schema", "\"wastenot.scenario/1\"", "the version of this schema; required"),
        key("about", "text", "a short description of the scenario"),
        key("source", "text", "the source of its numbers"),
        key(
            "seeds",
            "1 to 10000",
            "the number of seeds with which each variant runs; default: `5`",
        ),
        key("limit", "TIME", "the simulated time at which a run is stopped; default: `600s`"),
        key(
            "machine",
            "text",
            "the machine, as a preset or an hwloc description; this key is in the file or in each \
             variant; required",
        ),
        key(
            "parameters",
            "table",
            "parameters: every `${name}` in a text of the file is replaced by the value of the \
             parameter `name`",
        ),
        key("costs", "table", "the overheads of the machine; default: none"),
        key(
            "ambient",
            "RECORDING",
            "the recording of a real machine; the simulation has the same background kernel \
             threads and late interrupts (simulate.md); default: none",
        ),
        key(
            "scheduler",
            "table",
            "the scheduler; this table contains its name and the values of its tunables; required",
        ),
        key("groups", "tables by name", "sessions and cgroups"),
        key("locks", "tables by name", "locks"),
        key("barriers", "tables by name", "barriers"),
        key("pipes", "tables by name", "bounded queues of tokens"),
        key(
            "conditions",
            "list of names",
            "condition variables: a signal is lost if no task waits for it",
        ),
        key("tasks", "list of tables", "tasks"),
        key("hotplug", "list of tables", "CPUs that go offline and come back online"),
        key(
            "variants",
            "list of tables",
            "the variants of the run; default: one variant with the name `default`",
        ),
        key(
            "sweep",
            "lists by parameter",
            "parameters with their values; each combination of the values becomes one variant",
        ),
        key("figures", "list of tables", "the numbers that are measured and compared"),
    ],
};

pub(crate) const COSTS: Section = Section {
    title: "[costs]",
    about: "The overheads of the machine. By default, the simulated machine has no overheads. Then \
            every effect comes from decisions of the scheduler.",
    keys: &[
        key("switch", "TIME", "CPU time of a context switch; default: `0ns`"),
        key("ipi", "TIME", "time until a CPU reacts to a kick from another CPU; default: `0ns`"),
        key(
            "migration",
            "four TIMEs",
            "CPU time that a task loses by a migration. The four values are for migrations to (1) \
             an SMT sibling, (2) another core with the same cache, (3) another cache in the same \
             node, (4) another node. For each value, the default is `0ns`",
        ),
        key(
            "cold",
            "TIME",
            "CPU time that a task loses at its start on a CPU if another task has run there since \
             the task's last run; default: `0ns`",
        ),
        key(
            "smt",
            "0.1 to 1",
            "speed of a CPU while its SMT sibling is busy, as a share of full speed; default: `1`",
        ),
        key(
            "spin-yields",
            "true | false",
            "whether a CPU runs at full speed while its SMT sibling spins",
        ),
        key(
            "scan",
            "TIME",
            "the assumed cost of newly-idle balancing, for each CPU of a domain. Models of Linux \
             skip the balancing if the mean idle time of the CPU is shorter than this cost. In the \
             simulation, this cost uses no CPU time; default: `100ns`",
        ),
        key(
            "remote",
            "list of 0.1 to 1",
            "speed of a task on a CPU outside of the task's first node, as a share of full speed. \
             The first value is for a distance of one hop, the second value for two hops, and so \
             on; default: `1`",
        ),
    ],
};

pub(crate) const SCHEDULER: Section = Section {
    title: "[scheduler]",
    about: "The scheduler. Keys that are not in this table are tunables of the scheduler. If a \
            variant gives a `name` in this table, all tunables get the defaults of the named \
            scheduler first. If a variant gives no `name`, the variant only changes tunables. File \
            paths are relative to the scenario.",
    keys: &[key("name", "text", "the scheduler, or a policy file (`x.rota`)")],
};

pub(crate) const GROUP: Section = Section {
    title: "[groups.NAME]",
    about: "A group is a session or a cgroup. With autogroup, each session becomes a task group.",
    keys: &[
        key(
            "session",
            "true | false",
            "whether the group is a session; schedulers without autogroup ignore sessions",
        ),
        key("parent", "group", "the parent group; default: the root group"),
        key(
            "shares",
            "2 to 262144",
            "the weight among the groups with the same parent; default: `1024`",
        ),
        key(
            "quota",
            "\"10ms/100ms\"",
            "CPU time that the group may use in each period; default: unlimited",
        ),
        key(
            "cpus",
            "\"0-3,8\" | \"all\"",
            "the CPUs that the tasks of the group may use; default: `all`",
        ),
    ],
};

pub(crate) const LOCK: Section = Section {
    title: "[locks.NAME]",
    about: "A lock. Waiting tasks get the lock in the order of their arrival.",
    keys: &[key(
        "waiting",
        "WAITING",
        "the way in which tasks wait for the lock; default: `block`",
    )],
};

pub(crate) const BARRIER: Section = Section {
    title: "[barriers.NAME]",
    about: "A barrier. When the last task arrives, all tasks continue.",
    keys: &[
        key("parties", "1 to 100000", "the number of tasks that must arrive; required"),
        key(
            "waiting",
            "WAITING",
            "the way in which tasks wait for the last task; default: `block`",
        ),
    ],
};

pub(crate) const PIPE: Section = Section {
    title: "[pipes.NAME]",
    about: "A queue of tokens.",
    keys: &[
        key(
            "capacity",
            "1 to 4294967295",
            "the number of tokens that fit into the pipe; default: unlimited",
        ),
        key(
            "tokens",
            "0 to 4294967295",
            "the number of tokens in the pipe at the start; default: `0`",
        ),
        key(
            "waiting",
            "WAITING",
            "the way in which tasks wait for a token or for room; default: `block`",
        ),
        key(
            "sync",
            "true | false",
            "whether wakeups through the pipe are synchronous: a synchronous wakeup tells the \
             scheduler that the waker is about to sleep; default: `true` with `block`",
        ),
    ],
};

pub(crate) const TASK: Section = Section {
    title: "[[tasks]]",
    about: "Tasks of one kind. Either the key `program` gives the program of the tasks, or the key \
            `use` names a function of the catalogue that creates the tasks. The arguments of the \
            function are further keys of this table.",
    keys: &[
        key(
            "name",
            "text",
            "the name of the tasks; required with `program`; with `use`, the default is the name \
             of the function",
        ),
        key("program", "list of steps", "the program of each task"),
        key("use", "text", "the function of the catalogue that creates the tasks"),
        key("count", "0 to 100000", "with `program`: the number of tasks; default: `1`"),
        key("at", "TIME", "the time at which the tasks are created; default: `0ns`"),
        key("from", "CPU", "the CPU of the task that creates these tasks; default: `0`"),
        key(
            "from-node",
            "node",
            "like `from`, but names a node and means the first CPU of this node",
        ),
        key("nice", "-20 to 19", "the nice value; default: `0`"),
        key(
            "class",
            "CLASS",
            "the scheduling class in a real kernel (`run --on`): `other`, `batch`, `idle`, `fifo \
             50`, `rr 10` or `deadline`; default: `other`. Priorities of `fifo` and `rr` are from \
             1 to 99. The class `deadline` uses the keys `wcet` and `deadline`, and the period of \
             `every`",
        ),
        key("group", "group", "the session or cgroup of the tasks; default: the root group"),
        key("cpus", "\"0-3,8\" | \"all\"", "the CPUs on which the tasks may run; default: `all`"),
        key("nodes", "\"1,2\" | \"all\"", "like `cpus`, but gives nodes"),
        key(
            "job",
            "number",
            "the parallel job of the tasks; gang schedulers run all tasks of a job at the same \
             time",
        ),
        key(
            "deadline",
            "TIME",
            "the relative deadline of each job, for real-time schedulers; default: the period of \
             its `every`",
        ),
        key(
            "wcet",
            "TIME",
            "the maximum CPU time of a job, for real-time schedulers; default: computed from the \
             program; required in the class `deadline`",
        ),
        key("background", "true | false", "whether the run may end before these tasks end"),
        key("kthread", "true | false", "whether the tasks are kernel threads"),
        key(
            "priority",
            "number",
            "OSv priority: a task with half the value gets twice the CPU time; default: `1`",
        ),
        key("forked", "true | false", "whether the tasks are created only by `fork`"),
    ],
};

pub(crate) const HOTPLUG: Section = Section {
    title: "[[hotplug]]",
    about: "A CPU that goes offline or comes back online during the run.",
    keys: &[
        key("cpu", "CPU", "the CPU; required"),
        key("off", "TIME", "the time at which the CPU goes offline"),
        key("on", "TIME", "the time at which the CPU comes back online"),
    ],
};

pub(crate) const VARIANT: Section = Section {
    title: "[[variants]]",
    about: "A variant of the run. A variant may have every key from `machine` to `hotplug`. These \
            keys of the variant change the keys of the file: tables are merged key by key, and \
            lists are replaced.",
    keys: &[key("name", "text", "the name of the variant; required")],
};

pub(crate) const FIGURE: Section = Section {
    title: "[[figures]]",
    about: "A figure is a number: a measure of one variant over all seeds. A figure may divide \
            this measure by another measure.",
    keys: &[
        key("name", "text", "the name of the figure; required"),
        key("measure", "MEASURE", "the measure; required"),
        key(
            "of",
            "task or mark",
            "the name of the tasks or marks that the figure covers; `*` stands for any text; \
             default: all awaited tasks, or all marks",
        ),
        key("variant", "text", "the variant; required if there are several"),
        WITHIN,
        PERCENTILE,
        key("over", "table | TIME | number", "the divisor, for each seed; default: none"),
        key(
            "pick",
            "PICK",
            "the function that combines the values of all seeds; default: `median`",
        ),
        key("published", "number", "the value that the source reports"),
        key(
            "band",
            "[low, high]",
            "the expected range; an upper end of 1e6 or more means no upper limit",
        ),
        key("formula", "number | table", "the value that a theory predicts"),
        key("why", "text", "the reason for the expected value, in one sentence"),
    ],
};

const WITHIN: Key = key(
    "within",
    "TIME",
    "only for the measure `marks`: the longest delay of a mark that the figure counts",
);

const PERCENTILE: Key = key(
    "percentile",
    "0.001 to 100",
    "only for the measure `wait`: the percentile of the waits; default: `100`, which is the \
     longest wait",
);

pub(crate) const QUANTITY: Section = Section {
    title: "over",
    about: "The divisor of a figure. If this table lacks a key, the value of the same key in the \
            figure applies.",
    keys: &[
        key("measure", "MEASURE", "the measure"),
        key("of", "task or mark", "the tasks or marks"),
        key("variant", "text", "the variant"),
        WITHIN,
        PERCENTILE,
    ],
};

pub(crate) const FORMULA: Section = Section {
    title: "formula",
    about: "A prediction and its formula.",
    keys: &[
        key("value", "number", "the value of the formula for this scenario; required"),
        key("text", "text", "the formula"),
    ],
};
