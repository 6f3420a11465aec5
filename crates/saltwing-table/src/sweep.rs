//! Space that comes back: expired rows, and rows of dropped tables.

use saltwing_store::{Direction, Durability, KeyBounds, WriteBatch};
use saltwing_types::TableId;

use crate::layout::{PREFIX_BYTES, ROWS, family_prefix, store_key, table_bounds};
use crate::row_format::write_time_ms;
use crate::{EmbeddedTables, Table, TableError};

/// Keys looked at before others may commit.
const STEP_KEYS: usize = 1000;

impl EmbeddedTables {
    /// Deletes the expired rows of all tables; returns how many.
    ///
    /// Rows are looked at again under the commit lock, so one that was written anew meanwhile stays.
    ///
    /// # Errors
    /// The store's.
    pub fn sweep(&self) -> Result<u64, TableError> {
        let mut swept = 0;
        for table in self.tables() {
            if table.def().ttl_s.is_some() {
                swept += self.sweep_table(&table)?;
            }
        }
        Ok(swept)
    }

    fn sweep_table(&self, table: &Table) -> Result<u64, TableError> {
        let Some(limit_ms) = table.expired_ms(self.clock().now_ms()) else { return Ok(0) };
        let id = table.def().id;
        let expired = |value: &[u8]| write_time_ms(value).is_some_and(|t| t <= limit_ms);
        let mut next = KeyBounds::prefix(&family_prefix(id, 0));
        let mut swept = 0;
        loop {
            let mut found: Vec<Vec<u8>> = Vec::new();
            let mut cursor = self.kv.cursor(ROWS, next.clone(), Direction::Forward)?;
            let mut last = None;
            for _ in 0..STEP_KEYS {
                let Some((key, value)) = cursor.next()? else {
                    last = None;
                    break;
                };
                if expired(&value) {
                    found.push(key.get(PREFIX_BYTES..).unwrap_or_default().to_vec());
                }
                last = Some(key.to_vec());
            }
            drop(cursor);
            swept += self.delete_if(id, table.family_count(), &found, &expired)?;
            match last {
                None => return Ok(swept),
                Some(key) => next = KeyBounds::new([&key[..], &[0]].concat(), next.end().map(<[u8]>::to_vec)),
            }
        }
    }

    fn delete_if(
        &self,
        id: TableId,
        families: usize,
        keys: &[Vec<u8>],
        expired: &dyn Fn(&[u8]) -> bool,
    ) -> Result<u64, TableError> {
        if keys.is_empty() {
            return Ok(0);
        }
        let _reads_wait = self.wait_for_reads();
        let _one_by_one = self.commit_lock.lock();
        let mut batch = WriteBatch::new();
        let mut count = 0;
        for key in keys {
            let still = self.kv.get(ROWS, &store_key(id, 0, key))?.is_some_and(|value| expired(&value));
            if still {
                count += 1;
                (0..families).for_each(|family| batch.delete(ROWS, store_key(id, family as u8, key)));
            }
        }
        self.kv.write(batch, Durability::Buffered)?;
        Ok(count)
    }

    /// Deletes every row of a table that is no longer open.
    ///
    /// # Errors
    /// The store's. What was deleted until then stays deleted; call it again.
    pub fn purge(&self, id: TableId) -> Result<(), TableError> {
        loop {
            let mut batch = WriteBatch::new();
            let mut cursor = self.kv.cursor(ROWS, table_bounds(id), Direction::Forward)?;
            while batch.len() < STEP_KEYS
                && let Some((key, _)) = cursor.next()?
            {
                batch.delete(ROWS, key);
            }
            drop(cursor);
            if batch.is_empty() {
                return Ok(());
            }
            let _reads_wait = self.wait_for_reads();
            let _one_by_one = self.commit_lock.lock();
            self.kv.write(batch, Durability::Buffered)?;
        }
    }
}
