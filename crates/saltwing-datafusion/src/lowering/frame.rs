//! Frames of windows.

use arrow::datatypes::DataType;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::{Expr as PlanExpr, ExprSchemable, WindowFrame, WindowFrameBound, WindowFrameUnits};

/// A window function with a frame that DataFusion runs over values of any type.
///
/// Without offsets, RANGE and GROUPS both count rows of equal order keys together. But RANGE is refused over types that have no
/// distance, such as VARBINARY, even where none is asked for: as in `rank() OVER (ORDER BY b)`.
pub(super) fn of_peers(expr: PlanExpr, schema: &DFSchema) -> Result<PlanExpr> {
    let PlanExpr::WindowFunction(mut window) = expr else { return Ok(expr) };
    let frame = &window.params.window_frame;
    let has_no_offset = [&frame.start_bound, &frame.end_bound]
        .iter()
        .all(|bound| matches!(bound, WindowFrameBound::CurrentRow) || bound.is_unbounded());
    if frame.units == WindowFrameUnits::Range
        && has_no_offset
        && let Some(first) = window.params.order_by.first()
        && has_no_distance(&first.expr.get_type(schema)?)
    {
        let (start, end) = (frame.start_bound.clone(), frame.end_bound.clone());
        window.params.window_frame = WindowFrame::new_bounds(WindowFrameUnits::Groups, start, end);
    }
    Ok(PlanExpr::WindowFunction(window))
}

fn has_no_distance(ty: &DataType) -> bool {
    matches!(
        ty,
        DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_)
            | DataType::Struct(_)
            | DataType::Map(..)
    )
}
