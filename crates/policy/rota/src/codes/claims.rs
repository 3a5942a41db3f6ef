//! R6xx: claims.

use super::Code;

pub(super) const CODES: &[Code] = &[Code {
    code: "R601",
    title: "a claim with the wrong bound",
    about: "Only `rounds`, `wait` and `lag` have a bound. Write `rounds(<= idle_cpus)`, or \
            `rounds(<= idle_cpus + periodic_moves)` if CPUs also balance regularly. Write \
            `wait(dispatches <= position + direct_runs)`. The bound of `lag` can be any time, for \
            example `lag(<= 20ms)`.",
    wrong: "prove rounds(<= 3)\n",
    right: "prove rounds(<= idle_cpus)\n",
}];
