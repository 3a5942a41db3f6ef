//! Makes another History from one: a window of it, or the same without names.

mod copy;
mod pseudonym;
mod scrub;
mod window;

#[cfg(test)]
mod tests;

pub use scrub::scrub;
pub use window::window;
