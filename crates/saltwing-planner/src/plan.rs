//! From a request to the access of one table: by one key, or by several.

use std::sync::Arc;

use saltwing_plan::RowLimit;

use crate::access::{AccessRequest, TableAccess, UsableKeys, advice, by_one_key, usable_indexes};
use crate::combination::{Union, intersected, union, union_in_order};
use crate::error::Result;
use crate::index_advice::IndexAdvice;

/// Plans an access. The verdict is not applied yet: see [`TableAccess::judge`].
///
/// # Errors
/// [`crate::PlannerError::Plan`], [`crate::PlannerError::NoSuchIndex`].
pub fn plan(request: AccessRequest<'_>) -> Result<TableAccess> {
    let usable = usable_indexes(&request)?;
    let mut planned = by_one_key(request.clone(), &usable)?;
    if !request.order.is_empty()
        && !planned.is_ordered()
        && let Some(union) = union_in_order(&request, &usable)?
        && (request.limit != RowLimit::None || union.union.iter().all(|part| part.index == planned.index))
    {
        return Ok(union);
    }
    if planned.access.verdict.allowed == Some(true) {
        planned.intersected = intersected(&request, &planned, &usable)?;
        return Ok(planned);
    }
    // A page is read in one order, which a union does not have. The past of a table has no indexes, and a hint may forbid them.
    let is_ordered_page = request.is_page && planned.is_ordered();
    if is_ordered_page || request.keys != UsableKeys::All || usable.is_empty() && !request.table.indexes().is_empty() {
        return Ok(planned);
    }
    planned.advice = advice(&planned, &request);
    match union(&request, &usable)? {
        Some(Union::Read(union)) => return Ok(*union),
        Some(Union::Unbounded(advice)) if planned.advice.is_empty() => planned.advice = advice,
        _ => {}
    }
    if let Some(refusal) = &mut planned.access.verdict.refusal {
        refusal.fixes.extend(fix(&planned.advice));
    }
    Ok(planned)
}

/// How a refusal tells of the indexes that make it legal.
fn fix(advice: &[Arc<IndexAdvice>]) -> Option<String> {
    let statements: Vec<&str> = advice.iter().map(|advice| advice.statement.as_str()).collect();
    let what = match statements.as_slice() {
        [] => return None,
        [_] => "an index that bounds it",
        _ => "indexes that bound it together",
    };
    Some(format!("or create {what}: {}", statements.join("; ")))
}
