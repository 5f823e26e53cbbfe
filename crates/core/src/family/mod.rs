//! Tunable estimators that are not a score of a transformed row.

pub(crate) mod bk;
pub(crate) mod ets;
pub(crate) mod hts;
