//! Runs: neighbouring entries put their new rows into one small block, if these are few.

use std::sync::Arc;

use saltwing_access::TableError;

use crate::engine::compaction::inputs::{Above, above};
use crate::engine::compaction::pending::{RowRef, Stream, StreamPart};
use crate::engine::compaction::plan::EntryPlan;
use crate::engine::compaction::state::Compaction;
use crate::engine::run::{KeyHash, Run, RunPart};
use crate::format::directory_format::{PartRecord, write_run};
use crate::format::spaces::{DIR, run_key};

impl Compaction<'_> {
    /// Puts an entry's new rows into a run, which absorbs its newest runs.
    pub(super) fn append_run(&mut self, plan: EntryPlan, taken: usize) -> Result<(), TableError> {
        let EntryPlan { entry, index, recent, .. } = plan;
        let mut stream = std::mem::take(&mut self.stream);
        let runs = entry.runs.get(..taken).unwrap_or_default();
        let pending = &mut stream.pending;
        for (key, row) in above(recent, runs, pending)? {
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
        self.leave_runs(runs);
        let (end, is_full) =
            (pending.rows.len(), pending.rows.len() >= self.limits.rows || pending.bytes >= self.limits.bytes);
        stream.parts.push(StreamPart { index, entry, taken, end });
        self.stream = stream;
        self.appended += 1;
        if is_full { self.flush_run() } else { Ok(()) }
    }

    /// Makes the run of the rows that wait for one, and the entries that name it.
    pub(super) fn flush_run(&mut self) -> Result<(), TableError> {
        let Stream { pending, parts } = std::mem::take(&mut self.stream);
        if parts.is_empty() {
            return Ok(());
        }
        let rows = pending.rows.len();
        // No overflow values: rows with values long enough were refused, except under another limit.
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
