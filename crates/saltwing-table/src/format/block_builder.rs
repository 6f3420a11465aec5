//! Rows into a block's parts.

use saltwing_types::SqlType;

use crate::format::bits::{Ints, Nulls, seal};
use crate::format::fix_part::{KIND_INTS, KIND_VAR, VERSION, VERSION_DELETED};
use crate::format::overflow::{HEAD_BYTES, OverflowName};
use crate::format::slot_format;
use crate::format::slot_format::{slot_int, slot_timestamp};
use crate::format::stored_column::{StoredCell, StoredColumn};
use crate::format::var_part::CHUNK_ROWS;
use crate::format::zone::{Zone, bounds_of, decimal_number, float_number, int_number, text_number, timestamp_number};

/// The values of one column of a block that is being made.
#[derive(Debug)]
pub(crate) struct ColumnData {
    slot: u16,
    nulls: Vec<bool>,
    cells: Cells,
    /// Whether values of variable width are compared by their bytes.
    is_text: bool,
    /// Whether values are integers, not dates or truths.
    is_summed: bool,
    /// Values of this many bytes and more become overflow values.
    overflow_bytes: usize,
}

#[derive(Debug)]
enum Cells {
    Ints(Vec<i64>),
    Raw { width: u8, bytes: Vec<u8> },
    Var { lengths: Vec<i64>, bytes: Vec<u8>, overflow: Vec<OverflowCell> },
}

/// An overflow value, before or after it has an id.
#[derive(Debug)]
struct OverflowCell {
    name: OverflowName,
    /// The value, as long as it has no number: it is in the store under none.
    value: Option<Vec<u8>>,
}

impl ColumnData {
    /// An empty column; values of `overflow_bytes` bytes and more become overflow values.
    pub(crate) fn new(slot: u16, ty: SqlType, overflow_bytes: usize) -> Self {
        use SqlType::*;
        let cells = match (ty, slot_format::width(ty)) {
            (
                Float | UnsignedFloat | Double | UnsignedDouble | Timestamp | UnsignedTimestamp | Decimal(_) | Interval,
                Some(w),
            ) => Cells::Raw { width: w as u8, bytes: Vec::new() },
            (_, Some(_)) => Cells::Ints(Vec::new()),
            (_, None) => Cells::Var { lengths: Vec::new(), bytes: Vec::new(), overflow: Vec::new() },
        };
        // CHAR is compared as if padded.
        let is_text = matches!(ty, Varchar(_) | Json | Binary(_) | Varbinary | VarbinaryEncoded | Uuid);
        let (is_summed, overflow_bytes) = (ty.is_integer(), overflow_bytes.max(HEAD_BYTES));
        Self { slot, nulls: Vec::new(), cells, is_text, is_summed, overflow_bytes }
    }

    fn push_null(&mut self) {
        self.nulls.push(true);
        match &mut self.cells {
            // The value before it keeps the differences small.
            Cells::Ints(ints) => ints.push(ints.last().copied().unwrap_or(0)),
            Cells::Raw { width, bytes } => bytes.resize(bytes.len() + usize::from(*width), 0),
            Cells::Var { lengths, .. } => lengths.push(0),
        }
    }

    /// Adds a value as a row's slot has it; `None` when the bytes are no value of the type.
    fn push(&mut self, value: &[u8]) -> Option<()> {
        match &mut self.cells {
            Cells::Ints(ints) => ints.push(slot_int(value)?),
            Cells::Raw { width, bytes } if value.len() == usize::from(*width) => bytes.extend_from_slice(value),
            Cells::Raw { .. } => return None,
            Cells::Var { lengths, overflow, .. } if value.len() >= self.overflow_bytes => {
                let head = *value.first_chunk()?;
                let name = OverflowName { row: lengths.len() as u32, id: 0, bytes: value.len() as u32, head };
                overflow.push(OverflowCell { name, value: Some(value.to_vec()) });
                lengths.push(0);
            }
            Cells::Var { lengths, bytes, .. } => {
                lengths.push(value.len() as i64);
                bytes.extend_from_slice(value);
            }
        }
        self.nulls.push(false);
        Some(())
    }

    /// Stores overflow values: `place` returns the id of each.
    pub(crate) fn place_overflow(&mut self, mut place: impl FnMut(Vec<u8>) -> u64) {
        let Cells::Var { overflow, .. } = &mut self.cells else { return };
        for overflow in overflow {
            if let Some(value) = overflow.value.take() {
                overflow.name.id = place(value);
            }
        }
    }

