//! The servers: regions of rows with their versions.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Bound;
use std::sync::Arc;

use parking_lot::Mutex;
use saltwing_access::{Direction, Table};
use saltwing_rowkey::KeyRange;
use saltwing_types::TableId;

use crate::chance::Chance;
use crate::row_write::{Refused as RefusedRow, RowWrite};
use crate::rows::StoredRow;

/// A version of a row: the commit that made it, and the row unless it was deleted.
type Version = (u64, Option<Arc<StoredRow>>);

/// Rows with their keys.
pub(crate) type Page = Vec<(Vec<u8>, Arc<StoredRow>)>;

/// Why a call failed: it is worth another try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallError {
    /// The region is not there any more, or elsewhere.
    NotServing,
    /// No answer came. The call may have been carried out.
    NoAnswer,
}

/// Where a region was when it was located.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Located {
    table: TableId,
    /// Empty for the first region.
    pub(crate) start: Vec<u8>,
    pub(crate) end: Option<Vec<u8>>,
    generation: u64,
}

/// Keys that a call reads: from the first, below the second.
pub(crate) type Keys = (Vec<u8>, Option<Vec<u8>>);

/// A change that a commit carries.
pub(crate) type Change = (TableId, Vec<u8>, Option<Arc<StoredRow>>);

/// Why a commit was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Another commit wrote the row since.
    Conflict { table: TableId, key: Vec<u8> },
    /// The table has another definition, or is gone.
    Definition { table: TableId },
}

#[derive(Debug, Default)]
struct Rows {
    versions: BTreeMap<Vec<u8>, Vec<Version>>,
    /// Where regions start, except for the first, and their generations.
    starts: BTreeMap<Vec<u8>, u64>,
    generation: u64,
}

#[derive(Debug, Default)]
struct State {
    tables: HashMap<TableId, Rows>,
    /// The newest definitions of open tables.
    open: HashMap<TableId, Arc<Table>>,
    last: u64,
    /// Commits by the client's number of them.
    done: HashMap<u64, u64>,
    /// Calls that wrote rows one by one, by the client's number of them.
    rows_done: HashMap<u64, RowAnswers>,
    row_ids: HashMap<TableId, i64>,
}

/// The servers.
#[derive(Debug)]
pub(crate) struct Cluster {
    state: Mutex<State>,
    chance: Chance,
    /// One call in `changes` finds that regions changed before it; 0 is none.
    changes: u32,
    /// One call in `failures` gets no answer; 0 is none.
    failures: u32,
}

/// What a commit is checked against.
pub(crate) struct ReadAt {
    /// The commit that was read as the last one.
    pub(crate) commit: u64,
    /// Later commits of the same transaction: they are no conflict.
    pub(crate) own: HashSet<u64>,
}

/// A commit as it is sent.
pub(crate) struct Commit<'a> {
    /// The client's number of it.
    pub(crate) number: u64,
    pub(crate) changes: &'a [Change],
    /// The definitions that the rows were written by.
    pub(crate) tables: &'a [Arc<Table>],
    pub(crate) read_at: Option<&'a ReadAt>,
}

/// What became of each of some rows that were written one by one, in their order; as many as a call wrote.
pub(crate) type RowAnswers = Vec<Result<(), RefusedRow>>;

impl Cluster {
    pub(crate) fn new(seed: u64, changes: u32, failures: u32) -> Self {
        Self { state: Mutex::default(), chance: Chance::new(seed), changes, failures }
    }

    /// What may happen around a call.
    fn disturb(&self, table: TableId) -> Result<(), CallError> {
        if self.chance.one_in(self.changes) {
            self.change_regions(table);
        }
        if self.chance.one_in(self.failures) { Err(CallError::NoAnswer) } else { Ok(()) }
    }

    /// Splits, merges or moves a region.
    fn change_regions(&self, table: TableId) {
        let mut state = self.state.lock();
        let Some(rows) = state.tables.get_mut(&table) else { return };
        rows.generation += 1;
        let generation = rows.generation;
        match self.chance.below(3) {
            0 => {
                let at = self.chance.below(rows.versions.len());
                if let Some(key) = rows.versions.keys().nth(at).cloned() {
                    rows.starts.insert(key, generation);
                }
            }
            1 => {
                let at = self.chance.below(rows.starts.len());
                if let Some(key) = rows.starts.keys().nth(at).cloned() {
                    rows.starts.remove(&key);
                }
            }
            _ => rows.starts.values_mut().for_each(|of| *of = generation),
        }
    }

    pub(crate) fn open(&self, table: Arc<Table>) {
        let mut state = self.state.lock();
        state.tables.entry(table.def().id).or_default();
        state.open.insert(table.def().id, table);
    }

    pub(crate) fn close(&self, id: TableId) {
        self.state.lock().open.remove(&id);
    }

