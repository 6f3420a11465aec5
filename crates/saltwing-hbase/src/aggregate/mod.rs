//! Aggregates that Phoenix's coprocessors make in the region servers, region by region and side by side.

mod computed_rows;
mod pushed;
mod region_groups;
mod single_rows;

pub(crate) use region_groups::RegionGroups;
