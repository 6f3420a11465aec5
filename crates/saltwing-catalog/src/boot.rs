//! Reads the catalog at opening, and changes it.

use std::collections::btree_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use saltwing_access::{
    Durability, KeySet, Projection, ScanContext, ScanRoute, ScanSpec, Table, TableError, TableStore, WriteBatch,
};
use saltwing_types::table::TableHistory;
use saltwing_types::{
    ColumnDef, IndexDef, KeyColumn, KeySchema, KeySource, ObjectId, SchemaDef, SequenceBlock, SequenceDef, SortOrder,
    SqlType, TableDef, TableId, TableName, Value,
};

use crate::definitions::{Definitions, key};
use crate::ids::{NEXT_ID_SETTING, NewIds};
use crate::row::{check_name, defined_schema, defined_sequence, defined_user, defined_view, name_values, text};
use crate::{CatalogError, CatalogReader, INFORMATION_SCHEMA, TEMPORARY_SCHEMA, record};

/// The newest format of the catalog's rows that this version reads and writes.
///
/// | format | adds |
/// |---|---|
/// | 1 | tables |
/// | 2 | keys with computed parts |
/// | 3 | altered tables: slots of dropped columns |
/// | 4 | DEFAULTs that are computed for each row |
/// | 5 | definitions as records with names of their own (`record.rs`) |
/// | 6 | sequences |
/// | 7 | views |
/// | 8 | users |
/// | 9 | numbers of schemas and views (`earlier_format.rs`) |
///
/// The first opening for writing upgrades a catalog to this format, and earlier versions refuse the catalog from then on. The definition of a
/// table keeps its earlier form until the table is altered.
pub const CATALOG_FORMAT: u32 = 9;

const TABLES: u32 = 1;
const SCHEMAS: u32 = 2;
const DROPPED: u32 = 3;
const SETTINGS: u32 = 4;
const SEQUENCES: u32 = 5;
const VIEWS: u32 = 6;
const USERS: u32 = 7;
/// The id of a new index, before it gets one.
const NEW_ID: TableId = TableId(0);
pub(crate) const FORMAT_SETTING: &str = "catalog_format";

/// The tables, schemas, sequences, views and users of a database, stored as rows of tables.
pub struct Catalog {
    /// The store of the catalog's own tables.
    pub(crate) store: Arc<dyn TableStore>,
    /// The store of the tables that the catalog defines.
    defined: Arc<dyn TableStore>,
    pub(crate) own: OwnTables,
    view: RwLock<Arc<Definitions>>,
    /// Held during a change, so that changes run one after the other.
    pub(crate) changing: Mutex<()>,
    /// For each sequence, the reserved values that are not used yet. The lock of a block is held while further values are
    /// reserved, so that concurrent callers wait for these values.
    pub(crate) blocks: Mutex<HashMap<ObjectId, Arc<Mutex<SequenceBlock>>>>,
    /// The ids that sessions have leased for their temporary tables.
    pub(crate) leased: Mutex<HashSet<TableId>>,
}

pub(crate) struct OwnTables {
    pub(crate) tables: Arc<Table>,
    pub(crate) schemas: Arc<Table>,
    pub(crate) dropped: Arc<Table>,
    pub(crate) settings: Arc<Table>,
    pub(crate) sequences: Arc<Table>,
    pub(crate) views: Arc<Table>,
    pub(crate) users: Arc<Table>,
}

impl Catalog {
    /// Reads the catalog of `store` and registers its tables there. If a crash interrupted the drop of a table,
    /// [`CatalogStore::finish_drops`](crate::CatalogStore::finish_drops) deletes its rows.
    ///
    /// A new store gets an empty catalog, unless it cannot be written. A change is one commit of rows of several tables, so the store must write
    /// rows of any tables as a whole.
    ///
    /// # Errors
    /// [`CatalogError::NewerFormat`], [`CatalogError::Corrupt`]; errors of the store, [`TableError::NotAtomic`] among them.
    pub fn boot(store: Arc<dyn TableStore>, readonly: bool) -> Result<Self, CatalogError> {
        Self::boot_beside(store.clone(), store, readonly)
    }

