//! SELECTs with parameters, planned as far as they are known without values.
//!
//! With its values a statement whose parameters are compared with columns needs no parsing and no names any more: the
//! conditions are made anew by the typing rules, so that they are the same as if the values had stood in the text.
//! Where each key column equals one value, the row key is encoded at once, and nothing is planned.

use std::sync::Arc;

use saltwing_plan::{Access, AccessKind, Condition};
use saltwing_rowkey::KeyRange;
use saltwing_table::{Buckets, Direction, RangeIter, RangeSource, ScanRequest};
use saltwing_types::{CompareOp, Expr, SqlType, Value, ValueError, typing};

use super::select::{PlannedSelect, plan_select};
use crate::error::Result;
use crate::select::row_count;
use crate::{BoundSelect, Output};

/// A SELECT whose parameters have no values yet.
pub struct SelectTemplate {
    open: BoundSelect,
    /// What each key column equals (NULL stands for a computed one), where that is all that is asked.
    key: Option<Vec<Expr>>,
}

/// A row key that was encoded without a plan.
pub struct PointKey {
    key: KeyRange,
    bucket: Option<u8>,
}

impl SelectTemplate {
    /// The template of a SELECT that was bound without values; `None` where its parameters stand
    /// where values change more than conditions.
    pub fn new(open: BoundSelect) -> Option<Self> {
        let in_output = match &open.output {
            Output::Rows(columns) => columns.iter().any(|c| has_parameter(&c.expr)),
            Output::Groups(grouping) => grouping.exprs().any(has_parameter),
        };
        let is_bindable = |e: &Expr| !has_parameter(e) || is_bindable(e);
        if in_output || !open.conditions.iter().all(|c| is_bindable(&c.expr)) {
            return None;
        }
        let key = key_values(&open).filter(|_| !open.limit_open);
        Some(Self { open, key })
    }

    /// The plan for all values of which [`SelectTemplate::point`] makes a row key; `None` where there
    /// is more to plan.
    ///
    /// # Errors
    /// As [`plan_select`].
    pub fn point_plan(&self) -> Result<Option<PlannedSelect>> {
        if self.key.is_none() {
            return Ok(None);
        }
        Ok(plan_select(self.open.clone())?.filter(|planned| reads_points(planned.access.access())))
    }

    /// The SELECT with values; `None` where it needs to be planned from its text, also to say what is wrong.
    pub fn bind(&self, values: &[Value]) -> Option<PlannedSelect> {
        let mut bound = self.open.clone();
        for condition in &mut bound.conditions {
            if has_parameter(&condition.expr) {
                *condition = Condition::new(with_values(&condition.expr, values).ok()?);
            }
        }
        // NULL is no limit, and no offset.
        let rows = |index: usize| values.get(index).and_then(row_count);
        let (limit, offset) = bound.limit_parameters;
        bound.limit = limit.map_or(Some(bound.limit), rows)?;
        bound.offset = offset.map_or(Some(Some(bound.offset)), rows)?.unwrap_or(0);
        (bound.limit_open, bound.limit_parameters) = (false, (None, None));
        plan_select(bound).ok()?
    }

    /// The one row key that these values ask for, where each is of its column's type as it stands.
    pub fn point(&self, values: &[Value]) -> Option<PointKey> {
        let key = self.key.as_ref()?;
        let (def, codec) = (self.open.table.def(), self.open.table.codec());
        let mut row = if def.key.has_computed() { vec![Value::Null; def.columns.len()] } else { Vec::new() };
        let mut parts = vec![Value::Null; key.len()];
        for ((expr, column), part) in key.iter().zip(&def.key.columns).zip(&mut parts) {
            let Some(index) = column.column() else { continue };
            let value = match expr {
                Expr::Param(index, _) => values.get(*index)?,
                Expr::Literal(value, _) => value,
                _ => return None,
            };
            is_plain_value(value, column.ty).then_some(())?;
            part.clone_from(value);
            row.get_mut(index).into_iter().for_each(|place| place.clone_from(value));
        }
        for (column, part) in def.key.columns.iter().zip(&mut parts).filter(|(column, _)| column.computed().is_some()) {
            *part = column.value(&row).ok()?;
        }
        let logical = codec.encode_logical(&parts).ok()?;
        let bucket = def.key.salt.map(|_| codec.bucket(&logical));
        Some(PointKey { key: KeyRange::point(logical), bucket })
    }
}

impl PointKey {
    /// Makes a scan read this key alone.
    pub fn narrow(&self, request: &mut ScanRequest) {
        request.ranges = Arc::new(OnePoint(self.key.clone()));
        if let Some(bucket) = self.bucket {
            request.buckets = Buckets::Some(vec![bucket]);
        }
        request.limit = request.limit.or(Some(1));
    }
}