    pub(crate) fn table(&self, id: TableId) -> Option<Arc<Table>> {
        self.state.lock().open.get(&id).cloned()
    }

    /// The number of the newest commit, and the versions of the definitions that rows may be written by at that commit.
    pub(crate) fn newest(&self) -> (u64, HashMap<TableId, u32>) {
        let state = self.state.lock();
        (state.last, state.open.iter().map(|(id, table)| (*id, table.version())).collect())
    }

    pub(crate) fn purge(&self, id: TableId) {
        self.state.lock().tables.remove(&id);
    }

    pub(crate) fn row_ids(&self, id: TableId, count: i64) -> i64 {
        let mut state = self.state.lock();
        let next = state.row_ids.entry(id).or_insert(1);
        let first = *next;
        *next = first.saturating_add(count);
        first
    }

    /// The region of a key; going in reverse, the one of the keys below it.
    pub(crate) fn locate(&self, table: TableId, key: Option<&[u8]>, direction: Direction) -> Located {
        let state = self.state.lock();
        let none = Rows::default();
        let rows = state.tables.get(&table).unwrap_or(&none);
        let upper = match (direction, key) {
            (_, None) => Bound::Unbounded,
            (Direction::Forward, Some(key)) => Bound::Included(key),
            (Direction::Reverse, Some(key)) => Bound::Excluded(key),
        };
        let own = rows.starts.range::<[u8], _>((Bound::Unbounded, upper)).next_back();
        let (start, generation) = own.map_or((Vec::new(), 0), |(start, generation)| (start.clone(), *generation));
        let next = rows.starts.range::<[u8], _>((Bound::Excluded(&start[..]), Bound::Unbounded)).next();
        Located { table, start, end: next.map(|(end, _)| end.clone()), generation }
    }

    /// The keys of each region as it is now, in key order.
    pub(crate) fn regions(&self, table: TableId) -> Vec<KeyRange> {
        let state = self.state.lock();
        let starts = state.tables.get(&table).into_iter().flat_map(|rows| rows.starts.keys());
        let starts: Vec<Vec<u8>> = std::iter::once(Vec::new()).chain(starts.cloned()).collect();
        let ends = starts.iter().skip(1).cloned().map(Some).chain([None]);
        starts.iter().cloned().zip(ends).filter_map(|(start, end)| KeyRange::new(start, end)).collect()
    }

    /// Rows of a region as of a commit, `most` at most, and whether the region has no more of these keys: ranges in the order of the scan, the
    /// first of which begins in the region.
    pub(crate) fn page(
        &self,
        region: &Located,
        keys: &[Keys],
        direction: Direction,
        at: u64,
        most: usize,
    ) -> Result<(Page, bool), CallError> {
        self.disturb(region.table)?;
        if !self.is_as_located(region) {
            return Err(CallError::NotServing);
        }
        let state = self.state.lock();
        let Some(rows) = state.tables.get(&region.table) else { return Ok((Page::new(), true)) };
        let mut page = Page::new();
        for (from, to) in keys {
            let from = from.max(&region.start);
            let to = match (to, &region.end) {
                (Some(to), Some(end)) => Some(to.min(end)),
                (to, end) => to.as_ref().or(end.as_ref()),
            };
            if to.is_some_and(|to| to <= from) {
                continue;
            }
            let to = to.map_or(Bound::Unbounded, |to| Bound::Excluded(&to[..]));
            let range = rows.versions.range::<[u8], _>((Bound::Included(&from[..]), to));
            let seen = |(key, versions): (&Vec<u8>, &Vec<Version>)| Some((key.clone(), version_at(versions, at)?));
            let more = most.saturating_add(1).saturating_sub(page.len());
            match direction {
                Direction::Forward => page.extend(range.filter_map(seen).take(more)),
                Direction::Reverse => page.extend(range.rev().filter_map(seen).take(more)),
            }
        }
        let is_last = page.len() <= most;
        page.truncate(most);
        Ok((page, is_last))
    }

    /// Whether the region still is what it was when it was located.
    fn is_as_located(&self, region: &Located) -> bool {
        self.locate(region.table, Some(&region.start), Direction::Forward) == *region
    }

    /// Rows of a region as of a commit, by their keys, which are in the region. Rows that are not there are left out.
    pub(crate) fn rows(&self, region: &Located, keys: &[&Vec<u8>], at: u64) -> Result<Page, CallError> {
        self.disturb(region.table)?;
        if !self.is_as_located(region) {
            return Err(CallError::NotServing);
        }
        let state = self.state.lock();
        let Some(rows) = state.tables.get(&region.table) else { return Ok(Page::new()) };
        let row = |key: &&Vec<u8>| Some(((*key).clone(), version_at(rows.versions.get(*key)?, at)?));
        Ok(keys.iter().filter_map(row).collect())
    }

