//! The division of a scan among partitions.

use saltwing_access::{ScanRoute, SplitTarget};
use saltwing_plan::{Condition, OrderBy, OrderItem};
use saltwing_planner::{TableAccess, plan};
use saltwing_rowkey::KeyRange;
use saltwing_types::{ColumnRef, Expr, SortOrder, typing};

use crate::RelationalError;
use crate::scan::scan_request::{Ends, ScanRequest, TableUse, access_request, sampled};
use crate::scan::scan_statistics::rows_read;

/// The part of a scan that one partition reads.
#[derive(Clone)]
pub(crate) enum Part {
    /// The keys in this range of physical keys.
    Within(KeyRange),
    /// An access of its own: an end of MIN or MAX.
    End(Box<TableAccess>),
    /// Keys that are looked up.
    Along(ScanRoute),
}

/// The one part of a scan that is not split.
pub(crate) fn whole() -> Vec<Part> {
    vec![Part::Within(KeyRange::all())]
}

/// The parts of a scan, which the store chooses. A scan in order, with a limit, or of few rows has one part.
pub(crate) fn parts(of: &TableUse, request: &ScanRequest, access: &TableAccess) -> Result<Vec<Part>, RelationalError> {
    let leading = of.table.def().key.columns.first();
    if let (Some(ends), Some(leading)) = (request.ends, leading)
        && leading.column() == Some(ends.column)
        && request.conditions.is_empty()
    {
        return ends_of(of, request, ends);
    }
    if request.partitions < 2 || request.limit.is_some() || access.is_ordered() || !access.is_by_table_key() {
        return Ok(whole());
    }
    let Some(access) = sampled(of, request, access) else { return Ok(whole()) };
    let Some(rows) = rows_read(of, &access) else { return Ok(whole()) };
    if rows < of.reading.context.threads().rows_min {
        return Ok(whole());
    }
    let target = SplitTarget { rows_each: rows.div_ceil(request.partitions as u64), rows_min: 0 };
    let mut parts = of.snapshot()?.split(access.key_table(), &access.route(None), target)?;
    // The store may count more rows than it estimates: the last partition takes the rest.
    let rest = parts.split_off(parts.len().min(request.partitions - 1));
    parts.extend(rest.first().and_then(|part| KeyRange::new(part.start().to_vec(), None)));
    Ok(parts.into_iter().map(Part::Within).collect())
}

/// MIN and MAX of the leading key column read one row at either end, NULLs left out.
fn ends_of(of: &TableUse, request: &ScanRequest, ends: Ends) -> Result<Vec<Part>, RelationalError> {
    let column = ColumnRef {
        index: ends.column,
        name: of.table.schema().field(ends.column).name().clone(),
        ty: of.table.column_type(ends.column),
        nullable: true,
        span: None,
    };
    let known = Condition::new(typing::not(typing::is_null(Expr::Column(column)))?);
    let mut parts = Vec::new();
    for (wanted, order) in [(ends.min, SortOrder::Asc), (ends.max, SortOrder::Desc)] {
        if wanted {
            let order = vec![OrderItem { by: OrderBy::Column(ends.column), order, nulls_first: true }];
            let request =
                ScanRequest { conditions: vec![known.clone()], order, limit: Some(1), ends: None, ..request.clone() };
            let access = plan(access_request(of, &request))?;
            if !access.is_ordered() {
                return Ok(whole());
            }
            parts.push(Part::End(Box::new(access)));
        }
    }
    Ok(parts)
}
