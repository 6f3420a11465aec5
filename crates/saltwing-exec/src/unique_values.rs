//! The values of unique indexes.
//!
//! A statement claims each value that it gives to a row, and checks all of them when its rows are written. So rows may
//! exchange their values: `UPDATE t SET rank = rank + 1`.
//!
//! # Invariant
//! A commit claims the value of each entry that it puts into a unique index. Two transactions that put entries of one value
//! have different entries, and the claim is what brings them into conflict.

use std::collections::{BTreeMap, HashMap};

use saltwing_access::{Index, KeyRanges, KeySet, ScanContext, ScanRoute, ScanSpec, Snapshot, TableError, Transaction};
use saltwing_rowkey::KeyRange;
use saltwing_types::{SqlType, TableId, Value, text};

use crate::ExecError;
use crate::row_values::row_of_values;

/// Values that one scan checks.
const RANGES_AT_ONCE: usize = 4096;

/// The values that a statement has given to rows, to be checked.
#[derive(Default)]
pub(crate) struct UniqueValues {
    /// An index, and the range of the entries that have a value, by the start of the range.
    noted: BTreeMap<(TableId, Vec<u8>), (Index, KeyRange)>,
}

impl UniqueValues {
    /// Claims the value of a new entry, unless the old entry of the row has the same one. With TTL that claims it too: for
    /// other transactions, which began later, the old row may be expired and its value free.
    ///
    /// # Errors
    /// [`ExecError::Table`] where a part cannot be computed.
    pub(crate) fn note(
        &mut self,
        transaction: &mut dyn Transaction,
        index: &Index,
        old: Option<&[Value]>,
        new: Option<&[Value]>,
    ) -> Result<(), ExecError> {
        let Some(new) = new.filter(|_| index.def().unique) else { return Ok(()) };
        let Some(values) = values_of(index, new)? else { return Ok(()) };
        let lasting = old.filter(|_| index.entries().def().ttl_s.is_none());
        if lasting.map(|old| index.part_values(old)).transpose().is_ok_and(|old| old.as_ref() == Some(&values)) {
            return Ok(());
        }
        // The entries of one key are of one row.
        let Some(range) = range_of(index, new)?.filter(|range| !range.is_point()) else { return Ok(()) };
        transaction.claim(index.entries(), range.start());
        self.noted.insert((index.entries().def().id, range.start().to_vec()), (index.clone(), range));
        Ok(())
    }

    /// Checks that each value noted since the last check belongs to one row.
    ///
    /// # Errors
    /// [`ExecError::NotUnique`]; the store's.
    pub(crate) fn check(&mut self, transaction: &mut dyn Transaction) -> Result<(), ExecError> {
        if self.noted.is_empty() {
            return Ok(());
        }
        let view = transaction.view()?;
        let noted: Vec<(Index, KeyRange)> = std::mem::take(&mut self.noted).into_values().collect();
        // The ranges of an index follow each other.
        let of_indexes = noted.chunk_by(|(a, _), (b, _)| a.entries().def().id == b.entries().def().id);
        of_indexes.flat_map(|noted| noted.chunks(RANGES_AT_ONCE)).try_for_each(|noted| check_together(&*view, noted))
    }
}

/// The value of a row by a unique index.
pub(crate) struct UniqueValue {
    /// The values of the parts; none is NULL.
    pub(crate) values: Vec<Value>,
    /// The entries that have it. NULL and '' share a range.
    pub(crate) range: KeyRange,
}

impl UniqueValue {
    /// `None` for a row that is in conflict with none: one with a NULL, or one that a partial index does not hold.
    ///
    /// # Errors
    /// [`ExecError::Entry`] for a row that the index has no key for.
    pub(crate) fn of_row(index: &Index, row: &[Value]) -> Result<Option<Self>, ExecError> {
        let refused = |source| ExecError::Entry { index: index.def().name.clone(), row: None, source };
        let Some(entry) = index.entry(row).map_err(refused)? else { return Ok(None) };
        let Some(values) = values_of(index, &entry).map_err(refused)? else { return Ok(None) };
        Ok(range_of(index, &entry).map_err(refused)?.map(|range| Self { values, range }))
    }
}

