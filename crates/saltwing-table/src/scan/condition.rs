//! Conditions evaluated on stored values: a column compared with literals.
//!
//! ```text
//! a < 5    a IN (1, 7)    NOT a = 3    a IS NOT NULL    flag    t >= 'x'
//! ```
//! One description serves a block's summary, the cells of its columns, and the rows of deltas. Numbers are compared by
//! their sort numbers (`format/zone.rs`): a condition is ranges of them.
//!
//! # Law
//! A condition's result for a row is that of the evaluator, and it never fails.

mod reading;

use std::ops::Range;

use saltwing_types::{ColumnRef, CompareOp, SqlType};

use crate::engine::stored_table::StoredTable;
use crate::format::bits::Nulls;
use crate::format::fix_part::FixCells;
use crate::format::number_ranges::{NumberRanges, Share, keep, keep_each};
use crate::format::row_format::SlotBytes;
use crate::format::slot_format;
use crate::format::slot_format::{slot_bytes, slot_int};
use crate::format::stored_column::StoredColumn;
use crate::format::summary::Summary;
use crate::format::zone::{decimal_number, float_number_narrow, int_number, text_number, timestamp_number};
use crate::scan::column_location::ColumnLocation;

/// The result of a condition for a row. As bits, AND of them is SQL's AND.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    False = 0b00,
    Unknown = 0b10,
    True = 0b11,
}

/// A condition on one column.
#[derive(Debug)]
pub(crate) struct Condition {
    pub(crate) family: usize,
    pub(crate) slot: u16,
    ty: SqlType,
    test: Test,
    /// Whether it holds where the test does.
    wanted: bool,
    /// The result for rows that are older than the column.
    absent: Truth,
}

/// The test of a value; only the first one accepts NULL.
#[derive(Debug)]
enum Test {
    Null,
    /// By sort numbers of 64 bits: integers, booleans, instants of milliseconds, floats.
    Narrow(NumberRanges<u64>),
    /// By wider ones: decimals of fixed scale, TIMESTAMPs.
    Wide(NumberRanges<u128>),
    /// One of these texts, ascending.
    OneOf(Box<[Box<[u8]>]>),
    /// The order of a text relative to this one: `<`, `<=`, `>` or `>=`.
    Order(CompareOp, Box<[u8]>),
}

impl Condition {
    fn new(table: &StoredTable, column: &ColumnRef, test: Test, wanted: bool) -> Option<Self> {
        let ColumnLocation::Slot { family, slot } = ColumnLocation::of(table, column.index) else { return None };
        let ty = table.column_type(column.index);
        let mut condition = Self { family, slot, ty, test, wanted, absent: Truth::Unknown };
        let absent = slot_bytes(ty, table.absent(column.index));
        condition.absent = condition.of_slot(absent.as_deref().map_or(SlotBytes::Null, SlotBytes::Value))?;
        Some(condition)
    }

    fn negated(mut self) -> Self {
        self.wanted = !self.wanted;
        self.absent = match self.absent {
            Truth::True => Truth::False,
            Truth::False => Truth::True,
            Truth::Unknown => Truth::Unknown,
        };
        self
    }

    /// Whether rows are tested by it: not if some stored values cannot be returned, because a filter over these is an
    /// error.
    pub(crate) fn is_of_rows(&self) -> bool {
        !self.ty.is_timestamp() && self.ty != SqlType::Decimal(None)
    }

    /// Whether it reads values of variable width.
    pub(crate) fn reads_texts(&self) -> bool {
        matches!(self.test, Test::OneOf(_) | Test::Order(..))
    }

    /// The result for rows that are older than the column.
    pub(crate) fn absent(&self) -> Truth {
        self.absent
    }

    fn truth(&self, test: bool) -> Truth {
        if test == self.wanted { Truth::True } else { Truth::False }
    }

