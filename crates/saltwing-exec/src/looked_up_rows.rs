//! Rows of a view that were looked up together: over a store whose reads wait, each look-up is a round trip.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use saltwing_access::{Projection, Snapshot, Table};
use saltwing_expr::RowValues;
use saltwing_types::Value;

use crate::ExecError;

/// Rows of one table by their physical keys, as they are in one view.
#[derive(Default)]
pub(crate) struct LookedUpRows {
    /// The table of the rows.
    table: Option<Arc<Table>>,
    /// `None` for a key that no row has.
    rows: HashMap<Vec<u8>, Option<Vec<Value>>>,
}

impl LookedUpRows {
    /// Reads the rows of some keys, in any order and perhaps repeated.
    ///
    /// # Errors
    /// The store's.
    pub(crate) fn read(
        view: &dyn Snapshot,
        table: &Arc<Table>,
        keys: impl Iterator<Item = Vec<u8>>,
    ) -> Result<Self, ExecError> {
        let keys: Vec<Vec<u8>> = keys.collect::<BTreeSet<_>>().into_iter().collect();
        let width = Projection::all(table).columns().len();
        let keyed = Projection::new(table, (0..width).chain([table.row_key_index()]));
        let mut values = RowValues::new(width + 1);
        view.get_all(&keyed, &keys, &mut values, None)?;
        let mut rows: HashMap<_, _> = keys.into_iter().map(|key| (key, None)).collect();
        let (count, mut values) = (values.rows(), values.values());
        for _ in 0..count {
            let row = values.by_ref().take(width).collect();
            let Some(Value::Bytes(key)) = values.next() else { return Err(ExecError::Bug("a row without a key")) };
            rows.insert(key, Some(row));
        }
        Ok(Self { table: Some(table.clone()), rows })
    }

    /// Whether no key was looked up.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The row of a key of the table, `Some(None)` if there is none; `None` if the key was not looked up.
    pub(crate) fn get(&self, table: &Arc<Table>, key: &[u8]) -> Option<&Option<Vec<Value>>> {
        let is_of_table = self.table.as_ref().is_some_and(|known| Arc::ptr_eq(known, table));
        if is_of_table { self.rows.get(key) } else { None }
    }
}
