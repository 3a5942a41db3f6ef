//! R1xx: names that nobody defined, or twice.

use super::Code;

pub(super) const CODES: &[Code] = &[];
