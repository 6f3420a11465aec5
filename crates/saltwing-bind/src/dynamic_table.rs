//! Tables with dynamic columns in FROM: `FROM t (extra VARCHAR)`. Each is a column that is computed from the table's hidden column of
//! them.

use saltwing_sql::DynamicColumn;

use crate::from::Named;
use crate::lower::Lowerer;
use crate::query_binder::{Bound, QueryBinder};
use crate::scope::{DynamicOutput, Scope};
use crate::tree::{Relation, Scan};
use crate::view::{check_dynamic, dynamic_value};

impl QueryBinder<'_> {
    /// The rows of a table with these dynamic columns, which may be none. `scope` has the table's own columns.
    ///
    /// # Errors
    /// A name that a column of the table has, or that comes twice.
    pub(crate) fn with_dynamic_columns(&self, scan: Scan, scope: Scope, columns: &[DynamicColumn]) -> Bound<Named> {
        if columns.is_empty() {
            return Ok((Relation::Scan(scan), scope));
        }
        let def = scan.table.def();
        check_dynamic(def, columns.iter().map(|it| &it.column))?;
        let (mut computed, mut shown) = (Vec::with_capacity(columns.len()), Vec::with_capacity(columns.len()));
        for dynamic in columns {
            let value = Lowerer::new(&scope, self.params).lower(&dynamic_value(def, dynamic)?)?;
            let column = self.ids.new_column_of(value, |_| dynamic.column.name.text.clone());
            shown.push(DynamicOutput::new(dynamic, column.column.index));
            computed.push(column);
        }
        Ok((Relation::Scan(scan).projected(computed), scope.with_dynamic(shown)))
    }
}
