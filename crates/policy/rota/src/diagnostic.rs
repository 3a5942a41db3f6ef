//! An error in a text, with what the user needs to correct it, and parts of a text.

/// The maximum number of reported errors: a user would not read more.
pub const FAULTS: usize = 20;

/// One error: what, where, why, and what to write instead.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// The code, such as `R101`; `wastenot rota error` takes it.
    pub code: &'static str,
    /// One line: what the error is.
    pub message: String,
    /// Where the error is.
    pub span: Span,
    /// A few words at that place.
    pub label: String,
    /// Other places that belong to the error.
    pub others: Vec<(Span, String)>,
    /// What to write instead.
    pub help: String,
}

impl Diagnostic {
    /// An error at one place.
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
    /// The same error, with another place that belongs to it.
    pub fn and(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.others.push((span, label.into()));
        self
    }
}

/// A part of a text: bytes from `start` up to `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
}

impl Span {
    /// From the start of this span to the end of another.
    pub fn to(self, end: Span) -> Span {
        Span { start: self.start, end: end.end }
    }
}
