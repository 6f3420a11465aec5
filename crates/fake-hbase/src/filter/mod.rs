//! Filters of scans and gets, and comparators of filters and conditions.

mod class;
mod column_filter;
mod comparator;
mod filters;
mod row_ranges;

pub(crate) use comparator::{Comparator, holds};
pub(crate) use filters::Filter;
