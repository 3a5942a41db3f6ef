//! The tables and keys of a sweep, for the reader and for the documentation.

use crate::scenario::Section;
use crate::scenario::schema::key;

/// The tables, in the order of the documentation.
pub const SCHEMA: &[&Section] = &[&SWEEP, &POINTS, &STEPS, &TESTS, &CURVE];

/// The required value of `schema`.
pub(super) const VERSION: &str = "wastenot.sweep/1";

pub(super) const SWEEP: Section = Section {
    title: "the file",
    about: "A sweep is one TOML file. The sweep's name is the file name without `.toml`.",
    keys: &[
        key("schema", "\"wastenot.sweep/1\"", "the version of this schema; required"),
        key("about", "text", "a short description of the sweep"),
        key("source", "text", "the source of its numbers"),
        key("seed", "whole number from 0", "the seed of the random task sets; default: `1`"),
        key("sets", "1 to 100000", "the number of task sets at each point; default: `100`"),
        key("points", "table", "the parameters of the task sets; required"),
        key("tests", "table", "the schedulability tests"),
        key(
            "criteria",
            "list of `hard`, `soft`",
            "the criteria; each curve is computed for each criterion; default: both",
        ),
        key(
            "overheads",
            "text",
            "the path of a table of overheads, relative to this file. In the path, `${cpus}` \
             stands for the number of CPUs of the machine, or of a cluster if the curve has \
             clusters",
        ),
        key(
            "cache_delay",
            "numbers from 0 to 100",
            "factors for the column `cache_delay` of the table of overheads. Each curve with \
             overheads is computed once for each factor; default: `0` and `1`",
        ),
        key(
            "curves",
            "list of tables",
            "the curves; each curve is a way to judge the task sets; at least one curve",
        ),
    ],
};

pub(super) const POINTS: Section = Section {
    title: "[points]",
    about: "The parameters of the task sets. Each key has one or more values. Every combination of \
            these values is one point of the sweep.",
    keys: &[
        key("cpus", "1 to 8192", "the number of CPUs of the machine; required"),
        key(
            "tasks",
            "whole numbers",
            "the number of tasks in a set; this key or `tasks_per_cpu` is required",
        ),
        key(
            "tasks_per_cpu",
            "numbers",
            "the number of tasks per CPU; the product with `cpus` must be a whole number",
        ),
        key(
            "total",
            "numbers",
            "the total utilization of a set, or the upper limit of this utilization",
        ),
        key("utilizations", "UTILIZATIONS", "the distribution of utilizations; required"),
        key(
            "periods",
            "PERIODS",
            "the distribution of periods, such as \"log-uniform 10-100 ms\"; required",
        ),
        key("deadlines", "DEADLINES", "the distribution of deadlines; default: `implicit`"),
        key("working_sets", "text", "the distribution of working sets; default: `4-512 KiB`"),
    ],
};

pub(super) const STEPS: Section = Section {
    title: "numbers",
    about: "Where a key expects numbers, write one number, a list of numbers, or a table with the \
            keys `from`, `step` and `to`.",
    keys: &[
        key("from", "number", "the first value; required"),
        key("step", "number above 0", "the difference between two neighbours; required"),
        key(
            "to",
            "number",
            "the upper limit of the values; required, except for `total`, where the default is the \
             number of CPUs",
        ),
    ],
};

pub(super) const TESTS: Section = Section {
    title: "[tests]",
    about: "Tests run from the cheapest to the most expensive. After a test has accepted a set, no \
            further test runs for this set.",
    keys: &[
        key(
            "hard",
            "list of tests",
            "the tests for the criterion `hard`; default: all tests of global EDF",
        ),
        key(
            "rta_step",
            "TIME",
            "response-time analysis (RTA) increases a response time step by step: the smallest \
             increase in one step; default: `1us`",
        ),
        key(
            "budget",
            "whole number",
            "the maximum number of steps of each test for one set; default: `200000000`",
        ),
    ],
};

pub(super) const CURVE: Section = Section {
    title: "[[curves]]",
    about: "A curve: one way to judge the task sets. All curves judge the same sets.",
    keys: &[
        key("name", "text", "the name of the curve; required"),
        key(
            "implementation",
            "IMPLEMENTATION",
            "the implementation of the scheduler, which determines the overheads; with `none`, the \
             scheduler has no overheads",
        ),
        key(
            "spare",
            "whole number",
            "the number of CPUs that run no task; default: the number of CPUs that the \
             implementation uses for itself",
        ),
        key(
            "cluster",
            "whole number",
            "the number of CPUs in a cluster. The tasks of a set are divided among the clusters, \
             and each cluster is judged separately. With `1`, the scheduler is partitioned",
        ),
        key("overheads", "text", "a table of overheads that replaces the table of the file"),
    ],
};
