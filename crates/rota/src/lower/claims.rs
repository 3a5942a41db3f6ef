//! What a text says is to be proved.

use super::{Lowering, no, suggest};
use crate::ir::{Bound, Claim, ClaimKind, Dimension};
use crate::syntax::ast::{self, Expr, ExprKind, Operator};

const CLAIMS: [&str; 9] = [
    "no_lost_task",
    "no_lost_wakeup",
    "work_conservation",
    "rounds",
    "hierarchy",
    "wait",
    "vt_monotone",
    "lag",
    "settles",
];

impl Lowering<'_> {
    pub(super) fn claim(&mut self, claim: &ast::Claim) {
        let Some(kind) = self.claim_kind(claim) else { return };
        let same =
            |other: &Claim| std::mem::discriminant(&other.kind) == std::mem::discriminant(&kind);
        if self.policy.claims.iter().any(same) {
            let message = format!("`{}` is claimed twice", claim.name.text);
            let help = "leave one of them out";
            return self.fault("R103", claim.name.span, message, "again", help);
        }
        self.policy.claims.push(Claim { kind, span: claim.name.span });
    }

    fn claim_kind(&mut self, claim: &ast::Claim) -> Option<ClaimKind> {
        let bound = claim.bound.as_ref();
        let kind = match (claim.name.text.as_str(), bound) {
            ("no_lost_task", None) => ClaimKind::NoLostTask,
            ("no_lost_wakeup", None) => ClaimKind::NoLostWakeup,
            ("work_conservation", None) => ClaimKind::WorkConservation,
            ("hierarchy", None) => ClaimKind::Hierarchy,
            ("vt_monotone", None) => ClaimKind::VtMonotone,
            ("settles", None) => ClaimKind::Settles,
            ("rounds", Some((None, bound))) => match summands(bound).as_slice() {
                ["idle_cpus"] => ClaimKind::Rounds(Bound::IdleCpus),
                ["idle_cpus", "periodic_moves"] => ClaimKind::Rounds(Bound::IdleCpusAndMoves),
                _ => return self.wrong_bound(bound, "rounds(<= idle_cpus)"),
            },
            ("wait", Some((Some(what), bound))) if what.text == "dispatches" => {
                match summands(bound).as_slice() {
                    ["position", "direct_runs"] => ClaimKind::Wait,
                    _ => {
                        let right = "wait(dispatches <= position + direct_runs)";
                        return self.wrong_bound(bound, right);
                    }
                }
            }
            ("lag", Some((None, bound))) => {
                let scope = self.scope();
                ClaimKind::Lag(self.number_of(bound, &scope, Dimension::Time)?)
            }
            (name, _) if CLAIMS.contains(&name) => {
                let right = match name {
                    "rounds" => "rounds(<= idle_cpus)",
                    "wait" => "wait(dispatches <= position + direct_runs)",
                    "lag" => "lag(<= 20ms)",
                    plain => plain,
                };
                let message = format!("`{name}` is claimed differently");
                let help = format!("write `{right}`");
                self.fault("R601", claim.name.span, message, "not like this", help);
                return None;
            }
            _ => {
                let otherwise = format!("claims are {}", CLAIMS.join(", "));
                let help = suggest(&claim.name.text, CLAIMS, &otherwise);
                self.fault("R102", claim.name.span, no("claim", &claim.name), "unknown", help);
                return None;
            }
        };
        Some(kind)
    }

    fn wrong_bound(&mut self, bound: &Expr, right: &str) -> Option<ClaimKind> {
        let message = "no proof has such a bound";
        self.fault("R601", bound.span, message, "not this", format!("write `{right}`"));
        None
    }
}

/// The names that are added up; none if it is anything else.
fn summands(expr: &Expr) -> Vec<&str> {
    match &expr.kind {
        ExprKind::Name(name) => vec![name],
        ExprKind::Binary(a, Operator::Add, b) => match (summands(a), summands(b)) {
            (mut a, b) if !a.is_empty() && !b.is_empty() => {
                a.extend(b);
                a
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}
