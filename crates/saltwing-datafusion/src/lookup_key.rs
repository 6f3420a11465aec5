//! The key columns of a lookup join's inner table, and the outer expressions that they equal.

use std::fmt;
use std::sync::Arc;

use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::expressions::Column;
use datafusion::physical_plan::joins::HashJoinExec;
use saltwing_types::{ColumnRef, SqlType};

use crate::expr_function::{ExprFunction, text_of};
use crate::origin::origin;
use crate::scan_path::Path;
use crate::sql_field::field_type;

/// Which input of a join is looked up for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outer {
    Left,
    Right,
}

/// A key column of the inner table, and what it is equal to in the outer rows.
#[derive(Clone, Debug)]
pub(crate) struct LookupKey {
    pub(crate) column: ColumnRef,
    pub(crate) value: Arc<dyn PhysicalExpr>,
    pub(crate) ty: SqlType,
    /// What it is equal to, for people.
    text: String,
}

impl LookupKey {
    /// Whether values of both sides are equal where they are the same: blanks at the end of a CHAR are not.
    pub(crate) fn is_of_one_kind(&self) -> bool {
        let (outer, own) = (self.ty, self.column.ty);
        outer == own
            || outer.is_integer() && own.is_integer()
            || matches!((outer, own), (SqlType::Varchar(_), SqlType::Varchar(_)))
    }
}

impl fmt::Display for LookupKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.column.name, self.text)
    }
}

/// The key columns of the inner table that the join's equalities give values to.
pub(crate) fn lookup_keys(
    join: &HashJoinExec,
    side: Outer,
    outer: &Arc<dyn ExecutionPlan>,
    inner: &Path,
) -> Vec<LookupKey> {
    let Some(scan) = inner.scan() else { return Vec::new() };
    let table = &scan.table_use().table;
    let key = &table.def().key;
    let mut keys: Vec<LookupKey> = Vec::new();
    for (left, right) in join.on() {
        let (value, column) = match side {
            Outer::Left => (left, right),
            Outer::Right => (right, left),
        };
        let Some(index) = inner.table_column_below(column, uncast) else { continue };
        if key.position(index).is_none() || keys.iter().any(|known| known.column.index == index) {
            continue;
        }
        let own = table.column_type(index);
        let field = value.return_field(&outer.schema());
        let Some(ty) = field.ok().and_then(|field| field_type(&field)) else { continue };
        // A double stands for all numbers that round to it.
        if ty.is_float() && !own.is_float() {
            continue;
        }
        let field = table.schema().field(index);
        let (name, nullable) = (field.name().clone(), field.is_nullable());
        let column = ColumnRef { index, name, ty: own, nullable, span: None };
        let source = uncast(value).downcast_ref::<Column>().and_then(|column| origin(outer, column.index()));
        let text = source.unwrap_or_else(|| text_of(value));
        keys.push(LookupKey { column, value: value.clone(), ty, text });
    }
    keys
}

/// The column below the cast that brings a join's sides to one type.
fn uncast(expr: &Arc<dyn PhysicalExpr>) -> &Arc<dyn PhysicalExpr> {
    match expr.downcast_ref::<ScalarFunctionExpr>() {
        Some(call) if call.fun().inner().downcast_ref::<ExprFunction>().is_some_and(ExprFunction::is_cast) => {
            call.args().first().filter(|arg| arg.is::<Column>()).unwrap_or(expr)
        }
        _ => expr,
    }
}
