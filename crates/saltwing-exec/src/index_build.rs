//! Building an index of a table that has rows, while others read and write the table.
//!
//! ```text
//! definition with the index, building ──> writers keep it in step from now on
//! chunk of rows ──> their entries, in a transaction ──> next chunk .. ──> definition with the index, ready
//!       └── once more, if a writer was first: it has written one of the entries ──┘
//! ```
//! A rebuild writes new entries in the same way, and writers keep both in step. The entries before are in force until the definition names
//! the new ones in their place.
//!
//! # Invariant
//! A writer that changes or deletes a row writes the key of the old entry, whether the entry is there or not. So a chunk
//! that was read before that and is committed after it is in conflict, and is read again.

use std::sync::Arc;

use saltwing_access::{
    Durability, Index, KeySet, OldRow, RowChange, ScanContext, ScanRoute, ScanSpec, Table, TableStore, Transaction,
};
use saltwing_types::Value;

use crate::ExecError;
use crate::row_values::{key_text, row_of_values};
use crate::transaction::{TRIES_MAX, is_lost};
use crate::unique_values::UniqueValues;

/// Most rows whose entries are one commit, unless the database says otherwise.
pub const INDEX_COMMIT_ROWS: u64 = 4096;

/// The build of an index.
pub struct IndexBuild<'a> {
    /// The tables.
    pub store: &'a dyn TableStore,
    /// The table.
    pub table: &'a Arc<Table>,
    /// The index with the entries that are built: one of those that writers of the table keep in step.
    pub index: &'a Index,
    /// Ends the build between two commits.
    pub context: &'a ScanContext,
    /// How lasting its commits are.
    pub durability: Durability,
    /// Most rows whose entries are one commit. A commit that a writer came before is tried again with half as many: among all
    /// rows of a busy table there is always one that was just written.
    pub commit_rows: u64,
    /// The row, and its table, by which a commit notes the key of the last row whose entry it has.
    pub note: &'a BuildNote<'a>,
    /// Hears how many rows each commit has the entries of.
    pub committed: &'a dyn Fn(u64),
}

/// Makes the row, with its table, that notes the key of a row; `None` for an index that ends with the process.
pub type BuildNote<'a> = dyn Fn(&[u8]) -> Option<(Arc<Table>, Vec<Value>)> + 'a;

impl IndexBuild<'_> {
    /// Writes the entries of all rows after the key of one, of all rows if there is none; how many rows there were.
    ///
    /// # Errors
    /// [`ExecError::Entry`] for the first row that the index has no key for; [`ExecError::NotUnique`];
    /// [`ExecError::Contended`]; as [`ScanContext::check`]; the store's.
    pub fn run(&self, after: Option<Vec<u8>>) -> Result<u64, ExecError> {
        let columns: Vec<usize> = (0..self.table.width()).collect();
        let ttl_s = self.index.entries().def().ttl_s;
        // The rows that are alive by the TTL of the entries.
        let kept = self.table.with_kept_rows().filter(|kept| kept.def().ttl_s == ttl_s);
        let rows = kept.unwrap_or(self.table);
        let chunk = Chunk { build: self, rows, spec: &ScanSpec::new(rows, columns, Vec::new())? };
        let (mut rows, mut last, mut most) = (0, after, self.commit_rows);
        loop {
            let (found, end) = chunk.build(last.as_deref(), &mut most)?;
            most = (most * 2).min(self.commit_rows);
            rows += found;
            (self.committed)(found);
            match end {
                Some(end) => last = Some(end),
                None => return Ok(rows),
            }
        }
    }
}

struct Chunk<'a> {
    build: &'a IndexBuild<'a>,
    /// The table, as its rows are read.
    rows: &'a Arc<Table>,
    spec: &'a ScanSpec,
}

impl Chunk<'_> {
    /// Writes the entries of at most `most` rows after a key. If a writer commits first, it halves `most` and tries again.
    /// Returns the number of rows, and the key of the last one if there may be more.
    fn build(&self, after: Option<&[u8]>, most: &mut u64) -> Result<(u64, Option<Vec<u8>>), ExecError> {
        for _ in 0..TRIES_MAX {
            match self.try_once(after, *most) {
                Err(ExecError::Table(error)) if is_lost(&error) => *most = (*most / 2).max(1),
                done => return done,
            }
        }
        Err(ExecError::Contended(TRIES_MAX))
    }

    fn try_once(&self, after: Option<&[u8]>, most: u64) -> Result<(u64, Option<Vec<u8>>), ExecError> {
        let IndexBuild { store, context, durability, note, .. } = self.build;
        let table = self.rows;
        let mut transaction = store.begin()?;
        let snapshot = transaction.snapshot().clone();
        let all = ScanRoute::of(KeySet::all());
        let routes: Vec<ScanRoute> = match after {
            None => vec![all],
            Some(key) => all.after(table, key).collect(),
        };
        let (mut rows, mut last, mut unique) = (0, None, UniqueValues::default());
        for route in routes {
            let limit = most - rows;
            let mut scan = snapshot.scan(self.spec, ScanRoute { limit: Some(limit), ..route }, (*context).clone())?;
            while let Some(batch) = scan.next_batch()? {
                for row in 0..batch.num_rows() {
                    let mut values = row_of_values(table, &batch, row)?;
                    let (time, key) = (values.pop(), values.pop());
                    let Some(Value::Bytes(key)) = key else { return Err(ExecError::Bug("a row without a key")) };
                    self.put_entry(&mut *transaction, &values, time, &mut unique)?;
                    last = Some(key);
                }
                rows += batch.num_rows() as u64;
            }
            if rows >= most {
                break;
            }
        }
        unique.check(&mut *transaction)?;
        let last = last.filter(|_| rows >= most);
        if let Some((notes, note)) = last.as_deref().and_then(note) {
            transaction.apply(&notes, RowChange::Put { new: &note, old: OldRow::Unknown, written_ms: None }, None)?;
        }
        transaction.commit(*durability)?;
        Ok((rows, last))
    }

    fn put_entry(
        &self,
        transaction: &mut dyn Transaction,
        row: &[Value],
        time: Option<Value>,
        unique: &mut UniqueValues,
    ) -> Result<(), ExecError> {
        let IndexBuild { table, index, .. } = self.build;
        let written_ms = match time {
            Some(Value::Date(ms)) => Some(ms),
            _ => Some(saltwing_access::NO_TIME_MS),
        };
        let refused = |source| {
            let (index, row) = (index.def().name.clone(), Some(key_text(table, row)));
            ExecError::Entry { index, row, source }
        };
        let Some(entry) = index.entry(row).map_err(refused)? else { return Ok(()) };
        let change = RowChange::Put { new: &entry, old: OldRow::Unknown, written_ms };
        transaction.apply(index.entries(), change, None).map_err(refused)?;
        unique.note(transaction, index, None, Some(&entry))
    }
}
