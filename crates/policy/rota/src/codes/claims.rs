//! R6xx: claims.

use super::Code;

pub(super) const CODES: &[Code] = &[Code {
    code: "R601",
    title: "a claim with the wrong bound",
    about: "Some claims have a bound: `rounds(<= idle_cpus)`, or `rounds(<= idle_cpus + \
            periodic_moves)` if CPUs also balance regularly; `wait(dispatches <= position + \
            direct_runs)`; `lag(<= 20ms)` with any time. The others have none.",
    wrong: "prove rounds(<= 3)\n",
    right: "prove rounds(<= idle_cpus)\n",
}];
