//! Changes that are not made, with what to use instead.

use saltwing_access::{StorageCause, StorageError, TableError};
use saltwing_catalog::{CatalogError, ChangeError};

use crate::HbaseError;

/// A definition that Phoenix's catalog cannot have.
pub(super) fn not_defined(object: &str, reason: impl Into<String>) -> ChangeError {
    let error = HbaseError::NotDefined { object: object.to_owned(), reason: reason.into() };
    CatalogError::from(TableError::from(error)).into()
}

/// A change that may be made or not: its reply was lost.
pub(super) fn unknown(object: &str, error: &impl ToString) -> ChangeError {
    let text = format!("nobody knows whether the definition of {object} is changed: {}; look at it", error.to_string());
    let error = StorageError::new(StorageCause::CommitUnknown, std::io::Error::other(text));
    CatalogError::from(TableError::from(error)).into()
}
