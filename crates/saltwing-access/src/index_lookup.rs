//! Reading a table by one of its indexes.
//!
//! ```text
//! covered      entries ──> rows
//! not covered  entries ──> their keys, in batches ──> the rows of these keys, sorted by key ──> back in the order of the entries
//! intersected  entries ──> their keys, those that the entries of other indexes name, too ──> as above
//! united       the rows of one read, then those of the next
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, UInt32Array};
use arrow::compute::{concat, take};
use arrow::datatypes::{BinaryType, SchemaRef};
use saltwing_expr::RowValues;
use saltwing_types::{Expr, text};

use crate::entry_keys::{EntryKeys, EntrySpec, Intersection, KEYS_AT_ONCE};
use crate::keys::KeyList;
use crate::short_range::{ShortRange, ShortRangeRows};
use crate::snapshot::places_in_key_order;
use crate::union_scan::{UnionScan, add_values};
use crate::{
    Index, Projection, RowSource, ScanContext, ScanOrder, ScanRoute, ScanSpec, Snapshot, Table, TableError, Totals,
};

/// The columns that scans of an access put out: from the table, or by one of its indexes.
pub struct ReadSpec {
    /// The columns put out, by index in the table.
    columns: Vec<usize>,
    kind: ReadKind,
}

enum ReadKind {
    /// From the rows of the table, or from the entries of an index that covers them.
    Scan(ScanSpec),
    Lookup(Arc<LookupSpec>),
    /// Reads one after the other, each along its own route. No two of them put out the same row.
    Union {
        parts: Vec<(ReadSpec, ScanRoute)>,
        schema: SchemaRef,
    },
}

/// Reads entries, then their rows.
struct LookupSpec {
    /// Entries, with the conditions that they can answer.
    entries: Arc<EntrySpec>,
    /// The entries of other indexes, which must name a row, too.
    others: Vec<(Arc<EntrySpec>, ScanRoute)>,
    /// The columns put out and the other conditions; with those, the row key as the last column.
    rows: ScanSpec,
    /// The columns put out.
    schema: SchemaRef,
}

impl ReadSpec {
    /// Columns of the rows of a table that meet all of `filter`.
    ///
    /// # Errors
    /// As [`ScanSpec::new`].
    pub fn of_table(table: &Arc<Table>, columns: Vec<usize>, filter: Vec<Expr>) -> Result<Self, TableError> {
        let spec = ScanSpec::new(table, columns.clone(), filter)?;
        Ok(Self { columns, kind: ReadKind::Scan(spec) })
    }

    /// The same, read by an index.
    ///
    /// # Errors
    /// As [`ScanSpec::new`].
    pub fn by_index(
        table: &Arc<Table>,
        index: &Index,
        columns: Vec<usize>,
        filter: Vec<Expr>,
    ) -> Result<Self, TableError> {
        let (of_entries, of_rows) = conditions_of_entries(index, filter);
        if let (true, Some(entry_columns)) =
            (of_rows.is_empty(), columns.iter().map(|column| index.entry_column(*column)).collect())
        {
            let spec = ScanSpec::new(index.entries(), entry_columns, of_entries)?;
            return Ok(Self { columns, kind: ReadKind::Scan(spec) });
        }
        let key = (!of_rows.is_empty()).then_some(table.row_key_index());
        let lookup = LookupSpec {
            entries: Arc::new(EntrySpec::new(index, of_entries)?),
            others: Vec::new(),
            rows: ScanSpec::new(table, columns.iter().copied().chain(key).collect(), of_rows)?,
            schema: ScanSpec::new(table, columns.clone(), Vec::new())?.schema().clone(),
        };
        Ok(Self { columns, kind: ReadKind::Lookup(Arc::new(lookup)) })
    }

    /// The same read by an index, which leaves out rows that the entries of `other` along `route` do not name. The rows still
    /// meet its own conditions: `filter` only makes them fewer. Without effect if no rows are looked up.
    ///
    /// # Errors
    /// As [`ScanSpec::new`].
    pub fn intersected_with(mut self, other: &Index, filter: Vec<Expr>, route: ScanRoute) -> Result<Self, TableError> {
        if let ReadKind::Lookup(lookup) = &mut self.kind
            && let Some(lookup) = Arc::get_mut(lookup)
        {
            let (of_entries, _) = conditions_of_entries(other, filter);
            lookup.others.push((Arc::new(EntrySpec::new(other, of_entries)?), route));
        }
        Ok(self)
    }

