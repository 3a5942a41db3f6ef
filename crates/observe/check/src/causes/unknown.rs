//! What is not known.

use super::Cause;

/// What is not known.
pub(super) static CAUSE: Cause = Cause {
    path: "unknown",
    about: "the recording does not show what led to the wait",
    evidence: "None for any other cause.",
    refuted_by: "Evidence for any other cause.",
    advice: "Record with wastenot record: it stores the start state, affinities, priorities \
        and throttling.",
    source: "docs/reference/formats.md",
    missing: "The start of the wait: it lies before the recording or in a loss. Or \
        throttling, which the source does not record.",
    named: true,
    holds: |_| true,
};
