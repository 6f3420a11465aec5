//! Verifies the stored data of a table: blocks against their directory entries, rows against their table.
//!
//! # Laws
//! 1. Everything that a read could meet is read: every part and every value, overflow values included.
//! 2. One damaged block or row ends nothing: the damage is reported, and the rest is read.
//! 3. A report about a whole table is right: no reader sees a row that the walk does not see.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use saltwing_access::{Damage, Examined, Loss, ReadableRow, TableError, TakeRow};
use saltwing_store::{Bytes, Space};
use saltwing_types::{TableId, Value, number, text};

use crate::engine::block_ref::BlockRef;
use crate::engine::entry::Entry;
use crate::engine::run::{KeyHash, RunPart};
use crate::engine::storage_engine::StorageEngine;
use crate::engine::stored_table::StoredTable;
use crate::engine::table_rows::TableRows;
use crate::format::block_builder::ColumnData;
use crate::format::directory_format::StoredEntry;
use crate::format::fix_part::{FixCells, FixPart};
use crate::format::spaces::{DELTAS, FIX, hex, label};
use crate::format::stored_column::StoredColumn;
use crate::format::zone::Zone;
use crate::scan::cursor::segment::RowSegment;
use crate::scan::lookup::find;
use crate::scan::row_values::RowShape;

impl StorageEngine {
    /// Reads all of a table: see [`saltwing_access::Examine::examine`].
    pub(crate) fn examine(
        &self,
        table: &Arc<StoredTable>,
        go_on: &dyn Fn() -> Result<(), TableError>,
        take: TakeRow<'_>,
    ) -> Result<Examined, TableError> {
        let rows = self.rows.read().get(&table.def().id.0).cloned().unwrap_or_default();
        let shape = RowShape::new(table, 0..table.def().columns.len());
        let mut walk = Walk { table, shape, rows: &rows, runs_seen: BTreeSet::new(), done: Examined::default(), take };
        for index in 0..rows.directory.len() {
            go_on()?;
            if let Some((entry, end)) = rows.directory.owned(index) {
                walk.entry(entry, end.map(|end| &**end))?;
            }
        }
        Ok(walk.done)
    }

    /// The tables that have rows here and are not open, each with how many there are in blocks.
    pub(crate) fn strangers(&self) -> Vec<(TableId, u64)> {
        let (open, rows) = (self.tables.read(), self.rows.read().clone());
        let strange = rows.iter().filter(|(id, _)| !open.contains_key(&TableId(**id)));
        let count = |rows: &TableRows| rows.directory.size().rows + (rows.active.len() + rows.frozen.len()) as u64;
        strange.map(|(id, rows)| (TableId(*id), count(rows))).filter(|(_, rows)| *rows > 0).collect()
    }
}

struct Walk<'a> {
    table: &'a Arc<StoredTable>,
    shape: RowShape,
    rows: &'a TableRows,
    /// Runs that were verified already: many entries reference one.
    runs_seen: BTreeSet<u64>,
    done: Examined,
    take: TakeRow<'a>,
}

/// Keys that an entry owns: from its fence to the next one.
#[derive(Clone, Copy)]
struct Owned<'a> {
    start: &'a [u8],
    end: Option<&'a [u8]>,
}

impl Owned<'_> {
    fn has(&self, key: &[u8]) -> bool {
        key >= self.start && self.end.is_none_or(|end| key < end)
    }
}

/// Rows that cannot be read, of one entry.
#[derive(Default)]
struct LostRows {
    count: u64,
    first: Vec<u8>,
    last: Vec<u8>,
    /// The first error.
    why: String,
}

