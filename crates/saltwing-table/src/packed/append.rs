//! Runs out of new rows: those of neighbouring entries share one.

use std::sync::Arc;

use saltwing_access::TableError;

use super::cut::{Pending, RowRef};
use super::delta::{RecentRow, StoredRow};
use super::directory::Entry;
use super::directory_format::{PartRecord, write_run};
use super::gather::{Above, above};
use super::run::{Amount, KeyHash, Run, RunPart, taken_in};
use super::spaces::{DIR, run_key};
use super::step::Compaction;

/// Rows that wait for the run of some neighbouring entries.
#[derive(Default)]
pub(super) struct Stream {
    pending: Pending,
    parts: Vec<StreamPart>,
}

/// Those of one of them.
struct StreamPart {
    index: usize,
    entry: Arc<Entry>,
    /// How many of the entry's newest runs have their rows here.
    taken: usize,
    /// Where its rows end.
    end: usize,
}

impl StreamPart {
    /// Those of the entry's runs whose rows are here, newest first.
    fn runs_taken(&self) -> &[RunPart] {
        self.entry.runs.get(..self.taken).unwrap_or_default()
    }
}

impl Compaction<'_> {
    /// Where an entry's new rows are few beside its block: puts them into a run.
    pub(super) fn append_run(
        &mut self,
        entry: &Arc<Entry>,
        index: usize,
        recent: &[RecentRow],
    ) -> Result<bool, TableError> {
        let Some(taken) = self.runs_to_take(entry, recent) else { return Ok(false) };
        let mut stream = std::mem::take(&mut self.stream);
        let runs = entry.runs.get(..taken).unwrap_or_default();
        let pending = &mut stream.pending;
        for (key, row) in above(recent.to_vec(), runs, pending)? {
            let row = match row {
                // Expired ones too: an older row of the same key must not show in their place.
                Above::Recent(Some(row)) => RowRef::Delta { bytes: key.len() + row.0.len(), key, row },
                Above::Recent(None) => RowRef::Deleted { key },
                Above::Run { place, row } => match pending.leads.get(place) {
                    Some(lead) if !lead.is_deleted(row) => {
                        RowRef::Block { block: place, row, bytes: pending.row_bytes(place) }
                    }
                    _ => RowRef::Deleted { key },
                },
            };
            pending.bytes += row.bytes();
            pending.rows.push(row);
        }
        stream.parts.push(StreamPart { index, entry: entry.clone(), taken, end: pending.rows.len() });
        let is_full = pending.rows.len() >= self.limits.rows || pending.bytes >= self.limits.bytes;
        self.stream = stream;
        self.leave_runs(runs);
        self.appended += 1;
        if is_full {
            self.flush_run()?;
        }
        Ok(true)
    }

    /// How many of an entry's runs its new rows go together with; `None` where they do not go into a run.
    pub(super) fn runs_to_take(&self, entry: &Entry, recent: &[RecentRow]) -> Option<usize> {
        let block = entry.block.as_ref().filter(|_| self.has_runs)?;
        // Rows that come in key order go on as blocks.
        recent.first().filter(|(key, _)| *key <= block.summary.last_key)?;
        let row_bytes = |row: &StoredRow| row.0.len();
        // A row with a value that lies by itself stays out.
        let is_near = |row: &Option<StoredRow>| row.as_ref().is_none_or(|row| self.near_bytes(row) == row_bytes(row));
        if !recent.iter().all(|(_, row)| is_near(row)) {
            return None;
        }
        let bytes = |(key, row): &RecentRow| (key.len() + row.as_ref().map_or(0, row_bytes)) as u64;
        let new = Amount { rows: recent.len() as u64, bytes: recent.iter().map(bytes).sum() };
        let amount = |part: &RunPart| Amount { rows: part.rows().len() as u64, bytes: part.bytes() };
        let runs: Vec<Amount> = entry.runs.iter().map(amount).collect();
        let of_block = Amount { rows: block.summary.rows.into(), bytes: block.summary.bytes.into() };
        taken_in(of_block, &runs, new, self.packed.options.run_share)
    }

    /// An entry will not name these runs any more.
    pub(super) fn leave_runs(&mut self, runs: &[RunPart]) {
        for part in runs {
            self.left_runs.entry(part.run.block.id).or_insert_with(|| (part.run.clone(), 0)).1 += 1;
        }
    }

    /// Makes the run of the rows that wait for one, and the entries that name it.
    pub(super) fn flush_run(&mut self) -> Result<(), TableError> {
        let Stream { pending, parts } = std::mem::take(&mut self.stream);
        if parts.is_empty() {
            return Ok(());
        }
        let rows = pending.rows.len();
        // No value lies by itself: none of its rows has one that is long enough, but for those of another limit.
        let built = self.build(&pending, 0..rows, pending.bytes, usize::MAX)?;
        self.run_rows += rows as u64;
        let starts = std::iter::once(0).chain(parts.iter().map(|part| part.end));
        let ranges: Vec<_> = starts.zip(parts.iter().map(|part| part.end)).map(|(start, end)| start..end).collect();
        let mut filter = vec![0; rows];
        for range in &ranges {
            let of_entry = filter.get_mut(range.clone()).unwrap_or_default();
            pending.keys(range.clone()).for_each(|key| KeyHash::new(&key).mark(of_entry));
        }
        let record = |(part, range): (&StreamPart, &std::ops::Range<usize>)| PartRecord {
            block: part.entry.block.as_ref().map_or(0, |block| block.id),
            rows: range.len() as u32,
            oldest: part.runs_taken().last().map_or(built.id, RunPart::oldest),
        };
        let records: Vec<PartRecord> = parts.iter().zip(&ranges).map(record).collect();
        let table = self.table.def().id;
        let record = write_run(built.id, &built.summary, &filter, &records);
        self.made.1 += record.len() as u64;
        self.batch.put(DIR, run_key(table, built.id), record);
        let block = built.into_block(Vec::new(), &self.context)?;
        let run = Arc::new(Run::new(block, filter));
        self.runs.push((run.clone(), parts.len() as u32));
        for ((StreamPart { index, entry, taken, .. }, range), record) in parts.into_iter().zip(ranges).zip(records) {
            let part = RunPart::new(run.clone(), range.start as u32..range.end as u32, record.oldest);
            self.edits.push((index..index + 1, vec![Arc::new(entry.with_run(part, taken))]));
        }
        Ok(())
    }
}