    /// The ids of the overflow values, once all have one.
    pub(crate) fn overflow_ids(&self) -> impl Iterator<Item = u64> {
        let overflow = match &self.cells {
            Cells::Var { overflow, .. } => overflow.as_slice(),
            _ => &[],
        };
        overflow.iter().map(|overflow| overflow.name.id)
    }

    /// Adds a value, or NULL; `None` when the bytes are no value of the type.
    pub(crate) fn push_cell(&mut self, cell: Option<&[u8]>) -> Option<()> {
        match cell {
            Some(value) => self.push(value),
            None => {
                self.push_null();
                Some(())
            }
        }
    }

    /// Adds a row of a block's column; an overflow value stays where it is. `None` if the block is damaged.
    pub(crate) fn push_stored(&mut self, stored: &StoredColumn<'_>, row: usize) -> Option<()> {
        let name = stored.var.and_then(|(column, _)| column.overflow(row)).filter(|_| !stored.is_null(row));
        match (name, &mut self.cells) {
            (Some(name), Cells::Var { lengths, overflow, .. }) => {
                let name = OverflowName { row: lengths.len() as u32, ..name.clone() };
                overflow.push(OverflowCell { name, value: None });
                lengths.push(0);
            }
            (_, cells) => match (stored.cell(row)?, cells) {
                (StoredCell::Int(int), Cells::Ints(ints)) => ints.push(int),
                (StoredCell::Int(_), _) => return None,
                (StoredCell::Slot(bytes), _) => return self.push(bytes),
                (StoredCell::Null, _) => return self.push_cell(None),
            },
        }
        self.nulls.push(false);
        Some(())
    }

    pub(crate) fn is_all_null(&self) -> bool {
        self.nulls.iter().all(|null| *null)
    }

    /// The zone of the column; `None` if no filter could use it.
    pub(crate) fn zone(&self) -> Option<Zone> {
        let rows = || self.nulls.iter().enumerate().filter(|(_, null)| !**null).map(|(row, _)| row);
        let bounds = match &self.cells {
            Cells::Ints(ints) => bounds_of(rows().filter_map(|row| ints.get(row)).map(|int| int_number(*int))),
            Cells::Raw { width, bytes } => {
                let width = usize::from(*width);
                let numbers: Option<Vec<u128>> =
                    rows().map(|row| raw_number(bytes.get(row * width..(row + 1) * width)?)).collect();
                bounds_of(numbers?.into_iter())
            }
            Cells::Var { .. } if !self.is_text => return None,
            Cells::Var { lengths, bytes, overflow } => {
                let mut numbers = Vec::with_capacity(lengths.len());
                let mut at = 0;
                for (length, null) in lengths.iter().zip(&self.nulls) {
                    let end = at + *length as usize;
                    numbers.push(if *null { None } else { Some(text_number(bytes.get(at..end)?)) });
                    at = end;
                }
                for OverflowName { row, head, .. } in overflow.iter().map(|overflow| &overflow.name) {
                    *numbers.get_mut(*row as usize)? = Some(text_number(head));
                }
                bounds_of(numbers.into_iter().flatten())
            }
        };
        let has_null = self.nulls.contains(&true);
        Some(Zone { slot: self.slot, bounds, has_null, sum: self.sum() })
    }

    /// The count and the sum of the values, if the type has a sum and it fits.
    fn sum(&self) -> Option<(u32, i64)> {
        let Cells::Ints(ints) = &self.cells else { return None };
        if !self.is_summed {
            return None;
        }
        let known = || ints.iter().zip(&self.nulls).filter(|(_, null)| !**null).map(|(int, _)| i128::from(*int));
        Some((known().count() as u32, i64::try_from(known().sum::<i128>()).ok()?))
    }