/// The values of the parts in an entry, unless one is NULL.
fn values_of(index: &Index, entry: &[Value]) -> Result<Option<Vec<Value>>, TableError> {
    Ok(Some(index.part_values(entry)?).filter(|values| !values.iter().any(Value::is_null)))
}

/// The entries that have the parts of an entry.
fn range_of(index: &Index, entry: &[Value]) -> Result<Option<KeyRange>, TableError> {
    index.entries().key_prefix(entry, index.def().parts.len())
}

/// Hands on the entries of some ranges with their values, unless these have a NULL, until `take` gives something. The scan has all
/// columns of entries.
pub(crate) fn find_entry<T>(
    view: &dyn Snapshot,
    index: &Index,
    spec: &ScanSpec,
    ranges: KeyRanges,
    mut take: impl FnMut(Vec<Value>, Vec<Value>) -> Result<Option<T>, ExecError>,
) -> Result<Option<T>, ExecError> {
    let route = ScanRoute::of(KeySet::everywhere(ranges));
    let mut scan = view.scan(spec, route, ScanContext::of_look_up())?;
    while let Some(batch) = scan.next_batch()? {
        for row in 0..batch.num_rows() {
            let entry = row_of_values(index.entries(), &batch, row)?;
            let Some(values) = values_of(index, &entry)? else { continue };
            if let Some(found) = take(values, entry)? {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

/// Checks that no value has two entries, by one scan of some ranges of an index. NULL and '' share one.
fn check_together(view: &dyn Snapshot, noted: &[(Index, KeyRange)]) -> Result<(), ExecError> {
    let Some((index, _)) = noted.first() else { return Ok(()) };
    let entries = index.entries();
    let spec = ScanSpec::new(entries, (0..entries.width()).collect(), Vec::new())?;
    let ranges = noted.iter().map(|(_, range)| range.clone()).collect();
    // The buckets of a salted index are read one after the other, so entries of one value need not follow each other.
    let mut known: HashMap<Vec<u8>, Vec<ValuedEntry>> = HashMap::new();
    let twice = find_entry(view, index, &spec, ranges, |values, entry| {
        let range = range_of(index, &entry)?.ok_or(ExecError::Bug("an entry of an index has no range"))?;
        let of_range = known.entry(range.start().to_vec()).or_default();
        if let Some((_, other)) = of_range.iter().find(|(other, _)| *other == values) {
            return Ok(Some(not_unique(index, &values, [other, &entry])));
        }
        of_range.push((values, entry));
        Ok(None)
    })?;
    twice.map_or(Ok(()), Err)
}

/// The values of the parts in an entry, and the entry.
type ValuedEntry = (Vec<Value>, Vec<Value>);

fn not_unique(index: &Index, values: &[Value], rows: [&[Value]; 2]) -> ExecError {
    let literals = |pairs: &mut dyn Iterator<Item = (&Value, SqlType)>| {
        pairs.map(|(value, ty)| text::literal(value, ty)).collect::<Vec<_>>().join(", ")
    };
    let types = index.def().parts.iter().map(|part| part.expr.sql_type().unwrap_or(SqlType::Null));
    let value = literals(&mut values.iter().zip(types));
    let entries = index.entries().def();
    let key = |row: &[Value]| {
        let columns = index.key_columns().iter().filter_map(|column| {
            let column = index.entry_column(*column)?;
            Some((row.get(column)?, entries.columns.get(column)?.ty))
        });
        literals(&mut columns.collect::<Vec<_>>().into_iter())
    };
    let table = index.table_name().to_string();
    ExecError::NotUnique { table, index: index.def().name.clone(), value, keys: rows.map(key) }
}
