//! The rows of a running SELECT.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;
use saltwing_access::{PartialSource, ScanContext, Snapshot};
use saltwing_bind::ResultColumn;
use saltwing_expr::RowValues;
use saltwing_planner::{DirectPlan, KeyAccess};

use crate::ExecError;
use crate::aggregate::{GroupedRows, PartialPlan};
use crate::parts::Parts;
use crate::select::{Operator, SelectPlan};
use crate::source::{Columns, Source, Wanted, scan_routes};

/// A running SELECT: batches with the columns of [`DirectRows::columns`], or the values of rows.
pub struct DirectRows {
    plan: Arc<SelectPlan>,
    source: Source,
    /// The parts of the scan that several threads read instead of the source, if there are many rows to aggregate.
    parts: Option<Parts>,
    groups: Option<Box<Groups>>,
    context: ScanContext,
    skip: u64,
    take: Option<u64>,
}

/// Groups, and whether the rows that they are made of are at their end.
struct Groups {
    rows: GroupedRows,
    /// What servers make of the rows, if they do: then no rows are read here.
    partials: Vec<Box<dyn PartialSource>>,
    at_end: bool,
}

impl DirectRows {
    /// Starts reading; of the plan's access only `part` is read, if there is one.
    pub(crate) fn start(
        plan: &Arc<SelectPlan>,
        snapshot: Arc<dyn Snapshot>,
        part: Option<KeyAccess>,
        context: ScanContext,
    ) -> Result<Self, ExecError> {
        let planned = plan.planned();
        let wanted = planned.limit.map(|n| n.saturating_add(planned.offset));
        let (mut groups, mut parts, mut of_scan) = (None, None, Wanted { limit: wanted, ..Wanted::default() });
        if let Operator::Aggregate(aggregate) = plan.operator() {
            let groups_wanted = wanted.and_then(|n| usize::try_from(n).ok());
            // Few groups are read of the first rows.
            if snapshot.reads_wait()
                && !(wanted.is_some() && aggregate.streams())
                && let Some((partial, sources)) = partials(plan, &*snapshot, part.as_ref(), &context)?
            {
                let rows = GroupedRows::new(partial.plan(), groups_wanted, context.memory())?;
                return Ok(Self {
                    source: Source::Scans(Vec::new()),
                    parts: None,
                    groups: Some(Box::new(Groups { rows, partials: sources, at_end: false })),
                    context,
                    skip: planned.offset,
                    take: planned.limit,
                    plan: plan.clone(),
                });
            }
            let rows = GroupedRows::new(aggregate, groups_wanted, context.memory())?;
            groups = Some(Box::new(Groups { rows, partials: Vec::new(), at_end: false }));
            // The first requested groups may be small ones.
            let first_batch = wanted.filter(|_| aggregate.streams()).map(|groups| groups.saturating_add(1));
            of_scan = Wanted { limit: None, first_batch, in_any_order: aggregate.takes_any_order() };
            let reads_all = matches!(planned.plan, DirectPlan::Aggregate(_) | DirectPlan::Totals { .. });
            if part.is_none() && reads_all && !aggregate.streams() {
                parts = Parts::of(&snapshot, (&planned.access, plan.spec()), &context)?;
            }
        }
        Ok(Self {
            source: Source::start(snapshot, (planned, part), plan.spec(), of_scan, &context)?,
            parts,
            groups,
            context,
            skip: planned.offset,
            take: planned.limit,
            plan: plan.clone(),
        })
    }

    /// The columns of the result.
    pub fn columns(&self) -> &Arc<[ResultColumn]> {
        self.plan.columns()
    }

    /// The schema of the batches.
    pub fn schema(&self) -> &SchemaRef {
        self.plan.schema()
    }

    /// The statement's context.
    pub fn context(&self) -> &ScanContext {
        &self.context
    }

    /// Adds the next rows to `values`; `false` at the end. `None` if the rows come in batches only:
    /// the caller then takes all of them from [`DirectRows::next_batch`]. A caller uses one of the two functions, not both.
    ///
    /// # Errors
    /// The scan's.
    pub fn next_values(&mut self, values: &mut RowValues) -> Result<Option<bool>, ExecError> {
        let (Some(columns), Source::Scans(scans)) = (self.plan.stored(), &mut self.source) else { return Ok(None) };
        if self.groups.is_some() || self.plan.spec().is_filtered() {
            return Ok(None);
        }
        let first = values.rows();
        while let Some(scan) = scans.last_mut().filter(|_| self.take != Some(0)) {
            if !scan.next_values(columns, values)? {
                scans.pop();
                continue;
            }
            if let Some(take) = &mut self.take {
                values.truncate(usize::try_from(*take).unwrap_or(usize::MAX).saturating_add(first));
                *take -= (values.rows() - first) as u64;
            }
            return Ok(Some(true));
        }
        Ok(Some(false))
    }

