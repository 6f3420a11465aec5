//! Snapshots of a catalog.

use std::collections::BTreeMap;
use std::sync::Arc;

use saltwing_access::Table;
use saltwing_types::table::is_same_name;
use saltwing_types::{ObjectId, SchemaDef, SequenceDef, TableDef, TableName, UserDef, ViewDef};

use crate::CatalogError;
use crate::arrow_table::ArrowTable;

/// The schema of the system tables, which show the objects of a catalog. Every catalog has this schema, and none can create objects in it.
pub const INFORMATION_SCHEMA: &str = "information_schema";

/// The name of the user of a session that no user has begun: the program that opened the database.
const OWNER: &str = "owner";

/// A snapshot of a catalog, which later changes do not affect. Statements are bound against it.
///
/// A lookup may wait for another machine and return its error; [`optional`] distinguishes such an error from an unknown name.
/// Methods without a `Result` answer from memory.
pub trait CatalogReader: Send + Sync {
    /// The version, which grows with every change: a statement that was prepared on one version is valid only for this version.
    fn version(&self) -> u64;

    /// The table of this name, in any case.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchTable`], with the nearest name; [`CatalogError::NoSuchSchema`];
    /// [`CatalogError::IsView`]; [`CatalogError::SystemTable`] for each name in [`INFORMATION_SCHEMA`]; errors of the store.
    fn resolve(&self, schema: Option<&str>, name: &str) -> Result<Arc<Table>, CatalogError>;

    /// The registered batches of this name, in any case, if no stored table has it. A temporary table of this name hides them only from
    /// statements that name no schema: these resolve the name first.
    fn arrow_table(&self, name: &str) -> Option<Arc<ArrowTable>> {
        let _ = name;
        None
    }

    /// Whether the batches of this name are the rows of a file that the query names.
    fn is_file(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// The schema that a statement means by a name, as definitions have it: `""` for the default schema, which statements call
    /// [`PUBLIC_SCHEMA`](crate::PUBLIC_SCHEMA) unless the catalog has a schema of this name; `other` for `other.public` of an attached
    /// database. All other names are returned unchanged, whether there is such a schema or not.
    ///
    /// Lookups accept either name. A caller that compares names itself, or looks for grants, needs the canonical one.
    ///
    /// # Errors
    /// Errors of the store.
    fn canonical_schema<'s>(&self, schema: &'s str) -> Result<&'s str, CatalogError>;

    /// Whether there is a schema of this name, in any case. The default schema is one.
    ///
    /// # Errors
    /// Errors of the store.
    fn has_schema(&self, schema: &str) -> Result<bool, CatalogError>;

    /// All tables, by schema and name.
    ///
    /// # Errors
    /// Errors of the store.
    fn tables(&self) -> Result<Vec<Arc<Table>>, CatalogError>;

    /// The sequence of this name, in any case.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchSequence`], with the nearest name; [`CatalogError::NoSuchSchema`]; errors of the store.
    fn sequence(&self, schema: Option<&str>, name: &str) -> Result<Arc<SequenceDef>, CatalogError>;

    /// All sequences, by schema and name.
    ///
    /// # Errors
    /// Errors of the store.
    fn sequences(&self) -> Result<Vec<Arc<SequenceDef>>, CatalogError>;

    /// The view of this name, in any case; `None` if there is none.
    ///
    /// # Errors
    /// Errors of the store.
    fn view(&self, schema: Option<&str>, name: &str) -> Result<Option<Arc<ViewDef>>, CatalogError>;

    /// All views, by schema and name.
    ///
    /// # Errors
    /// Errors of the store.
    fn views(&self) -> Result<Vec<Arc<ViewDef>>, CatalogError>;

    /// Whether there may be any views. If not, statements do not look for views.
    fn has_views(&self) -> bool;

    /// All schemas except the default one.
    ///
    /// # Errors
    /// Errors of the store.
    fn schemas(&self) -> Result<Vec<Arc<SchemaDef>>, CatalogError>;

    /// The user of this name, in any case; `None` if there is none.
    ///
    /// # Errors
    /// Errors of the store.
    fn user(&self, name: &str) -> Result<Option<Arc<UserDef>>, CatalogError>;

    /// All users, by name.
    ///
    /// # Errors
    /// Errors of the store.
    fn users(&self) -> Result<Vec<Arc<UserDef>>, CatalogError>;

    /// Random bytes, stored with the first user and never changed; `None` before. Answers for unknown user names are derived from them, so
    /// that nobody can distinguish such names from those of users.
    ///
    /// # Errors
    /// Errors of the store.
    fn user_secret(&self) -> Result<Option<[u8; 32]>, CatalogError>;

    /// The name of the session's user.
    fn session_user(&self) -> &str {
        OWNER
    }

