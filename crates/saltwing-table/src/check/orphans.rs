//! Parts of blocks that no directory references, and directory records rebuilt from them.
//!
//! ```text
//!   DIR    fence a -> block 4     fence k -> ???           fence t -> block 9
//!   FIX           4                      7, keys l to s           9
//!                                        └── named by nobody, and its keys lie from k to t: it is the block
//! ```
//! A damaged entry has its fence in its key, a damaged run its id; the rest is in the parts of its block. Zones are left
//! out: nothing is passed over for them.
//!
//! A part of the directory that cannot be read at all has lost fences, too: its entries are made anew from the blocks that no
//! record names. A batch that replaces a block records it in `REPLACED`, so these blocks count.
//!
//! # Laws
//! 1. A block that no damaged record can account for is reported but not used, because its rows may have been replaced.
//! 2. A run counts for an entry only if it is newer than the entry's block: newer blocks already have its rows.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use saltwing_access::{Damage, Loss, TableError};
use saltwing_store::{Bytes, OrderedKv};
use saltwing_types::TableId;

use crate::check::named::{Named, NamedByTable, walk};
use crate::engine::run::KeyHash;
use crate::format::block_columns::BlockColumns;
use crate::format::directory_format::{PartRecord, write_run};
use crate::format::fix_part::FixPart;
use crate::format::spaces::{FIX, OVERFLOW, VAR, dir_key, hex, id_of, label, run_key, split_table};
use crate::format::summary::Summary;
use crate::format::var_part::VarPart;

/// Blocks and values that no record names, by table and id.
#[derive(Default)]
pub(crate) struct Orphans {
    blocks: BTreeMap<(TableId, u64), Orphan>,
    overflow: Vec<(TableId, u64)>,
    damages: Vec<Damage>,
}

/// Parts of one block.
#[derive(Default)]
struct Orphan {
    families: Vec<u8>,
    overflow: Vec<u64>,
    /// The first family's part, if it can be read.
    lead: Option<Arc<FixPart>>,
    bytes: usize,
}

impl Orphans {
    /// Looks at the keys of all parts.
    ///
    /// # Errors
    /// The error of `go_on`.
    pub(crate) fn find(
        kv: &dyn OrderedKv,
        named: &Named,
        go_on: &dyn Fn() -> Result<(), TableError>,
    ) -> Result<Self, TableError> {
        let ids: HashSet<(TableId, u64)> = named.tables.iter().flat_map(|(id, of_table)| of_table.ids(*id)).collect();
        let is_known = |table, id| ids.contains(&(table, id)) || named.replaced.contains(&(table, id));
        let mut found = Self::default();
        let Self { blocks, overflow, damages } = &mut found;
        let mut strange = |space, key: &Bytes| {
            damages.push(Damage::new(label(space), None, hex(key), "the key is none of a part of a block"));
        };
        let mut gaps = Vec::new();
        gaps.extend(walk(kv, FIX, go_on, &mut |key, value| match block_of(key) {
            None => strange(FIX, key),
            Some((table, id, _)) if is_known(table, id) => {}
            Some((table, id, family)) => {
                let orphan: &mut Orphan = blocks.entry((table, id)).or_default();
                orphan.families.push(family);
                orphan.bytes += value.len();
                if family == 0 {
                    orphan.lead = FixPart::read(value.clone(), 0).map(Arc::new);
                }
            }
        })?);
        gaps.extend(walk(kv, VAR, go_on, &mut |key, value| match block_of(key) {
            None => strange(VAR, key),
            Some((table, id, family)) => {
                if let Some(orphan) = blocks.get_mut(&(table, id))
                    && let Some(rows) = orphan.lead.as_ref().map(|lead| lead.rows())
                {
                    orphan.bytes += value.len();
                    let part = VarPart::read(value.clone(), family, rows);
                    orphan.overflow.extend(part.iter().flat_map(VarPart::overflow_ids));
                }
            }
        })?);
        gaps.extend(walk(kv, OVERFLOW, go_on, &mut |key, _| match split_table(key).zip(id_of(key)) {
            None => strange(OVERFLOW, key),
            Some(((table, _), id)) => {
                let is_named = named.tables.get(&table).is_some_and(|of_table| of_table.overflow.contains(&id));
                if !is_named && !named.replaced.contains(&(table, id)) {
                    overflow.push((table, id));
                }
            }
        })?);
        damages.append(&mut gaps);
        Ok(found)
    }

