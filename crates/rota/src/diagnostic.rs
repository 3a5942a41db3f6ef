//! What is wrong with a text, said so that it can be mended.

use crate::syntax::Span;

/// One thing that is wrong: what, where, why, and what to write instead.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// `R101`: what `wastenot rota error` takes.
    pub code: &'static str,
    /// One line: what is wrong.
    pub message: String,
    /// The text that is.
    pub span: Span,
    /// A few words at that place.
    pub label: String,
    /// Other places that have to do with it.
    pub others: Vec<(Span, String)>,
    /// What to write instead.
    pub help: String,
}

impl Diagnostic {
    /// A fault at one place.
    pub fn new(
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) -> Diagnostic {
        let (message, label, help) = (message.into(), label.into(), help.into());
        Diagnostic { code, message, span, label, others: Vec::new(), help }
    }
    /// The same, with another place that has to do with it.
    pub fn and(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.others.push((span, label.into()));
        self
    }
}
