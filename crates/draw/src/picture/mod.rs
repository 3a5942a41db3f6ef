//! The pictures: one file each.

pub(crate) mod cores;
pub(crate) mod queues;
pub(crate) mod waiting;
