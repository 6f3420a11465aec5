//! Changes of a catalog, as data.

use std::collections::BTreeSet;
use std::sync::Arc;

use saltwing_access::TableError;
use saltwing_types::{Privileges, ScramVerifier, SequenceDef, SequencePosition, TableDef, TableName, UserDef, ViewDef};

use crate::CatalogError;
use crate::arrow_table::ArrowTable;
use crate::definitions::key;

/// A change of a catalog. Applying it assigns the ids of new objects, and creates their schemas if needed.
///
/// Indexes are parts of their table's definition, and comments of their object's definition.
#[derive(Debug)]
pub enum CatalogChange<'a> {
    /// Adds a table, with new sequences for its identity columns. Errors: [`CatalogError::DuplicateTable`] and its like;
    /// [`CatalogError::ReservedName`].
    CreateTable {
        /// The definition.
        def: TableDef,
        /// The definitions of its sequences. A temporary table has none.
        sequences: Vec<SequenceDef>,
        /// Whether the table belongs to the session, and ends with it.
        temporary: bool,
    },
    /// Changes the definition of a table, perhaps also its name; new indexes have the id 0. Statements with the old definition can no
    /// longer write to the table. Errors: [`CatalogError::NoSuchTable`]; [`CatalogError::Used`] if a view uses a removed column or the old
    /// name; [`CatalogError::DuplicateTable`] and its like if a new name is taken.
    AlterTable {
        /// The definition that was read.
        old: Arc<TableDef>,
        /// The new definition.
        new: TableDef,
    },
    /// Removes all rows of tables at once, in constant time: each table gets a new id. Readers see all rows of a table or none, and writers
    /// with the earlier definition are retried. Errors: [`CatalogError::NoSuchTable`].
    TruncateTables(&'a [GivenName<'a>]),
    /// Drops tables with the sequences of their identity columns, then deletes their rows. Errors: [`CatalogError::NoSuchTable`],
    /// [`CatalogError::Used`].
    DropTables(DropList<'a>),
    /// Drops a table, and gives its name to another one of the same schema, in one commit: readers see the rows of one of them. Errors:
    /// [`CatalogError::NoSuchTable`]; [`CatalogError::Used`] if a view uses a column that the other table has not.
    ReplaceTable {
        /// The definition of the table that goes.
        old: Arc<TableDef>,
        /// The definition of the table that takes its name.
        by: Arc<TableDef>,
    },
    /// Adds a sequence. Errors: [`CatalogError::DuplicateSequence`] and its like; [`CatalogError::ReservedName`].
    CreateSequence {
        /// The definition.
        def: SequenceDef,
        /// The position before the first value.
        position: SequencePosition,
    },
    /// Changes the definition and the position of a sequence. Reserved values that are not used yet are no longer reserved. Errors:
    /// [`CatalogError::NoSuchSequence`]; [`CatalogError::SequenceOutside`].
    AlterSequence {
        /// The definition that was read.
        old: Arc<SequenceDef>,
        /// The new definition.
        new: SequenceDef,
        /// The new position; `None` leaves it unchanged.
        position: Option<SequencePosition>,
    },
    /// Drops sequences. Errors: [`CatalogError::NoSuchSequence`].
    DropSequences(DropList<'a>),
    /// Adds a view. Errors: [`CatalogError::DuplicateView`] and its like; [`CatalogError::NoSuchTable`] if an object that it uses does not
    /// exist; [`CatalogError::RecursiveView`]; [`CatalogError::ViewColumnChanged`]; [`CatalogError::ReservedName`].
    CreateView {
        /// The definition.
        def: ViewDef,
        /// Whether the view replaces an existing view of its name.
        replaces: bool,
        /// The version of the catalog from which the definition was made.
        version: u64,
    },
    /// Changes the definition of a view, which may have more or fewer columns then. Errors: [`CatalogError::NoSuchView`];
    /// [`CatalogError::Used`] if another view uses a removed column.
    AlterView {
        /// The new definition.
        def: ViewDef,
        /// The version of the catalog from which the definition was made.
        version: u64,
    },
    /// Drops views, which may use each other. Errors: [`CatalogError::NoSuchView`], [`CatalogError::IsTable`], [`CatalogError::Used`].
    DropViews(DropList<'a>),
    /// Adds a schema of this name. Errors: [`CatalogError::DuplicateSchema`], [`CatalogError::DefaultSchemaExists`],
    /// [`CatalogError::ReservedName`].
    CreateSchema(&'a str),
    /// Adds a schema of another catalog, which may be called [`PUBLIC_SCHEMA`](crate::PUBLIC_SCHEMA) if an earlier version made it. It comes
    /// before the objects in it. Errors: [`CatalogError::DuplicateSchema`], [`CatalogError::ReservedName`].
    RestoreSchema(&'a str),
    /// Drops empty schemas; the names in the list are without a schema part. Errors: [`CatalogError::NoSuchSchema`],
    /// [`CatalogError::SchemaNotEmpty`], [`CatalogError::DefaultSchema`].
    DropSchemas(DropList<'a>),
    /// Adds a user; grants on objects that do not exist are left out. Errors: [`CatalogError::DuplicateUser`].
    CreateUser {
        /// The definition.
        def: UserDef,
        /// Random bytes, which the catalog stores if it has none yet: [`CatalogReader::user_secret`](crate::CatalogReader::user_secret).
        secret: [u8; 32],
    },
    /// Changes the password of a user. Errors: [`CatalogError::NoSuchUser`].
    AlterUser {
        /// The user.
        name: &'a str,
        /// The verifier of the new password.
        verifier: ScramVerifier,
    },
    /// Drops a user with its grants. Errors: [`CatalogError::NoSuchUser`].
    DropUser(&'a str),
    /// Adds privileges of users on an object. Errors: [`CatalogError::NoSuchUser`]; [`CatalogError::NoSuchTable`],
    /// [`CatalogError::NoSuchSchema`], [`CatalogError::DefaultSchemaGrant`].
    Grant(GrantList<'a>),
    /// Removes privileges of users that were granted on exactly this object. Errors: as for a grant.
    Revoke(GrantList<'a>),
    /// Registers batches of the program as a table. It replaces a registered table of the same name, which running statements keep. Errors:
    /// [`CatalogError::DuplicateTable`] and its like if a stored object has the name.
    RegisterArrow(ArrowTable),
    /// Removes a registered table. Errors: [`CatalogError::NoSuchTable`].
    UnregisterArrow(&'a str),
}

/// Privileges on an object, and the users that get or lose them. The whole list is one change.
#[derive(Clone, Copy, Debug)]
pub struct GrantList<'n> {
    /// The privileges.
    pub privileges: Privileges,
    /// The object.
    pub object: GivenObject<'n>,
    /// The names of the users; an error about one of them has its position in this list.
    pub users: &'n [&'n str],
}

/// An object of a grant, as the statement names it.
#[derive(Clone, Copy, Debug)]
pub enum GivenObject<'n> {
    /// All of the database.
    Database,
    /// All of a schema.
    Schema(&'n str),
    /// A stored table or sequence, or a view.
    Relation(GivenName<'n>),
}

/// The result of a change.
#[derive(Debug, Default)]
pub struct Applied {
    /// The positions, in the list of the change, of dropped or emptied tables whose space is not freed yet;
    /// [`CatalogStore::finish_drops`](crate::CatalogStore::finish_drops) frees it.
    pub left: Vec<usize>,
}

/// The error of a change that was not made.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct ChangeError {
    /// The reason.
    #[source]
    pub error: CatalogError,
    /// The position, from 0, of the name in the change's list that the error is about, if it is about one.
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

/// Adds the position in the list to an error.
pub(crate) fn at(place: usize) -> impl Fn(CatalogError) -> ChangeError {
    move |error| ChangeError { error, place: Some(place) }
}

/// The schema, if the statement gives it, and the name of an object.
pub type GivenName<'n> = (Option<&'n str>, &'n str);

/// The objects that a statement drops. The whole list is one change: after an error, none of them is changed.
#[derive(Clone, Copy, Debug)]
pub struct DropList<'n> {
    /// The names of the objects; a name may occur twice.
    pub names: &'n [GivenName<'n>],
    /// Whether names that do not exist are ignored.
    pub if_exists: bool,
    /// The treatment of the views that use the objects.
    pub dependents: Dependents,
}

/// The treatment of the views that use a dropped table or view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependents {
    /// RESTRICT: if there is such a view, nothing is dropped.
    Refuse,
    /// CASCADE: such views are dropped, too.
    Drop,
}

/// An object, and the position of its name in the list.
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
