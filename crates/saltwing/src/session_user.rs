//! The users of sessions.
//!
//! # Law
//! A statement that is kept for a user serves sessions of this user alone: its plan may have what only that user sees.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use saltwing_catalog::CatalogReader;
use saltwing_types::{ErrorCode, ObjectId, UserDef};

use crate::Error;
use crate::statement_cache::StatementCache;

/// A user with open sessions, which share this.
pub(crate) struct SessionUser {
    pub(crate) id: ObjectId,
    pub(crate) name: Arc<str>,
    /// The statements that its sessions keep.
    pub(crate) statements: StatementCache,
}

impl SessionUser {
    /// The user as it is now.
    ///
    /// # Errors
    /// [`ErrorCode::InsufficientPrivilege`] if it was dropped; the catalog's.
    pub(crate) fn def(&self, catalog: &dyn CatalogReader) -> Result<Arc<UserDef>, Error> {
        let found = catalog.user(&self.name)?.filter(|user| user.id == self.id);
        found.ok_or_else(|| {
            let text = format!("the user {} of this connection is dropped", self.name);
            Error::new(ErrorCode::InsufficientPrivilege, text)
        })
    }
}

/// The users of all open sessions of a database.
#[derive(Default)]
pub(crate) struct SessionUsers(Mutex<HashMap<ObjectId, Weak<SessionUser>>>);

impl SessionUsers {
    /// A user for one more session.
    pub(crate) fn of(&self, def: &UserDef) -> Arc<SessionUser> {
        let mut users = self.0.lock();
        if let Some(known) = users.get(&def.id).and_then(Weak::upgrade) {
            return known;
        }
        let new = SessionUser { id: def.id, name: def.name.as_str().into(), statements: StatementCache::default() };
        let new = Arc::new(new);
        users.retain(|_, user| user.strong_count() > 0);
        users.insert(def.id, Arc::downgrade(&new));
        new
    }
}
