//! Row keys and ranges of them for rows of values that a join looks up, encoded without a plan.

use std::sync::Arc;

use saltwing_access::keys::{KeyList, RangeList};
use saltwing_access::{ScanRange, Table};
use saltwing_types::Value;

use crate::key_access::KeyAccess;
use crate::key_template::is_plain_value;

impl KeyAccess {
    /// The rows in which these columns equal one of these rows of values; NULL equals nothing.
    ///
    /// `None` where more than encoding is to be thought of: the columns are not the first ones of the key, or do not
    /// tell the bucket, or a value is none of its column's as it stands.
    pub fn of_rows(table: &Table, columns: &[usize], rows: impl IntoIterator<Item = Vec<Value>>) -> Option<Self> {
        let (key, codec) = (&table.def().key, table.codec());
        if key.has_computed() || columns.len() > key.columns.len() || codec.salt_column_count() > columns.len() {
            return None;
        }
        // Of each key column, in key order, the place of its value in a row.
        let leading = key.columns.get(..columns.len())?;
        let places: Vec<usize> = leading
            .iter()
            .map(|part| columns.iter().position(|column| part.column() == Some(*column)))
            .collect::<Option<_>>()?;
        let leading = |row: Vec<Value>| {
            let mut key = codec.plain_key();
            for (place, part) in places.iter().zip(leading) {
                key.push(row.get(*place).filter(|value| is_plain_value(value, part.ty))?)?;
            }
            Some(key)
        };
        let rows = rows.into_iter().filter(|row| !row.iter().any(Value::is_null));
        if places.len() == key.columns.len() {
            let rows = KeyList::new(codec.bucket_bytes(), rows.collect::<Vec<_>>().into_iter(), |row, out| {
                out.extend_from_slice(&leading(row)?.row_key()?);
                Some(())
            })?;
            return Some(Self::Rows(Arc::new(rows)));
        }
        let range = |row| {
            let keys = leading(row)?.prefix_range()?;
            Some(ScanRange { bucket: keys.bucket, range: keys.logical() })
        };
        let ranges = rows.map(range).collect::<Option<Vec<_>>>()?;
        Some(Self::List(Arc::new(RangeList::new(ranges))))
    }
}
