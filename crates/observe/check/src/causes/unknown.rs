//! What is not known.

use super::Cause;

/// What is not known.
pub(super) static CAUSE: Cause = Cause {
    path: "unknown",
    about: "the trace does not show what caused the wait",
    evidence: "The trace has no evidence for any other cause.",
    refuted_by: "The trace has evidence for another cause.",
    advice: "Record with wastenot record: its traces contain the start state, affinities, \
        priorities and throttling.",
    source: "docs/reference/formats.md",
    missing: "The start of the wait, if it lies before the trace or in a loss. Or throttling, if \
        the source does not record it.",
    named: true,
    holds: |_| true,
};
