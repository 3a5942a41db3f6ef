//! R3xx: handlers, and where they place their task.

use super::Code;

pub(super) const CODES: &[Code] = &[];
