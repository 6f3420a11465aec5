//! The parts of the block that a reader is at, and the slots of recent rows.

use crate::engine::block_ref::{BlockRef, LeadParts};
use crate::engine::stored_table::StoredTable;
use crate::format::fix_part::FixPart;
use crate::format::row_format::SlotBytes;
use crate::format::stored_row::StoredRow;
use crate::format::var_part::VarPart;
use crate::scan::decode::column::corrupt;
use saltwing_access::TableError;
use std::sync::Arc;

/// The result of `read` for a slot of a row of a delta; `read` returns `None` for bytes that are not a value.
pub(crate) fn recent_slot<T>(
    table: &StoredTable,
    key: &[u8],
    row: &StoredRow,
    (family, slot): (usize, u16),
    read: impl FnOnce(SlotBytes<'_>) -> Option<T>,
) -> Result<T, TableError> {
    let value = match (row.family(family), table.layout(family)) {
        (Some(bytes), Some(layout)) => {
            let row = layout.read(bytes).ok_or_else(|| corrupt(table, key, "header"))?;
            row.slot(slot.into()).and_then(read)
        }
        _ => read(SlotBytes::Absent),
    };
    value.ok_or_else(|| corrupt(table, key, "column"))
}

/// The parts of a block read so far.
#[derive(Default)]
pub(crate) struct BlockParts {
    pub(crate) block: Option<u64>,
    pub(crate) fix: Option<(usize, Option<Arc<FixPart>>)>,
    pub(crate) var: Option<(usize, Option<Arc<VarPart>>)>,
}

impl BlockParts {
    /// Parts of a block that were read already.
    pub(crate) fn of_lead(block: &BlockRef, lead: Option<LeadParts>) -> Self {
        let (fix, var) = lead.map_or((None, None), |LeadParts { fix, var }| (Some(fix), var));
        Self { block: Some(block.id), fix: fix.map(|part| (0, Some(part))), var: var.map(|part| (0, Some(part))) }
    }

    /// Makes this the current block.
    pub(crate) fn turn_to(&mut self, block: &BlockRef) {
        if self.block != Some(block.id) {
            *self = Self { block: Some(block.id), fix: None, var: None };
        }
    }

    /// The fixed part of a family of the block, if it has one.
    pub(crate) fn fix(&mut self, block: &Arc<BlockRef>, family: usize) -> Result<Option<&FixPart>, TableError> {
        if self.fix.as_ref().is_none_or(|(of, _)| *of != family) {
            self.fix = Some((family, block.fix(family as u8)?));
        }
        Ok(self.fix.as_ref().and_then(|(_, part)| part.as_deref()))
    }

    /// The part that has the keys.
    pub(crate) fn lead(&mut self, block: &Arc<BlockRef>) -> Result<&FixPart, TableError> {
        self.fix(block, 0)?.ok_or_else(|| block.damaged("its keys"))
    }

    /// The fixed part of a family, and the variable one where it is wanted.
    pub(crate) fn both(
        &mut self,
        block: &Arc<BlockRef>,
        family: usize,
        is_var_wanted: bool,
    ) -> Result<(Option<&FixPart>, Option<&VarPart>), TableError> {
        let is_there = self.fix(block, family)?.is_some();
        if is_there && is_var_wanted && self.var.as_ref().is_none_or(|(of, _)| *of != family) {
            self.var = Some((family, block.var(family as u8)?));
        }
        let fix = self.fix.as_ref().and_then(|(_, part)| part.as_deref());
        Ok((fix, self.var.as_ref().filter(|_| is_var_wanted).and_then(|(_, part)| part.as_deref())))
    }
}