    /// Rebuilds unreadable records: keys and values of `DIR`. `directory` is the damage of records found there, and `gaps` that
    /// of parts without records; what is rebuilt loses nothing.
    pub(crate) fn mend(
        mut self,
        named: &mut Named,
        directory: &mut [Damage],
        gaps: &mut [Damage],
        others: &mut Vec<Damage>,
    ) -> Vec<(Vec<u8>, Vec<u8>)> {
        let is_each_known = self.damages.is_empty();
        others.append(&mut self.damages);
        let mut mended = Vec::new();
        for (table, of_table) in &mut named.tables {
            self.mend_entries(*table, of_table, directory, &mut mended);
            self.mend_runs(*table, of_table, directory, &mut mended);
        }
        if !gaps.is_empty() {
            let tables: BTreeSet<TableId> = self.blocks.keys().map(|(table, _)| *table).collect();
            for table in tables {
                self.mend_gaps(table, named.tables.entry(table).or_default(), &mut mended);
            }
        }
        for gap in gaps {
            gap.what.push_str("; its records are made anew from the blocks that they name");
            if is_each_known && self.blocks.is_empty() {
                gap.loss = Loss::Nothing;
            }
        }
        for ((table, id), orphan) in &self.blocks {
            let rows = orphan.lead.as_ref().map(|lead| (lead.rows() as u64, lead.clone()));
            let loss = rows.map_or(Loss::Unknown, |(rows, lead)| {
                Loss::rows(rows, hex(&key_of(&lead, 0)), hex(&key_of(&lead, lead.rows().saturating_sub(1))))
            });
            let what = "no directory entry names the block";
            others.push(Damage::new(label(FIX), Some(*table), format!("block {id}"), what).losing(loss));
        }
        for (table, id) in self.overflow {
            if !named.tables.get(&table).is_some_and(|of_table| of_table.overflow.contains(&id)) {
                let what = "no block names the value";
                others.push(Damage::new(label(OVERFLOW), Some(table), format!("value {id}"), what));
            }
        }
        mended
    }

    fn mend_entries(
        &mut self,
        table: TableId,
        of_table: &mut NamedByTable,
        damages: &mut [Damage],
        mended: &mut Vec<(Vec<u8>, Vec<u8>)>,
    ) {
        let fences: Vec<Bytes> = of_table.entries.keys().cloned().collect();
        for (at, fence) in fences.iter().enumerate() {
            if of_table.entries.get(fence).is_none_or(Option::is_some) {
                continue;
            }
            let end = fences.get(at + 1);
            let id = self.block_between(table, fence, end);
            let orphan = id.and_then(|id| Some((id, self.blocks.remove(&(table, id))?)));
            let place = format!("entry {}", hex(fence));
            let damage = damages.iter_mut().find(|damage| damage.table == Some(table) && damage.place == place);
            let summary = orphan.as_ref().and_then(|(id, orphan)| Some((*id, orphan, orphan.summary()?)));
            if let Some((id, orphan, summary)) = summary {
                mended.push((dir_key(table, fence), summary.write(id, &orphan.overflow)));
                of_table.overflow.extend(&orphan.overflow);
                of_table.entries.insert(fence.clone(), Some(id));
                damage.into_iter().for_each(|damage| damage.what.push_str("; its block can"));
            } else if let Some(damage) = damage {
                let end = end.map_or_else(|| "the last key".to_owned(), |end| hex(end));
                damage.what.push_str(&format!("; neither can a block with keys from here to {end}"));
                damage.loss = Loss::Unknown;
            }
        }
    }

    /// Makes the records of a table's blocks that none names. Blocks are older than the runs above them, and blocks of one table
    /// do not overlap.
    fn mend_gaps(&mut self, table: TableId, of_table: &mut NamedByTable, mended: &mut Vec<(Vec<u8>, Vec<u8>)>) {
        let ids: Vec<u64> = self.blocks.range((table, 0)..=(table, u64::MAX)).map(|((_, id), _)| *id).collect();
        let mut runs = Vec::new();
        for id in ids {
            let Some(orphan) = self.blocks.get(&(table, id)) else { continue };
            let Some(([first, last], summary)) = orphan.keys().zip(orphan.summary()) else { continue };
            if orphan.has_deletions() || !of_table.has_room(&first, &last) {
                runs.push(id);
                continue;
            }
            mended.push((dir_key(table, &first), summary.write(id, &orphan.overflow)));
            of_table.overflow.extend(&orphan.overflow);
            of_table.entries.insert(first.clone(), Some(id));
            of_table.last_keys.insert(first, last);
            self.blocks.remove(&(table, id));
        }
        for id in runs {
            let record = self.blocks.get(&(table, id)).and_then(|orphan| orphan.run_record(id, of_table));
            if let Some(record) = record {
                mended.push((run_key(table, id), record));
                self.blocks.remove(&(table, id));
            }
        }
    }

