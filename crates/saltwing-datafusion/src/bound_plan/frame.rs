//! Frames of windows.

use arrow::datatypes::DataType;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::{Expr as PlanExpr, ExprSchemable, WindowFrame, WindowFrameBound, WindowFrameUnits};

use crate::RelationalError;

/// A window function with a frame that DataFusion runs over values of any type.
///
/// Without offsets, RANGE and GROUPS both treat rows with equal order keys as peers. DataFusion refuses RANGE over
/// types whose distances it cannot compute, such as TIME and VARBINARY, even if no distance is needed, as in `rank()
/// OVER (ORDER BY b)`; over text it takes an offset, and computes nonsense.
///
/// # Errors
/// `NotSupported` for an offset over such a type.
pub(super) fn of_peers(expr: PlanExpr, schema: &DFSchema) -> Result<PlanExpr> {
    let PlanExpr::WindowFunction(mut window) = expr else { return Ok(expr) };
    let frame = &window.params.window_frame;
    if frame.units == WindowFrameUnits::Range
        && let Some(first) = window.params.order_by.first()
        && !has_distance(&first.expr.get_type(schema)?)
    {
        let (start, end) = (frame.start_bound.clone(), frame.end_bound.clone());
        let has_offset =
            |bound: &WindowFrameBound| !matches!(bound, WindowFrameBound::CurrentRow) && !bound.is_unbounded();
        if has_offset(&start) || has_offset(&end) {
            let text = "RANGE with an offset over values that are no numbers, dates or timestamps";
            return Err(RelationalError::not_supported(text).into());
        }
        window.params.window_frame = WindowFrame::new_bounds(WindowFrameUnits::Groups, start, end);
    }
    Ok(PlanExpr::WindowFunction(window))
}

/// Whether values of a type have distances, which an offset of RANGE can be.
fn has_distance(ty: &DataType) -> bool {
    match ty {
        DataType::Null | DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => true,
        DataType::Dictionary(_, values) => has_distance(values),
        other => other.is_numeric(),
    }
}
