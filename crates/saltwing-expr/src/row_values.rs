//! Rows of values in one buffer, for callers that take values one by one.
//!
//! ```text
//! cells    7 | text 0..3 | text 0..3 | NULL     row after row
//! texts    "abc"                                one after the other; a repeated one stands once
//! bytes    byte strings that were put in pieces, as texts are
//! ```
//! Rows cost no allocation of their own, and a value none either, but for those of the widest types.
//!
//! # Law
//! [`RowValues::get`] returns the value put at a position, or NULL if none was put there.

use saltwing_types::Value;

use crate::ValueRef;

/// The first text makes room for this many bytes at least: the texts of a few rows.
const TEXT_BYTES_MIN: usize = 256;

/// Values of rows with a fixed number of columns.
#[derive(Clone, Debug, Default)]
pub struct RowValues {
    width: usize,
    cells: Vec<Cell>,
    texts: String,
    /// Boxed, because most rows have none, and small rows are moved often.
    rare: Option<Box<RareValues>>,
}

/// The values of the rarer types.
#[derive(Clone, Debug, Default)]
struct RareValues {
    /// Byte strings, one after the other.
    bytes: Vec<u8>,
    /// Values for which cells are too small.
    wide: Vec<Value>,
}

/// A value, or where it stands.
#[derive(Clone, Copy, Debug)]
enum Cell {
    Null,
    Bool(bool),
    Int(i64),
    Float(f32),
    Double(f64),
    Date(i64),
    Text { start: u32, end: u32 },
    Bytes { start: u32, end: u32 },
    Wide(u32),
}

impl RowValues {
    /// No rows of `width` columns.
    pub fn new(width: usize) -> Self {
        Self { width, ..Self::default() }
    }

    /// How many columns a row has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.cells.len() / self.width.max(1)
    }

    /// Removes all rows; the memory is reused.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.texts.clear();
        if let Some(rare) = &mut self.rare {
            rare.bytes.clear();
            rare.wide.clear();
        }
    }

    /// Keeps the first rows only.
    pub fn truncate(&mut self, rows: usize) {
        self.cells.truncate(rows * self.width);
    }

    /// Puts the rows from `first` on into another order: each place is that of a row among them, and comes once.
    pub fn reorder(&mut self, first: usize, places: &[u32]) {
        let rows = self.cells.get(first * self.width..).unwrap_or_default();
        debug_assert_eq!(rows.len(), places.len() * self.width, "a place for each row");
        let row = |place: &u32| rows.chunks(self.width.max(1)).nth(*place as usize).unwrap_or_default();
        let ordered: Vec<Cell> = places.iter().flat_map(row).copied().collect();
        self.cells.truncate(first * self.width);
        self.cells.extend(ordered);
    }

    /// The value of a row in a column, which is less than [`RowValues::width`]; NULL where there is no such row.
    #[inline]
    pub fn get(&self, row: usize, column: usize) -> ValueRef<'_> {
        match self.cells.get(row * self.width + column) {
            Some(Cell::Int(value)) => ValueRef::Int(*value),
            Some(Cell::Text { start, end }) => {
                self.texts.get(*start as usize..*end as usize).map_or(ValueRef::Null, ValueRef::Text)
            }
            other => self.other(other.copied()),
        }
    }

    /// The value of a cell of another kind than most are.
    #[inline(never)]
    fn other(&self, cell: Option<Cell>) -> ValueRef<'_> {
        let rare = self.rare.as_deref();
        ValueRef::Owned(match cell {
            Some(Cell::Bool(value)) => Value::Bool(value),
            Some(Cell::Float(value)) => Value::Float(value),
            Some(Cell::Double(value)) => Value::Double(value),
            Some(Cell::Date(value)) => Value::Date(value),
            Some(Cell::Bytes { start, end }) => {
                let bytes = rare.and_then(|rare| rare.bytes.get(start as usize..end as usize));
                return bytes.map_or(ValueRef::Null, ValueRef::Bytes);
            }
            Some(Cell::Wide(place)) => {
                let value = rare.and_then(|rare| rare.wide.get(place as usize));
                return value.map_or(ValueRef::Null, ValueRef::from);
            }
            None | Some(Cell::Null | Cell::Int(_) | Cell::Text { .. }) => return ValueRef::Null,
        })
    }

    /// All values, row after row.
    pub fn values(&self) -> impl Iterator<Item = Value> {
        (0..self.rows()).flat_map(move |row| (0..self.width).map(move |column| self.get(row, column).into_value()))
    }

    /// The values of a column, from the first row on.
    pub fn column(&self, column: usize) -> impl Iterator<Item = Value> {
        (0..self.rows()).map(move |row| self.get(row, column).into_value())
    }

    /// Makes room for this many more rows.
    pub fn reserve(&mut self, rows: usize) {
        let cells = rows * self.width;
        if self.cells.is_empty() && self.cells.capacity() < cells {
            // There is nothing to be moved.
            self.cells = Vec::with_capacity(cells);
        } else {
            self.cells.reserve(cells);
        }
    }

    /// Adds rows of NULLs; the number of the first one.
    pub fn add(&mut self, rows: usize) -> usize {
        let (first, cells) = (self.rows(), rows * self.width);
        self.reserve(rows);
        self.cells.resize(self.cells.len() + cells, Cell::Null);
        first
    }

    /// A column from a row on, to put values in.
    #[inline]
    pub fn column_mut(&mut self, row: usize, column: usize) -> ColumnCells<'_> {
        let Self { width, cells, texts, rare } = self;
        ColumnCells { cells, next: row * *width + column, width: *width, texts, rare }
    }

    /// Adds one row.
    pub fn push_row(&mut self, row: impl IntoIterator<Item = Value>) {
        let at = self.add(1);
        row.into_iter().take(self.width).enumerate().for_each(|(column, value)| self.column_mut(at, column).put(value));
    }
}