struct OnePoint(KeyRange);

impl RangeSource for OnePoint {
    fn ranges(&self, _: Option<u8>, _: Direction) -> RangeIter {
        Box::new(std::iter::once(self.0.clone()))
    }
}

/// Whether whole keys are all that is asked for.
fn reads_points(access: &Access) -> bool {
    access.kind == AccessKind::Point && access.residual.is_empty() && access.verdict.allowed == Some(true)
}

fn has_parameter(e: &Expr) -> bool {
    let mut found = false;
    e.walk(&mut |part| found |= matches!(part, Expr::Param(..)));
    found
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
fn is_bindable(e: &Expr) -> bool {
    match e {
        Expr::And(list) | Expr::Or(list) => list.iter().all(|part| !has_parameter(part) || is_bindable(part)),
        Expr::Not(inner) => is_bindable(inner),
        Expr::Compare(_, a, b) => is_column_and_parameter(a, b),
        Expr::RowCompare(_, a, b) => a.iter().zip(b).all(|(a, b)| is_column_and_parameter(a, b)),
        Expr::InList(left, list) => is_column(left) && list.iter().all(is_parameter),
        Expr::RowInList(row, rows) => row.iter().all(is_column) && rows.iter().flatten().all(is_parameter),
        Expr::Like { text, pattern, .. } => is_column(text) && is_parameter(pattern),
        _ => false,
    }
}

/// A bindable condition with values, built as the text with these values would be.
fn with_values(e: &Expr, values: &[Value]) -> std::result::Result<Expr, ValueError> {
    let all =
        |list: &[Expr]| list.iter().map(|part| with_values(part, values)).collect::<std::result::Result<Vec<_>, _>>();
    match e {
        Expr::Param(index, _) => match values.get(*index) {
            Some(value) => Ok(Expr::Literal(value.clone(), typing::natural_type(value))),
            None => Err(ValueError::BadArgument(format!("parameter {} has no value", index + 1))),
        },
        Expr::And(list) => typing::and(all(list)?),
        Expr::Or(list) => typing::or(all(list)?),
        Expr::Not(inner) => typing::not(with_values(inner, values)?),
        Expr::Compare(op, a, b) if is_column_and_parameter(a, b) => {
            typing::compare(*op, with_values(a, values)?, with_values(b, values)?)
        }
        Expr::RowCompare(op, a, b) if has_parameter(e) => typing::row_compare(*op, all(a)?, all(b)?),
        Expr::InList(left, list) if has_parameter(e) => typing::in_list((**left).clone(), all(list)?, false),
        Expr::RowInList(row, rows) if has_parameter(e) => {
            let rows = rows.iter().map(|row| all(row)).collect::<std::result::Result<_, _>>()?;
            typing::row_in_list(row.clone(), rows, false)
        }
        Expr::Like { text, pattern, escape, ignore_case } if has_parameter(e) => {
            typing::like((**text).clone(), with_values(pattern, values)?, *escape, *ignore_case, false)
        }
        other => Ok(other.clone()),
    }
}

/// What each key column equals (NULL stands for a computed one), where the conditions say that of all of them, and nothing else.
fn key_values(bound: &BoundSelect) -> Option<Vec<Expr>> {
    let key = &bound.table.def().key;
    let columns = key.columns.iter().filter(|part| part.column().is_some()).count();
    let is_plain = matches!(bound.output, Output::Rows(_)) && bound.conditions.len() == columns;
    let mut values = vec![Expr::NULL; key.columns.len()];
    for condition in bound.conditions.iter().filter(|_| is_plain) {
        let Expr::Compare(CompareOp::Eq, a, b) = &condition.expr else { return None };
        let (column, value) = match (&**a, &**b) {
            (Expr::Column(column), value) | (value, Expr::Column(column)) => (column, value),
            _ => return None,
        };
        *values.get_mut(key.position(column.index)?)? = value.clone();
    }
    let is_value = |e: &Expr| matches!(e, Expr::Param(..) | Expr::Literal(..)) && *e != Expr::NULL;
    let is_told = values.iter().zip(&key.columns).all(|(value, part)| part.computed().is_some() || is_value(value));
    (is_plain && is_told).then_some(values)
}

/// Whether a value is one of the column's, and stands in keys as it is.
fn is_plain_value(value: &Value, ty: SqlType) -> bool {
    match value {
        Value::Int(n) => ty.integer_range().is_some_and(|(low, high)| (low..=high).contains(n)),
        Value::Text(_) => ty == SqlType::Varchar(None),
        Value::Bool(_) => ty == SqlType::Boolean,
        Value::Date(_) => ty == SqlType::Date,
        _ => false,
    }
}
