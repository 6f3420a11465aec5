//! Sums over the rows of a scan, made where the rows are.

use saltwing_types::Value;

/// The totals of rows in a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// Values that are not NULL.
    pub known: u64,
    /// Their sum, of a column of integers: no number of rows goes beyond it. 0 of another column.
    pub sum: i128,
}

/// The totals of a scan's rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// How many rows there are.
    pub rows: u64,
    /// Of each column that the scan puts out.
    pub columns: Vec<Total>,
}

impl Total {
    /// Adds `known` values whose sum is `sum`.
    pub fn add(&mut self, known: u64, sum: i128) {
        self.known += known;
        self.sum += sum;
    }

    /// The total with `rows` more rows, all of this value.
    #[must_use]
    pub fn with(self, value: &Value, rows: u64) -> Self {
        let value = match value {
            Value::Null => return self,
            Value::Int(value) => i128::from(*value),
            _ => 0,
        };
        Self { known: self.known + rows, sum: self.sum + value * i128::from(rows) }
    }
}

impl Totals {
    /// Adds what further rows of the same columns have.
    pub fn add(&mut self, more: Self) {
        self.rows += more.rows;
        self.columns.resize(more.columns.len(), Total::default());
        for (total, more) in self.columns.iter_mut().zip(more.columns) {
            total.add(more.known, more.sum);
        }
    }
}
