//! Values of sequences that the rows of a query take.

use saltwing_types::ValueError;

use super::{BoundQuery, ComputedColumn, Output, SequenceUses, value_of};
use crate::error::Result;
use crate::output::OutputColumn;

/// The values of sequences that the rows of a statement's query take once they are known, and the result that is made of both.
///
/// ```text
/// SELECT a, 'no. ' || NEXT VALUE FOR s || b AS label FROM t ORDER BY a LIMIT 3
///
/// draw [s:2 = next]
///   limit 3
///     sort a:0 asc nulls first
///       scan t [a:0, b:1]
///   output a:0, b:1
/// output a:0, 'no. ' || s:2 || b:1 AS label
/// ```
#[derive(Clone, Debug)]
pub struct SequenceDraw {
    /// The sequences, of which each row takes one value.
    pub uses: SequenceUses,
    /// The columns of the result that are made of values, over these and the columns of the query's output.
    pub columns: Vec<ComputedColumn>,
    /// The columns of the result: these, and others of the query's output.
    pub output: Vec<Output>,
}

impl SequenceDraw {
    /// The columns of the result over positions: those of the query's output come first, then the values.
    ///
    /// # Errors
    /// [`ValueError::Internal`]: a column that is neither.
    pub fn outputs(&self, query: &BoundQuery) -> Result<Vec<OutputColumn>> {
        let given = query.output.iter().map(|output| &output.column).chain(self.uses.iter().map(|it| &it.column));
        let ids: Vec<usize> = given.map(|column| column.index).collect();
        let output = |Output { label, column }: &Output| {
            let (mut expr, mut missing) = (value_of(column, &self.columns), None);
            expr.map_columns(&mut |column| match ids.iter().position(|id| *id == column.index) {
                Some(position) => column.index = position,
                None => missing = Some(column.name.clone()),
            });
            debug_assert!(missing.is_none(), "{expr} has a column that its row has not");
            match missing {
                None => Ok(OutputColumn { label: label.clone(), expr, ty: column.ty }),
                Some(name) => Err(ValueError::Internal(format!("no row has the column {name}")).into()),
            }
        };
        self.output.iter().map(output).collect()
    }
}