    /// The next batch, never an empty one; `None` at the end.
    ///
    /// # Errors
    /// The scan's; what computing an output fails with.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, ExecError> {
        while self.take != Some(0) {
            let Some((columns, rows)) = self.next_rows()? else { return Ok(None) };
            let skipped = (rows as u64).min(self.skip);
            self.skip -= skipped;
            let left = rows as u64 - skipped;
            let rows = self.take.map_or(left, |take| take.min(left));
            self.take = self.take.map(|take| take - rows);
            if rows == 0 {
                continue;
            }
            let (from, rows) = (skipped as usize, rows as usize);
            let is_whole = |column: &ArrayRef| from == 0 && column.len() == rows;
            let cut = |column: ArrayRef| if is_whole(&column) { column } else { column.slice(from, rows) };
            let columns = columns.into_iter().map(cut).collect();
            return Ok(Some(self.plan.batch(columns, rows)?));
        }
        Ok(None)
    }

    /// The outputs of the next rows or groups, and how many.
    fn next_rows(&mut self) -> Result<Option<Columns>, ExecError> {
        if self.groups.is_some() {
            return self.next_groups();
        }
        let Some((columns, rows)) = self.source.next_columns()? else { return Ok(None) };
        // Rows that are passed over are not computed: they may fail.
        let skipped = match self.plan.operator() {
            Operator::Computed(_) => (rows as u64).min(self.skip) as usize,
            _ => 0,
        };
        self.skip -= skipped as u64;
        let rows = rows - skipped;
        let columns = match skipped {
            0 => columns,
            _ => columns.into_iter().map(|column| column.slice(skipped, rows)).collect(),
        };
        Ok(Some((self.plan.outputs(columns, rows, self.context.memory())?, rows)))
    }

    /// The outputs of the next groups, and how many; reads rows until some are done.
    fn next_groups(&mut self) -> Result<Option<Columns>, ExecError> {
        let Some(groups) = &mut self.groups else { return Ok(None) };
        let Groups { rows: groups, partials, at_end } = &mut **groups;
        loop {
            if let Some(put_out) = groups.put_out()? {
                return Ok(Some(put_out));
            }
            if *at_end {
                return Ok(None);
            }
            while let Some(partial) = partials.last_mut() {
                match partial.next_groups()? {
                    Some(partial) => groups.add_partial(&partial)?,
                    None => drop(partials.pop()),
                }
            }
            if let Some(parts) = self.parts.take() {
                parts.read(self.plan.spec(), |(columns, rows)| groups.add(&self.plan.by_index(columns), rows))?;
            } else if let Some((columns, rows)) = self.source.next_columns()? {
                groups.add(&self.plan.by_index(columns), rows)?;
                continue;
            }
            *at_end = true;
            groups.end()?;
        }
    }

    /// Rows read so far.
    pub fn keys_read(&self) -> u64 {
        self.context.counters.keys_read.load(Relaxed)
    }
}

/// An aggregation of plain columns, and the parts of it that servers make.
type Partials = (PartialPlan, Vec<Box<dyn PartialSource>>);

/// Starts the aggregation of a plan where the rows are; `None` if it has to be made of the rows here.
fn partials(
    plan: &SelectPlan,
    snapshot: &dyn Snapshot,
    part: Option<&KeyAccess>,
    context: &ScanContext,
) -> Result<Option<Partials>, ExecError> {
    let planned = plan.planned();
    let (DirectPlan::Aggregate(aggregate) | DirectPlan::Totals { aggregate, .. }) = &planned.plan else {
        return Ok(None);
    };
    let (access, Some(spec)) = (&planned.access, plan.spec().as_scan()) else { return Ok(None) };
    let Some(partial) = PartialPlan::of(aggregate, &planned.scanned, access)? else { return Ok(None) };
    let routes = match part {
        Some(part) => vec![part.clone().route(access, None)],
        None => scan_routes(access, None),
    };
    let sources = partial.start(snapshot, (spec, routes), context)?;
    Ok(sources.map(|sources| (partial, sources)))
}
