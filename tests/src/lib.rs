//! The toolkit of the tests where the layers meet.
//!
//! [`random`] makes histories out of a seed; [`reference`] measures waste slowly and plainly,
//! without `State`; [`encode`] writes a History in every format; [`fuzz`] damages such files. They
//! know nothing of the code that they check: the integration binary `tests/all.rs` holds the
//! library against them.

pub mod encode;
pub mod fuzz;
pub mod random;
pub mod reference;
mod rng;

pub use rng::Rng;
