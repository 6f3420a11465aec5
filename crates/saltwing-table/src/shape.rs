//! What a scan puts out and checks, made ready once for many scans.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray};
use arrow::compute::filter;
use arrow::datatypes::{FieldRef, Schema, SchemaRef};
use saltwing_access::{Table, TableError};
use saltwing_expr::Filter;
use saltwing_types::{Expr, typing};

use crate::StoredTable;
use crate::conditions::Conditions;
use crate::decode::DecodedColumns;

/// The columns that scans of a table put out, and the conditions that their rows meet.
pub struct ScanShape {
    table: Arc<StoredTable>,
    schema: SchemaRef,
    /// The columns put out, then those that only the rest of the filter needs.
    columns: DecodedColumns,
    conditions: Option<Arc<Conditions>>,
    /// What conditions do not decide.
    rest: Option<Filter>,
    /// Whether columns are read, be it for the filter alone.
    reads_columns: bool,
}

impl ScanShape {
    /// The shape of scans that put out these columns, by index, of the rows that meet all conditions of `conditions`;
    /// [`Table::row_key_index`] is `_row_key`.
    ///
    /// # Errors
    /// A type mismatch where one is no condition.
    pub fn new(table: &Arc<Table>, columns: &[usize], conditions: Vec<Expr>) -> Result<Self, TableError> {
        Self::of(&Arc::new(StoredTable::new(table.clone())), columns, conditions)
    }

    pub(crate) fn of(table: &Arc<StoredTable>, columns: &[usize], conditions: Vec<Expr>) -> Result<Self, TableError> {
        let reads_columns = !columns.is_empty() || conditions.iter().any(|condition| !condition.columns().is_empty());
        // Types are judged here, since not all of the filter is computed as such.
        let conditions = if conditions.is_empty() { conditions } else { typing::and(conditions)?.into_conjuncts() };
        let (conditions, rest) = Conditions::divide(table, conditions);
        let mut decoded = columns.to_vec();
        for column in rest.iter().flat_map(Expr::columns) {
            if !decoded.contains(&column) {
                decoded.push(column);
            }
        }
        let all = table.schema().fields();
        let fields: Vec<FieldRef> = columns.iter().filter_map(|&column| all.get(column).cloned()).collect();
        let rest = if rest.is_empty() { None } else { Some(Filter::new(rest)?) };
        Ok(Self {
            table: table.clone(),
            schema: Arc::new(Schema::new(fields)),
            columns: DecodedColumns::new(table, &decoded),
            conditions: conditions.map(Arc::new),
            rest,
            reads_columns,
        })
    }

    /// The table.
    pub(crate) fn table(&self) -> &Arc<StoredTable> {
        &self.table
    }

    /// The schema of the columns put out, named as declared.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Every column that is decoded, those put out first.
    pub(crate) fn columns(&self) -> &DecodedColumns {
        &self.columns
    }

    /// Whether rows are checked.
    pub fn is_filtered(&self) -> bool {
        self.rest.is_some() || self.conditions_of_rows().is_some()
    }

    /// Whether sums of the rows can be had without decoding them: all that the filter asks for is known before. It says
    /// nothing of the columns.
    pub fn is_decided_early(&self) -> bool {
        self.rest.is_none()
    }

    /// Whether columns are read, be it for the filter alone.
    pub(crate) fn reads_columns(&self) -> bool {
        self.reads_columns
    }

    /// The conditions that blocks' summaries may rule out.
    pub(crate) fn conditions(&self) -> Option<&Arc<Conditions>> {
        self.conditions.as_ref()
    }

    /// The same, where rows are held to some.
    pub(crate) fn conditions_of_rows(&self) -> Option<&Arc<Conditions>> {
        self.conditions().filter(|conditions| conditions.are_of_rows())
    }

    /// Of the decoded columns of some rows those put out, with the rows that meet the rest of the filter, and how many these are.
    /// Of the rows at `unknown` it is known that they do not meet all of it.
    pub(crate) fn put_out(
        &self,
        mut columns: Vec<ArrayRef>,
        rows: usize,
        unknown: &[usize],
    ) -> Result<(Vec<ArrayRef>, usize), TableError> {
        let put_out = self.schema.fields().len();
        let Some(rest) = self.rest.as_ref().filter(|_| rows > 0) else {
            columns.truncate(put_out);
            return Ok((columns, rows));
        };
        let mut by_index: Vec<Option<ArrayRef>> = vec![None; self.table.row_key_index() + 1];
        for (column, array) in self.columns.all.iter().zip(&columns) {
            if let Some(place) = by_index.get_mut(column.index) {
                *place = Some(array.clone());
            }
        }
        let mut mask = rest.mask(&by_index, rows)?;
        if !unknown.is_empty() {
            let mut met: Vec<bool> = mask.values().iter().collect();
            for place in unknown {
                if let Some(met) = met.get_mut(*place) {
                    *met = false;
                }
            }
            mask = BooleanArray::from(met);
        }
        columns.truncate(put_out);
        let kept = mask.true_count();
        if kept < rows {
            columns = columns.iter().map(|column| filter(column, &mask)).collect::<Result<_, _>>()?;
        }
        Ok((columns, kept))
    }
}
