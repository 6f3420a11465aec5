//! Checks a store for damage, and reads its intact parts.
//!
//! ```text
//!   store ──> image: what opening reads, without what is damaged ──> tables, for reading alone
//!                 └── damage of directories, records                    └── damage of blocks and rows, and the rows
//! ```

use std::sync::Arc;

use saltwing_access::{Clock, Damage, ScanContext, TableError};
use saltwing_store::OrderedKv;
use saltwing_types::TableId;

use crate::check::image::Image;
use crate::engine::options::LayoutOptions;
use crate::store::EmbeddedTables;

/// Bytes of blocks that are kept while a store is read: each is read once.
const CACHE_BYTES: usize = 16 << 20;

impl EmbeddedTables {
    /// The readable tables of a store, and the damage of their structure: directories, records of recent rows, lists of
    /// blocks. Nothing is written, now or later.
    ///
    /// # Errors
    /// [`TableError::OtherLayout`]; as [`ScanContext::check`]. Damage is no error.
    pub fn open_readable(
        kv: Arc<dyn OrderedKv>,
        clock: Arc<dyn Clock>,
        context: &ScanContext,
    ) -> Result<(Self, Vec<Damage>), TableError> {
        let Image { kv, damages } = Image::read(kv, &|| context.check())?;
        let options = LayoutOptions { cache_bytes: CACHE_BYTES, ..LayoutOptions::default() };
        Ok((Self::open_with(kv, clock, options)?, damages))
    }

    /// The tables that have rows here and are not open, each with about how many.
    pub fn strangers(&self) -> Vec<(TableId, u64)> {
        self.packed().strangers()
    }

    /// Calls `read` with the store below as it is now, while commits continue. If the store has no snapshots,
    /// merges wait.
    ///
    /// # Errors
    /// The store's; what `read` fails with.
    pub fn at_one_moment<T, E: From<TableError>>(
        &self,
        read: impl FnOnce(Arc<dyn OrderedKv>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.packed().at_one_moment(read)
    }
}
