//! The readable part of a catalog, for checks and for salvage.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use saltwing_access::{Damage, Examine, Examined, Loss, ScanContext, Table, TableError, TableStore};
use saltwing_types::{SchemaDef, SequenceDef, SequencePosition, TableId, UserDef, Value, ViewDef};

use crate::CATALOG_FORMAT;
use crate::boot::{FORMAT_SETTING, OwnTables, defined_table};
use crate::ids::NEXT_ID_SETTING;
use crate::row::{defined_schema, defined_sequence, defined_user, defined_view};

/// The name under which damage to the catalog's own rows is reported.
const PLACE: &str = "catalog";

/// The readable definitions, and the errors of the others.
pub struct ReadableCatalog {
    /// Tables, in the order of their names; open in the store.
    pub tables: Vec<Arc<Table>>,
    /// Schemas, with or without tables, in the order of their names.
    pub schemas: Vec<SchemaDef>,
    /// Sequences with their positions, in the order of their names.
    pub sequences: Vec<(SequenceDef, SequencePosition)>,
    /// Views, in the order of their names.
    pub views: Vec<ViewDef>,
    /// Users, in the order of their names.
    pub users: Vec<UserDef>,
    /// Tables whose drop is not finished.
    pub dropped: BTreeSet<TableId>,
    /// The examination of the catalog's own tables, and their names by id.
    pub examined: Examined,
    /// The names of the catalog's own tables.
    pub own: BTreeMap<TableId, String>,
}

impl ReadableCatalog {
    /// Reads the catalog of a store, and opens the tables whose definitions can be read.
    ///
    /// # Errors
    /// As [`ScanContext::check`]. Damage is not an error.
    pub fn read(store: &dyn Examine, context: &ScanContext) -> Result<Self, TableError> {
        let own = OwnTables::register(store).map_err(|error| match error {
            crate::CatalogError::Table(error) => error,
            _ => TableError::CorruptLayout("the catalog's own tables"),
        })?;
        let mut read = Self {
            tables: Vec::new(),
            schemas: Vec::new(),
            sequences: Vec::new(),
            views: Vec::new(),
            users: Vec::new(),
            dropped: BTreeSet::new(),
            examined: Examined::default(),
            own: own.all().map(|table| (table.def().id, table.def().name.name.clone())).collect(),
        };
        let mut all = BTreeMap::new();
        for table in own.all() {
            let mut rows = Vec::new();
            let examined = store.examine(table, context, &mut |row| {
                rows.push(row.values);
                Ok(())
            })?;
            read.examined.add(examined);
            all.insert(table.def().id, rows);
        }
        let mut rows = |table: &Arc<Table>| all.remove(&table.def().id).unwrap_or_default();
        read.dropped = rows(&own.dropped).iter().filter_map(|row| table_id(row)).collect();
        let tables = rows(&own.tables);
        read.definitions(store, &own.tables, &tables);
        for row in rows(&own.schemas) {
            match defined_schema(&row) {
                Ok(schema) => read.schemas.push(schema),
                Err(why) => read.tell(&own.schemas, "schemas".to_owned(), why.to_string(), Loss::Nothing),
            }
        }
        for row in rows(&own.sequences) {
            match defined_sequence(&row) {
                Ok(sequence) => read.sequences.push(sequence),
                Err(why) => read.tell(&own.sequences, "sequences".to_owned(), why.to_string(), Loss::Nothing),
            }
        }
        for row in rows(&own.views) {
            match defined_view(&row) {
                Ok(view) => read.views.push(view),
                Err(why) => read.tell(&own.views, "views".to_owned(), why.to_string(), Loss::Nothing),
            }
        }
        for row in rows(&own.users) {
            match defined_user(&row) {
                Ok(user) => read.users.push(user),
                Err(why) => read.tell(&own.users, "users".to_owned(), why.to_string(), Loss::Nothing),
            }
        }
        read.settings(&own.settings, &rows(&own.settings));
        Ok(read)
    }

    fn tell(&mut self, table: &Arc<Table>, place: String, what: String, loss: Loss) {
        self.examined.damages.push(Damage { table: Some(table.def().id), space: PLACE, place, what, loss });
    }

    fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.sequences.is_empty() && self.views.is_empty() && self.users.is_empty()
    }

    fn definitions(&mut self, store: &dyn Examine, of: &Arc<Table>, rows: &[Vec<Value>]) {
        let mut names = BTreeSet::new();
        for row in rows {
            let (schema, name) = (text(row, 0).unwrap_or_default(), text(row, 1).unwrap_or_default());
            let place = if schema.is_empty() { format!("table {name}") } else { format!("table {schema}.{name}") };
            match defined_table(row) {
                Ok(table) => {
                    if !names.insert((schema.to_lowercase(), name.to_lowercase())) {
                        let what = "another table has the name in another case".to_owned();
                        self.tell(of, place, what, Loss::Nothing);
                    }
                    let store: &dyn TableStore = store;
                    self.tables.push(store.open_with_indexes(table));
                }
                Err(why) => self.tell(of, place, why.to_string(), Loss::Nothing),
            }
        }
    }

    fn settings(&mut self, of: &Arc<Table>, rows: &[Vec<Value>]) {
        let number = |name: &str| {
            rows.iter()
                .find(|row| text(row, 0) == Some(name))
                .map(|row| text(row, 1).and_then(|n| n.parse::<i64>().ok()))
        };
        let is_format = |found: i64| (1..=i64::from(CATALOG_FORMAT)).contains(&found);
        let place = |name: &str| format!("setting {name}");
        match number(FORMAT_SETTING) {
            None if self.is_empty() => {}
            None => self.tell(of, place(FORMAT_SETTING), "it is missing".into(), Loss::Nothing),
            Some(found) if found.is_some_and(is_format) => {}
            Some(_) => {
                self.tell(of, place(FORMAT_SETTING), "it is no format that this version reads".into(), Loss::Nothing)
            }
        }
        let ids = self.tables.iter().flat_map(|table| table.def().stored_ids());
        let schemas_and_views =
            self.schemas.iter().map(|schema| schema.id).chain(self.views.iter().map(|view| view.id));
        let others = self.sequences.iter().map(|(def, _)| def.id).chain(self.users.iter().map(|user| user.id));
        let most = ids.map(|id| id.0).chain(schemas_and_views.chain(others).map(|id| id.0)).map(i64::from).max();
        if let Some(most) = most
            && number(NEXT_ID_SETTING).flatten().is_none_or(|next| next <= most)
        {
            self.tell(
                of,
                place(NEXT_ID_SETTING),
                format!("it is not above the number {most} of an object"),
                Loss::Nothing,
            );
        }
    }
}

fn text(row: &[Value], column: usize) -> Option<&str> {
    match row.get(column) {
        Some(Value::Text(text)) => Some(text),
        _ => None,
    }
}

fn table_id(row: &[Value]) -> Option<TableId> {
    match row.first() {
        Some(Value::Int(id)) => u32::try_from(*id).ok().map(TableId),
        _ => None,
    }
}
