//! Sequences: their definitions, and the reservation of their values.
//!
//! ```text
//! _sequences (schema, name) -> the definition, and the position: the last reserved value
//!      └── a block of `cache` values, in memory ──> the sessions, value by value
//! ```
//!
//! # Laws
//! 1. The position is on the disk before the first value of a block is returned. So a crash skips the rest of the block, and
//!    no value is returned twice.
//! 2. Reservations are transactions of their own: they advance the position whether or not the statement succeeds.
//! 3. A reservation reads and writes the row in one transaction. So several processes can reserve from one store.

use std::sync::Arc;

use parking_lot::Mutex;
use saltwing_access::{Durability, Projection, TableError, WriteBatch};
use saltwing_types::sequence::stepped;
use saltwing_types::{ObjectId, SequenceBlock, SequenceDef, SequencePosition, TableName, Value};

use crate::boot::Catalog;
use crate::definitions::Definitions;
use crate::ids::NewIds;
use crate::record::sequence as record;
use crate::row::{defined_sequence, name_values};

use crate::{CatalogError, CatalogReader};

impl Catalog {
    pub(crate) fn create_sequence(&self, mut def: SequenceDef, position: SequencePosition) -> Result<(), CatalogError> {
        let _one_by_one = self.changing.lock();
        let mut view = Definitions::clone(&self.definitions());
        view.settle(&mut def.name);
        view.check_free(&def.name)?;
        let (mut writes, mut ids) = (self.store.batch(), self.new_ids()?);
        self.put_schema_of(&mut view, &mut *writes, &mut ids, &mut def.name)?;
        def.id = ids.object()?;
        self.put_ids(&mut *writes, ids)?;
        self.put_sequence(&mut *writes, &def, position)?;
        writes.commit(Durability::Synced)?;
        view.insert_sequence(def);
        self.publish(view);
        Ok(())
    }

    pub(crate) fn alter_sequence(
        &self,
        old: &SequenceDef,
        new: &SequenceDef,
        next: Option<SequencePosition>,
    ) -> Result<(), CatalogError> {
        let _one_by_one = self.changing.lock();
        let mut view = Definitions::clone(&self.definitions());
        let changed = || CatalogError::Changed(format!("sequence {}", old.name));
        if *view.sequence(old.name.schema.as_deref(), &old.name.name)? != *old {
            return Err(changed());
        }
        let block = self.block(old.id);
        let mut block = block.lock();
        let mut foreign = None;
        let altered = self.update_sequence(old, Durability::Synced, |stored, position| {
            if stored != *old {
                foreign = Some(stored);
                return Err(changed());
            }
            let position = next.unwrap_or_else(|| without(&block, &stored, position));
            let SequenceDef { min, max, .. } = *new;
            if !(min..=max).contains(&position.last) {
                return Err(CatalogError::SequenceOutside { value: position.last, min, max });
            }
            Ok((new.clone(), position))
        });
        // Another process has changed the sequence, and the next snapshot must have its change.
        if let Some(foreign) = foreign {
            view.insert_sequence(foreign);
            self.publish(view);
            return altered.map(drop);
        }
        let altered = altered?;
        *block = SequenceBlock::default();
        view.insert_sequence(altered);
        self.publish(view);
        Ok(())
    }

    /// Adds the sequences of a new table's identity columns to a change of the catalog.
    pub(crate) fn put_new_sequences(
        &self,
        view: &mut Definitions,
        writes: &mut dyn WriteBatch,
        ids: &mut NewIds,
        sequences: Vec<SequenceDef>,
    ) -> Result<(), CatalogError> {
        for mut def in sequences {
            view.settle(&mut def.name);
            view.check_free(&def.name)?;
            self.put_schema_of(view, writes, ids, &mut def.name)?;
            def.id = ids.object()?;
            self.put_sequence(writes, &def, def.beginning())?;
            view.insert_sequence(def);
        }
        Ok(())
    }