impl Walk<'_> {
    fn entry(&mut self, entry: &Entry, end: Option<&[u8]>) -> Result<(), TableError> {
        let owned = Owned { start: &entry.fence, end };
        let damages_before = self.done.damages.len();
        let mut keys: BTreeSet<Vec<u8>> = BTreeSet::new();
        let mut unread = None;
        if let Some(block) = &entry.block {
            self.done.blocks += 1;
            match self.block(block, false) {
                Some(lead) => self.keys(block, &lead, 0..lead.rows(), owned, &mut keys),
                None => unread = Some(block),
            }
        }
        for part in &entry.runs {
            self.run(part, owned, &mut keys);
        }
        let recent = [&self.rows.frozen, &self.rows.active].map(|delta| delta.range(owned.start, owned.end));
        for (key, _) in recent.into_iter().flatten() {
            keys.insert(key.to_vec());
        }
        let mut lost = LostRows::default();
        for key in &keys {
            self.row(key, &mut lost)?;
        }
        if let Some(block) = unread {
            let loss = Loss::rows(
                block.summary.rows.into(),
                self.key_text(owned.start),
                self.key_text(&block.summary.last_key),
            );
            if let Some(damage) = self.done.damages.get_mut(damages_before) {
                damage.loss = loss;
            }
        }
        if lost.count > 0 {
            let place =
                entry.block.as_ref().map_or_else(|| "recent rows".to_owned(), |block| format!("block {}", block.id));
            let loss = Loss::rows(lost.count, self.key_text(&lost.first), self.key_text(&lost.last));
            let mut known = self.done.damages.iter_mut().skip(damages_before);
            match known.find(|damage| damage.loss == Loss::Nothing && lost.why.contains(&damage.what)) {
                Some(damage) => damage.loss = loss,
                None => self.tell(place, lost.why, loss),
            }
        }
        Ok(())
    }

    fn tell(&mut self, place: impl Into<String>, what: impl Into<String>, loss: Loss) {
        let space = if self.rows.directory.size().blocks > 0 { label(FIX) } else { label(DELTAS[0]) };
        self.done.damages.push(Damage::new(space, Some(self.table.def().id), place, what).losing(loss));
    }

    /// Holds a block's parts to its summary; its first part, where that can be read.
    fn block(&mut self, block: &Arc<BlockRef>, is_run: bool) -> Option<Arc<FixPart>> {
        let lead = match block.lead() {
            Ok(lead) => lead,
            Err(error) => {
                self.tell(format!("block {}", block.id), error.to_string(), Loss::Nothing);
                return None;
            }
        };
        for what in self.faults_of(block, &lead, is_run) {
            self.tell(format!("block {}", block.id), what, Loss::Nothing);
        }
        Some(lead)
    }

    fn faults_of(&mut self, block: &Arc<BlockRef>, lead: &FixPart, is_run: bool) -> Vec<String> {
        let mut faults = Vec::new();
        let (summary, rows) = (&block.summary, lead.rows());
        let (mut zones, mut read) = (Vec::new(), Vec::new());
        for &family in summary.families() {
            match self.columns(block, family, &mut zones) {
                Ok(bytes) => {
                    read.push(family);
                    self.done.bytes += bytes;
                }
                Err(error) => faults.push(error.to_string()),
            }
        }
        if !summary.families().is_sorted_by(|a, b| a < b) || summary.families().first() != Some(&0) {
            faults.push("its list of families is wrong".into());
        }
        let key = |row| {
            let mut key = Vec::new();
            lead.key_into(row, &mut key);
            key
        };
        if (1..rows).any(|row| key(row - 1) >= key(row)) {
            faults.push("its keys are out of order".into());
        }
        if rows == 0 || key(rows - 1) != *summary.last_key {
            faults.push("its last key is not the one that the directory has".into());
        }
        if !is_run && (0..rows).any(|row| lead.is_deleted(row)) {
            faults.push("it says of rows that they are deleted, as only runs may".into());
        }
        let mut times = (0..rows).filter(|row| !lead.is_deleted(*row)).map(|row| lead.time_ms(row));
        let (oldest, newest) = summary.times_ms;
        if times.any(|time| time < oldest || time > newest) {
            faults.push("a row's write time is not between those that the directory has".into());
        }
        for (family, zone) in summary.zones().filter(|(family, _)| read.contains(family)) {
            let found =
                zones.iter().find(|(of, found)| (*of, found.slot) == (family, zone.slot)).map(|(_, found)| found);
            if !found.is_some_and(|found| is_zone_of(&zone, found)) {
                faults.push(format!("what the directory knows of slot {} of family {family} is wrong", zone.slot));
            }
        }
        faults
    }

    /// Reads a family's parts, and computes the zones of its columns; returns the bytes of the parts.
    fn columns(&self, block: &Arc<BlockRef>, family: u8, zones: &mut Vec<(u8, Zone)>) -> Result<u64, TableError> {
        let (fix, var) = (block.fix(family)?, block.var(family)?);
        let Some(fix) = fix else { return Err(block.damaged("a part is missing")) };
        for (slot, (ty, _)) in (0u16..).zip(self.table.def().slots(family.into())) {
            let Some(stored) = StoredColumn::of(&fix, var.as_deref(), slot) else { continue };
            let is_var = matches!(stored.column.cells, FixCells::Var);
            if is_var && stored.var.is_none() {
                return Err(block.damaged("its variable part is missing"));
            }
            // Those of rows that newer ones hide too: nobody reads them with their rows.
            if let Some((values, part)) = stored.var
                && (0..fix.rows()).any(|row| values.overflow(row).is_some() && values.value(part, row).is_none())
            {
                return Err(block.damaged("a value that lies by itself"));
            }
            // Overflow values are read with their rows.
            let mut column = ColumnData::new(slot, ty, usize::MAX);
            for row in 0..fix.rows() {
                let pushed = column.push_stored(&stored, row);
                pushed.ok_or_else(|| block.damaged(if is_var { "its variable part" } else { "its fixed part" }))?;
            }
            zones.extend(column.zone().map(|zone| (family, zone)));
        }
        Ok((fix.bytes().len() + var.map_or(0, |var| var.bytes().len())) as u64)
    }

    /// Adds the keys of a block's rows; reports keys that the entry does not own.
    fn keys(
        &mut self,
        block: &BlockRef,
        lead: &FixPart,
        rows: Range<usize>,
        owned: Owned<'_>,
        keys: &mut BTreeSet<Vec<u8>>,
    ) {
        let mut stray = LostRows::default();
        for row in rows {
            let mut key = Vec::new();
            lead.key_into(row, &mut key);
            if owned.has(&key) {
                keys.insert(key);
            } else {
                stray.add(&key, || "its keys are not among those that its directory entry owns".to_owned());
            }
        }
        if stray.count > 0 {
            let loss = Loss::rows(stray.count, self.key_text(&stray.first), self.key_text(&stray.last));
            self.tell(format!("block {}", block.id), stray.why, loss);
        }
    }

    fn run(&mut self, part: &RunPart, owned: Owned<'_>, keys: &mut BTreeSet<Vec<u8>>) {
        let block = &part.run.block;
        let is_new = self.runs_seen.insert(block.id);
        self.done.blocks += u64::from(is_new);
        let lead = match (is_new, block.lead()) {
            (true, _) => self.block(block, true),
            (false, lead) => lead.ok(),
        };
        let Some(lead) = lead else {
            let loss = Loss::Rows { count: part.rows().len() as u64, keys: None };
            self.tell(format!("run {}", block.id), "rows of it cannot be read", loss);
            return;
        };
        if part.rows().end > lead.rows() {
            self.tell(format!("run {}", block.id), "it has fewer rows than its record says", Loss::Unknown);
            return;
        }
        let mut key = Vec::new();
        let is_missed = part.rows().any(|row| {
            lead.key_into(row, &mut key);
            !part.may_hold(KeyHash::new(&key))
        });
        if is_missed {
            self.tell(format!("run {}", block.id), "its filter rules out a key that it has", Loss::Unknown);
        }
        self.keys(block, &lead, part.rows(), owned, keys);
    }

    /// Reads the row that a reader finds under a key, and holds it to the table.
    fn row(&mut self, key: &[u8], lost: &mut LostRows) -> Result<(), TableError> {
        let read = find(self.rows, key, None).and_then(|found| {
            let Some(found) = found else { return Ok(None) };
            if let RowSegment::Row { key, row } = &found.segment {
                self.done.bytes += (key.len() + row.0.len()) as u64;
            }
            let written_ms = found.written_ms();
            let values: Vec<Value> = self.shape.values(key, found)?.values().collect();
            Ok(Some(ReadableRow { values, written_ms }))
        });
        match read {
            Ok(None) => {}
            Ok(Some(row)) => {
                if let Some(what) = self.fault_of(key, &row.values) {
                    let text = self.key_text(key);
                    self.tell(format!("key {text}"), what, Loss::rows(1, text.clone(), text));
                    return Ok(());
                }
                self.done.rows += 1;
                (self.take)(row)?;
            }
            Err(error) => lost.add(key, || error.to_string()),
        }
        Ok(())
    }

    /// The damage of a row that does not fit its table.
    fn fault_of(&self, key: &[u8], values: &[Value]) -> Option<String> {
        for (column, value) in self.table.def().columns.iter().zip(values) {
            if value.is_null() && !column.nullable && column.family.is_some() {
                return Some(format!("{} is NULL, and may not be", column.name));
            }
            if !number::assign(value.clone(), column.ty).is_ok_and(|assigned| is_same(&assigned, value)) {
                return Some(format!("{} has a value that is no {}", column.name, column.ty));
            }
        }
        match self.table.row_key(values) {
            Ok(right) if right == key => None,
            Ok(right) => Some(format!("its values make the row key {}, and it stands under {}", hex(&right), hex(key))),
            Err(error) => Some(format!("its values make no row key: {error}")),
        }
    }

    /// A row key as its values, or in hex where it has none.
    fn key_text(&self, key: &[u8]) -> String {
        let codec = self.table.codec();
        let mut slices = saltwing_rowkey::KeySlices::default();
        if codec.split(key, &mut slices).is_err() {
            return hex(key);
        }
        let columns = self.table.def().key.columns.iter().enumerate();
        let values = columns.map(|(at, column)| Ok(text::literal(&codec.decode_column(key, &slices, at)?, column.ty)));
        let values: Result<Vec<String>, saltwing_rowkey::RowKeyError> = values.collect();
        values.map_or_else(|_| hex(key), |values| format!("({})", values.join(", ")))
    }
}