    /// One row as of a commit.
    pub(crate) fn get(&self, table: TableId, key: &[u8], at: u64) -> Result<Option<Arc<StoredRow>>, CallError> {
        self.disturb(table)?;
        let state = self.state.lock();
        Ok(state.tables.get(&table).and_then(|rows| version_at(rows.versions.get(key)?, at)))
    }

    /// How many rows have a version between two keys.
    pub(crate) fn count(&self, table: TableId, start: &[u8], end: Option<&[u8]>) -> u64 {
        let state = self.state.lock();
        let end = end.map_or(Bound::Unbounded, Bound::Excluded);
        let in_order = !matches!(end, Bound::Excluded(end) if end <= start);
        let rows = state.tables.get(&table).filter(|_| in_order);
        rows.map_or(0, |rows| rows.versions.range::<[u8], _>((Bound::Included(start), end)).count() as u64)
    }

    /// Writes all changes or none. A commit whose number was carried out before is not carried out again.
    pub(crate) fn commit(&self, commit: &Commit<'_>) -> Result<Result<u64, Refused>, CallError> {
        let first = commit.changes.first().map_or(TableId(0), |(table, ..)| *table);
        self.disturb(first)?;
        let done = self.carry_out(commit);
        // The answer may be lost, too.
        if self.chance.one_in(self.failures) { Err(CallError::NoAnswer) } else { Ok(done) }
    }

    fn carry_out(&self, commit: &Commit<'_>) -> Result<u64, Refused> {
        let Commit { number, changes, tables, read_at } = commit;
        let mut state = self.state.lock();
        if let Some(done) = state.done.get(number) {
            return Ok(*done);
        }
        for table in *tables {
            let id = table.def().id;
            if state.open.get(&id).is_none_or(|newest| newest.version() != table.version()) {
                return Err(Refused::Definition { table: id });
            }
        }
        if let Some(ReadAt { commit, own }) = read_at {
            let newest = |(table, key, _): &Change| Some(state.tables.get(table)?.versions.get(key)?.last()?.0);
            let is_new = |change: &&Change| newest(change).is_some_and(|no| no > *commit && !own.contains(&no));
            if let Some((table, key, _)) = changes.iter().find(is_new) {
                return Err(Refused::Conflict { table: *table, key: key.clone() });
            }
        }
        state.last += 1;
        let no = state.last;
        for (table, key, row) in *changes {
            let versions = state.tables.entry(*table).or_default().versions.entry(key.clone()).or_default();
            // Of several changes of a row in one commit the last one counts.
            versions.pop_if(|(of, _)| *of == no);
            versions.push((no, row.clone()));
        }
        state.done.insert(*number, no);
        Ok(no)
    }
}

impl Cluster {
    /// Writes rows of a region one by one. A call whose number was carried out before is not carried out again.
    pub(crate) fn write_rows(
        &self,
        number: u64,
        region: &Located,
        (table, now_ms): (&Table, i64),
        writes: &[RowWrite],
    ) -> Result<RowAnswers, CallError> {
        self.disturb(region.table)?;
        let answers = self.write_each(number, region, (table, now_ms), writes)?;
        // The answer may be lost, too.
        if self.chance.one_in(self.failures) { Err(CallError::NoAnswer) } else { Ok(answers) }
    }

    fn write_each(
        &self,
        number: u64,
        region: &Located,
        (table, now_ms): (&Table, i64),
        writes: &[RowWrite],
    ) -> Result<RowAnswers, CallError> {
        if let Some(done) = self.state.lock().rows_done.get(&number) {
            return Ok(done.clone());
        }
        if !self.is_as_located(region) {
            return Err(CallError::NotServing);
        }
        let mut state = self.state.lock();
        let is_open = state.open.get(&region.table).is_some_and(|newest| newest.version() == table.version());
        let mut answers = RowAnswers::with_capacity(writes.len());
        for write in writes {
            if !is_open {
                answers.push(Err(RefusedRow::Definition));
                continue;
            }
            let versions = state.tables.get(&region.table).and_then(|rows| rows.versions.get(&write.key));
            let old = versions.and_then(|versions| version_at(versions, u64::MAX));
            let written = write.result(table, old, now_ms);
            answers.push(written.map(|row| {
                state.last += 1;
                let no = state.last;
                let rows = state.tables.entry(region.table).or_default();
                rows.versions.entry(write.key.clone()).or_default().push((no, row));
            }));
        }
        state.rows_done.insert(number, answers.clone());
        Ok(answers)
    }
}

/// The newest version as of a commit, unless it is a deletion.
fn version_at(versions: &[Version], at: u64) -> Option<Arc<StoredRow>> {
    versions.iter().rev().find(|(no, _)| *no <= at)?.1.clone()
}