    /// Whether a temporary table or view hides the stored table or view of this name.
    fn hides(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// Whether this is a temporary table.
    fn is_temporary(&self, table: &TableDef) -> bool {
        let _ = table;
        false
    }

    /// The tables of attached databases.
    fn attached_tables(&self) -> Vec<Arc<Table>> {
        Vec::new()
    }

    /// The views of attached databases.
    fn attached_views(&self) -> Vec<Arc<ViewDef>> {
        Vec::new()
    }

    /// Whether a schema is an attached database, or a schema of one: `other`, `other.s`.
    fn is_attached(&self, schema: &str) -> bool {
        let _ = schema;
        false
    }
}

/// The tables, schemas, sequences, views and users that are stored as rows.
#[derive(Clone, Default)]
pub(crate) struct Definitions {
    pub(crate) version: u64,
    /// The objects by lower-case name.
    pub(crate) schemas: BTreeMap<String, Arc<SchemaDef>>,
    /// The tables by lower-case schema ("" is the default one) and name.
    pub(crate) tables: BTreeMap<(String, String), Arc<Table>>,
    /// The objects by the same names as tables.
    pub(crate) sequences: BTreeMap<(String, String), Arc<SequenceDef>>,
    /// The objects by the same names as tables.
    pub(crate) views: BTreeMap<(String, String), Arc<ViewDef>>,
    /// The objects by lower-case name.
    pub(crate) arrow_tables: BTreeMap<String, Arc<ArrowTable>>,
    /// The objects by lower-case name.
    pub(crate) users: BTreeMap<String, Arc<UserDef>>,
    pub(crate) user_secret: Option<[u8; 32]>,
}

impl CatalogReader for Definitions {
    fn version(&self) -> u64 {
        self.version
    }

    fn resolve(&self, schema: Option<&str>, name: &str) -> Result<Arc<Table>, CatalogError> {
        let key = self.key_of(schema, name);
        if let Some(table) = self.tables.get(&key) {
            return Ok(table.clone());
        }
        if schema.is_some_and(|schema| schema.eq_ignore_ascii_case(INFORMATION_SCHEMA)) {
            return Err(CatalogError::SystemTable(format!("{INFORMATION_SCHEMA}.{}", name.to_lowercase())));
        }
        if let Some(view) = self.views.get(&key) {
            return Err(CatalogError::IsView(view.name.to_string()));
        }
        let tables = self.tables.values().map(|table| &table.def().name);
        let (name, nearest) = self.nearest(schema, name, tables.chain(self.views.values().map(|view| &view.name)))?;
        Err(CatalogError::NoSuchTable { name, nearest })
    }

    fn arrow_table(&self, name: &str) -> Option<Arc<ArrowTable>> {
        let key = key(None, name);
        self.arrow_tables.get(&key.1).filter(|_| !self.tables.contains_key(&key)).cloned()
    }

    fn sequence(&self, schema: Option<&str>, name: &str) -> Result<Arc<SequenceDef>, CatalogError> {
        if let Some(sequence) = self.sequences.get(&self.key_of(schema, name)) {
            return Ok(sequence.clone());
        }
        let (name, nearest) = self.nearest(schema, name, self.sequences.values().map(|sequence| &sequence.name))?;
        Err(CatalogError::NoSuchSequence { name, nearest })
    }

    fn sequences(&self) -> Result<Vec<Arc<SequenceDef>>, CatalogError> {
        Ok(self.sequences.values().cloned().collect())
    }

    fn view(&self, schema: Option<&str>, name: &str) -> Result<Option<Arc<ViewDef>>, CatalogError> {
        Ok(self.views.get(&self.key_of(schema, name)).cloned())
    }

    fn views(&self) -> Result<Vec<Arc<ViewDef>>, CatalogError> {
        Ok(self.views.values().cloned().collect())
    }

    fn has_views(&self) -> bool {
        !self.views.is_empty()
    }

    fn canonical_schema<'s>(&self, schema: &'s str) -> Result<&'s str, CatalogError> {
        Ok(self.canonical(schema))
    }

    fn has_schema(&self, schema: &str) -> Result<bool, CatalogError> {
        Ok(self.knows_schema(schema))
    }

    fn tables(&self) -> Result<Vec<Arc<Table>>, CatalogError> {
        Ok(self.tables.values().cloned().collect())
    }

    fn schemas(&self) -> Result<Vec<Arc<SchemaDef>>, CatalogError> {
        Ok(self.schemas.values().cloned().collect())
    }

    fn user(&self, name: &str) -> Result<Option<Arc<UserDef>>, CatalogError> {
        Ok(self.users.get(&name.to_lowercase()).cloned())
    }

    fn users(&self) -> Result<Vec<Arc<UserDef>>, CatalogError> {
        Ok(self.users.values().cloned().collect())
    }

    fn user_secret(&self) -> Result<Option<[u8; 32]>, CatalogError> {
        Ok(self.user_secret)
    }
}

