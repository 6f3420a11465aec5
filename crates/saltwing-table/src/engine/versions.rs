//! Older versions of the rows of tables with `VERSIONS` or `KEEP_VERSIONS`.
//!
//! A commit writes the state of each row before it into the space [`VERSIONS`], in its own batch. So the state of a table
//! at an earlier time is its state now, with the rows changed since put back: of each, the oldest version that a later
//! commit replaced.

use saltwing_access::{StorageError, TableError};
use saltwing_store::{Direction, WriteBatch};
use saltwing_types::TableId;
use saltwing_types::table::KeptVersions;

use crate::engine::merge::{BATCH_KEYS, GoOn};
use crate::engine::storage_engine::{CommitState, MergeState, StorageEngine};
use crate::engine::stored_table::StoredTable;
use crate::format::delta_record::{Record, RecordBuilder};
use crate::format::spaces::VERSIONS;
use crate::format::versions::{
    GONE, History, Stamp, history_key, split_version, unescape, version_bounds, version_key,
};

/// Most bytes of older rows that one scan holds.
const PAST_BYTES_MAX: u64 = 256 << 20;
/// Versions between two looks at whether the statement shall go on.
const CHECK_EVERY: usize = 1024;

/// The versions that a commit writes for one table.
pub(crate) struct ReplacedRows<'a> {
    table: &'a StoredTable,
    history: History,
    batch: &'a mut WriteBatch,
}

impl ReplacedRows<'_> {
    /// The row of `row_key` was this before the commit; empty if there was none.
    pub(crate) fn add(&mut self, row_key: &[u8], before: Vec<u8>) {
        self.batch.put(VERSIONS, version_key(self.table.def().id, row_key, self.history.last), before);
    }

    pub(crate) fn finish(self) {
        self.batch.put(VERSIONS, history_key(self.table.def().id), self.history.write());
    }
}

