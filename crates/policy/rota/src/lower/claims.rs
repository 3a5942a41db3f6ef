//! The claims that a text makes.

use super::{Lowering, no, suggest};
use crate::ir::{Bound, Claim, ClaimKind, Dimension};
use crate::syntax::ast::{self, Expr, ExprKind, Operator};
use crate::syntax::{Span, vocabulary};

impl Lowering<'_> {
    pub(super) fn claim(&mut self, claim: &ast::Claim) {
        let Some(kind) = self.claim_kind(claim) else { return };
        let same =
            |other: &Claim| std::mem::discriminant(&other.kind) == std::mem::discriminant(&kind);
        if let Some(first) = self.policy.claims.iter().find(|other| same(other)) {
            let first = first.span;
            return self.again(&claim.name, first);
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
                _ => return self.wrong_bound(claim, bound.span),
            },
            ("wait", Some((Some(what), bound))) if what.text == "dispatches" => {
                match summands(bound).as_slice() {
                    ["position", "direct_runs"] => ClaimKind::Wait,
                    _ => return self.wrong_bound(claim, bound.span),
                }
            }
            ("lag", Some((None, bound))) => {
                let scope = self.scope();
                ClaimKind::Lag(self.number_of(bound, &scope, Dimension::Time)?)
            }
            _ => return self.no_claim(claim),
        };
        Some(kind)
    }

    fn no_claim(&mut self, claim: &ast::Claim) -> Option<ClaimKind> {
        let name = &claim.name;
        match vocabulary::claim(&name.text) {
            Some(right) => {
                let message = format!("the claim `{}` has the wrong form", name.text);
                let help = format!("write `{right}`");
                self.fault("R601", name.span, message, "wrong form", help);
            }
            None => {
                let known: Vec<&str> = vocabulary::claims().map(|(name, _)| name).collect();
                let otherwise = format!("write one of the claims {}", known.join(", "));
                let help = suggest(&name.text, known, &otherwise);
                self.fault("R102", name.span, no("claim", name), "unknown", help);
            }
        }
        None
    }

    fn wrong_bound(&mut self, claim: &ast::Claim, bound: Span) -> Option<ClaimKind> {
        let message = "no proof supports this bound";
        let right = vocabulary::claim(&claim.name.text).unwrap_or_default();
        self.fault("R601", bound, message, "unsupported bound", format!("write `{right}`"));
        None
    }
}

/// The names that are added up; empty if the expression is anything else.
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