    /// As [`Catalog::boot`], for a catalog whose tables are in another store, `defined`, with an id for each that no other catalog gives there.
    ///
    /// # Errors
    /// As [`Catalog::boot`].
    pub fn boot_beside(
        store: Arc<dyn TableStore>,
        defined: Arc<dyn TableStore>,
        readonly: bool,
    ) -> Result<Self, CatalogError> {
        store.capabilities().check_atomic("a catalog")?;
        let own = OwnTables::register(&*store)?;
        let catalog = Self {
            store,
            defined,
            own,
            view: RwLock::default(),
            changing: Mutex::default(),
            blocks: Mutex::default(),
            leased: Mutex::default(),
        };
        let format = catalog.format()?;
        let mut view = Definitions { version: 1, ..Definitions::default() };
        for row in catalog.rows(&catalog.own.schemas)? {
            view.insert_schema(defined_schema(&row)?);
        }
        for row in catalog.rows(&catalog.own.tables)? {
            view.insert(catalog.defined.open_with_indexes(defined_table(&row)?));
        }
        for row in catalog.rows(&catalog.own.sequences)? {
            view.insert_sequence(defined_sequence(&row)?.0);
        }
        for row in catalog.rows(&catalog.own.views)? {
            view.insert_view(defined_view(&row)?);
        }
        for row in catalog.rows(&catalog.own.users)? {
            view.insert_user(defined_user(&row)?);
        }
        view.user_secret = catalog.stored_user_secret()?;
        catalog.bring_up_to_date(&mut view, format, readonly)?;
        *catalog.view.write() = Arc::new(view);
        Ok(catalog)
    }

    pub(crate) fn purge_dropped(&self) -> Result<(), CatalogError> {
        for row in self.rows(&self.own.dropped)? {
            // A concurrent drop purges its rows itself.
            let _one_by_one = self.changing.lock();
            let id = dropped_id(&row)?;
            if !self.leased.lock().contains(&id) {
                self.purge_rows(id)?;
            }
        }
        Ok(())
    }

    /// Takes ids, and notes that the rows under them must be deleted.
    pub(crate) fn put_leased(&self, count: usize) -> Result<Vec<TableId>, CatalogError> {
        let _one_by_one = self.changing.lock();
        let mut writes = self.store.batch();
        let mut new = self.new_ids()?;
        let ids = new.tables(count)?;
        self.put_ids(&mut *writes, new)?;
        ids.iter().try_for_each(|id| self.put_dropped(&mut *writes, *id))?;
        // Before the notes are committed, so that a reader of a note also sees that its id is leased.
        self.leased.lock().extend(&ids);
        if let Err(error) = writes.commit(Durability::Synced) {
            self.leased.lock().retain(|leased| !ids.contains(leased));
            return Err(error.into());
        }
        Ok(ids)
    }

    pub(crate) fn definitions(&self) -> Arc<Definitions> {
        self.view.read().clone()
    }

    pub(crate) fn current_version(&self) -> u64 {
        self.view.read().version
    }

    pub(crate) fn create_table(&self, mut def: TableDef, sequences: Vec<SequenceDef>) -> Result<(), CatalogError> {
        let _one_by_one = self.changing.lock();
        let mut view = Definitions::clone(&self.definitions());
        view.settle(&mut def.name);
        view.check_free(&def.name)?;
        let (mut writes, mut ids) = (self.store.batch(), self.new_ids()?);
        self.put_schema_of(&mut view, &mut *writes, &mut ids, &mut def.name)?;
        def.id = ids.table()?;
        def.object_id = def.id.into();
        self.put_definition(&mut *writes, &def)?;
        self.put_new_sequences(&mut view, &mut *writes, &mut ids, sequences)?;
        self.put_ids(&mut *writes, ids)?;
        view.check_free(&def.name)?;
        let table = self.defined.open_table(Table::new(Arc::new(def))?);
        if let Err(error) = writes.commit(Durability::Synced) {
            self.defined.close_table(table.def().id);
            return Err(error.into());
        }
        view.insert(table);
        self.publish(view);
        Ok(())
    }

    pub(crate) fn alter_table(&self, old: &TableDef, mut new: TableDef) -> Result<(), CatalogError> {
        let _one_by_one = self.changing.lock();
        let view = self.definitions();
        let table = view.resolve(old.name.schema.as_deref(), &old.name.name)?;
        if **table.def() != *old {
            return Err(CatalogError::Changed(format!("table {}", old.name)));
        }
        view.check_columns_kept(old, &new)?;
        view.check_renamed(&old.name, &new.name)?;
        set_version(old, &mut new);
        self.put_altered(old, new)
    }

