//! R5xx: partitions and the unsafe protocol.

use super::Code;

pub(super) const CODES: &[Code] = &[];