    /// Removes sequences in a change of the catalog. A sequence that is already removed is not an error.
    pub(crate) fn delete_sequences<'s>(
        &self,
        view: &mut Definitions,
        writes: &mut dyn WriteBatch,
        names: impl Iterator<Item = &'s TableName>,
    ) -> Result<(), CatalogError> {
        for name in names {
            let key = view.key_of(name.schema.as_deref(), &name.name);
            let Some(def) = view.sequences.remove(&key) else { continue };
            writes.delete(&self.own.sequences, self.sequence_key(&def.name)?)?;
            self.blocks.lock().remove(&def.id);
        }
        Ok(())
    }

    pub(crate) fn take_values(&self, def: &SequenceDef, count: u64, rows: usize) -> Result<Vec<i64>, CatalogError> {
        let block = self.block(def.id);
        let mut block = block.lock();
        let mut values = Vec::with_capacity(rows);
        // This is the definition with which the block was reserved, because ALTER SEQUENCE takes the lock, too.
        let mut def = self.definitions().sequence(def.name.schema.as_deref(), &def.name.name).and_then(|newest| {
            let dropped = || CatalogError::NoSuchSequence { name: def.name.to_string(), nearest: None };
            if newest.id == def.id { Ok(newest) } else { Err(dropped()) }
        })?;
        while values.len() < rows {
            if let Some(first) = block.take(count, def.increment) {
                values.push(first);
                continue;
            }
            let missing = u64::try_from(rows - values.len()).unwrap_or(u64::MAX);
            // Several values for one row are reserved separately, and the rest of the previous block is skipped, as in
            // Phoenix.
            let wanted = if count > 1 { count } else { missing.max(def.cache) };
            let mut reserved = SequenceBlock::default();
            let stored = self.update_sequence(&def, Durability::Synced, |stored, position| {
                let limit =
                    || CatalogError::SequenceLimit { name: stored.name.to_string(), ascends: stored.increment > 0 };
                let (taken, position) = stored.reserve(position, wanted).ok_or_else(limit)?;
                if taken.left < count {
                    return Err(limit());
                }
                reserved = taken;
                Ok((stored, position))
            })?;
            (*block, def) = (reserved, Arc::new(stored));
        }
        Ok(values)
    }

    pub(crate) fn peek_value(&self, def: &SequenceDef) -> Result<Option<i64>, CatalogError> {
        let block = self.block(def.id);
        let block = block.lock();
        if block.left > 0 {
            return Ok(Some(block.next));
        }
        let row_key = self.sequence_key(&def.name)?;
        let row = self.store.snapshot()?.get(&Projection::all(&self.own.sequences), &row_key)?;
        let stored = row.map(|row| defined_sequence(&row)).transpose()?.filter(|(stored, _)| stored.id == def.id);
        let dropped = || CatalogError::NoSuchSequence { name: def.name.to_string(), nearest: None };
        let (stored, position) = stored.ok_or_else(dropped)?;
        Ok(stored.reserve(position, 1).map(|(block, _)| block.next))
    }

    pub(crate) fn give_back_values(&self) -> Result<(), CatalogError> {
        for def in self.definitions().sequences.values() {
            let block = self.block(def.id);
            let mut block = block.lock();
            let left = std::mem::take(&mut *block);
            if left.left > 0 {
                self.update_sequence(def, Durability::Buffered, |def, position| {
                    let position = without(&left, &def, position);
                    Ok((def, position))
                })?;
            }
        }
        Ok(())
    }

    fn block(&self, id: ObjectId) -> Arc<Mutex<SequenceBlock>> {
        self.blocks.lock().entry(id).or_default().clone()
    }

    /// Replaces the stored definition and position of a sequence; returns the new definition. Tries again if another process
    /// changes the sequence, too.
    fn update_sequence(
        &self,
        def: &SequenceDef,
        durability: Durability,
        mut change: impl FnMut(SequenceDef, SequencePosition) -> Result<(SequenceDef, SequencePosition), CatalogError>,
    ) -> Result<SequenceDef, CatalogError> {
        let row_key = self.sequence_key(&def.name)?;
        loop {
            let mut transaction = self.store.begin()?;
            let row = transaction.snapshot().get(&Projection::all(&self.own.sequences), &row_key)?;
            let stored = row.map(|row| defined_sequence(&row)).transpose()?;
            let Some((stored, position)) = stored.filter(|(stored, _)| stored.id == def.id) else {
                return Err(CatalogError::NoSuchSequence { name: def.name.to_string(), nearest: None });
            };
            let (changed, position) = change(stored, position)?;
            self.put_sequence(&mut *transaction, &changed, position)?;
            match transaction.commit(durability) {
                Ok(_) => return Ok(changed),
                Err(TableError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn put_sequence(
        &self,
        writes: &mut dyn WriteBatch,
        def: &SequenceDef,
        position: SequencePosition,
    ) -> Result<(), CatalogError> {
        let [schema, name] = name_values(&def.name);
        Ok(writes.put(&self.own.sequences, [schema, name, Value::Text(record::write(def, position)?)])?)
    }

    fn sequence_key(&self, name: &TableName) -> Result<Vec<u8>, CatalogError> {
        Ok(self.own.sequences.codec().encode(&name_values(name)).map_err(TableError::from)?)
    }
}

/// The position without the unused values of a block, if it is the last reserved block.
fn without(block: &SequenceBlock, def: &SequenceDef, position: SequencePosition) -> SequencePosition {
    let is_last = block.left > 0 && position.is_taken && block.last(def.increment) == position.last;
    match is_last {
        // A block is reserved when a value is needed, so its first value has been returned.
        true => SequencePosition { last: stepped(block.next, 1, def.increment.wrapping_neg()), is_taken: true },
        false => position,
    }
}