/// Rows of a column, which takes values for one row after the other. Beyond the last row they are lost.
pub struct ColumnCells<'a> {
    cells: &'a mut [Cell],
    next: usize,
    width: usize,
    texts: &'a mut String,
    rare: &'a mut Option<Box<RareValues>>,
}

impl ColumnCells<'_> {
    #[inline]
    fn put_cell(&mut self, cell: Cell) {
        if let Some(to) = self.cells.get_mut(self.next) {
            *to = cell;
        }
        self.next += self.width;
    }

    /// Puts NULL.
    #[inline]
    pub fn put_null(&mut self) {
        self.put_cell(Cell::Null);
    }

    /// Puts an integer.
    #[inline]
    pub fn put_int(&mut self, value: i64) {
        self.put_cell(Cell::Int(value));
    }

    /// Puts the milliseconds of a DATE or TIME.
    #[inline]
    pub fn put_date(&mut self, ms: i64) {
        self.put_cell(Cell::Date(ms));
    }

    /// Reserves space for texts of this many bytes.
    pub fn reserve_texts(&mut self, bytes: usize) {
        self.texts.reserve(bytes);
    }

    /// Puts a text.
    #[inline]
    pub fn put_text(&mut self, text: &str) {
        let start = self.texts.len();
        if self.texts.capacity() == 0 {
            self.texts.reserve(text.len().max(TEXT_BYTES_MIN));
        }
        self.texts.push_str(text);
        self.put_text_at(start, self.texts.len());
    }

    /// Puts texts that stand one after the other from `start` on, and where each ends; places are counted from where
    /// `texts` begins less `start`. `None` where a text would begin or end inside a character.
    #[inline]
    pub fn put_texts(&mut self, texts: &str, start: u32, ends: &[u32]) -> Option<()> {
        let base = self.texts.len();
        self.texts.push_str(texts);
        // If every position fits into a cell, none is checked.
        let is_near = u32::try_from(self.texts.len()).is_ok();
        let mut from = base;
        for end in ends {
            let to = base + end.checked_sub(start)? as usize;
            if to < from || !self.texts.is_char_boundary(to) {
                return None;
            }
            match is_near {
                true => self.put_cell(Cell::Text { start: from as u32, end: to as u32 }),
                false => self.put_text_at(from, to),
            }
            from = to;
        }
        Some(())
    }

    fn put_text_at(&mut self, start: usize, end: usize) {
        match (u32::try_from(start), u32::try_from(end)) {
            (Ok(start), Ok(end)) => self.put_cell(Cell::Text { start, end }),
            _ => {
                let text = self.texts.get(start..end).unwrap_or_default().to_owned();
                self.put_wide(Value::Text(text));
            }
        }
    }

    /// Puts a byte string of two pieces.
    pub fn put_bytes(&mut self, first: &[u8], second: &[u8]) {
        let bytes = &mut self.rare.get_or_insert_default().bytes;
        let end = bytes.len() + first.len() + second.len();
        let (Ok(start), Ok(end)) = (u32::try_from(bytes.len()), u32::try_from(end)) else {
            return self.put_wide(Value::Bytes([first, second].concat()));
        };
        bytes.reserve(first.len() + second.len());
        bytes.extend_from_slice(first);
        bytes.extend_from_slice(second);
        self.put_cell(Cell::Bytes { start, end });
    }

    /// Puts any value.
    pub fn put(&mut self, value: Value) {
        match value {
            Value::Null => self.put_null(),
            Value::Bool(value) => self.put_cell(Cell::Bool(value)),
            Value::Int(value) => self.put_int(value),
            Value::Float(value) => self.put_cell(Cell::Float(value)),
            Value::Double(value) => self.put_cell(Cell::Double(value)),
            Value::Date(ms) => self.put_date(ms),
            Value::Text(text) => self.put_text(&text),
            Value::Decimal(_) | Value::Timestamp(_) | Value::Interval(_) | Value::Bytes(_) | Value::Array(_) => {
                self.put_wide(value);
            }
        }
    }

    fn put_wide(&mut self, value: Value) {
        let wide = &mut self.rare.get_or_insert_default().wide;
        let place = wide.len() as u32;
        wide.push(value);
        self.put_cell(Cell::Wide(place));
    }

    /// Repeats the last value `times` more times.
    pub fn repeat(&mut self, times: usize) {
        let last = self.next.checked_sub(self.width).and_then(|last| self.cells.get(last)).copied();
        debug_assert!(last.is_some() || times == 0, "there is no value to repeat");
        for _ in 0..times {
            self.put_cell(last.unwrap_or(Cell::Null));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use saltwing_types::value::Timestamp;

    use super::*;

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::Int),
            any::<f32>().prop_map(Value::Float),
            any::<f64>().prop_map(Value::Double),
            any::<i64>().prop_map(|digits| Value::Decimal(digits.into())),
            any::<i64>().prop_map(Value::Date),
            any::<(i64, u32)>().prop_map(|(ms, nanos)| Value::Timestamp(Timestamp { ms, nanos: nanos % 1_000_000 })),
            "[aäß]{0,4}".prop_map(Value::Text),
            prop::collection::vec(any::<u8>(), 0..4).prop_map(Value::Bytes),
        ]
    }

    proptest! {
        #[test]
        fn values_are_those_that_were_put(
            rows in prop::collection::vec(prop::collection::vec(value(), 3), 0..8),
            times in 0usize..4,
            kept in 0usize..12,
        ) {
            let mut by_row = RowValues::new(3);
            rows.iter().for_each(|row| by_row.push_row(row.clone()));
            let all: Vec<Value> = rows.concat();
            prop_assert_eq!(by_row.values().collect::<Vec<_>>(), &all[..]);

            // The same by column, each row repeated; the last column is left NULL.
            let mut by_column = RowValues::new(3);
            by_column.push_row([Value::text("before")]);
            let first = by_column.add(rows.len() * (times + 1));
            prop_assert_eq!(first, 1);
            for column in 0..2 {
                let mut cells = by_column.column_mut(first, column);
                for row in &rows {
                    cells.put(row[column].clone());
                    cells.repeat(times);
                }
            }
            for row in 0..by_column.rows() - 1 {
                let expected = &rows[row / (times + 1)];
                for (column, value) in expected.iter().take(2).enumerate() {
                    prop_assert_eq!(by_column.get(first + row, column).into_value(), value.clone());
                }
                prop_assert_eq!(by_column.get(first + row, 2), ValueRef::Null);
            }

            let mut reversed = by_row.clone();
            let places: Vec<u32> = (0..rows.len().saturating_sub(1) as u32).rev().collect();
            reversed.reorder(rows.len() - places.len(), &places);
            let first = rows.iter().take(rows.len() - places.len());
            let in_order: Vec<Value> = first.chain(rows.iter().skip(1).rev()).flatten().cloned().collect();
            prop_assert_eq!(reversed.values().collect::<Vec<_>>(), in_order);

            by_row.truncate(kept);
            prop_assert_eq!(by_row.values().collect::<Vec<_>>(), &all[..all.len().min(3 * kept)]);
            let column: Vec<Value> = rows.iter().take(kept).map(|row| row[1].clone()).collect();
            prop_assert_eq!(by_row.column(1).collect::<Vec<_>>(), column);
            by_row.clear();
            by_row.push_row(all.iter().take(3).cloned());
            prop_assert_eq!(by_row.get(0, 2).into_value(), all.get(2).cloned().unwrap_or(Value::Null));
        }

        #[test]
        fn bytes_in_pieces_are_bytes(pieces in prop::collection::vec(prop::collection::vec(any::<[u8; 2]>(), 2), 0..6)) {
            let mut values = RowValues::new(2);
            values.add(pieces.len());
            let mut cells = values.column_mut(0, 1);
            pieces.iter().for_each(|two| cells.put_bytes(two[0].as_slice(), two[1].as_slice()));
            let expected: Vec<Value> = pieces.iter().map(|two| Value::Bytes(two.concat())).collect();
            prop_assert_eq!(values.column(1).collect::<Vec<_>>(), expected);
        }

        #[test]
        fn texts_together_are_texts_apart(texts in prop::collection::vec("[aäß]{0,4}", 0..6), start in 0u32..9) {
            let ends: Vec<u32> = texts
                .iter()
                .scan(start, |end, text| {
                    *end += text.len() as u32;
                    Some(*end)
                })
                .collect();
            let mut values = RowValues::new(1);
            values.push_row([Value::text("ä")]);
            values.add(texts.len());
            values.column_mut(1, 0).put_texts(&texts.concat(), start, &ends).unwrap();
            let expected: Vec<Value> = texts.iter().map(|text| Value::text(text.as_str())).collect();
            prop_assert_eq!(values.column(0).skip(1).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn no_text_ends_inside_a_character_or_before_it_begins() {
        let mut values = RowValues::new(1);
        values.add(2);
        assert_eq!(values.column_mut(0, 0).put_texts("ä", 0, &[1, 2]), None);
        assert_eq!(values.column_mut(0, 0).put_texts("aa", 0, &[2, 1]), None);
        assert_eq!(values.column_mut(0, 0).put_texts("aa", 1, &[0, 3]), None);
        assert_eq!(values.column_mut(0, 0).put_texts("aa", 1, &[2, 3]), Some(()));
    }
}
