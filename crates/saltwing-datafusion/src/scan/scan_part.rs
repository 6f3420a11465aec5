//! The division of a scan among partitions.

use saltwing_access::{ScanRoute, SplitTarget};
use saltwing_plan::{Condition, OrderItem};
use saltwing_planner::{TableAccess, plan};
use saltwing_types::{ColumnRef, Expr, SortOrder, typing};

use crate::RelationalError;
use crate::scan::scan_request::{Ends, ScanRequest, TableUse, request, sampled};
use crate::scan::scan_statistics::rows_read;

/// The part of a scan that one partition reads.
#[derive(Clone)]
pub(crate) enum Part {
    /// All that the scan does.
    All,
    /// These of its buckets.
    Buckets(Vec<u8>),
    /// An access of its own: an end of MIN or MAX.
    End(Box<TableAccess>),
    /// Another way than that of the scan's access: a part of it, or keys that are looked up.
    Along(ScanRoute),
}

/// How a scan is divided: a scan in order, with a limit, or of few rows is not. A salted table is by its buckets, another
/// one, or one bucket, at keys with about as many rows between them.
pub(crate) fn parts(of: &TableUse, asked: &ScanRequest, access: &TableAccess) -> Result<Vec<Part>, RelationalError> {
    let leading = of.table.def().key.columns.first();
    if let (Some(ends), Some(leading)) = (asked.ends, leading)
        && leading.column() == Some(ends.column)
        && asked.conditions.is_empty()
    {
        return ends_of(of, asked, ends);
    }
    if asked.partitions < 2 || asked.limit.is_some() || access.is_ordered() {
        return Ok(vec![Part::All]);
    }
    let rows = sampled(of, asked, access).and_then(|access| rows_read(of, &access));
    if rows.is_some_and(|rows| rows < of.reading.divided_rows_min) {
        return Ok(vec![Part::All]);
    }
    let buckets: Vec<u8> = access.buckets().of(&of.table.def().key).into_iter().flatten().collect();
    let count = asked.partitions.min(buckets.len());
    if count > 1 {
        let each = buckets.len().div_ceil(count);
        return Ok(buckets.chunks(each).map(|some| Part::Buckets(some.to_vec())).collect());
    }
    let Some(rows) = rows.filter(|_| access.access().ranges.is_known()) else { return Ok(vec![Part::All]) };
    let division = SplitTarget { rows_each: rows.div_ceil(asked.partitions as u64), rows_min: 0 };
    let routes = of.reading.snapshot()?.split(&of.table, &access.route(None), division)?;
    Ok(if routes.len() > 1 { routes.into_iter().map(Part::Along).collect() } else { vec![Part::All] })
}

/// MIN and MAX of the leading key column read one row at either end, NULLs left out.
fn ends_of(of: &TableUse, asked: &ScanRequest, ends: Ends) -> Result<Vec<Part>, RelationalError> {
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
            let order = vec![OrderItem { column: ends.column, order, nulls_first: true }];
            let asked =
                ScanRequest { conditions: vec![known.clone()], order, limit: Some(1), ends: None, ..asked.clone() };
            let access = plan(request(of, &asked))?;
            if !access.is_ordered() {
                return Ok(vec![Part::All]);
            }
            parts.push(Part::End(Box::new(access)));
        }
    }
    Ok(parts)
}
