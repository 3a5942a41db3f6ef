//! The whole file: the fixed parts from `text/`, and between them the code of the policies.

use sha2::{Digest as _, Sha256};

use super::Options;
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
const LOG: &str = include_str!("text/log.c");
const MASK: &str = include_str!("text/mask.c");
const TIMER: &str = include_str!("text/timer.c");
const MAP: &str = include_str!("text/map.c");
pub(super) const PART: &str = include_str!("text/part.c");
pub(super) const OPTIONAL: &str = include_str!("text/optional.c");
const SCAN: &str = include_str!("text/scan.c");
const CHAIN: &str = include_str!("text/chain.c");
pub(super) const OPS: &str = include_str!("text/ops.c");
const DIGEST: &str = include_str!("text/digest.c");
const TEXTS: [&str; 19] = [
    KERNEL, TIMER, MAP, MACHINE, LOG, STATE, MASK, NUMBER, CLAIM, WEIGHT, QUEUE, KEYS, SCAN, PART,
    CHAIN, PERIOD, OPTIONAL, OPS, DIGEST,
];

/// Whether `text/` uses a name.
pub(super) fn taken(name: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    TEXTS.iter().any(|text| text.split(|c| !part(c)).any(|word| word.eq_ignore_ascii_case(name)))
}

/// Writes the file.
pub(super) fn write(program: &Program, options: Options) -> String {
    let written = |policy| Written::of(policy, options);
    let policies: Vec<Written> = program.policies.iter().map(written).collect();
    let parts = Parts { program, policies: &policies, options };
    let chosen = |text: &str| options.choose(text);
    let policy: String = policies.iter().map(one).collect();
    let chain = chosen(CHAIN).replace("@CHAIN@", &parts.chain());
    let mut after =
        [&policy, "\n", &parts.glue(), &chain, "\n", &parts.periods(), &parts.ops()].concat();
    let weighs = policy.contains("queued_weight(");
    let queue = parts.hooks(&chosen(QUEUE), weighs);
    let scan = parts.hooks(&chosen(SCAN), weighs);
    let mask = if options.steps { MASK } else { "" };
    for text in [&scan, KEYS, &queue, WEIGHT, &chosen(CLAIM), NUMBER, mask] {
        let text = needed(text, &after);
        after = if text.is_empty() { after } else { text + "\n" + &after };
    }
    let state = chosen(STATE).replace("@TASK_VARS@", &parts.task_vars());
    let state = state.replace("@FRAME@", &parts.frame());
    let after = parts.looks() + &after;
    let state = needed(&state, &after);
    let machine = needed(MACHINE, &[state.as_str(), &after].concat());
    let log = if options.steps { [LOG, "\n"].concat() } else { String::new() };
    let timed = after.contains("bpf_timer");
    let maps = if after.contains("MAP(") { MAP } else { "" };
    let kernel = chosen(KERNEL).replace("@MAPS@", &[maps, if timed { TIMER } else { "" }].concat());
    let end = [&log, &parts.kinds(), &state, "\n", &after].concat();
    let text = [&parts.head(), kernel.as_str(), "\n", &machine, "\n", &end, "\n"].concat();
    let digest = DIGEST.replace("@DIGEST@", &format!("{:#018x}", digest(&text)));
    text + &digest
}

/// The digest of a written file, which its object has as `text_digest`: the first bytes of the
/// SHA-256 of the text before that, without its comments.
pub(super) fn digest(text: &str) -> u64 {
    let about = DIGEST.split('@').next().unwrap_or_default();
    let before = text.find(about).map_or(text, |at| &text[..at]);
    let [a, b, c, d, e, f, g, h, ..]: [u8; 32] = Sha256::digest(without_comments(before)).into();
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

fn without_comments(text: &str) -> String {
    let mut parts = text.split("/*");
    let mut code = parts.next().unwrap_or_default().to_owned();
    parts.for_each(|part| code += part.split_once("*/").map_or("", |(_, code)| code));
    code
}

impl Options {
    /// The lines of a text that are asked for. As in a difference of texts, lines that begin with
    /// `+` are there only if steps are logged, and those that begin with `-` only if not.
    pub(super) fn choose(self, text: &str) -> String {
        let line = |line: &'_ str| match (line.as_bytes().first(), self.steps) {
            (Some(b'+'), true) | (Some(b'-'), false) => Some(line[1..].to_owned()),
            (Some(b'+' | b'-'), _) => None,
            _ => Some(line.to_owned()),
        };
        text.split_inclusive('\n').filter_map(line).collect()
    }
}
