//! One History in every format, written from the descriptions of those formats.
//!
//! Nothing of `crates/observe/read` is used: the reader and these writers share only the bytes. A
//! piece may be damaged before it is wrapped ([`Tamper`]).

mod all;
mod bytes;
mod mutate;
pub mod perf;
pub mod perfetto;
pub mod ring;
mod tamper;
pub mod text;
pub mod tracedat;
pub mod tracepoint;
pub mod wn;

pub use all::{Encoded, Family, encoded, tampered};
pub use bytes::Bytes;
pub(crate) use mutate::ODD;
pub use mutate::mutate;
pub use tamper::Tamper;
