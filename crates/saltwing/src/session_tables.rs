//! The temporary tables and attached databases of a connection, which end with it.

use std::sync::Arc;

use saltwing_catalog::SessionCatalog;

use crate::shared::Shared;
use crate::statement_cache::StatementCache;

/// The temporary tables and the attached databases of a connection, which its clones and its transactions share.
pub(crate) struct SessionTables {
    pub(crate) catalog: SessionCatalog,
    /// The cached statements of the connection while it has such tables: no other connection can use their plans.
    pub(crate) statements: StatementCache,
    shared: Arc<Shared>,
}

impl SessionTables {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let catalog = SessionCatalog::new(shared.catalog.clone(), shared.tables.clone());
        Self { catalog, statements: StatementCache::default(), shared }
    }
}

impl Drop for SessionTables {
    fn drop(&mut self) {
        if self.catalog.end() {
            self.shared.finish_drops_soon();
        }
    }
}
