//! R2xx: dimensions and types.

use super::Code;

pub(super) const CODES: &[Code] = &[];