    fn put_altered(&self, old: &TableDef, mut def: TableDef) -> Result<(), CatalogError> {
        check_definition(&def)?;
        let mut writes = self.store.batch();
        let view = self.definitions();
        check_new_indexes(&def, |name| view.check_free(name))?;
        let missing = missing_ids(&def);
        let mut ids = self.new_ids()?;
        give_ids(&mut def, ids.tables(missing)?);
        self.put_ids(&mut *writes, ids)?;
        let gone = ids_without(old, &def);
        if !gone.is_empty() && ids_without(&def, old).is_empty() {
            writes.reclaims_space();
        }
        gone.iter().try_for_each(|id| self.put_dropped(&mut *writes, *id))?;
        self.end_builds(&mut *writes, old, &def)?;
        let table = Table::new(Arc::new(def))?;
        if old.name != table.def().name {
            writes.delete(&self.own.tables, self.table_key(&old.name)?)?;
        }
        self.put_definition(&mut *writes, table.def())?;
        let mut view = Definitions::clone(&view);
        let sequences =
            old.own_sequences().filter(|sequence| !table.def().own_sequences().any(|kept| kept == *sequence));
        self.delete_sequences(&mut view, &mut *writes, sequences)?;
        let new = &table.def().name;
        if old.name != *new {
            self.rename_grants(&mut view, &mut *writes, (&old.name, new))?;
            // `end_grants` looks objects up by name: grants of removed sequences end, and the table must be found by its new name.
            let renamed = view.tables.remove(&key(old.name.schema.as_deref(), &old.name.name));
            view.tables.extend(renamed.map(|table| (key(new.schema.as_deref(), &new.name), table)));
        }
        self.end_grants(&mut view, &mut *writes)?;
        writes.commit(Durability::Synced)?;
        let Definitions { sequences, users, .. } = view;
        self.redefine([(old, table)], |view| (view.sequences, view.users) = (sequences, users));
        self.purge_entries(gone);
        Ok(())
    }

    /// Publishes changed definitions of tables, whose names and ids may differ from the old ones.
    pub(crate) fn redefine<'t>(
        &self,
        tables: impl IntoIterator<Item = (&'t TableDef, Table)>,
        change: impl FnOnce(&mut Definitions),
    ) {
        // Locked while the tables change, so that a writer that is refused for its old definition waits for the new one.
        let mut current = self.view.write();
        let mut view = Definitions::clone(&current);
        for (old, table) in tables {
            view.tables.remove(&key(old.name.schema.as_deref(), &old.name.name));
            let kept: Vec<TableId> = table.def().stored_ids().collect();
            view.insert(self.defined.open_with_indexes(table));
            old.stored_ids().filter(|old| !kept.contains(old)).for_each(|old| self.defined.close_table(old));
        }
        change(&mut view);
        view.version += 1;
        *current = Arc::new(view);
    }

    pub(crate) fn create_schema(&self, name: &str) -> Result<(), CatalogError> {
        let _one_by_one = self.changing.lock();
        let view = self.definitions();
        if view.canonical(name).is_empty() {
            return Err(CatalogError::DefaultSchemaExists(name.into()));
        }
        self.add_schema(Definitions::clone(&view), name)
    }

    pub(crate) fn restore_schema(&self, name: &str) -> Result<(), CatalogError> {
        let _one_by_one = self.changing.lock();
        self.add_schema(Definitions::clone(&self.definitions()), name)
    }

    /// Adds a schema. The caller must hold the lock of changes.
    fn add_schema(&self, mut view: Definitions, name: &str) -> Result<(), CatalogError> {
        let lower = name.to_lowercase();
        if lower == INFORMATION_SCHEMA || view.schemas.contains_key(&lower) {
            return Err(CatalogError::DuplicateSchema(name.into()));
        }
        let (mut writes, mut ids) = (self.store.batch(), self.new_ids()?);
        self.put_schema(&mut view, &mut *writes, &mut ids, name)?;
        self.put_ids(&mut *writes, ids)?;
        writes.commit(Durability::Synced)?;
        self.publish(view);
        Ok(())
    }

    fn put_schema(
        &self,
        view: &mut Definitions,
        writes: &mut dyn WriteBatch,
        ids: &mut NewIds,
        name: &str,
    ) -> Result<(), CatalogError> {
        let lower = name.to_lowercase();
        if lower == INFORMATION_SCHEMA {
            return Err(CatalogError::ReservedName(name.into()));
        }
        if let Entry::Vacant(free) = view.schemas.entry(lower) {
            // A catalog of an earlier version may have a schema of this name.
            if free.key() == TEMPORARY_SCHEMA {
                return Err(CatalogError::ReservedName(name.into()));
            }
            let def = SchemaDef { id: ids.object()?, name: name.into() };
            self.put_schema_row(writes, &def)?;
            free.insert(Arc::new(def));
        }
        Ok(())
    }