    /// The result for all rows of a block, if its summary determines it; unknown results count as `unknown`.
    pub(crate) fn of_summary(&self, block: &Summary, unknown: Truth) -> Option<Truth> {
        let zone = block.zone(u8::try_from(self.family).ok()?, self.slot)?;
        let share = match (&self.test, zone.bounds) {
            (Test::Null, None) => Share::All,
            (Test::Null, Some(_)) if zone.has_null => Share::Perhaps,
            (Test::Null, Some(_)) => Share::None,
            (_, None) => return Some(unknown),
            (test, Some(bounds)) => test.share_of(bounds),
        };
        let truth = match if self.wanted { share } else { share.negated() } {
            Share::All => Truth::True,
            Share::None => Truth::False,
            Share::Perhaps => return None,
        };
        (!zone.has_null || matches!(self.test, Test::Null) || truth == unknown).then_some(truth)
    }

    /// The result for a row with this slot; `None` if the bytes are not a value of the column.
    pub(crate) fn of_slot(&self, slot: SlotBytes<'_>) -> Option<Truth> {
        let bytes = match slot {
            SlotBytes::Absent => return Some(self.absent),
            SlotBytes::Null if matches!(self.test, Test::Null) => return Some(self.truth(true)),
            SlotBytes::Null => return Some(Truth::Unknown),
            SlotBytes::Value(bytes) => bytes,
        };
        let test = match &self.test {
            Test::Null => false,
            Test::Narrow(wanted) => wanted.holds(match slot_format::width(self.ty)? {
                4 if self.ty.is_float() => float_number_narrow(f32::from_le_bytes(bytes.try_into().ok()?).into()),
                8 if self.ty.is_float() => float_number_narrow(f64::from_le_bytes(bytes.try_into().ok()?)),
                _ => int_number(slot_int(bytes)?) as u64,
            }),
            Test::Wide(wanted) if self.ty.is_timestamp() => {
                wanted.holds(timestamp_number(slot_format::slot_timestamp(bytes)?))
            }
            Test::Wide(wanted) => wanted.holds(decimal_number(i128::from_le_bytes(bytes.try_into().ok()?))),
            Test::OneOf(_) | Test::Order(..) => self.test.holds_text(bytes),
        };
        Some(self.truth(test))
    }

    /// Keeps of a mask of truths, a byte for each of `rows`, those that it holds for; where it is unknown, `unknown`. `scratch` may
    /// hold anything. `None` when the block is damaged.
    pub(crate) fn keep(
        &self,
        stored: &StoredColumn<'_>,
        rows: Range<usize>,
        unknown: Truth,
        mask: &mut [u8],
        scratch: &mut Vec<u8>,
    ) -> Option<()> {
        let is_null = |row| stored.is_null(row);
        match (&self.test, stored.column.nulls) {
            (Test::Null, _) => keep(mask, self.wanted, rows.map(is_null)),
            (_, Nulls::All) => mask.iter_mut().for_each(|kept| *kept &= unknown as u8),
            (_, Nulls::None) => self.keep_values(stored, rows, mask)?,
            (_, Nulls::Bits(_)) => {
                scratch.clear();
                scratch.extend_from_slice(mask);
                self.keep_values(stored, rows.clone(), scratch)?;
                for ((kept, known), row) in mask.iter_mut().zip(scratch).zip(rows) {
                    *kept = if is_null(row) { *kept & unknown as u8 } else { *known };
                }
            }
        }
        Some(())
    }

