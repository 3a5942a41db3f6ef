//! Atomics: the machine's, or loom's, which tries every order.

#[cfg(not(feature = "loom"))]
pub(crate) use std::{
    hint::spin_loop,
    sync::atomic::{AtomicBool, AtomicIsize, AtomicU64, AtomicUsize, Ordering},
};

#[cfg(feature = "loom")]
pub(crate) use loom::{
    sync::atomic::{AtomicBool, AtomicIsize, AtomicU64, AtomicUsize, Ordering},
    // Somebody else has to go on: orders in which nobody does are none.
    thread::yield_now as spin_loop,
};