    /// The rows of several reads of these columns, one after the other, each along its own route. No two of them may put out
    /// the same row.
    ///
    /// # Errors
    /// As [`ScanSpec::new`].
    pub fn union(table: &Arc<Table>, columns: Vec<usize>, parts: Vec<(Self, ScanRoute)>) -> Result<Self, TableError> {
        let schema = ScanSpec::new(table, columns.clone(), Vec::new())?.schema().clone();
        Ok(Self { columns, kind: ReadKind::Union { parts, schema } })
    }

    /// The columns put out, by index in the table.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The columns at some places among those put out, as [`RowSource::next_values`] takes them; `None` of a union.
    pub fn projection(&self, places: &[usize]) -> Option<Projection> {
        let (table, columns) = match &self.kind {
            ReadKind::Scan(spec) => (spec.table(), spec.columns()),
            ReadKind::Lookup(lookup) => (lookup.rows.table(), self.columns.as_slice()),
            ReadKind::Union { .. } => return None,
        };
        Some(Projection::new(table, places.iter().filter_map(|&place| columns.get(place).copied())))
    }

    /// The scan that this is; `None` if entries are read first, and then their rows.
    pub fn as_scan(&self) -> Option<&ScanSpec> {
        match &self.kind {
            ReadKind::Scan(spec) => Some(spec),
            ReadKind::Lookup(_) | ReadKind::Union { .. } => None,
        }
    }

    /// Whether entries or rows are checked.
    pub fn is_filtered(&self) -> bool {
        match &self.kind {
            ReadKind::Scan(spec) => spec.is_filtered(),
            ReadKind::Lookup(lookup) => lookup.entries.is_filtered() || lookup.rows.is_filtered(),
            ReadKind::Union { parts, .. } => parts.iter().any(|(part, _)| part.is_filtered()),
        }
    }

    /// The rows of a range of keys, if they are few and read at once ([`Snapshot::get_range`]); `None` if they must be scanned.
    /// `columns` is a [`ReadSpec::projection`].
    ///
    /// # Errors
    /// As [`Snapshot::get_range`].
    pub fn get_range(
        &self,
        snapshot: &dyn Snapshot,
        columns: &Projection,
        range: ShortRange<'_>,
    ) -> Result<Option<ShortRangeRows>, TableError> {
        if self.is_filtered() {
            return Ok(None);
        }
        match &self.kind {
            ReadKind::Scan(_) => {
                let mut values = RowValues::new(columns.columns().len());
                let rows = snapshot.get_range(columns, range, &mut values)?;
                Ok(rows.map(|rows| ShortRangeRows { values, keys_read: rows as u64, seeks: 1, buckets: 1 }))
            }
            ReadKind::Lookup(lookup) if lookup.others.is_empty() => lookup.get_range(snapshot, columns, range),
            ReadKind::Lookup(_) | ReadKind::Union { .. } => Ok(None),
        }
    }

    /// Starts a scan along the route of the access. Of a union, the route has only the limit.
    ///
    /// # Errors
    /// As [`Snapshot::scan`].
    pub fn scan(
        &self,
        snapshot: &Arc<dyn Snapshot>,
        route: ScanRoute,
        context: ScanContext,
    ) -> Result<Box<dyn RowSource>, TableError> {
        match &self.kind {
            ReadKind::Scan(spec) => snapshot.scan(spec, route, context),
            ReadKind::Lookup(lookup) => Ok(Box::new(IndexLookup::start(lookup.clone(), snapshot, route, context)?)),
            ReadKind::Union { parts, schema } => {
                let contexts = context.for_branches(parts.len());
                let start = |((part, of_part), context): (&(Self, ScanRoute), ScanContext)| {
                    let limit = route.limit.into_iter().chain(of_part.limit).min();
                    part.scan(snapshot, ScanRoute { limit, ..of_part.clone() }, context)
                };
                let parts = parts.iter().zip(contexts).map(start).collect::<Result<Vec<_>, _>>()?;
                Ok(Box::new(UnionScan::new(self.columns.as_slice().into(), schema.clone(), parts, route.limit)))
            }
        }
    }
}

impl LookupSpec {
    fn get_range(
        &self,
        snapshot: &dyn Snapshot,
        columns: &Projection,
        range: ShortRange<'_>,
    ) -> Result<Option<ShortRangeRows>, TableError> {
        let Some(keys) = self.entries.get_range(snapshot, range)? else { return Ok(None) };
        let mut values = RowValues::new(columns.columns().len());
        if !keys.is_empty() && snapshot.get_all(columns, &keys, &mut values, None)? < keys.len() {
            // The scan tells which row is missing.
            return Ok(None);
        }
        let (rows, buckets) = (keys.len() as u64, buckets_of(&keys, self.rows.table().codec().bucket_bytes()));
        Ok(Some(ShortRangeRows { values, keys_read: 2 * rows, seeks: 1 + rows, buckets: 1 + buckets }))
    }
}

