//! Changes of a catalog, as data.

use std::collections::BTreeSet;
use std::sync::Arc;

use saltwing_access::TableError;
use saltwing_types::{Privileges, ScramVerifier, SequenceDef, SequencePosition, TableDef, TableName, UserDef, ViewDef};

use crate::CatalogError;
use crate::arrow_table::ArrowTable;
use crate::definitions::key;

/// A change of a catalog. New objects get their ids where the change is made, and their schemas if these are new.
///
/// Indexes are parts of the definition of their table, and comments of that of their object.
#[derive(Debug)]
pub enum CatalogChange<'a> {
    /// Adds a table, with new sequences for its identity columns. Errors: [`CatalogError::DuplicateTable`] and its like;
    /// [`CatalogError::ReservedName`].
    CreateTable {
        /// Its definition.
        def: TableDef,
        /// Those of its sequences. A temporary table has none.
        sequences: Vec<SequenceDef>,
        /// Whether it is a table of the session, and ends with it.
        temporary: bool,
    },
    /// Gives a table another definition, perhaps with another name; new indexes have the id 0. Statements that know the table by the old
    /// one can no longer write to it. Errors: [`CatalogError::NoSuchTable`]; [`CatalogError::Used`] if a view uses a column or a name
    /// that is gone then; [`CatalogError::DuplicateTable`] and its like if a new name is taken.
    AlterTable {
        /// The definition that was read.
        old: Arc<TableDef>,
        /// The next one.
        new: TableDef,
    },
    /// Removes all rows of tables at once, in constant time: each gets a new id. Readers see all rows of a table or none, and writers
    /// that use the earlier definition are retried. Errors: [`CatalogError::NoSuchTable`].
    TruncateTables(&'a [GivenName<'a>]),
    /// Drops tables with the sequences that are theirs alone, then deletes their rows. Errors: [`CatalogError::NoSuchTable`],
    /// [`CatalogError::Used`].
    DropTables(DropList<'a>),
    /// Adds a sequence. Errors: [`CatalogError::DuplicateSequence`] and its like; [`CatalogError::ReservedName`].
    CreateSequence {
        /// Its definition.
        def: SequenceDef,
        /// Where its values begin.
        position: SequencePosition,
    },
    /// Gives a sequence another definition and position. The values that were reserved and not given out count as not reserved. Errors:
    /// [`CatalogError::NoSuchSequence`]; [`CatalogError::SequenceOutside`].
    AlterSequence {
        /// The definition that was read.
        old: Arc<SequenceDef>,
        /// The next one.
        new: SequenceDef,
        /// The next position; `None` if it stays.
        position: Option<SequencePosition>,
    },
    /// Drops sequences. Errors: [`CatalogError::NoSuchSequence`].
    DropSequences(DropList<'a>),
    /// Adds a view. Errors: [`CatalogError::DuplicateView`] and its like; [`CatalogError::NoSuchTable`] if something that it uses is not
    /// there; [`CatalogError::RecursiveView`]; [`CatalogError::ViewColumnChanged`]; [`CatalogError::ReservedName`].
    CreateView {
        /// Its definition.
        def: ViewDef,
        /// Whether it takes the place of one of its name, if there is one.
        replaces: bool,
        /// The version of the catalog of which the definition was made.
        version: u64,
    },
    /// Gives a view another definition, with more columns or fewer. Errors: [`CatalogError::NoSuchView`]; [`CatalogError::Used`] if
    /// another view uses a column that is gone then.
    AlterView {
        /// The next definition.
        def: ViewDef,
        /// The version of the catalog of which it was made.
        version: u64,
    },
    /// Drops views, which may use each other. Errors: [`CatalogError::NoSuchView`], [`CatalogError::IsTable`], [`CatalogError::Used`].
    DropViews(DropList<'a>),
    /// Adds a schema of this name. Errors: [`CatalogError::DuplicateSchema`], [`CatalogError::ReservedName`].
    CreateSchema(&'a str),
    /// Drops empty schemas; their names have no schema of their own. Errors: [`CatalogError::NoSuchSchema`],
    /// [`CatalogError::SchemaNotEmpty`].
    DropSchemas(DropList<'a>),
    /// Adds a user; grants on objects that are not there are left out. Errors: [`CatalogError::DuplicateUser`].
    CreateUser {
        /// Its definition.
        def: UserDef,
        /// Random bytes, which the catalog keeps if it has none yet: [`CatalogReader::user_secret`](crate::CatalogReader::user_secret).
        secret: [u8; 32],
    },
    /// Gives a user another password. Errors: [`CatalogError::NoSuchUser`].
    AlterUser {
        /// The user.
        name: &'a str,
        /// The verifier of the new password.
        verifier: ScramVerifier,
    },
    /// Drops a user with its grants. Errors: [`CatalogError::NoSuchUser`].
    DropUser(&'a str),
    /// Adds privileges of users on an object. Errors: [`CatalogError::NoSuchUser`]; [`CatalogError::NoSuchTable`],
    /// [`CatalogError::NoSuchSchema`].
    Grant(GrantList<'a>),
    /// Takes privileges of users on an object, as far as they were granted on it alone. Errors: as those of a grant.
    Revoke(GrantList<'a>),
    /// Adds a table of batches of the program; it takes the place of one of its name, which running statements keep. Errors:
    /// [`CatalogError::DuplicateTable`] and its like if a stored object has the name.
    RegisterArrow(ArrowTable),
    /// Removes such a table. Errors: [`CatalogError::NoSuchTable`].
    UnregisterArrow(&'a str),
}

/// Privileges on an object, and the users that get or lose them. The whole list is one change.
#[derive(Clone, Copy, Debug)]
pub struct GrantList<'n> {
    /// The privileges.
    pub privileges: Privileges,
    /// The object.
    pub object: GivenObject<'n>,
    /// The names of the users; an error has its place in this list if it is about one.
    pub users: &'n [&'n str],
}

/// An object of a grant, as it is named.
#[derive(Clone, Copy, Debug)]
pub enum GivenObject<'n> {
    /// All of the database.
    Database,
    /// All of a schema.
    Schema(&'n str),
    /// A stored table or sequence, or a view.
    Relation(GivenName<'n>),
}

/// What a change has done.
#[derive(Debug, Default)]
pub struct Applied {
    /// The places, in its list, of the dropped or emptied tables whose space is not given back yet;
    /// [`CatalogStore::finish_drops`](crate::CatalogStore::finish_drops) does it.
    pub left: Vec<usize>,
}

/// Why a change was not made.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct ChangeError {
    /// The reason.
    #[source]
    pub error: CatalogError,
    /// Which name of its list the error is about, from 0, if it is about one.
    pub place: Option<usize>,
}

impl From<CatalogError> for ChangeError {
    fn from(error: CatalogError) -> Self {
        Self { error, place: None }
    }
}

impl From<TableError> for ChangeError {
    fn from(error: TableError) -> Self {
        CatalogError::from(error).into()
    }
}

/// Adds the place in the list to an error.
pub(crate) fn at(place: usize) -> impl Fn(CatalogError) -> ChangeError {
    move |error| ChangeError { error, place: Some(place) }
}

/// The schema, if it is said, and the name of an object.
pub type GivenName<'n> = (Option<&'n str>, &'n str);

/// The objects that a statement drops. The whole list is one change: an error leaves all of them as they are.
#[derive(Clone, Copy, Debug)]
pub struct DropList<'n> {
    /// Their names; one may stand there twice.
    pub names: &'n [GivenName<'n>],
    /// Whether the names of nothing are left out.
    pub if_exists: bool,
    /// What becomes of the views that use them.
    pub dependents: Dependents,
}

/// What becomes of the views that use a dropped table or view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependents {
    /// If there is one, nothing is dropped: RESTRICT.
    Refuse,
    /// They are dropped too: CASCADE.
    Drop,
}

/// An object, and the place of its name in the list.
pub(crate) type Listed<T> = (usize, Arc<T>);

impl DropList<'_> {
    /// The objects of the list, each once.
    pub(crate) fn found<T>(
        &self,
        find: impl Fn(Option<&str>, &str) -> Result<Arc<T>, CatalogError>,
        name_of: impl Fn(&T) -> &TableName,
    ) -> Result<Vec<Listed<T>>, ChangeError> {
        let (mut found, mut known) = (Vec::new(), BTreeSet::new());
        for (place, (schema, name)) in self.names.iter().enumerate() {
            match find(*schema, name) {
                Err(error) if self.if_exists && error.is_missing() => {}
                object => {
                    let object = object.map_err(at(place))?;
                    let name = name_of(&object);
                    if known.insert(key(name.schema.as_deref(), &name.name)) {
                        found.push((place, object));
                    }
                }
            }
        }
        Ok(found)
    }
}
