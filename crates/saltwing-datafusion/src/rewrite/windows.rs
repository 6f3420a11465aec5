//! Windows: `OVER w`, `OVER (w ORDER BY k)`, `WINDOW w2 AS (w ..)`, and the frame of those that name none.
//!
//! DataFusion resolves a window's name only if it stands alone behind OVER, and ignores it inside brackets. So each
//! reference is replaced by the window's definition, by the rules of the standard. DataFusion also counts rows instead of
//! peers if it takes the first column of ORDER BY for a key, which it may not be (`engine/group_keys.rs`). So the frame of the
//! standard is written out.

use std::ops::ControlFlow;

use saltwing_sql::expr_span;
use saltwing_types::{Expr as OwnExpr, Value as OwnValue};
use sqlparser::ast::{
    Expr, Function, Ident, Interval, NamedWindowExpr, OrderBy, Query, Select, Value, VisitMut, VisitorMut, WindowFrame,
    WindowFrameBound, WindowFrameUnits, WindowSpec, WindowType,
};

use super::tree::{Result, broken, visited};
use crate::expression::operation_function::Operations;
use crate::{RelationalError, RelationalErrorKind};

/// Puts the windows of a SELECT in the place of their names, also in the ORDER BY behind it.
///
/// # Errors
/// Names of no window or of several; additions to a window that the standard forbids.
pub(super) fn resolve_windows(select: &mut Select, order_by: Option<&mut OrderBy>) -> Result<()> {
    let mut windows = Windows { list: Vec::new(), depth: 0 };
    for definition in std::mem::take(&mut select.named_window) {
        let (name, window) = (definition.0, definition.1);
        if windows.find(&name).is_some() {
            return Err(syntax(format!("window {} is defined twice", name.value), &name));
        }
        let window = match window {
            NamedWindowExpr::NamedWindow(of) => windows.get(&of)?.clone(),
            NamedWindowExpr::WindowSpec(spec) => windows.resolved(spec)?,
        };
        windows.list.push((name.value.to_lowercase(), window));
    }
    visited(VisitMut::visit(select, &mut windows))?;
    order_by.map_or(Ok(()), |order_by| visited(VisitMut::visit(order_by, &mut windows)))
}

/// The windows of one SELECT by their names in lower case.
struct Windows {
    list: Vec<(String, WindowSpec)>,
    /// How many subqueries deep: these have windows of their own.
    depth: usize,
}

impl VisitorMut for Windows {
    type Break = RelationalError;

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<RelationalError> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<RelationalError> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<RelationalError> {
        let Expr::Function(call) = expr else { return ControlFlow::Continue(()) };
        if self.depth > 0 {
            return ControlFlow::Continue(());
        }
        let Some(over) = call.over.take() else { return ControlFlow::Continue(()) };
        let resolved = match over {
            WindowType::NamedWindow(name) => self.get(&name).cloned(),
            WindowType::WindowSpec(spec) => self.resolved(spec),
        };
        broken(resolved.map(|spec| call.over = Some(WindowType::WindowSpec(with_frame(spec)))))
    }
}

impl Windows {
    fn find(&self, name: &Ident) -> Option<&WindowSpec> {
        let lower = name.value.to_lowercase();
        self.list.iter().find(|(known, _)| *known == lower).map(|(_, window)| window)
    }

    fn get(&self, name: &Ident) -> Result<&WindowSpec> {
        self.find(name).ok_or_else(|| {
            let near = saltwing_types::suggest(&name.value, self.list.iter().map(|(known, _)| known.as_str()));
            let error = syntax(format!("no window {} in the WINDOW clause", name.value), name);
            match near {
                Some(near) => error.help(format!("there is {near}")),
                None => error.help("a window is named behind HAVING: WINDOW w AS (PARTITION BY .. ORDER BY ..)"),
            }
        })
    }

    /// A window that may build on a named one.
    fn resolved(&self, mut spec: WindowSpec) -> Result<WindowSpec> {
        let Some(name) = spec.window_name.take() else { return Ok(spec) };
        let base = self.get(&name)?;
        let refused = |what: &str, help: &str| {
            let error = syntax(format!("window {} cannot be built on: {what}", name.value), &name);
            Err(error.help(help.to_owned()))
        };
        if base.window_frame.is_some() {
            return refused(
                "it has a frame",
                &format!("write OVER {} without brackets, or no frame in it", name.value),
            );
        }
        if !spec.partition_by.is_empty() {
            return refused("what builds on it has a PARTITION BY", "write PARTITION BY in the named window alone");
        }
        if !base.order_by.is_empty() && !spec.order_by.is_empty() {
            return refused("both have an ORDER BY", "write ORDER BY in one of them");
        }
        spec.partition_by = base.partition_by.clone();
        if spec.order_by.is_empty() {
            spec.order_by = base.order_by.clone();
        }
        Ok(spec)
    }
}

/// A window with its frame: all rows up to the current one and its peers, if it names none.
fn with_frame(mut spec: WindowSpec) -> WindowSpec {
    if spec.window_frame.is_none() && !spec.order_by.is_empty() {
        let (units, start_bound) = (WindowFrameUnits::Range, WindowFrameBound::Preceding(None));
        spec.window_frame = Some(WindowFrame { units, start_bound, end_bound: Some(WindowFrameBound::CurrentRow) });
    }
    spec
}

/// Writes the bounds of a frame that are intervals as DataFusion reads them there: as literals.
pub(super) fn with_literal_bounds(call: &mut Function, operations: &Operations) {
    let Some(WindowType::WindowSpec(WindowSpec { window_frame: Some(frame), .. })) = &mut call.over else { return };
    for bound in std::iter::once(&mut frame.start_bound).chain(&mut frame.end_bound) {
        let (WindowFrameBound::Preceding(Some(offset)) | WindowFrameBound::Following(Some(offset))) = bound else {
            continue;
        };
        if let Expr::Function(constant) = &**offset
            && let Some(name) = constant.name.0.first().and_then(|part| part.as_ident())
            && let Some(OwnExpr::Literal(OwnValue::Interval(length), _)) = operations.constant(&name.value)
        {
            let value = Box::new(Expr::value(Value::SingleQuotedString(length.to_string())));
            **offset = Expr::Interval(Interval {
                value,
                leading_field: None,
                leading_precision: None,
                last_field: None,
                fractional_seconds_precision: None,
            });
        }
    }
}

fn syntax(text: String, name: &Ident) -> RelationalError {
    RelationalError::from(RelationalErrorKind::Syntax(text)).at(expr_span(&Expr::Identifier(name.clone())))
}
