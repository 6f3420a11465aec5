//! The users of sessions.
//!
//! # Law
//! A statement that is cached for a user serves only sessions of this user: its plan may contain objects that only this user sees.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use saltwing_catalog::CatalogReader;
use saltwing_types::{ErrorCode, ObjectId, UserDef};

use crate::Error;
use crate::statement_cache::StatementCache;

/// A user with open sessions, which share this value.
pub(crate) struct SessionUser {
    pub(crate) id: ObjectId,
    pub(crate) name: Arc<str>,
    /// The cached statements of the user's sessions.
    pub(crate) statements: StatementCache,
}

impl SessionUser {
    /// The current definition of the user.
    ///
    /// # Errors
    /// [`ErrorCode::InsufficientPrivilege`] if the user was dropped; errors of the catalog.
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
    /// The user of a new session.
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
