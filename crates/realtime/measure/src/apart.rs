//! What lies on cache lines of its own.

use std::ops::Deref;

/// What others do to what lies beside it in memory does not take its line away. Two lines, since
/// some CPUs fetch them in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Apart<T>(pub(crate) T);

impl<T> Deref for Apart<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// The pairs of lines that something lies on.
#[cfg(all(test, not(feature = "loom")))]
pub(crate) fn lines<T>(of: &T) -> std::ops::RangeInclusive<usize> {
    let at = std::ptr::from_ref(of).addr();
    at / 128..=(at + size_of::<T>() - 1) / 128
}