    /// As [`Condition::keep`], for values that are not NULL.
    fn keep_values(&self, stored: &StoredColumn<'_>, rows: Range<usize>, mask: &mut [u8]) -> Option<()> {
        let fix = stored.fix;
        match (stored.column.cells, &self.test) {
            (FixCells::Ints(ints), Test::Narrow(wanted)) => ints.keep(fix.bytes(), rows, wanted, self.wanted, mask),
            (FixCells::Raw { width: 4, at }, Test::Narrow(wanted)) => {
                let number = |bytes: [u8; 4]| float_number_narrow(f32::from_le_bytes(bytes).into());
                keep_numbers(mask, self.wanted, wanted, fix.raw(4, at, rows)?.as_chunks().0, number);
            }
            (FixCells::Raw { width: 8, at }, Test::Narrow(wanted)) => {
                let number = |bytes: [u8; 8]| float_number_narrow(f64::from_le_bytes(bytes));
                keep_numbers(mask, self.wanted, wanted, fix.raw(8, at, rows)?.as_chunks().0, number);
            }
            (FixCells::Raw { width: 16, at }, Test::Wide(wanted)) => {
                let number = |bytes: [u8; 16]| decimal_number(i128::from_le_bytes(bytes));
                keep_numbers(mask, self.wanted, wanted, fix.raw(16, at, rows)?.as_chunks().0, number);
            }
            (FixCells::Var, Test::OneOf(_) | Test::Order(..)) => {
                let (texts, part) = stored.var?;
                // Excluded rows are not read: their values may be compressed, or overflow values.
                for (kept, row) in mask.iter_mut().zip(rows).filter(|(kept, _)| **kept != 0) {
                    let may_hold = self.test.may_have_bytes(texts.value_bytes(row)?);
                    if (may_hold && self.test.holds_text(texts.value(part, row)?)) != self.wanted {
                        *kept = 0;
                    }
                }
            }
            _ => return None,
        }
        Some(())
    }
}

/// As [`keep_each`], by sort numbers. Mostly the wanted numbers are one range, which has its own loop.
#[inline]
fn keep_numbers<T: Copy, N: Copy + Ord>(
    mask: &mut [u8],
    wanted: bool,
    ranges: &NumberRanges<N>,
    values: &[T],
    number: impl Fn(T) -> N,
) {
    match *ranges.as_slice() {
        [(low, high)] => keep_each(mask, wanted, values, |value| {
            let number = number(value);
            (low <= number) & (number <= high)
        }),
        _ => keep_each(mask, wanted, values, |value| ranges.holds(number(value))),
    }
}

impl Test {
    /// The share of values that pass, if all sort numbers are between these.
    fn share_of(&self, (min, max): (u128, u128)) -> Share {
        match self {
            Self::Null => Share::None,
            Self::Narrow(wanted) => match (u64::try_from(min), u64::try_from(max)) {
                (Ok(min), Ok(max)) => wanted.share_of(min, max),
                _ => Share::Perhaps,
            },
            Self::Wide(wanted) => wanted.share_of(min, max),
            // Texts that differ may have one number.
            Self::OneOf(texts) => {
                let from = texts.partition_point(|text| text_number(text) < min);
                match texts.get(from).is_some_and(|text| text_number(text) <= max) {
                    true => Share::Perhaps,
                    false => Share::None,
                }
            }
            Self::Order(op, text) => {
                let number = text_number(text);
                let (all, none) = match op {
                    CompareOp::Lt | CompareOp::LtEq => (max < number, number < min),
                    _ => (number < min, max < number),
                };
                match (all, none) {
                    (true, _) => Share::All,
                    (_, true) => Share::None,
                    _ => Share::Perhaps,
                }
            }
        }
    }

    fn holds_text(&self, value: &[u8]) -> bool {
        match self {
            Self::OneOf(texts) => texts.binary_search_by(|text| (**text).cmp(value)).is_ok(),
            Self::Order(CompareOp::Lt, text) => *value < **text,
            Self::Order(CompareOp::LtEq, text) => *value <= **text,
            Self::Order(CompareOp::Gt, text) => *value > **text,
            Self::Order(_, text) => *value >= **text,
            Self::Null | Self::Narrow(_) | Self::Wide(_) => false,
        }
    }

    /// Whether a text of this many bytes may pass.
    fn may_have_bytes(&self, count: usize) -> bool {
        match self {
            Self::OneOf(texts) => match &**texts {
                [text] => text.len() == count,
                _ => true,
            },
            _ => true,
        }
    }
}
