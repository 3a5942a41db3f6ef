//! R4xx: queues, balance and levels.

use super::Code;

pub(super) const CODES: &[Code] = &[];
