//! A History with what `check` found in it, for others to look at: [`picture`]s with marks, a
//! [`page`] of them, [`tables`] in Parquet.

pub(crate) mod page;
pub(crate) mod picture;
pub(crate) mod tables;
