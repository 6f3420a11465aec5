//! Scans: the ranges of a route, region by region and side by side, as rows in the order of the route.

mod fetch;
mod jobs;
mod reading;
mod regions_ahead;
mod route_rows;
mod route_scan;
mod stream;

pub(crate) use route_rows::{Next, RouteRows};
pub(crate) use route_scan::RouteScan;
