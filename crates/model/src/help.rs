//! The help that comes with an error.

/// An error that says what helps. Its text states what failed and where.
pub trait Help: std::fmt::Display {
    /// The command or action that helps.
    fn help(&self) -> std::borrow::Cow<'_, str>;
}