    pub(crate) fn put_schema_row(&self, writes: &mut dyn WriteBatch, def: &SchemaDef) -> Result<(), CatalogError> {
        let definition = Value::Text(record::schema::write(def)?);
        Ok(writes.put(&self.own.schemas, vec![Value::text(&def.name), definition])?)
    }

    /// Adds the schema of a new object if it does not exist. An existing schema determines the spelling.
    pub(crate) fn put_schema_of(
        &self,
        view: &mut Definitions,
        writes: &mut dyn WriteBatch,
        ids: &mut NewIds,
        name: &mut TableName,
    ) -> Result<(), CatalogError> {
        if let Some(schema) = &name.schema {
            self.put_schema(view, writes, ids, schema)?;
            name.schema = view.schemas.get(&schema.to_lowercase()).map(|known| known.name.clone());
        }
        Ok(())
    }

    pub(crate) fn publish(&self, mut view: Definitions) {
        view.version += 1;
        *self.view.write() = Arc::new(view);
    }

    /// Notes that the rows of a table must be deleted.
    pub(crate) fn put_dropped(&self, writes: &mut dyn WriteBatch, id: TableId) -> Result<(), CatalogError> {
        Ok(writes.put(&self.own.dropped, vec![Value::Int(id.0.into())])?)
    }

    /// Deletes the entries of indexes that no definition has any more. If some cannot be deleted now,
    /// [`CatalogStore::finish_drops`](crate::CatalogStore::finish_drops) deletes them later.
    pub(crate) fn purge_entries(&self, gone: impl IntoIterator<Item = TableId>) {
        for id in gone {
            if let Err(error) = self.purge_rows(id) {
                tracing::warn!(index = id.0, %error, "the entries of a dropped index are deleted later");
            }
        }
    }

    /// Deletes the rows of a dropped table, then the note about them.
    pub(crate) fn purge_rows(&self, id: TableId) -> Result<(), CatalogError> {
        self.defined.close_table(id);
        self.defined.purge(id)?;
        let mut writes = self.store.batch();
        let row_key = self.own.dropped.codec().encode(&[Value::Int(id.0.into())]).map_err(TableError::from)?;
        writes.delete(&self.own.dropped, row_key)?;
        self.delete_index_progress(&mut *writes, id)?;
        writes.commit(Durability::Buffered)?;
        Ok(())
    }

    /// The ids that a change may take. [`Catalog::put_ids`] writes which of them are taken.
    pub(crate) fn new_ids(&self) -> Result<NewIds, CatalogError> {
        NewIds::from_setting(self.setting(NEXT_ID_SETTING)?)
    }

    /// Writes which ids are taken.
    pub(crate) fn put_ids(&self, writes: &mut dyn WriteBatch, ids: NewIds) -> Result<(), CatalogError> {
        ids.into_setting().map_or(Ok(()), |next| self.put_setting(writes, NEXT_ID_SETTING, next))
    }

    pub(crate) fn setting(&self, name: &str) -> Result<Option<String>, CatalogError> {
        let settings = &self.own.settings;
        let row_key = settings.codec().encode(&[Value::text(name)]).map_err(TableError::from)?;
        self.store
            .snapshot()?
            .get(&Projection::all(settings), &row_key)?
            .map(|row| text(&row, 1).map(str::to_owned))
            .transpose()
    }

    pub(crate) fn put_setting(
        &self,
        writes: &mut dyn WriteBatch,
        name: &str,
        value: String,
    ) -> Result<(), CatalogError> {
        Ok(writes.put(&self.own.settings, vec![Value::text(name), Value::Text(value)])?)
    }

    pub(crate) fn table_key(&self, name: &TableName) -> Result<Vec<u8>, CatalogError> {
        Ok(self.own.tables.codec().encode(&name_values(name)).map_err(TableError::from)?)
    }

    pub(crate) fn put_definition(&self, writes: &mut dyn WriteBatch, def: &TableDef) -> Result<(), CatalogError> {
        let [schema, name] = name_values(&def.name);
        Ok(writes.put(&self.own.tables, vec![schema, name, Value::Text(record::write(def)?)])?)
    }

