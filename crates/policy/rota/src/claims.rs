//! The claims that a policy may declare, as a Report.

use wastenot_model::{Report, Table};

use crate::syntax::vocabulary::CLAIMS;

/// Every claim.
pub fn claims() -> Report {
    let mut report = Report::new("list.claims/1", "Claims");
    report.verdict = "A policy declares its claims with `prove ...`. `wastenot prove FILE` checks \
                      them (docs/explain/proofs.md)."
        .into();
    let columns = [("claim", "claim"), ("about", "meaning"), ("example", "")];
    let mut all = Table::listing("claims", "Claims", &columns);
    for claim in CLAIMS {
        all.push(vec![claim.form.into(), claim.about.into(), claim.example.into()]);
    }
    report.tables = vec![all];
    report
}