    /// The newest block whose keys are all between a fence and the next one.
    fn block_between(&self, table: TableId, fence: &[u8], end: Option<&Bytes>) -> Option<u64> {
        let of_table = self.blocks.range((table, 0)..=(table, u64::MAX)).rev();
        let lies_between = |orphan: &Orphan| {
            let Some(lead) = orphan.lead.as_ref().filter(|lead| lead.rows() > 0) else { return false };
            let (first, last) = (key_of(lead, 0), key_of(lead, lead.rows() - 1));
            !orphan.has_deletions() && *first >= *fence && end.is_none_or(|end| *last < **end)
        };
        of_table.filter(|(_, orphan)| lies_between(orphan)).map(|((_, id), _)| *id).next()
    }

    fn mend_runs(
        &mut self,
        table: TableId,
        of_table: &NamedByTable,
        damages: &mut [Damage],
        mended: &mut Vec<(Vec<u8>, Vec<u8>)>,
    ) {
        for id in of_table.runs.iter().filter(|(_, is_good)| !**is_good).map(|(id, _)| *id) {
            let orphan = self.blocks.remove(&(table, id));
            let place = format!("run {id}");
            let damage = damages.iter_mut().find(|damage| damage.table == Some(table) && damage.place == place);
            let record = orphan.as_ref().and_then(|orphan| orphan.run_record(id, of_table));
            let Some(damage) = damage else { continue };
            match record {
                Some(record) => {
                    mended.push((run_key(table, id), record));
                    damage.what.push_str("; its rows can, though some that were deleted since may be back");
                }
                None => damage.loss = Loss::Unknown,
            }
        }
    }
}

impl Orphan {
    /// First and last key.
    fn keys(&self) -> Option<[Bytes; 2]> {
        let lead = self.lead.as_ref()?;
        let last = lead.rows().checked_sub(1)?;
        Some([0, last].map(|row| Bytes::from(key_of(lead, row))))
    }

    fn has_deletions(&self) -> bool {
        self.lead.as_ref().is_some_and(|lead| (0..lead.rows()).any(|row| lead.is_deleted(row)))
    }

    fn summary(&self) -> Option<Summary> {
        let lead = self.lead.as_ref()?;
        let times = || (0..lead.rows()).filter(|row| !lead.is_deleted(*row)).map(|row| lead.time_ms(row));
        Some(Summary {
            rows: u32::try_from(lead.rows()).ok()?,
            bytes: u32::try_from(self.bytes).unwrap_or(u32::MAX),
            last_key: Bytes::from(key_of(lead, lead.rows().checked_sub(1)?)),
            times_ms: (times().min().unwrap_or(i64::MAX), times().max().unwrap_or(i64::MAX)),
            columns: BlockColumns::new(&self.families, &[]),
        })
    }

    /// The record of a run: its rows are of the entries that own their keys now.
    fn run_record(&self, id: u64, of_table: &NamedByTable) -> Option<Vec<u8>> {
        let lead = self.lead.as_ref()?;
        let keys: Vec<Vec<u8>> = (0..lead.rows()).map(|row| key_of(lead, row)).collect();
        // Rows without an owner belong to a missing block.
        let owner = |key: &[u8]| of_table.owner(key).filter(|block| *block < id).unwrap_or(u64::MAX);
        let (mut filter, mut parts) = (vec![0; keys.len()], Vec::new());
        let mut start = 0;
        for together in keys.chunk_by(|a, b| owner(a) == owner(b)) {
            let end = start + together.len();
            let of_entry = filter.get_mut(start..end)?;
            together.iter().for_each(|key| KeyHash::new(key).mark(of_entry));
            parts.push(PartRecord { block: owner(together.first()?), rows: together.len() as u32, oldest: id });
            start = end;
        }
        Some(write_run(id, &self.summary()?, &filter, &parts))
    }
}

fn key_of(lead: &FixPart, row: usize) -> Vec<u8> {
    let mut key = Vec::new();
    lead.key_into(row, &mut key);
    key
}

/// StoredTable, block and family of a part's key.
fn block_of(key: &[u8]) -> Option<(TableId, u64, u8)> {
    let (table, rest) = split_table(key)?;
    let (family, id) = rest.split_last()?;
    let id = u64::from_be_bytes(id.try_into().ok()?);
    Some((table, id, *family))
}