    /// The format of the stored catalog; `None` for a new one.
    fn format(&self) -> Result<Option<u32>, CatalogError> {
        let Some(found) = self.setting(FORMAT_SETTING)? else {
            return match self.rows(&self.own.tables)?.is_empty() {
                true => Ok(None),
                false => Err(CatalogError::Corrupt("its format is missing".into())),
            };
        };
        match found.parse::<u32>() {
            Ok(format) if (1..=CATALOG_FORMAT).contains(&format) => Ok(Some(format)),
            Ok(_) => Err(CatalogError::NewerFormat { found, supported: CATALOG_FORMAT }),
            Err(_) => Err(CatalogError::Corrupt(format!("its format is '{found}'"))),
        }
    }

    /// All rows of one of the catalog's tables.
    fn rows(&self, table: &Arc<Table>) -> Result<Vec<Vec<Value>>, CatalogError> {
        let snapshot = self.store.snapshot()?;
        let (spec, all) = (ScanSpec::new(table, vec![table.row_key_index()], Vec::new())?, Projection::all(table));
        let mut scan = snapshot.scan(&spec, ScanRoute::of(KeySet::all()), ScanContext::of_look_up())?;
        let mut rows = Vec::new();
        while let Some(batch) = scan.next_batch()? {
            for row in 0..batch.num_rows() {
                let key =
                    saltwing_expr::value_at(batch.column(0), row, SqlType::Varbinary).map_err(TableError::from)?;
                if let Value::Bytes(key) = key {
                    rows.extend(snapshot.get(&all, &key)?);
                }
            }
        }
        Ok(rows)
    }
}

/// # Errors
/// Those of `check_free` for the name of a new index, in the schema of its table.
pub(crate) fn check_new_indexes(
    def: &TableDef,
    check_free: impl Fn(&TableName) -> Result<(), CatalogError>,
) -> Result<(), CatalogError> {
    let mut added = def.indexes.iter().filter(|index| index.id == NEW_ID);
    added.try_for_each(|index| check_free(&TableName { schema: def.name.schema.clone(), name: index.name.clone() }))
}

/// The number of ids that new indexes and rebuilds still need.
pub(crate) fn missing_ids(def: &TableDef) -> usize {
    def.indexes.iter().flat_map(IndexDef::ids).filter(|id| *id == NEW_ID).count()
}

/// Assigns ids to new indexes and rebuilds.
pub(crate) fn give_ids(def: &mut TableDef, ids: impl IntoIterator<Item = TableId>) {
    let missing = def.indexes.iter_mut().flat_map(IndexDef::ids_mut).filter(|id| **id == NEW_ID);
    missing.zip(ids).for_each(|(id, next)| *id = next);
    let new = def.indexes.iter_mut().filter(|index| index.object_id == ObjectId::NEW);
    new.for_each(|index| index.object_id = index.id.into());
}

/// Sets the version of a changed definition. Statements with an earlier version can no longer write. So the version stays if rows and
/// entries are written as before: if only the states of indexes change, which decide whether an index may be read.
pub(crate) fn set_version(old: &TableDef, def: &mut TableDef) {
    let mut alike = def.clone();
    alike.indexes.iter_mut().zip(&old.indexes).for_each(|(index, old)| index.state = old.state);
    let next = old.history.version.saturating_add(1);
    def.history.version = if alike == *old { old.history.version } else { next };
}

/// The ids under which a table stores rows with `def`, but not with `other`.
pub(crate) fn ids_without(def: &TableDef, other: &TableDef) -> Vec<TableId> {
    def.stored_ids().filter(|id| !other.stored_ids().any(|kept| kept == *id)).collect()
}

/// The id in a note about rows that must be deleted.
fn dropped_id(row: &[Value]) -> Result<TableId, CatalogError> {
    let Some(Value::Int(id)) = row.first() else {
        return Err(CatalogError::Corrupt("a dropped table has no id".into()));
    };
    Ok(TableId(u32::try_from(*id).map_err(|_| CatalogError::Corrupt(format!("{id} is no table id")))?))
}

