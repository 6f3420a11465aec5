//! Tables of the catalog: as DataFusion's planner sees them, and as leaves of its physical plans.

pub(crate) mod arrow_table;
mod batches;
mod scan_part;
pub(crate) mod scan_path;
pub(crate) mod scan_request;
pub(crate) mod scan_statistics;
pub(crate) mod shared_rows;
pub(crate) mod system_table;
pub(crate) mod table_scan;
pub(crate) mod table_source;
