//! Spaces as fjall's keyspaces.

use std::sync::Arc;

use fjall::{Database, Keyspace};
use parking_lot::RwLock;
use saltwing_store::Space;

use crate::reclaim::options;

/// The keyspaces that exist, by space.
pub(crate) struct Keyspaces {
    now: RwLock<Spaces>,
}

/// The keyspaces of one moment.
#[derive(Clone)]
pub(crate) struct Spaces(Arc<Vec<Option<Keyspace>>>);

impl Spaces {
    /// The keyspace, where anything was written to the space since it was empty.
    pub(crate) fn get(&self, space: Space) -> Option<&Keyspace> {
        self.0.get(usize::from(space.id())).and_then(Option::as_ref)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Keyspace> {
        self.0.iter().flatten()
    }

    fn set(&mut self, space: Space, keyspace: Option<Keyspace>) {
        if let Some(place) = Arc::make_mut(&mut self.0).get_mut(usize::from(space.id())) {
            *place = keyspace;
        }
    }
}

impl Keyspaces {
    /// Those that the database has already.
    pub(crate) fn load(database: &Database) -> fjall::Result<Self> {
        let keyspaces = Self { now: RwLock::new(Spaces(Arc::new(vec![None; usize::from(u8::MAX) + 1]))) };
        for id in 0..=u8::MAX {
            let space = Space::new(id);
            if database.keyspace_exists(&name(space)) {
                keyspaces.get_or_create(database, space)?;
            }
        }
        Ok(keyspaces)
    }

    /// The keyspace, where anything was written to the space since it was empty.
    pub(crate) fn get(&self, space: Space) -> Option<Keyspace> {
        self.now.read().get(space).cloned()
    }

    /// All of them, and what `also` gives of the same moment.
    pub(crate) fn moment<T>(&self, also: impl FnOnce() -> T) -> (Spaces, T) {
        let now = self.now.read();
        (now.clone(), also())
    }

    pub(crate) fn get_or_create(&self, database: &Database, space: Space) -> fjall::Result<Keyspace> {
        if let Some(keyspace) = self.get(space) {
            return Ok(keyspace);
        }
        // Two writers may both come here; fjall gives both the same keyspace.
        let keyspace = database.keyspace(&name(space), options)?;
        self.now.write().set(space, Some(keyspace.clone()));
        Ok(keyspace)
    }

    /// Drops a keyspace with all that is in it, on the disk before this returns; nobody writes to it. It is made anew
    /// when it is next written to.
    pub(crate) fn drop_keyspace(&self, database: &Database, space: Space) -> fjall::Result<()> {
        let Some(keyspace) = self.get(space) else { return Ok(()) };
        database.delete_keyspace(keyspace)?;
        self.now.write().set(space, None);
        Ok(())
    }
}

/// `space_007`: names sort as their spaces do.
fn name(space: Space) -> String {
    format!("space_{:03}", space.id())
}