/// Refuses a stored definition with indexes of columns that do not exist.
pub(crate) fn check_definition(def: &TableDef) -> Result<(), CatalogError> {
    let keys = def.key.columns.iter().enumerate().all(|(position, key)| match &key.source {
        KeySource::Column(column) => *column < def.columns.len(),
        KeySource::Computed(expr) => {
            expr.columns().into_iter().all(|column| def.key.position(column).is_some_and(|input| input > position))
        }
        // Such keys are derived from the definition, and never stored.
        KeySource::Indexed(_) => false,
    });
    let indexes = def.indexes.iter().all(|index| {
        !index.parts.is_empty() && index.inputs(def).last().is_none_or(|column| *column < def.columns.len())
    });
    let columns = def.columns.iter().filter_map(|c| Some((c.family?, c.slot)));
    let mut slots: Vec<_> = columns.chain(def.history.dropped.iter().map(|c| (c.family, c.slot))).collect();
    slots.sort_unstable();
    // The slots of each family must be 0, 1, .. without a gap: the position of a slot in a stored row follows from the slots before it.
    let families = slots.chunk_by(|a, b| a.0 == b.0).all(|family| {
        let is_known = family.first().is_some_and(|(family, _)| *family < def.families.len());
        is_known && family.iter().enumerate().all(|(place, (_, slot))| usize::from(*slot) == place)
    });
    if keys && indexes && families && !def.key.columns.is_empty() && !def.families.is_empty() {
        return Ok(());
    }
    Err(CatalogError::Corrupt(format!("the definition of table {} does not hold together", def.name)))
}

impl OwnTables {
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Table>> {
        let own =
            [&self.tables, &self.schemas, &self.dropped, &self.settings, &self.sequences, &self.views, &self.users];
        own.into_iter()
    }

    pub(crate) fn register(store: &dyn TableStore) -> Result<Self, CatalogError> {
        let name = ("name", SqlType::Varchar(None));
        let (schema, definition) = (("schema", SqlType::Varchar(None)), ("definition", SqlType::Varchar(None)));
        let open = |id, table: &str, key: &[(&str, SqlType)], values: &[(&str, SqlType)]| {
            let def = own_table(id, table, key, values);
            Ok::<_, CatalogError>(store.open_table(Table::new(Arc::new(def))?))
        };
        Ok(Self {
            tables: open(TABLES, "_tables", &[schema, name], &[definition])?,
            schemas: {
                let mut def = own_table(SCHEMAS, "_schemas", &[name], &[definition]);
                // Rows of the formats up to 8 have no number.
                def.columns
                    .iter_mut()
                    .filter(|column| column.family.is_some())
                    .for_each(|column| column.nullable = true);
                store.open_table(Table::new(Arc::new(def))?)
            },
            dropped: open(DROPPED, "_dropped", &[("id", SqlType::BigInt)], &[])?,
            settings: open(SETTINGS, "_settings", &[name], &[("value", SqlType::Varchar(None))])?,
            sequences: open(SEQUENCES, "_sequences", &[schema, name], &[definition])?,
            views: open(VIEWS, "_views", &[schema, name], &[definition])?,
            users: open(USERS, "_users", &[name], &[definition])?,
        })
    }
}

fn own_table(id: u32, name: &str, key: &[(&str, SqlType)], values: &[(&str, SqlType)]) -> TableDef {
    let column = |(name, ty): &(&str, SqlType), family, slot| ColumnDef {
        nullable: false,
        family,
        slot,
        ..ColumnDef::new(*name, *ty)
    };
    let key_columns = key.iter().enumerate().map(|(i, (name, ty))| KeyColumn {
        source: KeySource::Column(i),
        name: (*name).into(),
        ty: *ty,
        order: SortOrder::Asc,
        nullable: false,
    });
    let values = values.iter().zip(0..).map(|(c, slot)| column(c, Some(0), slot));
    TableDef {
        id: TableId(id),
        object_id: ObjectId::NEW,
        name: TableName::bare(name),
        columns: key.iter().map(|c| column(c, None, 0)).chain(values).collect(),
        key: KeySchema { columns: key_columns.collect(), salt: None },
        key_name: None,
        families: vec![None],
        ttl_s: None,
        options: Vec::new(),
        history: TableHistory::default(),
        comment: None,
        checks: Vec::new(),
        indexes: Vec::new(),
    }
}

/// The table whose definition a row of the catalog holds.
///
/// # Errors
/// As [`record::read`]; [`CatalogError::Corrupt`] for the definition of another table, or for a row without one.
pub(crate) fn defined_table(row: &[Value]) -> Result<Table, CatalogError> {
    let def = record::read(text(row, 1)?, text(row, 2)?)?;
    check_name(row, "table", &def.name)?;
    check_definition(&def)?;
    Ok(Table::new(Arc::new(def))?)
}