    fn write_fix(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.slot.to_le_bytes());
        let kind = match &self.cells {
            Cells::Ints(_) => KIND_INTS,
            Cells::Raw { width, .. } => *width,
            Cells::Var { .. } => KIND_VAR,
        };
        out.push(kind);
        Nulls::write(&self.nulls, out);
        match &self.cells {
            Cells::Ints(ints) => Ints::write(ints, out),
            Cells::Raw { bytes, .. } => out.extend_from_slice(bytes),
            Cells::Var { .. } => {}
        }
    }

    fn write_var(&self, out: &mut Vec<u8>) -> bool {
        let Cells::Var { lengths, bytes, overflow } = &self.cells else { return false };
        out.extend_from_slice(&self.slot.to_le_bytes());
        Ints::write(lengths, out);
        out.extend_from_slice(&(overflow.len() as u32).to_le_bytes());
        for OverflowName { row, id, bytes, head } in overflow.iter().map(|overflow| &overflow.name) {
            out.extend_from_slice(&row.to_le_bytes());
            out.extend_from_slice(&id.to_le_bytes());
            out.extend_from_slice(&bytes.to_le_bytes());
            out.extend_from_slice(head);
        }
        let mut chunks = Vec::new();
        let mut at = 0;
        for lengths in lengths.chunks(CHUNK_ROWS) {
            let end = at + lengths.iter().sum::<i64>() as usize;
            let raw = bytes.get(at..end).unwrap_or_default();
            let start = chunks.len();
            chunks.extend_from_slice(&lz4_flex::block::compress(raw));
            if chunks.len() - start >= raw.len() {
                chunks.truncate(start);
                chunks.extend_from_slice(raw);
            }
            out.extend_from_slice(&((chunks.len() - start) as u32).to_le_bytes());
            out.extend_from_slice(&(raw.len() as u32).to_le_bytes());
            at = end;
        }
        out.extend_from_slice(&chunks);
        true
    }
}

/// The sort number of a fixed-width value that is not an integer; its width determines the type. `None` for a TIMESTAMP
/// that cannot be returned: a filter over it is an error, which a skipped block would hide.
fn raw_number(value: &[u8]) -> Option<u128> {
    match value.len() {
        4 => Some(float_number(f32::from_le_bytes(value.try_into().ok()?).into())),
        8 => Some(float_number(f64::from_le_bytes(value.try_into().ok()?))),
        12 => slot_timestamp(value).filter(|at| at.to_nanos().is_some()).map(timestamp_number),
        16 => Some(decimal_number(i128::from_le_bytes(value.try_into().ok()?))),
        _ => None,
    }
}

/// A block's row keys and write times.
#[derive(Default)]
pub(crate) struct RowHeads<'a> {
    /// Ascending.
    pub(crate) keys: Vec<&'a [u8]>,
    /// When each was written.
    pub(crate) times: Vec<i64>,
    /// Which of them only say that a row is deleted.
    pub(crate) deleted: Vec<bool>,
}

/// The fixed part of a family; the first family's has keys and write times.
pub(crate) fn fix_part(family: u8, rows: &RowHeads<'_>, columns: &[ColumnData]) -> Vec<u8> {
    let has_deleted = family == 0 && rows.deleted.contains(&true);
    let mut out = vec![if has_deleted { VERSION_DELETED } else { VERSION }, family];
    out.extend_from_slice(&(rows.keys.len() as u32).to_le_bytes());
    out.extend_from_slice(&(columns.len() as u16).to_le_bytes());
    if family == 0 {
        write_keys(&rows.keys, &mut out);
        Ints::write(&rows.times, &mut out);
    }
    if has_deleted {
        Nulls::write(&rows.deleted, &mut out);
    }
    columns.iter().for_each(|column| column.write_fix(&mut out));
    seal(out)
}

/// The variable part of a family; `None` when no column of it has variable width.
pub(crate) fn var_part(family: u8, columns: &[ColumnData]) -> Option<Vec<u8>> {
    let mut out = vec![VERSION, family, 0, 0];
    let count = columns.iter().filter(|column| column.write_var(&mut out)).count() as u16;
    if count == 0 {
        return None;
    }
    out.get_mut(2..4)?.copy_from_slice(&count.to_le_bytes());
    Some(seal(out))
}

