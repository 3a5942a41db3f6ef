//! Exports of a History with the findings of `check`: [`picture`]s with marks, a [`page`] of
//! pictures, and [`tables`] in Parquet.

pub mod page;
pub mod picture;
pub mod tables;
