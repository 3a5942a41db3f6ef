//! An allocator that keeps a thread within a limit while a fuzz case runs.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Bytes that this thread may hold; 0 while there is no limit.
    static LIMIT: Cell<usize> = const { Cell::new(0) };
    static HELD: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, counting.
pub(crate) struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs `work` with at most `limit` bytes held at any time by this thread. Beyond it the process
/// ends: an allocator may not unwind, and a request for a terabyte must not be granted.
pub(crate) fn within<T>(limit: usize, work: impl FnOnce() -> T) -> T {
    HELD.set(0);
    LIMIT.set(limit);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    LIMIT.set(0);
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Runs `work` without a limit: its memory does not belong to the fuzz case.
pub(crate) fn unlimited<T>(work: impl FnOnce() -> T) -> T {
    let limit = LIMIT.replace(0);
    let result = work();
    LIMIT.set(limit);
    result
}

fn take(size: usize) {
    let limit = LIMIT.get();
    if limit == 0 {
        return;
    }
    let held = HELD.get().saturating_add(size);
    HELD.set(held);
    if held > limit {
        LIMIT.set(0); // the following code allocates too
        crate::fuzz::die(&format!("held {held} bytes, limit {limit}"));
    }
}

fn give(size: usize) {
    // Memory that was allocated before may be freed too.
    HELD.set(HELD.get().saturating_sub(size));
}

#[expect(
    unsafe_code,
    reason = "GlobalAlloc is an unsafe trait; every call goes to System as it is"
)]
// SAFETY: memory comes from and goes to System with the caller's own layouts; counting touches
// thread-local integers without destructors only.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller's contract is System's.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller's contract is System's.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        give(layout.size());
        // SAFETY: `pointer` came from System with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        take(size);
        give(layout.size());
        // SAFETY: `pointer` came from System with this layout; the caller vouches for `size`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}
