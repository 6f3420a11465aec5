//! Which group a row belongs to.

use std::ops::Range;

use arrow::array::{Array, ArrayRef, AsArray, UInt32Array, make_comparator};
use arrow::compute::{SortOptions, concat, partition, take};
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use arrow::error::ArrowError;

use super::group_table::GroupTable;

/// Groups while rows come in.
pub(crate) struct Groups {
    numbering: Numbering,
    /// Values of the keys of all groups, a piece for each batch in which groups began.
    pieces: Vec<Vec<ArrayRef>>,
    /// Bytes of them.
    kept: usize,
    count: usize,
}

enum Numbering {
    /// One group, with or without rows.
    One,
    /// Rows of a group follow each other.
    Runs,
    /// They may come in any order.
    Table(Box<GroupTable>),
}

/// The rows of a batch by group.
pub(crate) enum Assigned {
    /// Runs of rows, one after the other.
    Runs(Vec<(usize, Range<usize>)>),
    /// The group of each row.
    Rows(Vec<u32>),
}

impl Assigned {
    /// The group of each row, where they are wanted so.
    pub(crate) fn of_rows(&self) -> Vec<u32> {
        match self {
            Assigned::Rows(groups) => groups.clone(),
            Assigned::Runs(runs) => {
                runs.iter().flat_map(|(group, rows)| std::iter::repeat_n(*group as u32, rows.len())).collect()
            }
        }
    }
}

/// In runs shorter than this, rows are cheaper to add one by one.
const RUN_ROWS_MIN: usize = 4;

impl Groups {
    /// All rows in one group.
    pub(crate) fn one() -> Self {
        Self { numbering: Numbering::One, pieces: Vec::new(), kept: 0, count: 1 }
    }

    /// Groups whose rows follow each other.
    pub(crate) fn runs() -> Self {
        Self { numbering: Numbering::Runs, pieces: Vec::new(), kept: 0, count: 0 }
    }

    /// Groups whose rows come in any order.
    pub(crate) fn hashed(types: &[DataType]) -> Result<Self, ArrowError> {
        let table = Box::new(GroupTable::new(types)?);
        Ok(Self { numbering: Numbering::Table(table), pieces: Vec::new(), kept: 0, count: 0 })
    }

    /// How many groups there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Memory held.
    pub(crate) fn bytes(&self) -> usize {
        self.kept + if let Numbering::Table(table) = &self.numbering { table.bytes() } else { 0 }
    }

    /// The groups of some rows, whose keys these are.
    pub(crate) fn assign(&mut self, keys: &[ArrayRef], rows: usize) -> Result<Assigned, ArrowError> {
        match &mut self.numbering {
            Numbering::One => Ok(Assigned::Runs(vec![(0, 0..rows)])),
            Numbering::Runs => self.assign_runs(keys, rows),
            Numbering::Table(table) => {
                let (mut numbers, mut firsts) = (Vec::new(), Vec::new());
                table.number(keys, rows, &mut numbers, &mut firsts)?;
                self.count = table.len();
                self.keep(keys, firsts)?;
                Ok(Assigned::Rows(numbers))
            }
        }
    }

    fn assign_runs(&mut self, keys: &[ArrayRef], rows: usize) -> Result<Assigned, ArrowError> {
        let ranges = partition(keys)?.ranges();
        let goes_on = self.goes_on(keys)?;
        let (mut runs, mut firsts) = (Vec::with_capacity(ranges.len()), Vec::new());
        for (i, range) in ranges.into_iter().enumerate() {
            if i > 0 || !goes_on {
                firsts.push(range.start as u32);
                self.count += 1;
            }
            runs.push((self.count - 1, range));
        }
        self.keep(keys, firsts)?;
        let are_short = runs.len() * RUN_ROWS_MIN > rows;
        let runs = Assigned::Runs(runs);
        Ok(if are_short { Assigned::Rows(runs.of_rows()) } else { runs })
    }

    /// Whether the first row belongs to the group that the last batch ended in.
    fn goes_on(&self, keys: &[ArrayRef]) -> Result<bool, ArrowError> {
        let Some(last) = self.pieces.last() else { return Ok(false) };
        for (before, here) in last.iter().zip(keys) {
            let compare = make_comparator(before, here, SortOptions::default())?;
            if before.is_empty() || compare(before.len() - 1, 0).is_ne() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn keep(&mut self, keys: &[ArrayRef], firsts: Vec<u32>) -> Result<(), ArrowError> {
        if !firsts.is_empty() {
            let firsts = UInt32Array::from(firsts);
            let piece = keys.iter().map(|column| take(column, &firsts, None)).collect::<Result<Vec<_>, _>>()?;
            self.kept += piece.iter().map(|column| column.get_array_memory_size()).sum::<usize>();
            self.pieces.push(piece);
        }
        Ok(())
    }

    /// The keys of the first `count` groups, which are given up: the others move down.
    pub(crate) fn take(&mut self, count: usize) -> Result<Vec<ArrayRef>, ArrowError> {
        let columns = self.pieces.first().map_or(0, Vec::len);
        let column = |place: usize| {
            let parts: Vec<&dyn Array> =
                self.pieces.iter().filter_map(|piece| piece.get(place)).map(|column| &**column).collect();
            concat(&parts)
        };
        let keys = (0..columns).map(column).collect::<Result<Vec<_>, _>>()?;
        let count = count.min(self.count);
        let rest = self.count - count;
        self.pieces = match rest {
            0 => Vec::new(),
            _ => vec![keys.iter().map(|column| column.slice(count, rest)).collect()],
        };
        self.kept = self.pieces.iter().flatten().map(|column| column.get_array_memory_size()).sum();
        self.count = rest;
        Ok(keys.iter().map(|column| column.slice(0, count)).collect())
    }
}

/// A key's values with equal floats in one form: 0.0 for -0.0, one NaN.
pub(crate) fn canonical(column: ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Float32 => {
            let one = |value: f32| if value.is_nan() { f32::NAN } else { value + 0.0 };
            std::sync::Arc::new(column.as_primitive::<Float32Type>().unary::<_, Float32Type>(one))
        }
        DataType::Float64 => {
            let one = |value: f64| if value.is_nan() { f64::NAN } else { value + 0.0 };
            std::sync::Arc::new(column.as_primitive::<Float64Type>().unary::<_, Float64Type>(one))
        }
        _ => column,
    }
}
