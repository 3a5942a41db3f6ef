//! R6xx: claims.

use super::Code;

pub(super) const CODES: &[Code] = &[];
