//! The tables and keys of a sweep, for the reader and for the documentation.

use crate::scenario::{Key, Section};

const fn key(name: &'static str, form: &'static str, about: &'static str) -> Key {
    Key { name, form, about }
}

/// The tables, in the order of the documentation.
pub const SCHEMA: &[&Section] = &[&SWEEP, &POINTS, &STEPS, &TESTS, &CURVE];

/// The required value of `schema`.
pub(super) const VERSION: &str = "wastenot.sweep/1";

pub(super) const SWEEP: Section = Section {
    title: "the file",
    about: "A sweep is one TOML file. Its name is the file name without `.toml`.",
    keys: &[
        key("schema", "\"wastenot.sweep/1\"", "the version of this schema; required"),
        key("about", "text", "what it shows, in one sentence"),
        key("source", "text", "the source of its numbers"),
        key("seed", "whole number from 0", "the seed; another seed gives other sets; default: `1`"),
        key("sets", "1 to 100000", "the number of sets at each point; default: `100`"),
        key("points", "table", "the parameters of the sets; required"),
        key("tests", "table", "the schedulability tests"),
        key("criteria", "list of `hard`, `soft`", "an axis of every curve; default: both"),
        key(
            "overheads",
            "text",
            "a table of overheads, by its path relative to this file; `${cpus}` is the number of \
             CPUs, per cluster if there are clusters",
        ),
        key(
            "cache_delay",
            "numbers from 0 to 100",
            "the factors of the table's `cache_delay`: an axis of every curve with \
             overheads; default: `0` and `1`",
        ),
        key("curves", "list of tables", "how sets are judged; at least one"),
    ],
};

pub(super) const POINTS: Section = Section {
    title: "[points]",
    about: "The parameters of the sets. Each key has one or more values; the points are all \
            combinations.",
    keys: &[
        key("cpus", "1 to 8192", "CPUs of the machine; required"),
        key("tasks", "whole numbers", "tasks in a set; this or `tasks_per_cpu` is required"),
        key(
            "tasks_per_cpu",
            "numbers",
            "tasks per CPU; the product with `cpus` must be a whole \
                                         number",
        ),
        key("total", "numbers", "the total utilization of a set, or its cap"),
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
    about: "Every key for numbers accepts one number, a list, or a table with these keys.",
    keys: &[
        key("from", "number", "the first; required"),
        key("step", "number above 0", "the difference between neighbours; required"),
        key(
            "to",
            "number",
            "the maximum; required, except for `total`, where the default is the \
                             number of CPUs",
        ),
    ],
};

pub(super) const TESTS: Section = Section {
    title: "[tests]",
    about: "Tests run from the cheapest to the most expensive; a set is accepted by the first test \
            that accepts it.",
    keys: &[
        key(
            "hard",
            "list of tests",
            "the tests for the criterion `hard`; default: all tests of global EDF",
        ),
        key(
            "rta_step",
            "TIME",
            "the least growth of a response time per step of RTA; default: `1us`",
        ),
        key(
            "budget",
            "whole number",
            "the maximum number of steps of each test for a set; default: `200000000`",
        ),
    ],
};

pub(super) const CURVE: Section = Section {
    title: "[[curves]]",
    about: "A way to judge all the sets. Curves do not affect the sets: all curves judge the same \
            sets.",
    keys: &[
        key("name", "text", "its name; required"),
        key(
            "implementation",
            "IMPLEMENTATION",
            "the scheduler implementation, which determines \
                                                 the overheads; `none` has none",
        ),
        key(
            "spare",
            "whole number",
            "CPUs that run no task; default: those that the implementation uses for itself",
        ),
        key(
            "cluster",
            "whole number",
            "sets are divided among clusters of this many CPUs, and each cluster is judged as a \
             machine of its own; 1 is partitioned",
        ),
        key("overheads", "text", "a table that replaces the file's"),
    ],
};
