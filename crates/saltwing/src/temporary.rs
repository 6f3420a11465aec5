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

/// The temporary tables, if the name is that of one of them.
fn temporary_named<'a>(session: &'a Session, name: &TableRef) -> Option<&'a SessionCatalog> {
    let (schema, bare) = name.parts();
    let tables = &session.own.catalog;
    tables.find(schema, bare).map(|_| tables)
}

/// Whether the table of a CREATE TABLE is there: a temporary one, or a stored one that temporary ones may hide.
pub(crate) fn is_there(session: &Session, create: &CreateTable) -> bool {
    match create.temporary {
        true => temporary_named(session, &create.table).is_some(),
        false => resolve(&*session.shared().catalog.snapshot(), &create.table).is_ok(),
    }
}

/// Adds the table of a CREATE TABLE.
pub(crate) fn add_table(
    session: &Session,
    create: &CreateTable,
    def: TableDef,
    sequences: Vec<SequenceDef>,
) -> Result<(), CatalogError> {
    match create.temporary {
        true => session.own.catalog.create_table(def),
        false => session.shared().catalog.create_table_with(def, sequences).map(drop),
    }
}

/// The name by which statements find the table that a CREATE TABLE has made, though a temporary one may hide it.
pub(crate) fn name_of_new(session: &Session, create: &CreateTable) -> TableRef {
    let mut name = create.table.clone();
    if !create.temporary && name.schema.is_none() && session.catalog().hides(&name.name.text) {
        name.schema = Some(Name { text: String::new(), quoted: true, span: name.name.span });
    }
    name
}

/// Takes back the table that a CREATE TABLE has made. Nothing can use it but a view that came meanwhile.
pub(crate) fn take_back(session: &Session, create: &CreateTable) -> Result<bool, CatalogError> {
    let (schema, name) = create.table.parts();
    match create.temporary {
        true => {
            let names = [(schema, name)];
            let list = DropList { names: &names, if_exists: false, dependents: Dependents::Drop };
            session.own.catalog.drop_tables(&list).map(|left| left.is_empty()).map_err(|listed| listed.error)
        }
        false => session.shared().catalog.drop_table(schema, name, Dependents::Drop),
    }
}

/// Gives a table another definition, as [`Catalog::alter_table`](saltwing_catalog::Catalog::alter_table).
pub(crate) fn change_definition(
    session: &Session,
    name: &TableRef,
    change: impl FnOnce(&Arc<Table>) -> Result<Option<TableDef>, Error>,
) -> Result<(), Error> {
    let (schema, bare) = name.parts();
    match temporary_named(session, name) {
        Some(tables) => tables.alter_table(bare, change),
        None => session.shared().catalog.alter_table(schema, bare, change),
    }
}