fn write_keys(keys: &[&[u8]], out: &mut Vec<u8>) {
    let (first, last) = (keys.first().copied().unwrap_or_default(), keys.last().copied().unwrap_or_default());
    let common = first.iter().zip(last).take_while(|(a, b)| a == b).count();
    out.extend_from_slice(&(common as u16).to_le_bytes());
    out.extend_from_slice(first.get(..common).unwrap_or_default());
    let suffixes = || keys.iter().map(|key| key.get(common..).unwrap_or_default());
    let stride = first.len() - common;
    if suffixes().all(|suffix| suffix.len() == stride) {
        out.push(0);
        out.extend_from_slice(&(stride as u16).to_le_bytes());
    } else {
        out.push(1);
        let mut end = 0u32;
        for suffix in suffixes() {
            end += suffix.len() as u32;
            out.extend_from_slice(&end.to_le_bytes());
        }
    }
    suffixes().for_each(|suffix| out.extend_from_slice(suffix));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use saltwing_store::{Bytes, Direction};

    use super::*;
    use crate::format::fix_part::FixPart;
    use crate::format::var_part::VarPart;

    fn column_types() -> Vec<SqlType> {
        vec![SqlType::BigInt, SqlType::Boolean, SqlType::Double, SqlType::Varchar(None), SqlType::Varbinary]
    }

    fn cell(ty: SqlType) -> BoxedStrategy<Option<Vec<u8>>> {
        let bytes = match ty {
            SqlType::BigInt => any::<i64>().prop_map(|v| v.to_le_bytes().to_vec()).boxed(),
            SqlType::Boolean => any::<bool>().prop_map(|v| vec![u8::from(v)]).boxed(),
            SqlType::Double => any::<f64>().prop_map(|v| v.to_le_bytes().to_vec()).boxed(),
            _ => prop_oneof![Just(vec![]), Just(vec![b'a'; 300]), prop::collection::vec(any::<u8>(), 0..9)].boxed(),
        };
        proptest::option::weighted(0.8, bytes).boxed()
    }

    type Rows = Vec<(Vec<u8>, i64, Vec<Option<Vec<u8>>>)>;

    fn rows() -> impl Strategy<Value = Rows> {
        let short = prop_oneof![
            prop::collection::vec(prop_oneof![Just(0u8), Just(7), Just(255)], 1..5),
            any::<u16>().prop_map(|n| n.to_be_bytes().to_vec())
        ];
        // All of one length, with much in common.
        let long = (0..3u8, any::<u16>()).prop_map(|(a, n)| [&[9; 11], &[a][..], &n.to_be_bytes()].concat());
        let cells: Vec<_> = column_types().into_iter().map(cell).collect();
        let row = (any::<i64>(), cells);
        let rows = |key: BoxedStrategy<Vec<u8>>| prop::collection::btree_map(key, row.clone(), 1..50);
        prop_oneof![rows(short.boxed()), rows(long.boxed())]
            .prop_map(|rows| rows.into_iter().map(|(key, (time, cells))| (key, time, cells)).collect())
    }

    /// Some rows only say that a row is deleted.
    fn is_deleted(time: i64) -> bool {
        time % 3 == 0
    }

    fn build(rows: &Rows) -> (Vec<u8>, Vec<u8>) {
        let keys = rows.iter().map(|row| &row.0[..]).collect();
        let times = rows.iter().map(|row| row.1).collect();
        let deleted = rows.iter().map(|row| is_deleted(row.1)).collect();
        let mut columns = Vec::new();
        for (slot, ty) in column_types().into_iter().enumerate() {
            let mut column = ColumnData::new(slot as u16, ty, 1 << 10);
            for (_, _, cells) in rows {
                match &cells[slot] {
                    None => column.push_null(),
                    Some(bytes) => column.push(bytes).unwrap(),
                }
            }
            columns.push(column);
        }
        (fix_part(0, &RowHeads { keys, times, deleted }, &columns), var_part(0, &columns).unwrap())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(4)))]

        #[test]
        fn a_seeker_passes_what_a_search_finds(
            rows in rows(),
            probes in prop::collection::btree_set(prop::collection::vec(any::<u8>(), 0..4), 0..20),
            a in any::<prop::sample::Index>(),
            b in any::<prop::sample::Index>(),
        ) {
            let fix = FixPart::read(Bytes::from(build(&rows).0), 0).unwrap();
            let (a, b) = (a.index(rows.len() + 1), b.index(rows.len() + 1));
            let (mut at, until) = (a.min(b), a.max(b));
            let mut seeker = fix.seeker(at..until);
            // Keys of rows among keys that are mostly none.
            let stored = rows.iter().step_by(2).map(|row| row.0.clone());
            for key in probes.into_iter().chain(stored).collect::<std::collections::BTreeSet<_>>() {
                let found = fix.search_in(&key, at..until);
                prop_assert_eq!(fix.lower_bound_from(&key, at..until), fix.lower_bound_in(&key, at..until));
                let place = found.unwrap_or_else(|place| place);
                prop_assert_eq!(seeker.pass(&key), at..place);
                at = place + usize::from(found.is_ok());
                prop_assert_eq!(seeker.rest(), at..until);
            }
        }

        #[test]
        fn a_block_reads_as_it_was_built(rows in rows(), probe in prop::collection::vec(any::<u8>(), 0..4)) {
            let (fix, var) = build(&rows);
            let fix = FixPart::read(Bytes::from(fix), 0).unwrap();
            let var = VarPart::read(Bytes::from(var), 0, fix.rows()).unwrap();
            prop_assert_eq!(fix.rows(), rows.len());
            let mut key = Vec::new();
            for (i, (stored, time, cells)) in rows.iter().enumerate() {
                fix.key_into(i, &mut key);
                prop_assert_eq!(&key, stored);
                prop_assert_eq!(fix.search(stored), Ok(i));
                prop_assert_eq!(fix.time_ms(i), *time);
                prop_assert_eq!(fix.is_deleted(i), is_deleted(*time));
                prop_assert_eq!(fix.search_in(stored, i..rows.len()), Ok(i));
                prop_assert_eq!(fix.search_in(stored, 0..i), Err(i));
                for (slot, ty) in column_types().into_iter().enumerate() {
                    let mut copy = ColumnData::new(slot as u16, ty, 1 << 10);
                    copy.push_stored(&StoredColumn::of(&fix, Some(&var), slot as u16).unwrap(), i).unwrap();
                    let mut wanted = ColumnData::new(slot as u16, ty, 1 << 10);
                    match &cells[slot] {
                        None => wanted.push_null(),
                        Some(bytes) => wanted.push(bytes).unwrap(),
                    }
                    prop_assert_eq!(format!("{copy:?}"), format!("{wanted:?}"));
                }
            }
            prop_assert!(fix.column(99).is_none());
            let found = rows.binary_search_by(|row| row.0[..].cmp(&probe));
            prop_assert_eq!(fix.search(&probe), found);
            let least = rows.iter().map(|row| row.0.len()).min().unwrap_or(0);
            for from_end in 1..=least {
                for width in 1..=from_end.min(8) {
                    let Some(tail) = fix.key_tails(0..rows.len(), from_end, width) else { continue };
                    let wanted = (0..rows.len()).map(|row| fix.key_tail(row, from_end, width));
                    prop_assert_eq!((0..rows.len()).map(tail).collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
                }
            }
            for start in 0..rows.len() {
                for tail_bytes in 0..3 {
                    let leading = |row: usize| (fix.key(row).1.len(), fix.key(row).1.iter().rev().skip(tail_bytes).collect::<Vec<_>>());
                    let same = (start..rows.len()).take_while(|row| leading(*row) == leading(start)).count();
                    prop_assert_eq!(fix.repeats(start..rows.len(), Direction::Forward, tail_bytes), same);
                    let same = (0..=start).rev().take_while(|row| leading(*row) == leading(start)).count();
                    prop_assert_eq!(fix.repeats(0..start + 1, Direction::Reverse, tail_bytes), same);
                }
            }
        }

        /// Any part cut short, or with a byte changed, is refused; none makes reading panic.
        #[test]
        fn damaged_parts_are_refused(rows in rows(), at in any::<prop::sample::Index>(), flip in 1u8..) {
            let (fix, var) = build(&rows);
            let count = rows.len();
            let mut damaged = fix.clone();
            damaged[at.index(fix.len())] ^= flip;
            prop_assert!(FixPart::read(Bytes::from(damaged), 0).is_none());
            prop_assert!(FixPart::read(Bytes::from(&fix[..at.index(fix.len())]), 0).is_none());
            prop_assert!(FixPart::read(Bytes::from(fix), 1).is_none());
            let mut damaged = var.clone();
            damaged[at.index(var.len())] ^= flip;
            prop_assert!(VarPart::read(Bytes::from(damaged), 0, count).is_none());
            // With a right checksum over wrong content, reading still must not panic.
            let mut content = var[..var.len() - 4].to_vec();
            content[at.index(var.len() - 4)] ^= flip;
            if let Some(part) = VarPart::read(Bytes::from(seal(content)), 0, count) {
                for row in 0..count {
                    let _ = part.column(3).and_then(|column| column.value(part.bytes(), row));
                }
            }
        }
    }
}