/// The number of different buckets among few physical keys.
fn buckets_of(keys: &[Vec<u8>], bucket_bytes: usize) -> u32 {
    let bucket = |key: &'_ Vec<u8>| key.first().copied().filter(|_| bucket_bytes > 0);
    let is_first = |(at, key): &(usize, &Vec<u8>)| !keys.iter().take(*at).any(|other| bucket(other) == bucket(key));
    keys.iter().enumerate().filter(is_first).count() as u32
}

impl Index {
    /// Scans of the entries: columns of the table, and the physical key of the entry as the last one. `None` if entries do
    /// not have these columns, or those of `filter`.
    ///
    /// # Errors
    /// As [`ScanSpec::new`].
    pub fn spec_with_key(&self, columns: &[usize], filter: Vec<Expr>) -> Result<Option<ScanSpec>, TableError> {
        let (of_entries, of_rows) = conditions_of_entries(self, filter);
        let key = std::iter::once(Some(self.entries().row_key_index()));
        let columns: Option<Vec<usize>> = columns.iter().map(|column| self.entry_column(*column)).chain(key).collect();
        match columns.filter(|_| of_rows.is_empty()) {
            Some(columns) => ScanSpec::new(self.entries(), columns, of_entries).map(Some),
            None => Ok(None),
        }
    }
}

/// The conditions that entries of an index can answer, over the columns of its entries, and the others.
fn conditions_of_entries(index: &Index, filter: Vec<Expr>) -> (Vec<Expr>, Vec<Expr>) {
    let is_covered = |column: &usize| index.entry_column(*column).is_some();
    let in_entry = |mut expr: Expr| {
        expr.map_columns(&mut |column| column.index = index.entry_column(column.index).unwrap_or(column.index));
        expr
    };
    let (of_entries, of_rows): (Vec<Expr>, Vec<Expr>) =
        filter.into_iter().partition(|condition| condition.columns().iter().all(is_covered));
    (of_entries.into_iter().map(in_entry).collect(), of_rows)
}

/// Rows that are found by the entries of an index.
struct IndexLookup {
    spec: Arc<LookupSpec>,
    snapshot: Arc<dyn Snapshot>,
    /// In which rows are read.
    context: ScanContext,
    entries: EntryKeys,
    intersection: Option<Intersection>,
    /// Whether rows come in the order of the entries.
    in_order: bool,
    /// Rows that may still be put out.
    left: Option<u64>,
    /// Entries that were read, and whose rows were not.
    waiting: Vec<Vec<u8>>,
}

impl IndexLookup {
    fn start(
        spec: Arc<LookupSpec>,
        snapshot: &Arc<dyn Snapshot>,
        route: ScanRoute,
        context: ScanContext,
    ) -> Result<Self, TableError> {
        let (left, in_order) = (route.limit, route.order == ScanOrder::Merged);
        // Where rows are checked, more entries than rows may be needed.
        let limit = route.limit.filter(|limit| *limit == 0 || !spec.rows.is_filtered());
        let first_batch = route.first_batch.or(route.limit);
        let of_rows = context.for_rows_of_entries();
        // A scan that stops early would wait for the other indexes.
        let others = if route.limit.is_none() { spec.others.as_slice() } else { &[] };
        let contexts = if others.is_empty() { Vec::new() } else { context.for_branches(others.len()) };
        let memory = context.memory().clone();
        let route = ScanRoute { limit, first_batch, ..route };
        let mut entries = EntryKeys::start(&spec.entries, &**snapshot, route, context)?;
        let (mut intersection, mut waiting) = (None, Vec::new());
        if !others.is_empty() {
            let others: Vec<_> = others.iter().zip(contexts).collect();
            let open = |((other, route), context): &(&(Arc<EntrySpec>, ScanRoute), ScanContext), most: u64| {
                let route = ScanRoute { limit: Some(most), ..route.clone() };
                EntryKeys::start(other, &**snapshot, route, context.clone())
            };
            let (started, keys) = Intersection::start(&mut entries, &others, open, &memory)?;
            (intersection, waiting) = (Some(started), keys);
        }
        let (snapshot, context) = (snapshot.clone(), of_rows);
        Ok(Self { spec, snapshot, context, entries, intersection, in_order, left, waiting })
    }

    /// Reads entries until there are some whose rows are not read; whether there are.
    fn fill(&mut self) -> Result<bool, TableError> {
        while self.waiting.is_empty() {
            if !self.entries.read(&mut self.waiting)? {
                return Ok(false);
            }
            if let Some(intersection) = &self.intersection {
                intersection.retain(&mut self.waiting);
            }
        }
        Ok(true)
    }

