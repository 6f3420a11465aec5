//! The rows of Phoenix's catalog.

mod key;
mod listing;

pub use key::{CatalogKey, CatalogKeys};
pub use listing::{
    CATALOG_FAMILY, CATALOG_TABLE, CATALOG_TABLE_IN_NAMESPACE, CatalogListing, LISTED_QUALIFIERS, ListedKind,
    ListedTable,
};
