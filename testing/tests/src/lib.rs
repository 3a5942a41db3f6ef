//! The toolkit of the tests that need several crates.
//!
//! [`random`] makes histories from a seed; [`reference`] measures waste slowly and simply, without
//! `State`; [`encode`] writes a History in every format; [`fuzz`] damages such files; [`rejected`]
//! counts the cost of three designs of real-time schedulers. They do not depend on the code that
//! they check: the integration binary `tests/all/main.rs` compares the library with them.

pub mod encode;
pub mod fuzz;
pub mod random;
pub mod reference;
pub mod rejected;
mod rng;

pub use rng::Rng;
