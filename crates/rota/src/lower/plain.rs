//! What is asked of a text and can be asked of [`crate::ir`] alone: paths of handlers, and how many
//! tasks a balance takes. For whoever changes a policy without writing a text.

use super::statements::{Branches, Spanned};
use super::{balance, paths};
use crate::Diagnostic;
use crate::ir::{Event, Policy, Stmt};
use crate::syntax::Span;

/// What would be wrong with the text of `policy`, as far as its paths and its balances go. Nothing
/// is, of a policy that was compiled.
pub fn faults(policy: &Policy) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for event in Event::ALL {
        let statements = spanned(&policy.handlers[event as usize], policy.span);
        paths::check(&statements, event, policy.span, &mut found);
    }
    if let Some(idle) = &policy.idle {
        found.extend(balance::not_one(&idle.count, idle.spans.steal));
    }
    found
}

/// Statements that say where they stand if they know, else that they are in `whole`.
fn spanned(block: &[Stmt], whole: Span) -> Vec<Spanned> {
    let one = |stmt: &Stmt| {
        let (span, branches) = match stmt {
            Stmt::Put(put) => (put.span, None),
            Stmt::Run { span, .. } => (*span, None),
            Stmt::If { condition, then, otherwise } => {
                let (then, otherwise) = (spanned(then, whole), spanned(otherwise, whole));
                (whole, Some(Branches { condition: condition.clone(), then, otherwise }))
            }
            _ => (whole, None),
        };
        Spanned { stmt: stmt.clone(), span, branches }
    };
    block.iter().map(one).collect()
}
