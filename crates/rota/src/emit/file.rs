//! The whole file: the fixed parts from `text/`, and between them the code of the policies.

use super::parts::Parts;
use super::pieces::needed;
use super::policy::{Written, one};
use crate::ir::Program;

const KERNEL: &str = include_str!("text/kernel.c");
const MACHINE: &str = include_str!("text/machine.c");
const STATE: &str = include_str!("text/state.c");
const NUMBER: &str = include_str!("text/number.c");
const CLAIM: &str = include_str!("text/claim.c");
const QUEUE: &str = include_str!("text/queue.c");
const WEIGHT: &str = include_str!("text/weight.c");
const KEYS: &str = include_str!("text/keys.c");
pub(super) const PERIOD: &str = include_str!("text/period.c");
const TIMER: &str = include_str!("text/timer.c");
const MAP: &str = include_str!("text/map.c");
pub(super) const PART: &str = include_str!("text/part.c");
pub(super) const OPTIONAL: &str = include_str!("text/optional.c");
const SCAN: &str = include_str!("text/scan.c");
const CHAIN: &str = include_str!("text/chain.c");
pub(super) const OPS: &str = include_str!("text/ops.c");
const TEXTS: [&str; 16] = [
    KERNEL, TIMER, MAP, MACHINE, STATE, NUMBER, CLAIM, WEIGHT, QUEUE, KEYS, SCAN, PART, CHAIN,
    PERIOD, OPTIONAL, OPS,
];

/// Whether `text/` uses a name.
pub(super) fn taken(name: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    TEXTS.iter().any(|text| text.split(|c| !part(c)).any(|word| word.eq_ignore_ascii_case(name)))
}

/// Writes the file.
pub(super) fn write(program: &Program) -> String {
    let policies: Vec<Written> = program.policies.iter().map(Written::of).collect();
    let parts = Parts { program, policies: &policies };
    let policy: String = policies.iter().map(one).collect();
    let chain = CHAIN.replace("@CHAIN@", &parts.chain());
    let mut after =
        [&policy, "\n", &parts.glue(), &chain, "\n", &parts.periods(), &parts.ops()].concat();
    let weighs = policy.contains("queued_weight(");
    let queue = parts.hooks(QUEUE, weighs);
    let scan = parts.hooks(SCAN, weighs);
    for text in [&scan, KEYS, &queue, WEIGHT, CLAIM, NUMBER] {
        let text = needed(text, &after);
        after = if text.is_empty() { after } else { text + "\n" + &after };
    }
    let state = STATE.replace("@TASK_VARS@", &parts.task_vars()).replace("@FRAME@", &parts.frame());
    let after = parts.looks() + &after;
    let state = needed(&state, &after);
    let machine = needed(MACHINE, &[state.as_str(), &after].concat());
    let timed = after.contains("bpf_timer");
    let maps = if after.contains("MAP(") { MAP } else { "" };
    let kernel = KERNEL.replace("@MAPS@", &[maps, if timed { TIMER } else { "" }].concat());
    [&parts.head(), kernel.as_str(), "\n", &machine, "\n", &parts.kinds(), &state, "\n", &after]
        .concat()
}
