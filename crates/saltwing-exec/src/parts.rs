//! Large scans in parts that several threads read.
//!
//! # Law
//! The caller gets the same batches in the same order regardless of the number of threads, because the ends of parts
//! depend only on the stored data. Sums of floats therefore do not depend on it either.

use std::ops::ControlFlow;
use std::sync::Arc;

use saltwing_access::{
    ReadSpec, RowSource, ScanContext, ScanRoute, ScanSpec, Snapshot, SplitTarget, TableError, Totals,
};
use saltwing_planner::TableAccess;

use crate::ExecError;
use crate::in_order::in_order;
use crate::source::{Columns, scan_routes};

/// Most rows of a part: two batches.
const PART_ROWS: u64 = 16_384;
/// The same where rows are added up as they lie.
const PART_ROWS_OF_TOTALS: u64 = 65_536;
/// So many times as many rows are worth several threads where the directory knows what blocks come to.
const ROWS_MIN_OF_KNOWN: u64 = 64;
/// Parts that a scan has at least, where it is divided.
const PARTS_MIN: u64 = 8;

/// A scan in parts.
pub(crate) struct Parts {
    snapshot: Arc<dyn Snapshot>,
    routes: Vec<ScanRoute>,
    context: ScanContext,
}

impl Parts {
    /// The scan of an access in parts; `None` where it has few rows.
    pub(crate) fn of(
        snapshot: &Arc<dyn Snapshot>,
        (access, spec): (&TableAccess, &ReadSpec),
        context: &ScanContext,
    ) -> Result<Option<Self>, TableError> {
        // The rows that entries name are in no order that could be divided.
        if spec.as_scan().is_none() {
            return Ok(None);
        }
        let routes = split_routes(&**snapshot, access, split_target(context, PART_ROWS))?;
        let (snapshot, context) = (snapshot.clone(), context.clone());
        Ok((routes.len() > 1).then_some(Self { snapshot, routes, context }))
    }

    /// Reads all rows; `take` gets them in the order of one scan, on the caller's thread.
    pub(crate) fn read(
        self,
        spec: &ReadSpec,
        take: impl FnMut(Columns) -> Result<(), ExecError>,
    ) -> Result<(), ExecError> {
        let Self { snapshot, routes, context } = self;
        let read = |route: ScanRoute, give: &mut dyn FnMut(Columns) -> ControlFlow<()>| {
            let mut scan = spec.scan(&snapshot, route, context.for_part())?;
            while let Some(columns) = scan.next_columns()? {
                if give(columns).is_break() {
                    break;
                }
            }
            Ok(())
        };
        in_order(routes, context.threads().count, read, take)
    }
}

/// The parts of a statement's scans: on one thread as on several, so that batches are the same.
fn split_target(context: &ScanContext, part_rows: u64) -> SplitTarget {
    let rows_min = context.threads().rows_min;
    SplitTarget { rows_each: (rows_min / PARTS_MIN).clamp(1, part_rows), rows_min }
}

/// The routes of an access, split if there is one of many rows.
fn split_routes(
    snapshot: &dyn Snapshot,
    access: &TableAccess,
    target: SplitTarget,
) -> Result<Vec<ScanRoute>, TableError> {
    let routes = scan_routes(access, None);
    let [route] = routes.as_slice() else { return Ok(routes) };
    if !access.reads_one_range() {
        return Ok(routes);
    }
    let parts = snapshot.split(access.key_table(), route, target)?;
    Ok(parts.iter().filter_map(|part| route.within(access.key(), part)).collect())
}

/// Scans of an access that are added up, one for each part.
pub(crate) fn scans_of_totals(
    snapshot: &dyn Snapshot,
    access: &TableAccess,
    spec: &ScanSpec,
    context: &ScanContext,
) -> Result<Vec<Box<dyn RowSource>>, TableError> {
    let mut target = split_target(context, PART_ROWS_OF_TOTALS);
    if snapshot.knows_totals(spec)? {
        target.rows_min = target.rows_min.saturating_mul(ROWS_MIN_OF_KNOWN);
    }
    let routes = split_routes(snapshot, access, target)?.into_iter();
    routes.map(|route| snapshot.scan(spec, route, context.for_part())).collect()
}

/// The totals of all rows of some scans.
pub(crate) fn totals(scans: Vec<Box<dyn RowSource>>, threads: usize) -> Result<Totals, ExecError> {
    let mut all = Totals::default();
    let read = |mut scan: Box<dyn RowSource>, give: &mut dyn FnMut(Totals) -> ControlFlow<()>| {
        let _ = give(scan.totals()?);
        Ok(())
    };
    in_order(scans, threads, read, |more| {
        all.add(more);
        Ok(())
    })?;
    Ok(all)
}
