//! Writes the batch of a step, and puts the new directory in the place of the old one.

use crate::engine::compaction::state::Compaction;
use crate::engine::overflow::OverflowValue;
use crate::format::meta::{Cursor, Meta};
use crate::format::spaces::{DIR, REPLACED, id_key, run_key};
use saltwing_access::TableError;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

impl Compaction<'_> {
    /// Writes the batch, and puts the new directory in the old one's place.
    pub(super) fn install(mut self, cursor: Cursor) -> Result<(), TableError> {
        let id = self.table.def().id;
        for block in &self.replaced {
            self.batch.put(REPLACED, id_key(id, block.id), block.summary.families());
        }
        for (run, entries) in self.left_runs.values() {
            if run.ends_with(*entries) {
                self.batch.delete(DIR, run_key(id, run.block.id));
                self.batch.put(REPLACED, id_key(id, run.block.id), run.block.summary.families());
            }
        }
        let overflow = self.replaced.iter().flat_map(|block| &block.overflow);
        let left: Vec<Arc<OverflowValue>> =
            overflow.filter(|overflow| !self.named.contains(&overflow.id)).cloned().collect();
        left.iter().for_each(|overflow| self.batch.put(REPLACED, id_key(id, overflow.id), []));
        self.uncommitted.ids.iter().for_each(|overflow| self.batch.delete(REPLACED, id_key(id, *overflow)));
        self.overflow.into_mutations().into_iter().for_each(|put| self.batch.push(put));
        let batch = self.batch;
        self.numbers.write(|meta| {
            let meta = Meta { cursor, ..meta };
            self.packed.write_meta(&meta, batch)?;
            Ok(meta)
        })?;
        self.uncommitted.keep();
        let counters = self.packed.blocks.counters(id);
        counters.merge_steps.fetch_add(1, Relaxed);
        counters.folds.fetch_add(self.folded, Relaxed);
        counters.run_rows_written.fetch_add(self.run_rows, Relaxed);
        counters.block_rows_written.fetch_add(self.made.0, Relaxed);
        counters.block_bytes_written.fetch_add(self.made.1, Relaxed);
        // An entry with a run is edited when the run is finished, its neighbours at once.
        self.edits.sort_unstable_by_key(|(range, _)| range.start);
        let (directory, touched) = self.rows.directory.edited(self.edits);
        {
            let mut tables = self.packed.rows.write();
            if let Some(rows) = tables.get_mut(&id.0) {
                for index in std::iter::once(0).chain(touched.into_iter().flatten()) {
                    if let Some((entry, end)) = directory.owned(index)
                        && rows.is_active_between(&entry.fence, end.map(|end| &**end))
                    {
                        entry.mark_dirty();
                    }
                }
                self.packed.base_rows.fetch_add(directory.size().rows, Relaxed);
                self.packed.base_rows.fetch_sub(rows.directory.size().rows, Relaxed);
                rows.directory = Arc::new(directory);
            }
        }
        self.runs.iter().for_each(|(run, entries)| run.gain(*entries));
        self.left_runs.values().for_each(|(run, entries)| run.lose(*entries));
        self.replaced.iter().for_each(|block| block.replace());
        left.iter().for_each(|overflow| overflow.leave());
        Ok(())
    }
}
