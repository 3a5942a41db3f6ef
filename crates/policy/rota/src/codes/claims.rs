//! R6xx: claims.

use super::Code;

pub(super) const CODES: &[Code] = &[Code {
    code: "R601",
    title: "a claim with the wrong bound",
    about: "Some claims have a bound: `rounds(<= idle_cpus)`; `rounds(<= idle_cpus + \
            periodic_moves)` if CPUs also balance regularly; `wait(dispatches <= position + \
            direct_runs)`; and `lag(<= 20ms)` with any time. The other claims have no bound.",
    wrong: "prove rounds(<= 3)\n",
    right: "prove rounds(<= idle_cpus)\n",
}];
