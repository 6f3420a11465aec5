//! Jumping from one key prefix to the next.

use saltwing_access::{Buckets, Direction, KeySet, ScanRoute, ScanSpec, TableError};
use saltwing_planner::TableAccess;
use saltwing_rowkey::{KeyRange, KeySlices, RowKeyError};
use saltwing_types::Value;

/// Consecutive scans; each skips the rows that share their leading key columns with the last row of the one before.
///
/// Where equal prefixes may lie in several buckets, the access must be in key order, one way or the other:
/// the buckets are then merged. Else each bucket is read to its end.
pub(crate) struct PrefixScans {
    access: TableAccess,
    spec: ScanSpec,
    /// Leading key columns that count.
    prefix: usize,
    /// Buckets that are read together, last ones first.
    parts: Vec<Buckets>,
    direction: Direction,
    /// Where rows may still lie in the current part.
    rest: Option<KeyRange>,
}

impl PrefixScans {
    /// Scans of these columns, to which the physical row key is added as the last one.
    ///
    /// # Errors
    /// As [`TableAccess::spec`].
    pub(crate) fn new(access: &TableAccess, prefix: usize, columns: &[usize]) -> Result<Self, TableError> {
        let table = access.table();
        let columns: Vec<usize> = columns.iter().copied().chain([table.row_key_index()]).collect();
        let buckets = access.buckets();
        let parts = match table.def().key.salt {
            Some(_) if !access.is_ordered() => {
                let each = buckets.of(&table.def().key).into_iter().flatten();
                each.rev().map(|bucket| Buckets::Some(vec![bucket])).collect()
            }
            _ => vec![buckets],
        };
        let (direction, spec) = (access.direction(), access.spec(columns)?);
        Ok(Self { access: access.clone(), spec, prefix, parts, direction, rest: Some(KeyRange::all()) })
    }

    /// The output of the scans.
    pub(crate) fn spec(&self) -> &ScanSpec {
        &self.spec
    }

    /// The next scan, of at most `rows` rows; `None` when nothing is left.
    pub(crate) fn next_route(&mut self, rows: u64) -> Option<ScanRoute> {
        loop {
            let part = self.parts.last()?;
            if let Some(rest) = &self.rest {
                let ranges = self.access.first_ranges().rest(rest.clone());
                let keys = KeySet::Ranges { ranges, buckets: part.clone() };
                return Some(self.access.route_over(keys, Some(rows)));
            }
            self.end_part();
        }
    }

    /// The scan found nothing: its buckets are done.
    pub(crate) fn end_part(&mut self) {
        self.parts.pop();
        self.rest = Some(KeyRange::all());
    }

    /// The scan's last row had this physical key: goes on behind all rows that share its prefix.
    ///
    /// # Errors
    /// For a key that is none of the table's.
    pub(crate) fn leave(&mut self, physical: &[u8]) -> Result<(), TableError> {
        let Some(range) = self.prefix_range(physical)? else { return Ok(()) };
        self.rest = match self.direction {
            Direction::Forward => range.end().and_then(|end| KeyRange::new(end.to_vec(), None)),
            Direction::Reverse => KeyRange::new(Vec::new(), Some(range.start().to_vec())),
        };
        Ok(())
    }

    /// The rows, by number, whose prefix is not that of the row before.
    ///
    /// # Errors
    /// For a key that is none of the table's.
    pub(crate) fn first_rows<'k>(&self, keys: impl Iterator<Item = &'k [u8]>) -> Result<Vec<u32>, TableError> {
        let codec = self.access.table().codec();
        let (mut before, mut here) = (None::<&[u8]>, KeySlices::new());
        let (mut slices_before, mut firsts) = (KeySlices::new(), Vec::new());
        for (row, key) in (0u32..).zip(keys) {
            codec.split_first(key, self.prefix, &mut here)?;
            let same = |before: &[u8]| {
                (0..self.prefix).all(|column| slices_before.get(before, column) == here.get(key, column))
            };
            if !before.is_some_and(same) {
                firsts.push(row);
            }
            before = Some(key);
            std::mem::swap(&mut slices_before, &mut here);
        }
        Ok(firsts)
    }

    fn prefix_range(&self, physical: &[u8]) -> Result<Option<KeyRange>, RowKeyError> {
        let codec = self.access.table().codec();
        let mut slices = KeySlices::new();
        codec.split_first(physical, self.prefix, &mut slices)?;
        let values: Result<Vec<Value>, RowKeyError> =
            (0..self.prefix).map(|column| codec.decode_column(physical, &slices, column)).collect();
        codec.prefix_range(&values?)
    }
}
