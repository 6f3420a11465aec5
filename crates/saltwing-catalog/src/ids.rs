//! Ids of objects and of rows. All come from one counter, so none is used again.

use saltwing_types::{ObjectId, TableId};

use crate::CatalogError;

/// The setting with the next id.
pub(crate) const NEXT_ID_SETTING: &str = "next_table_id";
/// Smaller ids are the catalog's own.
const FIRST_ID: u32 = 100;

/// The ids that a change of the catalog takes.
#[must_use]
pub(crate) struct NewIds {
    first: u32,
    next: u32,
}

impl NewIds {
    /// The ids from the stored next id.
    ///
    /// # Errors
    /// [`CatalogError::Corrupt`] for a text that is not an id.
    pub(crate) fn from_setting(stored: Option<String>) -> Result<Self, CatalogError> {
        let first = match stored {
            None => FIRST_ID,
            Some(text) => text.parse().map_err(|_| CatalogError::Corrupt(format!("the next id is '{text}'")))?,
        };
        Ok(Self { first, next: first })
    }

    /// The next id to store; `None` if none was taken.
    pub(crate) fn into_setting(self) -> Option<String> {
        (self.next != self.first).then(|| self.next.to_string())
    }

    /// # Errors
    /// [`CatalogError::Corrupt`] if no id is left.
    pub(crate) fn table(&mut self) -> Result<TableId, CatalogError> {
        let id = TableId(self.next);
        self.next = self.next.checked_add(1).ok_or_else(|| CatalogError::Corrupt("ids have run out".into()))?;
        Ok(id)
    }

    /// The next `count` ids.
    ///
    /// # Errors
    /// As [`NewIds::table`].
    pub(crate) fn tables(&mut self, count: usize) -> Result<Vec<TableId>, CatalogError> {
        (0..count).map(|_| self.table()).collect()
    }

    /// # Errors
    /// As [`NewIds::table`].
    pub(crate) fn object(&mut self) -> Result<ObjectId, CatalogError> {
        self.table().map(ObjectId::from)
    }
}
