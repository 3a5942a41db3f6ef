//! What may stand in a sweep: the tables and keys, for readers and for documentation.

use crate::scenario::{Key, Section};

const fn key(name: &'static str, form: &'static str, about: &'static str) -> Key {
    Key { name, form, about }
}

/// The tables, in the order of documentation.
pub const SCHEMA: &[&Section] = &[&SWEEP, &POINTS, &STEPS, &TESTS, &CURVE];

/// What `schema` has to be.
pub(super) const VERSION: &str = "wastenot.sweep/1";

pub(super) const SWEEP: Section = Section {
    title: "the file",
    about: "A sweep is one TOML file. Its name is the file's without `.toml`.",
    keys: &[
        key("schema", "\"wastenot.sweep/1\"", "the version of this schema; required"),
        key("about", "text", "what it shows, in a sentence"),
        key("source", "text", "where its numbers are from"),
        key("seed", "whole number from 0", "another seed, other sets; 1"),
        key("sets", "1 to 100000", "how many sets are made at each point; 100"),
        key("points", "table", "what sets are like; required"),
        key("tests", "table", "who judges them"),
        key("criteria", "list of `hard`, `soft`", "an axis of every curve; both"),
        key(
            "overheads",
            "text",
            "a table of overheads, by its path from here; `${cpus}` is their number, of a cluster \
             if there are any",
        ),
        key(
            "cache_delay",
            "numbers from 0 to 100",
            "what the table's `cache_delay` is multiplied by: an axis of every curve with \
             overheads; 0 and 1",
        ),
        key("curves", "list of tables", "how sets are judged; at least one"),
    ],
};

pub(super) const POINTS: Section = Section {
    title: "[points]",
    about: "What sets are like. Each key is one value or several, and points are all combinations.",
    keys: &[
        key("cpus", "1 to 8192", "CPUs of the machine; required"),
        key("tasks", "whole numbers", "tasks of a set; this or the next is required"),
        key("tasks_per_cpu", "numbers", "the same for each CPU; has to come to a whole number"),
        key("total", "numbers", "what a set's utilizations come to, or their cap"),
        key("utilizations", "UTILIZATIONS", "what they are distributed like; required"),
        key("periods", "PERIODS", "\"log-uniform 10-100 ms\"; required"),
        key("deadlines", "DEADLINES", "\"implicit\" unless set"),
        key("working_sets", "text", "\"4-512 KiB\" unless set"),
    ],
};

pub(super) const STEPS: Section = Section {
    title: "numbers",
    about: "Wherever there are numbers: one, a list of them, or a table with these keys.",
    keys: &[
        key("from", "number", "the first; required"),
        key("step", "number above 0", "from one to the next; required"),
        key("to", "number", "none is greater; required, but of `total` it is the number of CPUs"),
    ],
};

pub(super) const TESTS: Section = Section {
    title: "[tests]",
    about: "Sets are accepted by the first test that does, from the cheapest on.",
    keys: &[
        key("hard", "list of tests", "who is asked with the criterion `hard`; all of global EDF"),
        key("rta_step", "TIME", "by how much RTA's response times grow at least; 1us"),
        key("budget", "whole number", "steps that each test may take for a set; 200000000"),
    ],
};

pub(super) const CURVE: Section = Section {
    title: "[[curves]]",
    about: "A way to judge all the sets. Curves draw nothing: all have the same sets.",
    keys: &[
        key("name", "text", "what it is called; required"),
        key("implementation", "IMPLEMENTATION", "who pays for what; `none` has no overheads"),
        key("spare", "whole number", "CPUs that run no task; those that the implementation takes"),
        key(
            "cluster",
            "whole number",
            "sets are divided among clusters of so many CPUs, and each is a machine of its own; \
             1 is partitioned",
        ),
        key("overheads", "text", "another table than the file's"),
    ],
};
