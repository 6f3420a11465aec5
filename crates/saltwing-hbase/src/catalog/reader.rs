//! A snapshot of the catalog. It reads a definition when a statement asks for it, and keeps it.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use saltwing_access::Table;
use saltwing_catalog::{CatalogError, CatalogReader, INFORMATION_SCHEMA, PUBLIC_SCHEMA};

use saltwing_types::table::is_same_name;
use saltwing_types::{ObjectId, SchemaDef, SequenceDef, TableName, UserDef, ViewDef, suggest};

use super::definitions::Definitions;
use super::listing::Listing;

/// A snapshot of the catalog.
pub(super) struct Reader {
    definitions: Arc<Definitions>,
    version: u64,
    /// The tables that statements have found, by the names that they used.
    found: Mutex<HashMap<TableName, Arc<Table>>>,
}

impl Reader {
    pub(super) fn new(definitions: &Arc<Definitions>, version: u64) -> Self {
        Self { definitions: definitions.clone(), version, found: Mutex::default() }
    }

    /// The table of a name in its canonical schema; `None` if there is none. The name as it is written comes first, then as Phoenix folds it, then
    /// any other case.
    fn find(&self, written: &TableName) -> Result<Option<Arc<Table>>, CatalogError> {
        if let Some(table) = self.definitions.table(written)? {
            return Ok(Some(table));
        }
        let folded = TableName {
            schema: written.schema.as_ref().map(|schema| schema.to_uppercase()),
            name: written.name.to_uppercase(),
        };
        if folded != *written
            && let Some(table) = self.definitions.table(&folded)?
        {
            return Ok(Some(table));
        }
        let listing = self.definitions.listing()?;
        match listing.named(written.schema.as_deref(), &written.name) {
            [] => Ok(None),
            [one] => self.definitions.table(&one.name),
            several => Err(CatalogError::UnreadableDefinition {
                table: written.to_string(),
                why: format!("{} tables have this name in other cases: write the name as it is", several.len()),
            }),
        }
    }

    /// The error of a name that no table has.
    fn missing(&self, written: &TableName) -> Result<CatalogError, CatalogError> {
        let listing = self.definitions.listing()?;
        if let Some(schema) = written.schema.as_deref().filter(|schema| !has_schema(&listing, schema)) {
            return Ok(CatalogError::NoSuchSchema(schema.to_owned()));
        }
        let names: Vec<String> = listing.tables().map(ToString::to_string).collect();
        let name = written.to_string();
        let nearest = suggest(&name, names.iter().map(String::as_str)).map(str::to_owned);
        Ok(CatalogError::NoSuchTable { name, nearest })
    }

    fn named(&self, schema: Option<&str>, name: &str) -> Result<TableName, CatalogError> {
        let schema = schema.map(|schema| self.canonical_schema(schema)).transpose()?;
        let schema = schema.filter(|schema| !schema.is_empty()).map(str::to_owned);
        Ok(TableName { schema, name: name.to_owned() })
    }
}

fn has_schema(listing: &Listing, name: &str) -> bool {
    listing.schemas().into_iter().any(|schema| is_same_name(schema, name))
}

impl CatalogReader for Reader {
    fn version(&self) -> u64 {
        self.version
    }

    fn resolve(&self, schema: Option<&str>, name: &str) -> Result<Arc<Table>, CatalogError> {
        if schema.is_some_and(|schema| is_same_name(schema, INFORMATION_SCHEMA)) {
            return Err(CatalogError::SystemTable(format!("{INFORMATION_SCHEMA}.{}", name.to_lowercase())));
        }
        let written = self.named(schema, name)?;
        if let Some(table) = self.found.lock().get(&written) {
            return Ok(table.clone());
        }
        match self.find(&written)? {
            // Another thread may have found an earlier definition, which stays.
            Some(table) => Ok(self.found.lock().entry(written).or_insert(table).clone()),
            None => Err(self.missing(&written)?),
        }
    }

    fn canonical_schema<'s>(&self, schema: &'s str) -> Result<&'s str, CatalogError> {
        let is_default =
            is_same_name(schema, PUBLIC_SCHEMA) && !has_schema(&*self.definitions.listing()?, PUBLIC_SCHEMA);
        Ok(if is_default { "" } else { schema })
    }

    fn has_schema(&self, schema: &str) -> Result<bool, CatalogError> {
        let is_own =
            schema.is_empty() || [PUBLIC_SCHEMA, INFORMATION_SCHEMA].iter().any(|own| is_same_name(own, schema));
        Ok(is_own || has_schema(&*self.definitions.listing()?, schema))
    }

    /// Those that can be read; the others are logged, and an error says why when a statement names them.
    fn tables(&self) -> Result<Vec<Arc<Table>>, CatalogError> {
        let listing = self.definitions.listing()?;
        let names: Vec<TableName> = listing.tables().cloned().collect();
        let mut tables = self.definitions.tables(&names)?;
        let found = self.found.lock();
        for table in &mut tables {
            // A statement sees one definition of a table.
            if let Some(known) = found.values().find(|known| known.def().id == table.def().id) {
                *table = known.clone();
            }
        }
        tables.sort_by_key(|table| {
            let name = &table.def().name;
            (name.schema.as_deref().unwrap_or_default().to_lowercase(), name.name.to_lowercase())
        });
        Ok(tables)
    }

    fn sequence(&self, schema: Option<&str>, name: &str) -> Result<Arc<SequenceDef>, CatalogError> {
        let name = self.named(schema, name)?.to_string();
        Err(CatalogError::NoSuchSequence { name, nearest: None })
    }

    /// None: the values of Phoenix's sequences are not taken from here.
    fn sequences(&self) -> Result<Vec<Arc<SequenceDef>>, CatalogError> {
        Ok(Vec::new())
    }

    /// None: views of Phoenix are tables here, whose rows are those of the view.
    fn view(&self, _: Option<&str>, _: &str) -> Result<Option<Arc<ViewDef>>, CatalogError> {
        Ok(None)
    }

    fn views(&self) -> Result<Vec<Arc<ViewDef>>, CatalogError> {
        Ok(Vec::new())
    }

    fn has_views(&self) -> bool {
        false
    }

    fn schemas(&self) -> Result<Vec<Arc<SchemaDef>>, CatalogError> {
        let listing = self.definitions.listing()?;
        // Phoenix numbers no schemas.
        let schema = |name: &str| Arc::new(SchemaDef { id: ObjectId::NEW, name: name.to_owned() });
        Ok(listing.schemas().into_iter().map(schema).collect())
    }

    fn user(&self, _: &str) -> Result<Option<Arc<UserDef>>, CatalogError> {
        Ok(None)
    }

    fn users(&self) -> Result<Vec<Arc<UserDef>>, CatalogError> {
        Ok(Vec::new())
    }

    fn user_secret(&self) -> Result<Option<[u8; 32]>, CatalogError> {
        Ok(None)
    }
}
