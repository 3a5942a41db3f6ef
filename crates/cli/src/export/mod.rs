//! Exports of a History with the findings of `check`: [`picture`]s with marks, a [`page`] of
//! pictures, and [`tables`] in Parquet.

pub(crate) mod page;
pub(crate) mod picture;
pub(crate) mod tables;
