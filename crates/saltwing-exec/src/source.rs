//! Where a SELECT's rows come from.

use std::sync::Arc;

use arrow::array::ArrayRef;
use saltwing_access::{ReadSpec, RowSource, ScanContext, ScanOrder, ScanRoute, Snapshot, TableError};
use saltwing_planner::{DirectPlan, KeyAccess, PlannedSelect, TableAccess};

use crate::ExecError;
use crate::prefix::Prefixes;

/// Batches of the columns that a SELECT needs.
pub(crate) enum Source {
    /// Scans one after the other, the next one last.
    Scans(Vec<Box<dyn RowSource>>),
    /// One row for each prefix of the key.
    Prefixes(Box<Prefixes>),
}

/// What is wanted of a scan.
#[derive(Clone, Copy, Default)]
pub(crate) struct Wanted {
    /// The most rows that the statement uses; `None` is all.
    pub(crate) limit: Option<u64>,
    /// The most rows of the first batch; later ones are larger.
    pub(crate) first_batch: Option<u64>,
    /// Whether the rows may come in any order.
    pub(crate) in_any_order: bool,
}

impl Wanted {
    /// The route, read so.
    fn route(self, route: ScanRoute) -> ScanRoute {
        let is_any = self.in_any_order && route.order == ScanOrder::ByBucket;
        let order = if is_any { ScanOrder::Any } else { route.order };
        ScanRoute { order, ..route }
    }
}

/// The ways of an access in the order in which they are read.
pub(crate) fn scan_routes(access: &TableAccess, limit: Option<u64>) -> Vec<ScanRoute> {
    std::iter::once(access.route(limit)).chain(access.second_route(limit)).collect()
}

/// The columns of a batch, and how many rows they have.
pub(crate) type Columns = (Vec<ArrayRef>, usize);

impl Source {
    /// Starts reading. Of an access's ranges only `part` is read, where there is one.
    pub(crate) fn start(
        snapshot: Arc<dyn Snapshot>,
        (planned, part): (&PlannedSelect, Option<KeyAccess>),
        spec: &ReadSpec,
        wanted: Wanted,
        context: &ScanContext,
    ) -> Result<Self, ExecError> {
        let access = &planned.access;
        let Wanted { limit, first_batch, .. } = wanted;
        match &planned.plan {
            DirectPlan::KeyEnds { ends, .. } => {
                let end = |access: &TableAccess| {
                    access.spec(spec.columns().to_vec())?.scan(&snapshot, access.route(Some(1)), context.clone())
                };
                let mut scans = ends.iter().map(end).collect::<Result<Vec<_>, _>>()?;
                scans.reverse();
                Ok(Self::Scans(scans))
            }
            DirectPlan::DistinctPrefix { columns, .. } => {
                Ok(Self::Prefixes(Box::new(Prefixes::new(snapshot, access, *columns, spec.columns(), context)?)))
            }
            _ => {
                if let Some(part) = part {
                    let route = ScanRoute { first_batch, ..wanted.route(part.route(access, limit)) };
                    return Ok(Self::Scans(vec![spec.scan(&snapshot, route, context.clone())?]));
                }
                let scan = |(place, route): (usize, ScanRoute)| {
                    let first_batch = first_batch.filter(|_| place == 0);
                    spec.scan(&snapshot, ScanRoute { first_batch, ..wanted.route(route) }, context.clone())
                };
                let routes = scan_routes(access, limit).into_iter().enumerate();
                let mut scans = routes.map(scan).collect::<Result<Vec<_>, _>>()?;
                scans.reverse();
                Ok(Self::Scans(scans))
            }
        }
    }

    /// The columns of the next rows, never of none; `None` at the end.
    pub(crate) fn next_columns(&mut self) -> Result<Option<Columns>, TableError> {
        match self {
            Self::Scans(scans) => {
                while let Some(scan) = scans.last_mut() {
                    if let Some(columns) = scan.next_columns()? {
                        return Ok(Some(columns));
                    }
                    scans.pop();
                }
                Ok(None)
            }
            Self::Prefixes(prefixes) => prefixes.next_columns(),
        }
    }
}
