//! The part of a catalog that a user sees.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_types::table::is_same_name;
use saltwing_types::{Grants, ObjectId, Privilege, SchemaDef, SequenceDef, TableDef, TableName, UserDef, ViewDef};

use crate::arrow_table::ArrowTable;
use crate::{CatalogError, CatalogReader, TEMPORARY_SCHEMA};

/// A catalog whose lists have only the objects on which a user has a privilege, and the temporary tables of the session. The list of users has
/// the user itself, or all users if the user may create others.
///
/// Names are looked up in the whole catalog, because a view may read objects that its user does not see. Whether a statement may use the
/// objects that it names is checked elsewhere. The error of an unknown name does not suggest a name that is hidden from the user.
pub struct VisibleCatalog {
    whole: Arc<dyn CatalogReader>,
    user: Arc<str>,
    id: ObjectId,
}

impl VisibleCatalog {
    /// The catalog that a user sees: without any object if the user no longer exists.
    pub fn new(whole: Arc<dyn CatalogReader>, user: &Arc<str>, id: ObjectId) -> Self {
        Self { whole, user: user.clone(), id }
    }

    /// The user; `None` if the user no longer exists.
    fn own(&self) -> Result<Option<Arc<UserDef>>, CatalogError> {
        Ok(self.whole.user(&self.user)?.filter(|user| user.id == self.id))
    }

    fn grants(&self) -> Result<Grants, CatalogError> {
        Ok(self.own()?.map(|user| user.grants.clone()).unwrap_or_default())
    }

    /// The error, without the nearest name if that is hidden. Names in errors are written as `schema.name`.
    fn discreet(&self, error: CatalogError, names: impl Fn() -> Result<Vec<TableName>, CatalogError>) -> CatalogError {
        let is_shown = |nearest: &str| names().is_ok_and(|names| names.iter().any(|name| name.to_string() == nearest));
        match error {
            CatalogError::NoSuchTable { name, nearest: Some(nearest) } if !is_shown(&nearest) => {
                CatalogError::NoSuchTable { name, nearest: None }
            }
            CatalogError::NoSuchSequence { name, nearest: Some(nearest) } if !is_shown(&nearest) => {
                CatalogError::NoSuchSequence { name, nearest: None }
            }
            other => other,
        }
    }
}

impl CatalogReader for VisibleCatalog {
    fn version(&self) -> u64 {
        self.whole.version()
    }

    fn resolve(&self, schema: Option<&str>, name: &str) -> Result<Arc<Table>, CatalogError> {
        self.whole.resolve(schema, name).map_err(|error| {
            self.discreet(error, || {
                let tables = self.tables()?.into_iter().map(|table| table.def().name.clone());
                Ok(tables.chain(self.views()?.into_iter().map(|view| view.name.clone())).collect())
            })
        })
    }

    fn arrow_table(&self, name: &str) -> Option<Arc<ArrowTable>> {
        self.whole.arrow_table(name)
    }

    fn canonical_schema<'s>(&self, schema: &'s str) -> Result<&'s str, CatalogError> {
        self.whole.canonical_schema(schema)
    }

    fn has_schema(&self, schema: &str) -> Result<bool, CatalogError> {
        self.whole.has_schema(schema)
    }

    fn tables(&self) -> Result<Vec<Arc<Table>>, CatalogError> {
        let (grants, mut tables) = (self.grants()?, self.whole.tables()?);
        tables.retain(|it| self.whole.is_temporary(it.def()) || !grants.on_relation(&it.def().name).is_empty());
        Ok(tables)
    }

    fn sequence(&self, schema: Option<&str>, name: &str) -> Result<Arc<SequenceDef>, CatalogError> {
        self.whole.sequence(schema, name).map_err(|error| {
            self.discreet(error, || Ok(self.sequences()?.into_iter().map(|sequence| sequence.name.clone()).collect()))
        })
    }

    fn sequences(&self) -> Result<Vec<Arc<SequenceDef>>, CatalogError> {
        let (grants, mut sequences) = (self.grants()?, self.whole.sequences()?);
        sequences.retain(|it| !grants.on_relation(&it.name).is_empty());
        Ok(sequences)
    }

    fn view(&self, schema: Option<&str>, name: &str) -> Result<Option<Arc<ViewDef>>, CatalogError> {
        self.whole.view(schema, name)
    }

    fn views(&self) -> Result<Vec<Arc<ViewDef>>, CatalogError> {
        let (grants, mut views) = (self.grants()?, self.whole.views()?);
        let is_temporary = |it: &ViewDef| {
            let is_own = it.name.schema.as_deref().is_some_and(|schema| is_same_name(schema, TEMPORARY_SCHEMA));
            is_own && self.whole.hides(&it.name.name)
        };
        views.retain(|it| is_temporary(it) || !grants.on_relation(&it.name).is_empty());
        Ok(views)
    }

    fn has_views(&self) -> bool {
        self.whole.has_views()
    }

    fn schemas(&self) -> Result<Vec<Arc<SchemaDef>>, CatalogError> {
        let (grants, mut schemas) = (self.grants()?, self.whole.schemas()?);
        schemas.retain(|schema| grants.shows_schema(&schema.name));
        Ok(schemas)
    }

    fn user(&self, name: &str) -> Result<Option<Arc<UserDef>>, CatalogError> {
        self.whole.user(name)
    }

    fn users(&self) -> Result<Vec<Arc<UserDef>>, CatalogError> {
        match self.own()? {
            Some(own) if own.grants.on_database().contains(Privilege::All) => self.whole.users(),
            own => Ok(own.into_iter().collect()),
        }
    }

    fn user_secret(&self) -> Result<Option<[u8; 32]>, CatalogError> {
        self.whole.user_secret()
    }

    fn session_user(&self) -> &str {
        &self.user
    }

    fn hides(&self, name: &str) -> bool {
        self.whole.hides(name)
    }

    fn is_temporary(&self, table: &TableDef) -> bool {
        self.whole.is_temporary(table)
    }

    fn attached_tables(&self) -> Vec<Arc<Table>> {
        self.whole.attached_tables()
    }

    fn attached_views(&self) -> Vec<Arc<ViewDef>> {
        self.whole.attached_views()
    }

    fn is_attached(&self, schema: &str) -> bool {
        self.whole.is_attached(schema)
    }
}