/// The result of a lookup; `None` if there is no such object, or the name is that of an object of another kind.
///
/// # Errors
/// Errors of the store.
pub fn optional<T>(found: Result<T, CatalogError>) -> Result<Option<T>, CatalogError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_absence() => Ok(None),
        Err(error) => Err(error),
    }
}

impl Definitions {
    pub(crate) fn knows_schema(&self, schema: &str) -> bool {
        let lower = self.canonical(schema).to_lowercase();
        lower.is_empty() || lower == INFORMATION_SCHEMA || self.schemas.contains_key(&lower)
    }

    /// The requested name, which does not exist, and the nearest existing one.
    ///
    /// # Errors
    /// [`CatalogError::NoSuchSchema`].
    pub(crate) fn nearest<'n>(
        &self,
        schema: Option<&str>,
        name: &str,
        names: impl Iterator<Item = &'n TableName>,
    ) -> Result<(String, Option<String>), CatalogError> {
        if let Some(schema) = schema
            && !self.knows_schema(schema)
        {
            return Err(CatalogError::NoSuchSchema(schema.into()));
        }
        let mut requested = TableName { schema: schema.map(str::to_owned), name: name.into() };
        self.settle(&mut requested);
        let (requested, names) = (requested.to_string(), names.map(ToString::to_string).collect::<Vec<_>>());
        let nearest = saltwing_types::suggest(&requested, names.iter().map(String::as_str)).map(str::to_owned);
        Ok((requested, nearest))
    }

    /// # Errors
    /// [`CatalogError::DuplicateTable`], [`CatalogError::DuplicateSequence`] or [`CatalogError::DuplicateView`] if the name is
    /// taken: tables, sequences and views share one name space.
    pub(crate) fn check_free(&self, name: &TableName) -> Result<(), CatalogError> {
        let key = key(name.schema.as_deref(), &name.name);
        let spelt = |existing: &TableName| (existing != name).then(|| existing.to_string());
        if let Some(table) = self.tables.get(&key) {
            return Err(CatalogError::DuplicateTable { existing: spelt(&table.def().name), name: name.to_string() });
        }
        if let Some(sequence) = self.sequences.get(&key) {
            return Err(CatalogError::DuplicateSequence { existing: spelt(&sequence.name), name: name.to_string() });
        }
        if let Some(view) = self.views.get(&key) {
            return Err(CatalogError::DuplicateView { existing: spelt(&view.name), name: name.to_string() });
        }
        let is_of_schema = |table: &&Arc<Table>| is_same_schema(&table.def().name, name);
        let mut indexes = self.tables.values().filter(is_of_schema).flat_map(|table| &table.def().indexes);
        if let Some(index) = indexes.find(|index| is_same_name(&index.name, &name.name)) {
            let index = TableName { schema: name.schema.clone(), name: index.name.clone() };
            return Err(CatalogError::DuplicateIndex { existing: spelt(&index), name: name.to_string() });
        }
        Ok(())
    }

    pub(crate) fn insert_schema(&mut self, schema: SchemaDef) {
        self.schemas.insert(schema.name.to_lowercase(), Arc::new(schema));
    }

    pub(crate) fn insert_sequence(&mut self, sequence: SequenceDef) {
        let key = self.key_of_new(&sequence.name);
        self.sequences.insert(key, Arc::new(sequence));
    }

    pub(crate) fn insert_view(&mut self, view: ViewDef) {
        let key = self.key_of_new(&view.name);
        self.views.insert(key, Arc::new(view));
    }

    pub(crate) fn insert(&mut self, table: Arc<Table>) {
        let key = self.key_of_new(&table.def().name);
        self.tables.insert(key, table);
    }

    /// The key of a new object. Adds its schema if that is new, too.
    fn key_of_new(&mut self, name: &TableName) -> (String, String) {
        if let Some(schema) = &name.schema {
            let new = || Arc::new(SchemaDef { id: ObjectId::NEW, name: schema.clone() });
            self.schemas.entry(schema.to_lowercase()).or_insert_with(new);
        }
        key(name.schema.as_deref(), &name.name)
    }
}

pub(crate) fn key(schema: Option<&str>, name: &str) -> (String, String) {
    (schema.unwrap_or("").to_lowercase(), name.to_lowercase())
}

fn is_same_schema(a: &TableName, b: &TableName) -> bool {
    is_same_name(a.schema.as_deref().unwrap_or(""), b.schema.as_deref().unwrap_or(""))
}
