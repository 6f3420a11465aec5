//! The laws of catalogs, for the stored one and for that of a session.

use std::sync::Arc;

use saltwing_access::{SystemClock, TableStore};
use saltwing_catalog::{AttachedTables, Catalog, CatalogError, CatalogStore, SessionCatalog, conformance};
use saltwing_store::MemoryStore;
use saltwing_table::EmbeddedTables;

fn tables() -> Arc<EmbeddedTables> {
    Arc::new(EmbeddedTables::open(Arc::new(MemoryStore::new()), Arc::new(SystemClock)).unwrap())
}

fn stored(store: &Arc<EmbeddedTables>) -> Arc<Catalog> {
    Arc::new(Catalog::boot(store.clone(), false).unwrap())
}

#[test]
fn the_stored_catalog_obeys_the_laws() {
    conformance::check(&|| stored(&tables()));
}

fn session() -> SessionCatalog {
    let store = tables();
    SessionCatalog::new(stored(&store), store)
}

#[test]
fn temporary_tables_obey_the_laws() {
    conformance::check_temporary(&|| Arc::new(session()));
}

/// Also with an attached database of its own, so that its snapshots are overlaid.
#[test]
fn the_catalog_of_a_session_obeys_the_laws() {
    for has_own in [false, true] {
        conformance::check(&|| {
            let session = session();
            if has_own {
                let attached = session.attach::<CatalogError>("other", || {
                    let empty = tables();
                    let (catalog, rows) = (stored(&empty), empty.snapshot()?);
                    AttachedTables::new("other", String::new(), &*catalog.snapshot()?, &rows)
                });
                attached.unwrap();
                assert!(!session.is_empty());
            }
            Arc::new(session)
        });
    }
}
