//! CREATE and ALTER of tables: a temporary one of the connection comes before the stored one of its name.

use std::sync::Arc;

use saltwing_access::Table;
use saltwing_bind::resolve;
use saltwing_catalog::{CatalogError, Dependents, DropList, SessionCatalog};
use saltwing_sql::statement::CreateTable;
use saltwing_sql::{Name, TableRef};
use saltwing_types::{SequenceDef, TableDef};

use crate::Error;
use crate::session::Session;

impl Session {
    /// The temporary tables, if the name is that of one of them.
    fn temporary_named(&self, name: &TableRef) -> Option<&SessionCatalog> {
        let (schema, bare) = name.parts();
        let tables = &self.own.catalog;
        tables.find(schema, bare).map(|_| tables)
    }

    /// Whether the table of a CREATE TABLE is there: a temporary one, or a stored one that temporary ones may hide.
    pub(crate) fn is_there(&self, create: &CreateTable) -> bool {
        match create.temporary {
            true => self.temporary_named(&create.table).is_some(),
            false => resolve(&*self.shared().catalog.snapshot(), &create.table).is_ok(),
        }
    }

    /// Adds the table of a CREATE TABLE.
    pub(crate) fn add_table(
        &self,
        create: &CreateTable,
        def: TableDef,
        sequences: Vec<SequenceDef>,
    ) -> Result<(), CatalogError> {
        match create.temporary {
            true => self.own.catalog.create_table(def),
            false => self.shared().catalog.create_table_with(def, sequences).map(drop),
        }
    }

    /// The name by which statements find the table that a CREATE TABLE has made, though a temporary one may hide it.
    pub(crate) fn name_of_new(&self, create: &CreateTable) -> TableRef {
        let mut name = create.table.clone();
        if !create.temporary && name.schema.is_none() && self.catalog().hides(&name.name.text) {
            name.schema = Some(Name { text: String::new(), quoted: true, span: name.name.span });
        }
        name
    }

    /// Takes back the table that a CREATE TABLE has made. Nothing can use it but a view that came meanwhile.
    pub(crate) fn take_back(&self, create: &CreateTable) -> Result<bool, CatalogError> {
        let (schema, name) = create.table.parts();
        match create.temporary {
            true => {
                let names = [(schema, name)];
                let list = DropList { names: &names, if_exists: false, dependents: Dependents::Drop };
                self.own.catalog.drop_tables(&list).map(|left| left.is_empty()).map_err(|listed| listed.error)
            }
            false => self.shared().catalog.drop_table(schema, name, Dependents::Drop),
        }
    }

    /// Gives a table another definition, as [`Catalog::alter_table`](saltwing_catalog::Catalog::alter_table).
    pub(crate) fn change_definition(
        &self,
        name: &TableRef,
        change: impl FnOnce(&Arc<Table>) -> Result<Option<TableDef>, Error>,
    ) -> Result<(), Error> {
        let (schema, bare) = name.parts();
        match self.temporary_named(name) {
            Some(tables) => tables.alter_table(bare, change),
            None => self.shared().catalog.alter_table(schema, bare, change),
        }
    }
}