impl StorageEngine {
    /// Begins the versions of a commit.
    pub(crate) fn replace_rows<'a>(
        &self,
        commits: &mut CommitState,
        table: &'a StoredTable,
        kept: KeptVersions,
        batch: &'a mut WriteBatch,
    ) -> Result<ReplacedRows<'a>, TableError> {
        let history = self.history(table, kept)?;
        let last = history.last.max(commits.last_stamp).next(self.clock.now_ms());
        commits.last_stamp = last;
        Ok(ReplacedRows { table, history: History { last, ..history }, batch })
    }

    /// How far back the versions of a table reach. Without a commit since it keeps them, to the time of its opening.
    fn history(&self, table: &StoredTable, kept: KeptVersions) -> Result<History, TableError> {
        let stored = self.kv.get(VERSIONS, &history_key(table.def().id)).map_err(StorageError::from)?;
        let read =
            |bytes: &_| History::read(bytes).ok_or(TableError::CorruptLayout("the record of a table's versions"));
        let stored = stored.as_ref().map(|bytes| read(bytes)).transpose()?;
        Ok(match stored {
            Some(history) if history.since == kept.since => history,
            // They are of an earlier period with versions: none of them is later than the beginning of this one.
            other => History {
                since: kept.since,
                first_ms: table.versions_from_ms(),
                last: other.map_or(Stamp::default(), |history| history.last),
            },
        })
    }

    /// Checks that the state of a table at a time is known, except for single rows whose versions are gone.
    ///
    /// # Errors
    /// [`TableError::NoVersions`], [`TableError::BeyondVersions`], [`TableError::FutureTime`].
    pub(crate) fn check_time(&self, table: &StoredTable, at_ms: i64) -> Result<(), TableError> {
        let (def, now_ms) = (table.def(), self.clock.now_ms());
        let name = || def.name.to_string();
        let Some(kept) = table.versions() else { return Err(TableError::NoVersions { table: name() }) };
        if at_ms > now_ms {
            return Err(TableError::FutureTime { table: name(), at_ms, now_ms });
        }
        let first_ms = self.history(table, kept)?.first_ms.max(table.first_readable_ms(now_ms).unwrap_or(i64::MIN));
        match at_ms < first_ms {
            true => Err(TableError::BeyondVersions { table: name(), at_ms, first_ms: Some(first_ms) }),
            false => Ok(()),
        }
    }

    /// The rows with keys from `start` to `end` that were changed after a time, as they were then: records whose rows,
    /// put over those of any later time, make the state at this one.
    ///
    /// # Errors
    /// [`TableError::BeyondVersions`] if a row has changed so often that its state then is gone;
    /// [`TableError::BudgetExceeded`]; the error of `go_on`.
    pub(crate) fn rows_at(
        &self,
        table: &StoredTable,
        (start, end): (&[u8], Option<&[u8]>),
        at_ms: i64,
        go_on: GoOn<'_>,
    ) -> Result<Vec<Record>, TableError> {
        let id = table.def().id;
        let bounds = version_bounds(id, start, end);
        let mut cursor = self.kv.cursor(VERSIONS, bounds, Direction::Forward).map_err(StorageError::from)?;
        let mut records = RecordBuilder::default();
        let (mut last_key, mut count) = (Vec::new(), 0_usize);
        while let Some((key, before)) = cursor.next().map_err(StorageError::from)? {
            count += 1;
            if count.is_multiple_of(CHECK_EVERY) {
                go_on()?;
            }
            // The oldest version that a later commit replaced.
            let Some((escaped, stamp)) = split_version(&key) else { continue };
            if !stamp.is_after(at_ms) || escaped == last_key {
                continue;
            }
            if *before == *GONE {
                return Err(TableError::BeyondVersions { table: table.def().name.to_string(), at_ms, first_ms: None });
            }
            last_key.clear();
            last_key.extend_from_slice(escaped);
            records.add(id, &unescape(escaped), |out| out.extend_from_slice(&before));
            let used = records.bytes() as u64;
            if used > PAST_BYTES_MAX {
                return Err(TableError::BudgetExceeded { what: "bytes of older rows", used, limit: PAST_BYTES_MAX });
            }
        }
        // Versions that were deleted meanwhile may be missing.
        self.check_time(table, at_ms)?;
        Ok(records.records())
    }

    /// Deletes the versions of all tables that these no longer keep; whether there were any.
    pub(super) fn prune_all_versions(&self, merge: &mut MergeState) -> Result<bool, TableError> {
        let ids: Vec<TableId> = self.tables.read().keys().copied().collect();
        ids.into_iter().try_fold(false, |any, id| Ok(self.prune_versions(merge, id, &|| Ok(()))? || any))
    }

    /// Deletes the versions of a table that it no longer keeps; whether there were any.
    pub(super) fn prune_versions(
        &self,
        _merge: &mut MergeState,
        id: TableId,
        go_on: GoOn<'_>,
    ) -> Result<bool, TableError> {
        let Some((table, kept)) = self.table(id).and_then(|table| Some((table.clone(), table.versions()?))) else {
            return Ok(false);
        };
        let oldest_ms = self.clock.now_ms().saturating_sub(kept.keep_ms());
        let bounds = version_bounds(table.def().id, &[], None);
        // The newest version of each key first.
        let mut cursor = self.kv.cursor(VERSIONS, bounds, Direction::Reverse).map_err(StorageError::from)?;
        let (mut last_key, mut rank, mut is_marked) = (Vec::new(), 0_u64, false);
        let (mut batch, mut is_any) = (WriteBatch::new(), false);
        while let Some((key, before)) = cursor.next().map_err(StorageError::from)? {
            let Some((escaped, stamp)) = split_version(&key) else { continue };
            if escaped != last_key {
                last_key.clear();
                last_key.extend_from_slice(escaped);
                (rank, is_marked) = (0, false);
            }
            rank += 1;
            // The current row is a version, too.
            if rank < kept.count || stamp.is_after(oldest_ms) {
                continue;
            }
            // Of versions kept by number, a mark says that there were more.
            let marks = kept.count > 1 && !is_marked;
            is_marked = true;
            match (marks, *before == *GONE) {
                (true, true) => continue,
                (true, false) => batch.put(VERSIONS, key, GONE),
                (false, _) => batch.delete(VERSIONS, key),
            }
            is_any = true;
            if batch.len() >= BATCH_KEYS {
                go_on()?;
                self.write_layout(std::mem::take(&mut batch))?;
            }
        }
        if !batch.is_empty() {
            self.write_layout(batch)?;
        }
        Ok(is_any)
    }
}
