//! Spaces as fjall's keyspaces.

use std::sync::OnceLock;

use fjall::{Database, Keyspace, KeyspaceCreateOptions};
use saltwing_store::Space;

/// The keyspaces that exist, by space: found without a lock or a hash.
pub(crate) struct Keyspaces {
    by_space: Vec<OnceLock<Keyspace>>,
}

impl Keyspaces {
    /// Those that the database has already.
    pub(crate) fn load(database: &Database) -> fjall::Result<Self> {
        let keyspaces = Self { by_space: (0..=u8::MAX).map(|_| OnceLock::new()).collect() };
        for id in 0..=u8::MAX {
            let space = Space::new(id);
            if database.keyspace_exists(&name(space)) {
                keyspaces.get_or_create(database, space)?;
            }
        }
        Ok(keyspaces)
    }

    /// The keyspace, where anything was ever written to the space.
    pub(crate) fn get(&self, space: Space) -> Option<&Keyspace> {
        self.by_space.get(usize::from(space.id())).and_then(OnceLock::get)
    }

    pub(crate) fn get_or_create(&self, database: &Database, space: Space) -> fjall::Result<Keyspace> {
        if let Some(keyspace) = self.get(space) {
            return Ok(keyspace.clone());
        }
        // Two writers may both come here; fjall gives both the same keyspace.
        let keyspace = database.keyspace(&name(space), KeyspaceCreateOptions::default)?;
        Ok(self.by_space[usize::from(space.id())].get_or_init(|| keyspace).clone())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Keyspace> {
        self.by_space.iter().filter_map(OnceLock::get)
    }
}

/// `space_007`: names sort as their spaces do.
fn name(space: Space) -> String {
    format!("space_{:03}", space.id())
}
