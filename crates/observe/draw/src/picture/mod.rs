//! The pictures: one file each.

pub(crate) mod cores;
pub(crate) mod curves;
pub(crate) mod queues;
pub(crate) mod story;
pub(crate) mod waiting;