    /// Keys of rows that are to be read; `None` at the end.
    fn next_keys(&mut self) -> Result<Option<Vec<Vec<u8>>>, TableError> {
        if self.left == Some(0) || !self.fill()? {
            return Ok(None);
        }
        let more = self.waiting.split_off(self.waiting.len().min(KEYS_AT_ONCE));
        Ok(Some(std::mem::replace(&mut self.waiting, more)))
    }

    /// Every entry has its row, and both expire at the same time: rows without a filter are as many as the keys.
    fn check_found(&self, keys: &[Vec<u8>], rows: usize) -> Result<(), TableError> {
        if rows == keys.len() {
            return Ok(());
        }
        let table = self.spec.rows.table();
        for key in keys {
            if !self.snapshot.contains(table, key)? {
                return Err(self.missing("an entry of an index names it, and it is not there", key));
            }
        }
        Err(self.missing("several entries of an index name it", keys.first().map_or(&[], Vec::as_slice)))
    }

    fn missing(&self, what: &'static str, key: &[u8]) -> TableError {
        TableError::Corrupt { table: self.spec.rows.table().def().name.to_string(), key: text::hex(key), what }
    }

    /// The columns of the rows of some keys, in the order of the keys if it is to be kept.
    fn rows(&self, keys: &[Vec<u8>]) -> Result<(Vec<ArrayRef>, usize), TableError> {
        let route = ScanRoute::of(KeyList::of(self.spec.rows.table(), keys).into());
        let mut scan = self.snapshot.scan(&self.spec.rows, route, self.context.clone())?;
        let (mut batches, mut rows) = (vec![Vec::new(); self.spec.rows.columns().len()], 0);
        while let Some((columns, read)) = scan.next_columns()? {
            batches.iter_mut().zip(columns).for_each(|(batches, column)| batches.push(column));
            rows += read;
        }
        let is_filtered = self.spec.rows.is_filtered();
        if !is_filtered {
            self.check_found(keys, rows)?;
        }
        if rows == 0 {
            return Ok((Vec::new(), 0));
        }
        let whole = |batches: &Vec<ArrayRef>| concat(&batches.iter().map(AsRef::as_ref).collect::<Vec<_>>());
        let mut columns = batches.iter().map(whole).collect::<Result<Vec<_>, _>>()?;
        let found = if is_filtered { columns.pop() } else { None };
        if !self.in_order || keys.is_sorted() {
            return Ok((columns, rows));
        }
        let places = match found {
            None => places_in_key_order(keys),
            // Some of the rows are left out.
            Some(found) => {
                let of: HashMap<&[u8], u32> = found.as_bytes::<BinaryType>().iter().flatten().zip(0..).collect();
                keys.iter().filter_map(|key| of.get(key.as_slice()).copied()).collect()
            }
        };
        let places = UInt32Array::from(places);
        let columns = columns.iter().map(|column| take(column, &places, None)).collect::<Result<_, _>>()?;
        Ok((columns, rows))
    }
}

impl RowSource for IndexLookup {
    fn schema(&self) -> &SchemaRef {
        &self.spec.schema
    }

    fn next_columns(&mut self) -> Result<Option<(Vec<ArrayRef>, usize)>, TableError> {
        while let Some(keys) = self.next_keys()? {
            let (mut columns, mut rows) = self.rows(&keys)?;
            if let Some(left) = &mut self.left {
                rows = rows.min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= rows as u64;
                columns = columns.into_iter().map(|column| column.slice(0, rows)).collect();
            }
            if rows > 0 {
                return Ok(Some((columns, rows)));
            }
        }
        Ok(None)
    }

    fn next_values(&mut self, columns: &Projection, values: &mut RowValues) -> Result<bool, TableError> {
        if self.spec.rows.is_filtered() || columns.columns().is_empty() {
            let Some((arrays, rows)) = self.next_columns()? else { return Ok(false) };
            add_values(&arrays, rows, self.spec.rows.columns(), columns, values)?;
            return Ok(true);
        }
        let Some(keys) = self.next_keys()? else { return Ok(false) };
        let first = values.rows();
        let found = self.snapshot.get_all(columns, &keys, values, Some(&self.context))?;
        self.check_found(&keys, found)?;
        if let Some(left) = &mut self.left {
            let rows = (keys.len() as u64).min(*left);
            *left -= rows;
            values.truncate(first + rows as usize);
        }
        Ok(true)
    }

    fn totals(&mut self) -> Result<Totals, TableError> {
        let spec = self.spec.clone();
        let put_out = spec.rows.columns().get(..spec.schema.fields().len()).unwrap_or_default();
        (self as &mut dyn RowSource).totals_of_columns(spec.rows.table(), put_out)
    }
}