impl LostRows {
    fn add(&mut self, key: &[u8], why: impl FnOnce() -> String) {
        if self.count == 0 {
            (self.first, self.why) = (key.to_vec(), why());
        }
        self.count += 1;
        self.last = key.to_vec();
    }
}

/// Whether two values are one: NaN is one value.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a == b || a.is_nan() && b.is_nan(),
        (Value::Double(a), Value::Double(b)) => a == b || a.is_nan() && b.is_nan(),
        _ => a == b,
    }
}

/// Whether a zone of the directory fits the column: a sum may be missing, the rest must be equal.
fn is_zone_of(kept: &Zone, found: &Zone) -> bool {
    (kept.bounds, kept.has_null) == (found.bounds, found.has_null) && kept.sum.is_none_or(|sum| Some(sum) == found.sum)
}

/// The spaces of a store that contain tables.
pub const SPACES: [Space; 10] = [
    Space::new(1),
    Space::new(2),
    Space::new(3),
    Space::new(4),
    Space::new(5),
    Space::new(6),
    Space::new(7),
    Space::new(8),
    Space::new(9),
    Space::new(10),
];

/// Whether the bytes of an entry are valid for a space: checksum and format.
///
/// Recent rows have no checksum of their own: the store's journal has.
pub fn is_whole(space: Space, key: &[u8], value: &Bytes) -> bool {
    use crate::format::bits::Reader;
    use crate::format::spaces::{DIR, DIR_ENTRY, META, OVERFLOW, VAR, VERSIONS, split_table};
    use crate::format::versions::{History, split_version};
    match space {
        FIX | VAR | OVERFLOW | META => Reader::checked(value).is_some(),
        DIR => match split_table(key).and_then(|(_, rest)| rest.first().copied()) {
            Some(DIR_ENTRY) => StoredEntry::read(value).is_some(),
            _ => crate::format::directory_format::read_run(value).is_some(),
        },
        VERSIONS => split_version(key).is_some() || History::read(value).is_some(),
        space if DELTAS.contains(&space) => crate::format::delta_record::rows(value).all(|row| row.is_some()),
        _ => true,
    }
}
