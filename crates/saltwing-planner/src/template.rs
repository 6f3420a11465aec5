//! SELECTs with parameters, planned as far as they are known without values.
//!
//! A statement whose parameters are compared with columns needs no parsing and no name resolution once it has values:
//! the typing rules build its conditions again, so that they equal those of a text with the values. If they give one
//! row key or one range of them, it is encoded directly, and nothing is planned: see `KeyTemplate`.

use saltwing_bind::{ParamValues, RowCount};
use saltwing_plan::Condition;
use saltwing_types::{Expr, Value, ValueError, typing};

use crate::direct::PlannedSelect;
use crate::direct_query::{DirectOutput, DirectQuery};
use crate::key_access::KeyAccess;
use crate::key_template::KeyTemplate;
use crate::select::plan_select;

/// A SELECT whose parameters have no values yet.
pub struct SelectTemplate {
    open: DirectQuery,
    /// Set if the conditions give only one row key or one range of keys.
    key: Option<KeyTemplate>,
}

impl SelectTemplate {
    /// The template of a SELECT that was bound without values; `None` where its parameters stand
    /// where values change more than conditions.
    ///
    /// With it the plan that holds for all values of which [`SelectTemplate::key_access`] makes a part of the key, if there is
    /// one: if values change no more of the plan than its keys.
    pub fn new(open: DirectQuery) -> Option<(Self, Option<PlannedSelect>)> {
        let is_output_bindable = match &open.output {
            DirectOutput::Rows(columns, _) => columns.iter().all(|c| is_computable(&c.expr)),
            DirectOutput::Groups(grouping) => !grouping.exprs().any(Expr::has_parameter),
        };
        let is_bindable = |e: &Expr| !e.has_parameter() || is_bindable(e);
        if !is_output_bindable || !open.conditions.iter().all(|c| is_bindable(&c.expr)) {
            return None;
        }
        let (key, planned) = parts(&open).unzip();
        Some((Self { open, key }, planned))
    }

    /// The SELECT with values; `None` if it must be planned from its text, also for error messages.
    pub fn bind(&self, values: ParamValues<'_>) -> Option<PlannedSelect> {
        let mut bound = self.open.clone();
        for condition in &mut bound.conditions {
            if condition.expr.has_parameter() {
                *condition = Condition::new(with_values(&condition.expr, values).ok()?);
            }
        }
        if let DirectOutput::Rows(columns, _) = &mut bound.output {
            for column in columns.iter_mut().filter(|column| column.expr.has_parameter()) {
                column.expr = with_values(&column.expr, values).ok()?;
                column.ty = column.expr.sql_type()?;
            }
        }
        for count in [&mut bound.limit, &mut bound.offset] {
            if let RowCount::Parameter(place) = *count {
                *count = RowCount::of_value(values.get(place)?)?;
            }
        }
        plan_select(bound).ok()?
    }

    /// What these values ask for of the key, where each is of its column's type as it stands and a row can have it.
    pub fn key_access(&self, values: &[Value]) -> Option<KeyAccess> {
        self.key.as_ref()?.part(&self.open.table, values)
    }
}

/// The template of the keys, and the plan that reads a part of them.
fn parts(open: &DirectQuery) -> Option<(KeyTemplate, PlannedSelect)> {
    // Values would change the output, too.
    let has_output = |output: &DirectOutput| output.columns().iter().any(|column| column.expr.has_parameter());
    if open.is_limit_open() || has_output(&open.output) {
        return None;
    }
    let planned = plan_select(open.clone()).ok()??;
    let template = KeyTemplate::of(open, planned.access.index_place())?;
    Some((template, KeyAccess::plan_of_parts(planned)?))
}

/// Whether an item's parameters are operands of arithmetic, or the item itself: then its type follows from their types alone.
fn is_computable(e: &Expr) -> bool {
    match e {
        Expr::Param(..) => true,
        Expr::Arith(_, a, b, _) => is_computable(a) && is_computable(b),
        other => !other.has_parameter(),
    }
}

fn is_column(e: &Expr) -> bool {
    matches!(e, Expr::Column(_))
}

fn is_parameter(e: &Expr) -> bool {
    matches!(e, Expr::Param(..))
}

/// The two sides of a comparison of a column with a parameter.
fn is_column_and_parameter(a: &Expr, b: &Expr) -> bool {
    is_column(a) && is_parameter(b) || is_parameter(a) && is_column(b)
}

/// Whether a condition's parameters are compared with columns and nothing else.
pub fn is_bindable(e: &Expr) -> bool {
    match e {
        Expr::And(list) | Expr::Or(list) => list.iter().all(|part| !part.has_parameter() || is_bindable(part)),
        Expr::Not(inner) => is_bindable(inner),
        Expr::Compare(_, a, b) => is_column_and_parameter(a, b),
        Expr::RowCompare(_, a, b) => a.iter().zip(b).all(|(a, b)| is_column_and_parameter(a, b)),
        Expr::InList(left, list) => is_column(left) && list.iter().all(is_parameter),
        Expr::RowInList(row, rows) => row.iter().all(is_column) && rows.iter().flatten().all(is_parameter),
        Expr::Like { text, pattern, .. } => is_column(text) && is_parameter(pattern),
        _ => false,
    }
}

/// A [bindable](is_bindable) condition or an item with values, built as the text with these values would be.
///
/// # Errors
/// Errors of the typing rules for the values; a missing value.
pub fn with_values(e: &Expr, values: ParamValues<'_>) -> std::result::Result<Expr, ValueError> {
    let all =
        |list: &[Expr]| list.iter().map(|part| with_values(part, values)).collect::<std::result::Result<Vec<_>, _>>();
    match e {
        Expr::Param(index, _) => {
            let no_value = || ValueError::BadArgument(format!("parameter {} has no value", index + 1));
            values.literal(*index).ok_or_else(no_value)
        }
        Expr::Arith(op, a, b, _) if e.has_parameter() => {
            typing::arith(*op, with_values(a, values)?, with_values(b, values)?)
        }
        Expr::And(list) => typing::and(all(list)?),
        Expr::Or(list) => typing::or(all(list)?),
        Expr::Not(inner) => typing::not(with_values(inner, values)?),
        Expr::Compare(op, a, b) if is_column_and_parameter(a, b) => {
            typing::compare(*op, with_values(a, values)?, with_values(b, values)?)
        }
        Expr::RowCompare(op, a, b) if e.has_parameter() => typing::row_compare(*op, all(a)?, all(b)?),
        Expr::InList(left, list) if e.has_parameter() => typing::in_list((**left).clone(), all(list)?, false),
        Expr::RowInList(row, rows) if e.has_parameter() => {
            let rows = rows.iter().map(|row| all(row)).collect::<std::result::Result<_, _>>()?;
            typing::row_in_list(row.clone(), rows, false)
        }
        Expr::Like { text, pattern, escape, ignore_case } if e.has_parameter() => {
            typing::like((**text).clone(), with_values(pattern, values)?, *escape, *ignore_case, false)
        }
        other => Ok(other.clone()),
    }
}
